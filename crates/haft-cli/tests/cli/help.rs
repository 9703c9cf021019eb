//! What `--help` of every command looks like: found by following the lists of commands, so that none is left out.

/// The options that every command has.
const GLOBAL: [&str; 12] = [
    "-C",
    "--add-dir",
    "--profile",
    "--dialect",
    "--yes",
    "--yolo",
    "--plan",
    "--try",
    "--trust",
    "--no-cache",
    "--no-pager",
    "--json",
];
/// The widest help, whatever the terminal.
const WIDEST: usize = 100;
/// The widest example: one that a usual terminal breaks cannot be pasted.
const WIDEST_EXAMPLE: usize = 80;
/// Words that no manual page has.
const ODD: [&str; 12] = [
    "whoever",
    "somebody",
    "nobody",
    " mend",
    "there again",
    "gone again",
    "at once",
    "brings along",
    "is told",
    "taken back",
    "as it was",
    "if left out",
];

/// The help of one command.
pub(super) struct Help {
    pub(super) command: String,
    text: String,
}

impl Help {
    fn of(command: &str, columns: usize) -> Self {
        let mut haft = std::process::Command::new(env!("CARGO_BIN_EXE_haft"));
        haft.env_clear().env("COLUMNS", columns.to_string()).args(command.split(' ').skip(1)).arg("--help");
        let output = haft.output().expect("the command runs");
        assert!(output.status.success(), "{command}");
        Self { command: command.to_owned(), text: String::from_utf8(output.stdout).expect("it is text") }
    }

    /// Returns the help of every command, beginning with that of `haft` itself.
    pub(super) fn of_all(columns: usize) -> Vec<Self> {
        let mut all = vec![Self::of("haft", columns)];
        let mut next = 0;
        while let Some(help) = all.get(next) {
            let names = help.section("Commands:").into_iter().filter_map(|line| named(&line));
            let found: Vec<String> =
                names.filter(|name| name != "help").map(|name| format!("{} {name}", help.command)).collect();
            all.extend(found.iter().map(|command| Self::of(command, columns)));
            next += 1;
        }
        assert!(all.len() > 25, "only {} commands were found", all.len());
        all
    }

    /// Returns the lines below a heading, up to an empty one.
    fn section(&self, heading: &str) -> Vec<String> {
        let lines = self.text.lines().skip_while(|line| *line != heading).skip(1);
        lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// Returns the options that a section explains.
    fn options(&self, heading: &str) -> Vec<String> {
        let is_option = |line: &&String| line.trim_start().starts_with('-');
        let lines = self.section(heading);
        let words =
            |line: &String| line.split([' ', ',', '[']).filter(|word| word.starts_with('-')).map(str::to_owned).next();
        lines.iter().filter(is_option).filter_map(words).collect()
    }
}

/// Returns the name at the beginning of a line of a list.
fn named(line: &str) -> Option<String> {
    let rest = line.strip_prefix("  ")?;
    (!rest.starts_with(' ')).then(|| rest.split(' ').next().unwrap_or_default().to_owned())
}

#[test]
fn the_first_line_says_what_haft_is() {
    let help = Help::of("haft", WIDEST).text;
    assert!(help.starts_with("The handle between a model and its tools: checks every call, "), "{help}");
}

#[test]
fn global_options_are_in_a_section_of_their_own() {
    for help in Help::of_all(WIDEST) {
        assert_eq!(help.options("Global options:"), GLOBAL, "{}", help.text);
        let own = help.options("Options:");
        assert!(own.contains(&"-h".to_owned()) && own.iter().all(|name| !GLOBAL.contains(&name.as_str())), "{own:?}");
    }
}

#[test]
fn help_fits_the_terminal_and_is_never_wider_than_100_columns() {
    for (columns, most) in [(60, 60), (80, 80), (100, WIDEST), (300, WIDEST)] {
        for help in Help::of_all(columns) {
            let wide: Vec<&str> = help.text.lines().filter(|line| line.chars().count() > most).collect();
            assert!(wide.is_empty(), "{} at {columns} columns:\n{}", help.command, wide.join("\n"));
        }
    }
}

#[test]
fn an_example_is_one_line_that_can_be_pasted() {
    for help in Help::of_all(300) {
        for line in help.section("Examples:") {
            let is_command = line.starts_with("  ") && line.contains("haft ");
            assert!(is_command && line.chars().count() <= WIDEST_EXAMPLE, "{}: {line}", help.command);
        }
    }
}

#[test]
fn help_is_in_the_words_of_a_manual_page() {
    for help in Help::of_all(WIDEST) {
        let text = help.text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let odd: Vec<&&str> = ODD.iter().filter(|odd| text.contains(**odd)).collect();
        assert!(odd.is_empty(), "{}: {odd:?}\n{}", help.command, help.text);
    }
}
