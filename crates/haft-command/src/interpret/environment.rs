//! Variables that make programs run something; the table is data (`variables.txt`).

pub(crate) mod showing;

use std::collections::HashMap;
use std::sync::LazyLock;

use haft_contract::effect::Danger;

use crate::act::{CodeLanguage, PathEffect, RawEffect};
use crate::interpret::Interpreter;
use crate::interpret::shell::variable::AssignmentValue;
use crate::value::ShellValue;
use crate::viewers::is_usual_viewer;
use crate::{patterns, programs};

/// What a variable means to the programs that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableMeaning {
    /// Nothing is known of it: some program may follow it.
    Data,
    /// It changes nothing that matters.
    Harmless,
    /// Its value is run as a command.
    Script,
    /// Its value is a program that builds use.
    Tool,
    /// Its value is text for an editor.
    Console,
    /// Its value is a file that is run or loaded.
    File,
    /// Its value is a file that is written.
    Output,
    /// It loads code into every program, which no ordinary work needs.
    Injection,
    /// It says how the shell reads commands.
    Mode,
    /// It says where programs or their settings are found.
    Search,
    /// Its value is words for this program.
    Options(&'static str),
    /// Its value is words that builds give to this program.
    Passed(&'static str),
    /// Its value is words for this program, which others start.
    Loads(&'static str),
    /// It says what the shell keeps of the commands that were run.
    Trail,
    /// It belongs to haft.
    Haft,
}

/// What the table of variables says, in its order.
struct VariableTable {
    named: HashMap<&'static str, VariableMeaning>,
    fitting: Vec<(&'static str, VariableMeaning)>,
    /// The variables with words for a program.
    options: HashMap<&'static str, Vec<&'static str>>,
    /// Lines that are not understood.
    faults: Vec<&'static str>,
}

static VARIABLES: LazyLock<VariableTable> =
    LazyLock::new(|| VariableTable::read(include_str!("environment/variables.txt")));

impl VariableTable {
    fn read(text: &'static str) -> Self {
        let mut variables =
            Self { named: HashMap::new(), fitting: Vec::new(), options: HashMap::new(), faults: Vec::new() };
        let mut meaning = None;
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if !line.starts_with(char::is_whitespace) {
                meaning = VariableMeaning::named(line);
            }
            match meaning {
                None => variables.faults.push(line),
                Some(meaning) if line.starts_with(char::is_whitespace) => {
                    line.split_whitespace().for_each(|name| variables.add(name, meaning));
                }
                Some(_) => {}
            }
        }
        variables
    }

    fn add(&mut self, name: &'static str, meaning: VariableMeaning) {
        if let VariableMeaning::Options(program) = meaning {
            self.options.entry(program).or_default().push(name);
        }
        if name.contains('*') {
            self.fitting.push((name, meaning));
        } else if self.named.insert(name, meaning).is_some() {
            self.faults.push(name);
        }
    }

    fn meaning(&self, name: &str) -> VariableMeaning {
        let fitting =
            || self.fitting.iter().find(|(pattern, _)| patterns::fits(pattern, name)).map(|(_, found)| *found);
        self.named.get(name).copied().or_else(fitting).unwrap_or(VariableMeaning::Data)
    }
}

impl VariableMeaning {
    fn named(line: &'static str) -> Option<Self> {
        Some(match line.split_once(' ').unwrap_or((line, "")) {
            ("haft", "") => VariableMeaning::Haft,
            ("harmless", "") => VariableMeaning::Harmless,
            ("script", "") => VariableMeaning::Script,
            ("tool", "") => VariableMeaning::Tool,
            ("console", "") => VariableMeaning::Console,
            ("run", "") => VariableMeaning::File,
            ("output", "") => VariableMeaning::Output,
            ("inject", "") => VariableMeaning::Injection,
            ("mode", "") => VariableMeaning::Mode,
            ("search", "") => VariableMeaning::Search,
            ("options", program) if !program.is_empty() => VariableMeaning::Options(program),
            ("passed", program) if !program.is_empty() => VariableMeaning::Passed(program),
            ("loads", program) if !program.is_empty() => VariableMeaning::Loads(program),
            _ => return None,
        })
    }
}

/// Built-ins that start no program.
const OWN: &[&str] = &[
    ":",
    "[",
    "break",
    "cd",
    "continue",
    "declare",
    "dirs",
    "echo",
    "exit",
    "export",
    "false",
    "getopts",
    "let",
    "local",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "test",
    "times",
    "true",
    "type",
    "typeset",
    "unset",
    "wait",
];
const TRAILS: &[&str] = &["HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE"];

fn meaning(name: &str) -> VariableMeaning {
    if TRAILS.contains(&name) { VariableMeaning::Trail } else { VARIABLES.meaning(name) }
}

/// Returns whether programs do something else because of a variable.
pub(crate) fn matters(name: &str) -> bool {
    !matches!(meaning(name), VariableMeaning::Data | VariableMeaning::Harmless)
}

/// Returns whether a variable is one of those that are known to be harmless, with this value.
pub(crate) fn is_plain(name: &str, value: Option<&ShellValue>) -> bool {
    let value = value.cloned().unwrap_or_else(ShellValue::unknown);
    meaning(name) == VariableMeaning::Harmless && is_followed_by_none(name, &[value])
}

/// Returns whether programs do the same with a variable as without it, whatever they are. A short word in small letters
/// is a variable of the command itself.
fn is_followed_by_none(name: &str, values: &[ShellValue]) -> bool {
    let is_own =
        |name: &str| name.len() <= 2 || name.bytes().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit());
    // Some of these may be the path of a file.
    let may_be_path = |value: &ShellValue| {
        let text = value.shown();
        value.known().is_none() || text.starts_with(['/', ':', '.']) || text.contains("../")
    };
    let names_file = matches!(name, "TZ" | "TERM" | "LANGUAGE" | "LANG") || name.starts_with("LC_");
    match meaning(name) {
        VariableMeaning::Harmless => !names_file || !values.iter().any(may_be_path),
        VariableMeaning::Data => is_own(name),
        _ => true,
    }
}

impl Interpreter<'_> {
    /// Tells what a program means that builds use: also `go env` starts the compiler that `CC` names.
    fn tool(&mut self, value: &ShellValue) {
        self.suspect_text(value);
        let program = value.known().and_then(|text| text.split_whitespace().next()).unwrap_or_default();
        let is_of_the_system = ["/usr/", "/bin/", "/opt/"].iter().any(|folder| program.starts_with(folder));
        if program.contains('/') && !is_of_the_system {
            self.emit(RawEffect::Path(PathEffect::Run, ShellValue::text(program)));
        }
    }

    /// Tells what it means that a program gets a variable with one of these values.
    pub(crate) fn environment(&mut self, name: &str, values: &[ShellValue]) {
        match meaning(name) {
            VariableMeaning::Data | VariableMeaning::Harmless => {}
            VariableMeaning::Script => self.scripts_in(name, values),
            VariableMeaning::Tool => values.iter().for_each(|value| self.tool(value)),
            VariableMeaning::Console => values.iter().filter(|value| !value.is_empty()).for_each(|value| {
                self.emit(RawEffect::ShellState(format!("let editors do what {name} says")));
                self.deeper(|interpreter| interpreter.run_inline(CodeLanguage::Console, value, None));
            }),
            VariableMeaning::File => {
                values.iter().filter(|value| !value.is_empty()).for_each(|value| {
                    self.emit(RawEffect::Path(PathEffect::Run, value.clone()));
                    self.emit(RawEffect::ShellState(format!("let programs run what {name} names")));
                });
            }
            VariableMeaning::Output => {
                let files = values.iter().filter(|value| !is_switch(value));
                files.for_each(|value| self.emit(RawEffect::Path(PathEffect::Replace, value.clone())));
            }
            VariableMeaning::Injection if values.iter().all(ShellValue::is_empty) => {}
            VariableMeaning::Injection => {
                self.emit(RawEffect::Danger(Danger::HiddenCode, format!("load code into every program by {name}")));
            }
            VariableMeaning::Mode => {
                self.emit(RawEffect::ShellState(format!("change how the shell reads commands, by {name}")))
            }
            VariableMeaning::Search if is_harmless(name, values) => {}
            VariableMeaning::Search => {
                self.emit(RawEffect::ShellState(format!("change where programs look, by {name}")));
                if name == "GIT_WORK_TREE" {
                    values.iter().for_each(|value| self.emit(RawEffect::Path(PathEffect::Replace, value.clone())));
                }
            }
            VariableMeaning::Options(program) | VariableMeaning::Passed(program) => {
                self.suspect_options(program, values)
            }
            VariableMeaning::Loads(program) => {
                if !is_harmless(name, values) {
                    self.emit(RawEffect::ShellState(format!("change what {program} does, by {name}")));
                }
                self.suspect_options(program, values);
            }
            VariableMeaning::Trail => {
                self.emit(RawEffect::ShellState(format!("change how the shell records commands, by {name}")))
            }
            VariableMeaning::Haft => self.emit(changes_haft(name)),
        }
    }

    /// Asks about a variable that a program gets, unless it is one of those that change nothing.
    pub(crate) fn give_variable(&mut self, name: &str, values: &[ShellValue]) {
        if !is_followed_by_none(name, values) {
            self.emit(RawEffect::ShellState(format!("let programs follow {name}")));
        }
    }

    /// Asks about variables that the programs of these lines get.
    pub(crate) fn give_variables(&mut self, assigned: &[(String, AssignmentValue)], lines: &[Vec<ShellValue>]) {
        let is_own =
            |line: &Vec<ShellValue>| line.first().and_then(ShellValue::known).is_some_and(|name| OWN.contains(&name));
        if !lines.iter().all(is_own) {
            assigned.iter().for_each(|(name, assigned)| self.give_variable(name, &assigned.all_values()));
        }
    }

    /// Refuses built-ins that take a variable of haft away.
    pub(crate) fn leave_to_haft(&mut self, builtin: &str, words: &[ShellValue]) {
        let is_flag = |word: &&ShellValue, flags: &[&str]| word.known().is_some_and(|flag| flags.contains(&flag));
        let takes = match builtin {
            "export" => words.iter().any(|word| is_flag(&word, &["-n"])),
            "declare" | "typeset" | "local" | "readonly" => words.iter().any(|word| is_flag(&word, &["+x"])),
            _ => true,
        };
        let is_of_haft = |word: &&ShellValue| meaning(word.prefix()) == VariableMeaning::Haft;
        if let Some(name) = words.iter().find(is_of_haft).filter(|_| takes) {
            self.emit(changes_haft(&name.shown()));
        }
    }

    /// Looks for what would be refused among words for a program that come from a variable.
    fn suspect_options(&mut self, program: &str, values: &[ShellValue]) {
        for value in values.iter().filter(|value| !value.is_empty()) {
            // Some programs take the whole value for one word.
            for options in [words_in(value), vec![value.clone()]] {
                let words: Vec<ShellValue> = std::iter::once(ShellValue::text(program)).chain(options).collect();
                self.only_refused(|interpreter| {
                    let reading = programs::read(&words);
                    interpreter.carry_out(reading, None);
                });
            }
        }
    }

    /// Returns the words of a program with those that variables add to them.
    pub(crate) fn with_options(&self, name: &str, words: &[ShellValue]) -> Vec<ShellValue> {
        let variables = VARIABLES.options.get(name).map(Vec::as_slice).unwrap_or_default();
        let values = variables.iter().filter_map(|variable| self.shell.values(variable)).flatten().flatten();
        // They stand behind, since the first word of `tar xf` is flags, and the order does not matter otherwise.
        let end = words.iter().position(|word| word.known() == Some("--")).unwrap_or(words.len());
        let mut with_options = words[..end].to_vec();
        with_options.extend(values.flat_map(|value| words_in(&value)));
        with_options.extend_from_slice(&words[end..]);
        with_options
    }

    fn scripts_in(&mut self, name: &str, values: &[ShellValue]) {
        for value in values.iter().filter(|value| !value.is_empty()) {
            if !is_usual_viewer(value) {
                self.emit(RawEffect::Code(format!("run {} where a program is named by {name}", value.shown())));
            }
            // LESSOPEN begins with a bar, and an alias of git with an exclamation mark.
            let bare = ["|", "!"].iter().find_map(|mark| value.strip_prefix(mark));
            let value = bare.unwrap_or_else(|| value.clone());
            self.deeper(|interpreter| interpreter.run_new_shell(&value, &[], None));
        }
    }
}

/// Says that a variable of haft is set or taken away.
fn changes_haft(name: &str) -> RawEffect {
    RawEffect::Danger(Danger::Haft, format!("change how haft works, by {name}"))
}

/// Splits a value as programs do that have quotes; what has a gap stays one word.
fn words_in(value: &ShellValue) -> Vec<ShellValue> {
    let Some(text) = value.known() else { return vec![value.clone()] };
    let (mut words, mut word, mut quote): (Vec<ShellValue>, Option<String>, Option<char>) = (Vec::new(), None, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (blank, None) if blank.is_whitespace() => words.extend(word.take().map(ShellValue::text)),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(ShellValue::text));
    words
}

/// Paths that begin with the old value and add only folders of the system change nothing that matters.
fn is_harmless(name: &str, values: &[ShellValue]) -> bool {
    let is_plain_proxy = name.to_lowercase().ends_with("proxy") && values.iter().all(ShellValue::is_empty);
    let is_null = |value: &ShellValue| matches!(value.known(), Some("" | "/dev/null"));
    let is_config_off = name.starts_with("GIT_CONFIG_") && values.iter().all(is_null);
    let is_blank_ifs = name == "IFS" && values.iter().all(|value| value.known().is_some());
    let is_set_as_usual = values.iter().all(|value| value.known().is_some_and(|text| is_usual(name, text)));
    is_plain_proxy || is_config_off || is_blank_ifs || is_set_as_usual
}

/// Returns whether a value turns something on or off, where another one would name a file.
fn is_switch(value: &ShellValue) -> bool {
    matches!(value.known(), Some("" | "-" | "0" | "1" | "2" | "true" | "false"))
}

/// Flags of node that load nothing and write nothing.
const FLAGS_OF_NODE: &[&str] = &[
    "--max-old-space-size=",
    "--max-semi-space-size=",
    "--max-http-header-size=",
    "--no-warnings",
    "--no-deprecation",
    "--enable-source-maps",
    "--experimental-vm-modules",
    "--openssl-legacy-provider",
    "--stack-trace-limit=",
    "--trace-warnings",
    "--trace-deprecation",
    "--throw-deprecation",
    "--unhandled-rejections=",
    "--dns-result-order=",
];
/// Flags of go that run nothing and take no file.
const FLAGS_OF_GO: &[&str] =
    &["-mod=", "-race", "-v", "-count=", "-tags=", "-trimpath", "-buildvcs=", "-p=", "-short", "-timeout="];

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish")
}

/// Returns whether a variable that may change what is loaded has one of the values that people give it every day.
fn is_usual(name: &str, value: &str) -> bool {
    let all_begin_with_one_of = |flags: &[&str]| {
        value.split_whitespace().all(|word| {
            flags.iter().any(|flag| match flag.ends_with('=') {
                true => word.starts_with(flag),
                false => word == *flag || word.starts_with(&format!("{flag}=")),
            })
        })
    };
    match name {
        "NODE_OPTIONS" => all_begin_with_one_of(FLAGS_OF_NODE),
        "GOFLAGS" => all_begin_with_one_of(FLAGS_OF_GO),
        "RUSTUP_TOOLCHAIN" => !value.contains('/'),
        "SHELL" => ["/bin/", "/usr/bin/"].iter().any(|folder| value.strip_prefix(folder).is_some_and(is_shell)),
        // A category with a dot in it is a module that is loaded.
        "PYTHONWARNINGS" => !value.contains('.'),
        // `o` and `O` write a file, `k` reads one, `t`, `T` and `p` take more, and `+` runs a command.
        "LESS" => value.chars().all(|letter| letter == '-' || "aeEfFgGiIJKmMnNqQrRsSuwWXx 0123456789".contains(letter)),
        "OPENSSL_CONF" | "RIPGREP_CONFIG_PATH" => matches!(value, "" | "/dev/null"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::check_all as check;
    use haft_policy::decision::Decision::{Allow, Ask, Deny};

    #[test]
    fn every_line_of_the_table_is_understood_and_names_a_variable_once() {
        assert_eq!(VARIABLES.faults, Vec::<&str>::new());
        assert_eq!(VariableTable::read("flags tar\n  TAR_OPTIONS\n").faults, ["flags tar", "  TAR_OPTIONS"]);
        assert_eq!(VariableTable::read("script\n  A\nrun\n  A\n").faults, ["A"]);
    }

    #[test]
    fn options_in_a_variable_are_words_of_the_program() {
        check(
            Deny,
            &[
                "ZIPOPT='-T -TT \"rm -rf ~\"' zip a.zip notes.txt",
                "TAR_OPTIONS='--checkpoint-action=exec=rm\\ -rf\\ ~ --checkpoint=1' tar cf build/a.tar src",
                "export TAR_OPTIONS='-C ..'; tar xf a.tar",
                "LESS='+!rm -rf ~' git log",
                "MAKEFLAGS='--eval=$(shell rm -rf ~)' make -n",
                "FZF_DEFAULT_OPTS='--preview \"rm -rf ~\"' fzf",
            ],
        );
        check(Ask, &["TAR_OPTIONS=--remove-files tar cf new.tar src", "MANROFFOPT=-U man ls"]);
        check(
            Allow,
            &["GZIP=-9 tar czf new.tgz src", "LESS=-R git log", "RUSTFLAGS='-D warnings' cargo tree --frozen"],
        );
    }

    #[test]
    fn a_file_that_a_variable_names_is_written_or_followed() {
        check(Deny, &["TAPE=/dev/sda tar c notes.txt", "LESSHISTFILE=/etc/x less notes.txt"]);
        check(Ask, &["BAT_CONFIG_PATH=/tmp/e bat notes.txt"]);
        check(Allow, &["LESSHISTFILE=- less notes.txt", "LESSHISTFILE=/dev/null less notes.txt"]);
    }

    #[test]
    fn text_in_a_variable_that_a_program_runs_is_read() {
        check(
            Deny,
            &[
                "FZF_DEFAULT_COMMAND='rm -rf ~' fzf",
                "VIMINIT=':!rm -rf ~' vim x",
                "CC='rm -rf ~ #' make",
                "export EXINIT='!rm -rf ~'",
            ],
        );
        check(Ask, &["CC=clang make", "VIMINIT='set nu' vim x"]);
        check(Allow, &["CC=clang cargo tree --frozen", "CFLAGS=-O2 gcc --version"]);
    }
}
