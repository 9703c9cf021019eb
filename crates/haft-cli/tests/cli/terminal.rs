//! The command at a real terminal: what a person sees, in which colours, and what the answers do.

#[path = "terminal/pager.rs"]
mod pager;

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use vt100::Color;

use super::Place;
use super::written_rules::NO_LISTS;

const RED: Color = Color::Idx(1);
const GREEN: Color = Color::Idx(2);
const YELLOW: Color = Color::Idx(3);
/// A program that prints nothing for this long hangs.
const HANGS: Duration = Duration::from_secs(20);
/// High enough that nothing scrolls away.
const ROWS: u16 = 100;

/// A terminal with a command in it.
pub(super) struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    raw: Vec<u8>,
}

impl Terminal {
    /// Starts the command in a terminal that is 100 columns wide.
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::start_in(place, arguments, 100)
    }

    fn start_in(place: &Place, arguments: &[&str], columns: u16) -> Self {
        Self::start_after("", place, arguments, columns)
    }

    /// Starts another program in a terminal that is 100 columns wide.
    pub(super) fn start_program(place: &Place, program: &str, arguments: &[&str]) -> Self {
        Self::start_command("", place, Command::new(program).args(arguments), 100)
    }

    /// Starts the command in a terminal that already has typed input.
    fn start_after(typed: &str, place: &Place, arguments: &[&str], columns: u16) -> Self {
        Self::start_command(typed, place, Command::new(env!("CARGO_BIN_EXE_haft")).args(arguments), columns)
    }

    fn start_command(typed: &str, place: &Place, command: Command, columns: u16) -> Self {
        let (pty, pts) = open().expect("a terminal can be opened");
        pty.resize(Size::new(ROWS, columns)).expect("a terminal has a size");
        (&pty).write_all(typed.as_bytes()).expect("a terminal takes keys");
        let command = command.env_clear().env("HOME", place.path("home")).env("TMPDIR", place.root());
        let command = command.envs(place.variables.iter().copied());
        let command = command.env("TERM", "xterm-256color").current_dir(place.path("ws"));
        let child = command.spawn(pts).expect("the command runs");
        let pty = Arc::new(pty);
        let (sender, output) = channel();
        let reading = pty.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The system answers with an error when the command has gone.
            while let Ok(read @ 1..) = (&*reading).read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let size = |number| NonZeroU16::new(number).expect("a terminal has a size");
        Self { pty, child, output, parser: vt100::Parser::new(size(ROWS), size(columns), 0), raw: Vec::new() }
    }

    /// Waits until the screen shows this.
    pub(super) fn shows(&mut self, text: &str) -> &mut Self {
        while !self.screen().contains(text) {
            match self.output.recv_timeout(HANGS) {
                Ok(piece) => self.take(&piece),
                Err(error) => panic!("{text:?} does not appear ({error}):\n{}", self.screen()),
            }
        }
        self
    }

    /// Types this.
    pub(super) fn types(&mut self, keys: &str) -> &mut Self {
        (&*self.pty).write_all(keys.as_bytes()).expect("a terminal takes keys");
        self
    }

    /// Gives the terminal another size.
    pub(super) fn resize(&mut self, rows: u16, columns: u16) {
        self.pty.resize(Size::new(rows, columns)).expect("a terminal has a size");
    }

    /// Waits until the command ends, whichever way.
    pub(super) fn ends_somehow(&mut self) {
        while let Ok(piece) = self.output.recv_timeout(HANGS) {
            self.take(&piece);
        }
        self.child.wait().expect("it ends");
    }

    /// Waits until the command ends, and returns its code.
    pub(super) fn ends(&mut self) -> i32 {
        while let Ok(piece) = self.output.recv_timeout(HANGS) {
            self.take(&piece);
        }
        self.child.wait().expect("it ends").code().expect("it was not killed")
    }

    fn take(&mut self, piece: &[u8]) {
        self.raw.extend_from_slice(piece);
        self.parser.process(piece);
    }

    pub(super) fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Returns the colour in which a text stands on the screen.
    fn colour_of(&self, text: &str) -> Color {
        let columns = self.parser.screen().size().1.get();
        for (row, line) in (0..).zip(self.parser.screen().rows(0, columns)) {
            if let Some(at) = line.find(text) {
                let column = u16::try_from(line[..at].chars().count()).expect("a line is short");
                return self.parser.screen().cell(row, column).expect("the cell is on the screen").fgcolor();
            }
        }
        panic!("{text:?} is not in one line:\n{}", self.screen());
    }
}

fn edit(path: &str, old: &str, new: &str) -> String {
    serde_json::json!({ "path": path, "edits": [{ "old_text": old, "new_text": new }] }).to_string()
}

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path("ws/a.txt"), "one\ntwo\nthree\n").expect("a file can be written");
    place
}

fn content(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path("ws").join(name)).expect("the file is there")
}

/// Makes the change from two to zwei, and approves it.
fn changed(place: &Place) {
    let mut terminal = Terminal::start(place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    terminal.shows("\n>").types("y\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
}

#[test]
fn an_edit_is_shown_in_colours_and_done_after_a_yes() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    terminal.shows("y  yes, this once").shows("\n>");
    assert_eq!((terminal.colour_of("- two"), terminal.colour_of("+ zwei")), (RED, GREEN), "{}", terminal.screen());
    assert_eq!(terminal.colour_of("  three"), Color::Default);
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n", "nothing is done before the answer");
    assert_eq!(terminal.types("y\n").ends(), 0);
    assert!(terminal.screen().contains("Edited a.txt: 1 edit, +1 −1 lines."), "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\nzwei\nthree\n");
}

#[test]
fn a_no_with_a_reason_refuses_and_changes_nothing() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    assert_eq!(terminal.shows("\n>").types("n keep the English\n").ends(), 3);
    assert!(terminal.screen().contains("The user said no: keep the English"), "{}", terminal.screen());
    assert!(terminal.screen().contains("Nothing was changed."), "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn an_interrupt_at_the_question_ends_with_130_and_changes_nothing() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    assert_eq!(terminal.shows("\n>").types("\u{3}").ends(), 130, "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
    assert!(place.haft(&["log"], "").err.contains("Nothing was changed here"));
}

#[test]
fn the_end_of_input_at_the_question_means_no() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    assert_eq!(terminal.shows("\n>").types("\u{4}").ends(), 3, "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn forty_columns_are_enough() {
    let place = place();
    let long = "a new line that is much longer than forty columns and ends in a word";
    let mut terminal = Terminal::start_in(&place, &["call", "edit_file", &edit("a.txt", "two", long)], 40);
    terminal.shows("- two").shows("\n>");
    assert_eq!((terminal.colour_of("- two"), terminal.colour_of("ends in a word")), (RED, GREEN));
    assert_eq!(terminal.types("y\n").ends(), 0);
    assert_eq!(content(&place, "a.txt"), format!("one\n{long}\nthree\n"));
}

#[test]
fn neither_a_name_nor_a_content_can_deceive() {
    let place = place();
    let name = "a\u{1b}[2J\u{202e}\u{7}\ny  yes.txt";
    let text = "\u{1b}[8mhidden\u{1b}[0m\n\u{1b}[31m- red\r+ green\u{1b}]0;title\u{7}\n\u{9b}5A\u{200b}end\n";
    std::fs::write(place.path("ws").join(name), text).expect("a file can be written");
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit(name, "end", "\u{1b}[1;1Hfin\u{202e}")]);
    terminal.shows("y  yes, this once").shows("\n>");
    assert_eq!(terminal.types("y\n").ends(), 0, "{}", terminal.screen());
    let said = String::from_utf8_lossy(&terminal.raw).into_owned();
    for command in ["\u{1b}[2J", "\u{1b}[8m", "\u{1b}]0", "\u{1b}[1;1H", "\u{202e}", "\u{9b}", "\u{200b}", "\u{7}"] {
        assert!(!said.contains(command), "{command:?} reached the terminal:\n{said:?}");
    }
    assert!(terminal.screen().contains("hidden"), "{}", terminal.screen());
    let questions = terminal.screen().lines().filter(|line| line.trim_start().starts_with("y  yes")).count();
    assert_eq!(questions, 1, "{}", terminal.screen());
}

#[test]
fn a_change_is_in_the_log_and_undo_takes_it_back() {
    let place = place();
    changed(&place);
    let mut log = Terminal::start(&place, &["log"]);
    assert_eq!(log.ends(), 0);
    assert!(log.screen().contains("edit_file") && log.screen().contains("a.txt"), "{}", log.screen());
    let mut diff = Terminal::start(&place, &["diff"]);
    assert_eq!(diff.ends(), 0);
    assert_eq!((diff.colour_of("- two"), diff.colour_of("+ zwei")), (RED, GREEN));
    let mut undo = Terminal::start(&place, &["undo"]);
    assert_eq!(undo.ends(), 0);
    assert!(undo.screen().contains("Undid change set 1"), "{}", undo.screen());
    assert!(undo.screen().contains("restored a.txt"), "{}", undo.screen());
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
    assert_eq!(Terminal::start(&place, &["undo"]).ends(), 1, "nothing is left to take back");
    assert_eq!(Terminal::start(&place, &["redo"]).ends(), 0);
    assert_eq!(content(&place, "a.txt"), "one\nzwei\nthree\n");
}

#[test]
fn an_undo_that_would_lose_work_shows_it_in_colours_and_changes_nothing() {
    let place = place();
    changed(&place);
    std::fs::write(place.path("ws/a.txt"), "one\nmine\nthree\n").expect("a file can be written");
    let mut undo = Terminal::start(&place, &["undo"]);
    assert_eq!(undo.ends(), 1);
    assert_eq!((undo.colour_of("- zwei"), undo.colour_of("+ mine")), (RED, GREEN), "{}", undo.screen());
    assert!(undo.screen().contains("Nothing was undone."), "{}", undo.screen());
    assert_eq!(content(&place, "a.txt"), "one\nmine\nthree\n");
}

#[test]
fn a_secret_is_asked_about_even_with_yes_and_no_longer_yes_is_offered() {
    let place = place();
    std::fs::write(place.path("ws/.env"), "P=hunter2\n").expect("a file can be written");
    let mut terminal = Terminal::start(&place, &["--yes", "call", "read_file", "path=.env"]);
    terminal.shows("the rule \"secret files\"").shows("\n>");
    assert!(!terminal.screen().contains("hunter2") && !terminal.screen().contains("1  yes"), "{}", terminal.screen());
    assert_eq!(terminal.types("n\n").ends(), 3);
    assert!(!terminal.screen().contains("hunter2"), "{}", terminal.screen());
}

#[test]
fn an_answer_that_is_none_is_asked_again() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    terminal.shows("\n>").types("yep\n").shows("Choose one of the answers").types("9\n").types("yes\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\nzwei\nthree\n");
}

#[test]
fn a_command_is_shown_whole_and_its_last_line_while_it_runs() {
    let place = place();
    let command = "command=echo \u{1b}[2Jfirst; rm a.txt; echo a line that is lo''nger than forty columns of a terminal are; tail -f /dev/null";
    let mut terminal = Terminal::start_in(&place, &["call", "bash", command], 40);
    terminal.shows("y  yes, this once").shows("\n>");
    assert!(terminal.screen().contains("| echo \\u{1b}[2Jfirst"), "{}", terminal.screen());
    terminal.types("y\n").shows("a line that is longer than forty colum");
    let below = terminal.screen().lines().last().unwrap_or_default().to_owned();
    assert!(below.starts_with("a line that is longer"), "it stays in one row:\n{}", terminal.screen());
    assert_eq!(terminal.types("\u{3}").ends(), 130, "{}", terminal.screen());
    assert!(!terminal.raw.windows(4).any(|bytes| bytes == b"\x1b[2J"), "nothing reaches the terminal as it is");
}

#[test]
fn a_command_that_is_interrupted_keeps_nothing() {
    let place = place();
    let command = "command=echo new > new.txt; rm a.txt; echo ready; tail -f /dev/null";
    let mut terminal = Terminal::start(&place, &["--yes", "call", "bash", command]);
    assert_eq!(terminal.shows("ready").types("\u{3}").ends(), 130, "{}", terminal.screen());
    assert!(terminal.screen().contains("Nothing was changed."), "{}", terminal.screen());
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
    assert!(!place.path("ws/new.txt").exists());
}

#[test]
fn whether_a_project_is_trusted_is_asked_at_a_terminal_and_remembered() {
    let place = place();
    let rule = "[[rule]]\nname = \"none\"\ndecision = \"deny\"\nreason = \"No.\"\ntool = \"list_dir\"\n";
    place.put("ws/.haft/rules.toml", rule);
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    terminal.shows(".haft/rules.toml").shows("> ").types("n\r");
    assert_eq!(terminal.ends(), 0);
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    terminal.shows("> ").types("y\r").shows("The rule \"none\" refuses this call.");
    assert_eq!(terminal.ends(), 3);
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    assert_eq!(terminal.ends(), 3);
    assert!(!terminal.screen().contains("trust"), "{}", terminal.screen());
}

#[test]
fn rules_that_changed_since_they_were_trusted_are_asked_about_again() {
    let place = place();
    place.put("ws/.haft/rules.toml", NO_LISTS);
    assert_eq!(place.haft(&["trust"], "").code, 0);
    place.put("ws/.haft/rules.toml", &format!("{NO_LISTS}# more\n"));
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    terminal.shows("(changed: .haft/rules.toml)").shows("> ").types("n\r").shows("none of its rules apply");
    assert_eq!((terminal.ends(), terminal.colour_of("warning: ")), (0, RED));
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    assert_eq!(terminal.shows("> ").types("Y\r").ends(), 3, "{}", terminal.screen());
}

#[test]
fn a_question_about_a_folder_says_that_everything_in_it_goes() {
    let place = place();
    place.put("ws/build/x", "");
    let mut terminal = Terminal::start(&place, &["call", "bash", "command=rm -r build; rm a.txt"]);
    terminal.shows("  remove build (and everything in it), a.txt\n").shows("\n>");
    assert_eq!(terminal.types("n\n").ends(), 3);
}

#[test]
fn calls_that_are_typed_as_lines_are_told_how_a_question_can_be_answered() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["call", "-"]);
    terminal.types("{\"name\":\"bash\",\"arguments\":{\"command\":\"rm a.txt\"}}\n").shows("\"refused\"");
    assert_eq!(terminal.types("\u{4}").ends(), 0);
    let shown = terminal.screen().replace('\n', "");
    assert!(shown.contains("call the tool alone at a terminal: haft call TOOL"), "{shown}");
    assert_eq!(content(&place, "a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let place = place();
    let typed_before = |arguments: &[&str]| {
        let mut terminal = Terminal::start_after("y\n", &place, arguments, 100);
        terminal.shows("\n> ").types("n\n");
        (terminal.ends(), terminal.screen())
    };
    let (code, screen) = typed_before(&["call", "edit_file", &edit("a.txt", "two", "zwei")]);
    assert_eq!((code, content(&place, "a.txt").as_str()), (3, "one\ntwo\nthree\n"), "{screen}");
    place.put("ws/.haft/rules.toml", NO_LISTS);
    let (code, screen) = typed_before(&["call", "list_dir"]);
    assert_eq!(code, 0, "{screen}");
}

#[test]
fn what_is_trusted_at_a_terminal_is_what_lay_there_when_it_was_asked() {
    let place = place();
    place.put("ws/.haft/rules.toml", "# as it was read\n");
    let mut terminal = Terminal::start(&place, &["call", "list_dir"]);
    terminal.shows("> ");
    place.put(
        "ws/.haft/rules.toml",
        "[[rule]]\nname = \"none\"\ndecision = \"deny\"\nreason = \"No.\"\ntool = \"list_dir\"\n",
    );
    terminal.types("y\r").shows(".haft/rules.toml changed since it was trusted");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_question_about_a_command_marks_its_parts_and_offers_nothing_that_ends_with_the_call() {
    let place = place();
    let mut terminal = Terminal::start_in(&place, &["call", "bash", "command=ls && rm a.txt"], 40);
    terminal.shows("Protection: full sandbox, network only").shows("\n>");
    assert_eq!(terminal.colour_of("rm a.txt"), YELLOW, "{}", terminal.screen());
    assert_eq!(terminal.colour_of("ls &&"), Color::Default);
    assert!(terminal.screen().contains("  remove a.txt"), "{}", terminal.screen());
    assert!(!terminal.screen().contains("rules.toml"), "{}", terminal.screen());
    assert!(!terminal.screen().contains("session"), "{}", terminal.screen());
    terminal.types("1\n").shows("Choose one of the answers above.");
    assert_eq!(terminal.types("y\n").ends(), 0, "{}", terminal.screen());
    assert!(terminal.screen().contains("add this to rules.toml"), "{}", terminal.screen());
    assert!(!place.path("ws/a.txt").exists());
}
