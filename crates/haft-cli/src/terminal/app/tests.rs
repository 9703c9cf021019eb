//! Tests the terminal as a value: which results keys and reports have.

use std::sync::Arc;

use haft_runtime::asking::approval::Verdict;

use super::*;
use crate::prompt::tests::request;
use crate::terminal::drawing::painted::bare;
use crate::terminal::drawing::region::{Reflow, Region, TerminalSize};
use crate::terminal::input::call_line::GivenArguments;
use crate::terminal::input::keys::{KeyCode, KeyDecoder, KeyPress, TerminalInput};
use crate::terminal::protocol::{
    Idle, MessageDelivery, Reply, RunningCall, ScreenQuestion, ScreenQuestionSubject, StartupFacts, WorkerReport,
};
use crate::terminal::tool_facts::tests::read_file;

/// An app with a clock.
struct Desktop {
    app: App,
    now: Instant,
}

impl Desktop {
    /// A tool console: no model.
    fn console() -> Self {
        Self::with(ModelReport::None("no key".into()))
    }

    fn chat() -> Self {
        Self::with(ModelReport::Is { name: "m1".into(), from: "here".into(), window: 1_000 })
    }

    fn with(model: ModelReport) -> Self {
        let mut desktop = Self { app: App::new(Colours::Off, Mode::Normal, Yes::Asked), now: Instant::now() };
        let found = StartupFacts {
            workspace: "/ws".into(),
            sandbox: "full".into(),
            tools: vec![read_file()],
            ..StartupFacts::default()
        };
        desktop.hear(WorkerReport::Found(Box::new(found))).hear(WorkerReport::Model(model));
        desktop.hear(WorkerReport::Files(vec!["Cargo.toml".into(), "src/main.rs".into()]));
        desktop
    }

    fn hear(&mut self, report: WorkerReport) -> &mut Self {
        self.app.hear(report, self.now);
        self
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        let mut decoder = KeyDecoder::default();
        let mut inputs = decoder.feed(keys.as_bytes());
        inputs.extend(decoder.flush());
        inputs.into_iter().for_each(|input| self.app.take(input, self.now));
        self
    }

    fn presses(&mut self, key: KeyPress) -> &mut Self {
        self.app.take(TerminalInput::Key(key), self.now);
        self
    }

    fn waits(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self
    }

    fn orders(&mut self) -> Vec<Order> {
        self.app.take_orders()
    }

    fn rows(&mut self) -> String {
        let frame = self.app.frame(TerminalSize { rows: 40, columns: 80 }, self.now);
        frame.rows.iter().map(|row| bare(row).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    fn printed(&mut self) -> String {
        let lines = self.app.take_finished();
        lines.iter().map(|line| bare(line).into_owned()).collect::<Vec<_>>().join("\n")
    }
}

fn question(id: u64) -> WorkerReport {
    WorkerReport::Question(ScreenQuestion { id, about: ScreenQuestionSubject::Call(Arc::new(request())) })
}

#[test]
fn the_first_screen_says_what_was_found_and_what_to_type() {
    let mut desktop = Desktop::console();
    insta::assert_snapshot!(desktop.printed(), @r"
    haft
    project  /ws
    sandbox  full
    model    none: no key
    type     read_file path=README.md, or !ls, or / for commands; Tab completes
    ");
    insta::assert_snapshot!(desktop.rows(), @r"
    ›
      no model
    ");
}

#[test]
fn a_call_is_completed_helped_with_and_sent() {
    let mut desktop = Desktop::console();
    assert!(desktop.types("rea").rows().contains("› read_file  Reads a file."));
    desktop.types("\tpa\tCarg");
    insta::assert_snapshot!(desktop.rows(), @r"
    › read_file path=Carg
      read_file(path, [limit, mode])  Reads a file.
      path: The file.
      › Cargo.toml
      no model
    ");
    desktop.types("\tlimt=3");
    assert!(desktop.rows().contains("read_file has no parameter limt; did you mean limit?"), "{}", desktop.rows());
    desktop.types("\u{17}\u{17}\r");
    let orders = desktop.orders();
    let [Order::Call(call)] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!(call.given, GivenArguments::Words(vec!["path=Cargo.toml".into()]));
    assert!(desktop.printed().contains("› read_file path=Cargo.toml"));
}

#[test]
fn words_without_a_model_are_not_lost() {
    let mut desktop = Desktop::console();
    desktop.types("make the tests pass\r");
    assert!(desktop.orders().is_empty());
    assert!(desktop.rows().contains("› make the tests pass") && desktop.rows().contains("/model connects one"));
}

#[test]
fn what_is_typed_before_a_model_is_found_waits_for_it() {
    let mut desktop = Desktop { app: App::new(Colours::Off, Mode::Normal, Yes::Asked), now: Instant::now() };
    desktop.types("do it\r");
    assert!(matches!(desktop.orders().as_slice(), [Order::Queue(_)]), "it is recorded, and nothing starts");
    assert!(desktop.rows().contains("afterwards: do it"), "{}", desktop.rows());
    let found = ModelReport::Is { name: "m1".into(), from: "here".into(), window: 1_000 };
    desktop.hear(WorkerReport::Model(found));
    assert!(desktop.orders().contains(&Order::Prompt("do it".into())));
    let mut desktop = Desktop { app: App::new(Colours::Off, Mode::Normal, Yes::Asked), now: Instant::now() };
    desktop.types("do it\r").hear(WorkerReport::Model(ModelReport::None("no key".into())));
    assert!(desktop.rows().contains("› do it"), "{}", desktop.rows());
}

#[test]
fn what_is_typed_while_the_model_works_waits_can_be_taken_back_and_is_sent() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r");
    assert_eq!(desktop.orders(), [Order::Prompt("do it".into())]);
    desktop.types("and this\r").types("then that").presses(KeyPress::alt(KeyCode::Enter)).types("oops\r");
    let rows = desktop.rows();
    assert!(rows.contains("at the next step: and this") && rows.contains("afterwards: then that"), "{rows}");
    desktop.presses(KeyPress::alt(KeyCode::Up));
    assert!(desktop.rows().contains("› oops"), "{}", desktop.rows());
    desktop.types("\u{15}");
    let orders = desktop.orders();
    let queued = |order: &&Order| matches!(order, Order::Queue(queued) if queued.when == MessageDelivery::NextStep);
    assert_eq!(orders.iter().filter(queued).count(), 2, "{orders:?}");
    // The model took the first one at its next step; the second one is sent when the turn is over.
    desktop.hear(WorkerReport::Steered(1)).hear(WorkerReport::Idle(Idle::Done));
    assert!(desktop.orders().contains(&Order::Prompt("then that".into())));
    assert_eq!(desktop.printed().matches("› and this").count(), 1);
}

#[test]
fn a_stop_gives_what_waits_back() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r").types("more\r").types("half");
    desktop.types("\u{1b}");
    assert!(desktop.orders().contains(&Order::Stop));
    assert!(desktop.rows().contains("stopping"), "{}", desktop.rows());
    desktop.hear(WorkerReport::Idle(Idle::Stopped));
    assert!(desktop.rows().starts_with("› more\n  half\n"), "{}", desktop.rows());
    // A run that failed by itself gives back what waited, too.
    desktop.types("\r").types("later\r").orders();
    desktop.hear(WorkerReport::Idle(Idle::Stopped));
    assert!(desktop.rows().starts_with("› later\n"), "{}", desktop.rows());
}

#[test]
fn ctrl_c_stops_then_clears_then_leaves() {
    let mut desktop = Desktop::console();
    desktop.types("!sleep 9\r");
    assert_eq!(desktop.orders(), [Order::Shell("sleep 9".into())]);
    desktop.types("typed\u{3}");
    assert_eq!(desktop.orders(), [Order::Stop]);
    desktop.hear(WorkerReport::Idle(Idle::Stopped)).types("\u{3}");
    assert!(desktop.orders().is_empty() && desktop.rows().contains("Cleared."), "{}", desktop.rows());
    desktop.types("\u{3}");
    assert!(desktop.orders().is_empty() && desktop.rows().contains("again to leave"), "{}", desktop.rows());
    desktop.waits(LEAVE_AGAIN * 2).types("\u{3}");
    assert!(desktop.orders().is_empty(), "too late to be meant");
    assert_eq!(desktop.types("\u{3}").orders(), [Order::Quit]);
    assert!(desktop.types("\u{1b}[A").rows().contains("› typed"), "the cleared line is in the history");
}

#[test]
fn a_question_takes_only_keys_that_were_meant_for_it() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r").orders();
    desktop.types("my next mess").hear(question(3));
    desktop.rows();
    desktop.types("age y");
    assert!(desktop.orders().is_empty());
    assert!(desktop.rows().contains("› my next message y"), "{}", desktop.rows());
    desktop.waits(Duration::from_secs(1)).types("\r\r");
    desktop.app.take(TerminalInput::Paste("y".into()), desktop.now);
    assert!(desktop.orders().is_empty(), "neither Enter nor a paste answers");
    desktop.waits(Duration::from_secs(1)).types("y");
    assert_eq!(desktop.orders(), [Order::Answer(3, Reply::Verdict(Verdict::AllowOnce))]);
    let printed = desktop.printed();
    assert!(printed.contains("Write file (write_file) would:") && printed.contains("→ yes"), "{printed}");
    assert!(desktop.rows().contains("› my next message yy"), "what was typed is still there:\n{}", desktop.rows());
}

#[test]
fn several_questions_are_one_list_and_a_withdrawn_one_goes() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r").hear(question(1)).hear(question(2));
    assert!(desktop.rows().contains("(1 of 2 questions)") && desktop.rows().contains("then: Tool(write_file)"));
    desktop.hear(WorkerReport::Withdrawn(1));
    assert!(!desktop.rows().contains("questions)"), "{}", desktop.rows());
    desktop.waits(Duration::from_secs(1)).types("s").orders();
    assert!(!desktop.rows().contains("allow it?"));
}

#[test]
fn a_call_can_be_edited_before_it_runs_and_the_question_comes_back_if_not() {
    let mut desktop = Desktop::chat();
    desktop.app.known.tools[0].name = "write_file".into();
    desktop.types("do it\r").orders();
    desktop.hear(question(4)).rows();
    desktop.waits(Duration::from_secs(1)).types("e");
    assert!(desktop.rows().contains("› write_file path="), "{}", desktop.rows());
    desktop.types("\u{3}");
    assert!(desktop.rows().contains("allow it?"), "{}", desktop.rows());
    desktop.waits(Duration::from_secs(1)).types("e").types("x\r");
    let orders = desktop.orders();
    assert!(matches!(orders.as_slice(), [Order::Answer(4, Reply::Instead(_))]), "{orders:?}");
}

#[test]
fn what_goes_on_is_always_visible() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r").hear(WorkerReport::Step).waits(Duration::from_secs(12));
    assert!(desktop.rows().contains("waiting for m1 · 12 s"), "{}", desktop.rows());
    desktop.hear(WorkerReport::Thinking(1_200));
    assert!(desktop.rows().contains("thinking · 1,200 characters"), "{}", desktop.rows());
    desktop.hear(WorkerReport::Text("Some **te".into()));
    assert!(desktop.rows().starts_with("Some **te\n"), "{}", desktop.rows());
    desktop.hear(WorkerReport::Writing("write_file".into())).hear(WorkerReport::Arguments(2_100));
    assert!(desktop.rows().contains("writing a call of write_file · 2.1 kB"), "{}", desktop.rows());
    for id in ["1", "2"] {
        let call = RunningCall { id: id.into(), title: "Tool(bash)".into(), about: format!("make {id}") };
        desktop.hear(WorkerReport::CallBegan(call));
        desktop.app.tails().note(id, &format!("one\nlast line of {id}"));
    }
    let rows = desktop.rows();
    assert!(rows.contains("Tool(bash) make 1") && rows.contains("│ last line of 2"), "{rows}");
    desktop.hear(WorkerReport::CallEnded { id: "1".into(), lines: vec!["● done".into()], whole: None });
    assert!(!desktop.rows().contains("make 1") && desktop.printed().contains("● done"));
}

#[test]
fn the_menu_of_commands_runs_what_it_shows() {
    let mut desktop = Desktop::console();
    assert!(desktop.types("/un").rows().contains("› /undo"), "{}", desktop.rows());
    desktop.types("\r");
    assert_eq!(desktop.orders(), [Order::Confirmed(vec!["undo".into()])]);
    desktop.hear(WorkerReport::Idle(Idle::Done)).types("/yolo\r");
    assert_eq!(desktop.orders(), [Order::Yes(Yes::ToAll)]);
    assert!(desktop.rows().contains("yolo"));
    desktop.types("!ls\r").types("/log\r");
    assert!(desktop.rows().contains("afterwards: /log"), "{}", desktop.rows());
    desktop.orders();
    desktop.hear(WorkerReport::Idle(Idle::Done));
    assert!(desktop.orders().contains(&Order::Haft(vec!["log".into()])));
    desktop.types("/nothing\r");
    assert!(desktop.rows().contains("There is no command /nothing."), "{}", desktop.rows());
}

#[test]
fn earlier_lines_are_found_by_a_search() {
    let mut desktop = Desktop::console();
    desktop
        .types("!cargo test\r")
        .hear(WorkerReport::Idle(Idle::Done))
        .types("!ls\r")
        .hear(WorkerReport::Idle(Idle::Done));
    desktop.types("\u{12}car");
    assert!(desktop.rows().contains("› !cargo test") && desktop.rows().contains("search: car"), "{}", desktop.rows());
    desktop.orders();
    assert_eq!(desktop.types("\r").orders(), [Order::Shell("cargo test".into())]);
}

#[test]
fn no_row_is_wider_than_the_terminal_whatever_is_shown() {
    let mut desktop = Desktop::chat();
    desktop.types("do it\r").hear(WorkerReport::Text("漢字 \u{1f468}\u{200d}\u{1f469} ".repeat(80)));
    let about = "x".repeat(500);
    // The call that the question is about has no row, and the first row of all is not measured.
    for id in ["1", "2", "3"] {
        let call = RunningCall { id: id.into(), title: "Tool(bash)".into(), about: about.clone() };
        desktop.hear(WorkerReport::CallBegan(call));
    }
    desktop.types(&"long words and 漢字 ".repeat(30)).hear(question(1));
    for columns in [40, 41, 80, 200, 300] {
        let size = TerminalSize { rows: 30, columns };
        let frame = desktop.app.frame(size, desktop.now);
        let mut region = Region::new(Colours::Off, Reflow::Breaks);
        let bytes = region.update(&[], &frame, size);
        assert!(bytes.len() < 30 * columns * 4 + 200, "{columns}: {} bytes", bytes.len());
        let rows =
            bytes.split("\r\n").map(|row| crate::terminal::drawing::painted::widest(row.trim_start_matches('\r')));
        assert!(rows.skip(1).all(|wide| wide <= columns + 20), "{columns}");
    }
}
