//! `haft run` at a real terminal: text as it comes, questions, what a call was, and how it ends.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{Expect, Fault, ModelScript, ScriptedModel, ScriptedTurn};
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use serde_json::json;

use crate::place::{KEY, Place, said};

/// A program that prints nothing for this long hangs.
const HANGS: Duration = Duration::from_secs(30);

struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(place: &Place, model: &ScriptedModel, arguments: &[&str]) -> Self {
        let (pty, pts) = open().expect("a terminal can be opened");
        pty.resize(Size::new(60, 100)).expect("a terminal has a size");
        let command = Command::new(env!("CARGO_BIN_EXE_haft")).args(arguments).env_clear();
        let command = command.env("HOME", place.path("home")).env("TMPDIR", place.root());
        let command = command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "xterm-256color");
        let command = command.env("HAFT_MODEL", ScriptedModel::NAME).env("HAFT_WIRE", "chat").env("HAFT_API_KEY", KEY);
        let command = command.env("HAFT_BASE_URL", model.base_url(Wire::Chat)).current_dir(place.path("ws"));
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
        Self { pty, child, output, seen: String::new() }
    }

    /// Waits until this has come.
    fn shows(&mut self, text: &str) -> &mut Self {
        while !self.seen.contains(text) {
            match self.output.recv_timeout(HANGS) {
                Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("{text:?} does not appear ({error}):\n{}", self.seen),
            }
        }
        self
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        (&*self.pty).write_all(keys.as_bytes()).expect("a terminal takes keys");
        self
    }

    fn ends(&mut self) -> Option<i32> {
        while let Ok(piece) = self.output.recv_timeout(HANGS) {
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
        self.child.wait().expect("it ends").code()
    }
}

fn write(name: &str) -> ScriptedTurn {
    ScriptedTurn::text("I write it. ").and_call("write_file", json!({ "path": name, "content": "new\n" }))
}

#[test]
fn a_person_sees_the_text_answers_the_question_and_reads_the_end_once() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), ScriptedTurn::text("It is written.")]));
    let mut terminal = Terminal::start(&place, &model, &["run", "write b.txt"]);
    terminal.shows("I write it. ").shows("b.txt").shows("> ").types("y\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    assert!(place.has("b.txt"));
    assert_eq!(terminal.seen.matches("It is written.").count(), 1, "{}", terminal.seen);
    for words in ["• write_file b.txt (", "2 steps, ", "write_file 1× ", " in total"] {
        assert!(terminal.seen.contains(words), "{words}: {}", terminal.seen);
    }
}

#[test]
fn a_yes_for_the_session_answers_the_next_question_too() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([
        write("b.txt"),
        write("c.txt"),
        ScriptedTurn::text("Both are written."),
    ]));
    let mut terminal = Terminal::start(&place, &model, &["run", "write"]);
    terminal.shows("> ").types("2\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    assert!(place.has("b.txt") && place.has("c.txt"), "{}", terminal.seen);
}

#[test]
fn the_model_is_told_why_a_person_said_no() {
    let place = Place::new();
    let told = ScriptedTurn::text("Then not.").expect(Expect::tool_result_contains("use another name"));
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), told]));
    let mut terminal = Terminal::start(&place, &model, &["run", "write"]);
    terminal.shows("> ").types("n use another name\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    assert!(!place.has("b.txt"));
    model.assert_told();
    let again = said(place.bare(&["replay"]));
    assert_eq!(again.code, 0, "it is said again: {}{}", again.out, again.err);
}

#[test]
fn ctrl_c_at_a_question_stops_the_run_and_says_how_to_go_on() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([write("b.txt")]));
    let mut terminal = Terminal::start(&place, &model, &["run", "write"]);
    terminal.shows("> ").types("\u{3}");
    assert_eq!(terminal.ends(), Some(130), "{}", terminal.seen);
    assert!(terminal.seen.contains("To continue: haft resume "), "{}", terminal.seen);
    assert!(!place.has("b.txt"));

    let next =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Gladly.").expect(Expect::user_says("try again"))]));
    let mut terminal = Terminal::start(&place, &next, &["resume"]);
    terminal.shows("What should the model do next?").types("try again\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    assert!(terminal.seen.contains("Gladly."), "{}", terminal.seen);
}

#[test]
fn a_person_is_asked_about_a_model_that_goes_in_circles() {
    let place = Place::new();
    let again = || ScriptedTurn::call("read_file", json!({ "path": "nowhere.txt" }));
    let told = ScriptedTurn::text("I look elsewhere.").expect(Expect::user_says("it is called a.txt"));
    let model = ScriptedModel::start(ModelScript::of((0..6).map(|_| again()).chain([told])));
    let mut terminal = Terminal::start(&place, &model, &["run", "read it"]);
    terminal.shows("The model called read_file 6 times").shows("> ").types("it is called a.txt\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    model.assert_told();
}

#[test]
fn records_are_json_at_a_terminal_too() {
    let place = Place::new();
    let text = "clear\u{9b}2J turn\u{202e} tag\u{e0041}";
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(text)]));
    let mut terminal = Terminal::start(&place, &model, &["run", "--json", "talk"]);
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    let records = haft_testkit::scratch_home::records(&terminal.seen);
    assert_eq!(records.last().expect("it says how it ended")["answer"], text);
    assert!(terminal.seen.contains("clear\\u009b2J turn\\u202e tag\\udb40\\udc41"), "{}", terminal.seen);
}

#[test]
fn a_person_sees_that_a_silent_model_is_waited_for_and_asked_once_more() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", "[model]\nidle_seconds = 4\n");
    let model =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Here I am.").fault(Fault::HangBeforeHeaders)]));
    let mut terminal = Terminal::start(&place, &model, &["run", "are you there?"]);
    terminal.shows("waiting for the model: no output yet after ");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.seen);
    let note = "note: The provider sent nothing for 4 s. Retrying.";
    assert!(terminal.seen.contains(note) && terminal.seen.contains("Here I am."), "{}", terminal.seen);
    model.assert_told();
}
