//! The pictures of the guide: real runs, drawn from what a terminal shows.
//!
//! `HAFT_TEST_WRITE=1` writes the pictures. The tests do not compare them: a frame more or less is no mistake. Numbers
//! that change with each run (times, ports, the folder of the test) are replaced by fixed ones.

#[path = "pictures/drawn.rs"]
mod drawn;

use haft_testkit::scratch_home::ScratchHome;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use regex::Regex;
use serde_json::{Value, json};

use crate::screen::{Screen, place};
use drawn::picture;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/pictures");
const COLUMNS: u16 = 92;
/// Most bytes of a picture.
const LARGEST: usize = 40_000;
/// What ends a frame.
const FRAME_ENDS: &str = "\u{1b}[?2026l";

const MAIN: &str = "fn main() {\n    let name = \"world\";\n    println!(\"hello {name}\");\n}\n";
const ANSWER: &str = "The totals are computed twice. **One pass** is enough:\n\n```rust\n\
    fn totals(orders: &[Order]) -> Totals {\n    \
    // One pass: the sum and the number of orders.\n    \
    orders.iter().fold(Totals::default(), |sum, order| sum.add(order))\n}\n```\n\n\
    | orders | two passes | one pass |\n|---|---|---|\n| 1,000 | 0.4 ms | 0.2 ms |\n| 1,000,000 | 410 ms | 205 ms |\n\n\
    Next I change the callers and run the tests, because the order of the fields is part of the format.";

/// A project, as the reader of the guide may have one.
fn project() -> ScratchHome {
    let place = place();
    place.put("ws/src/main.rs", MAIN);
    place.put("ws/README.md", "# Shop\n");
    place
}

fn edit() -> Value {
    json!({ "path": "src/main.rs", "edits": [{ "old_text": "hello {name}", "new_text": "good day, {name}" }] })
}

fn model(turns: Vec<ScriptedTurn>) -> ScriptedModel {
    ScriptedModel::start(ModelScript::of(turns))
}

/// Draws what the terminal shows, and writes the picture if that is wanted.
fn shown(name: &str, place: &ScratchHome, screen: &Screen) {
    let raw = String::from_utf8_lossy(&screen.raw).replace(&place.path("ws").display().to_string(), "/home/ada/shop");
    let raw = raw.replace(&place.path("home").display().to_string(), "/home/ada");
    let replaced =
        |text: &str, found: &str, by: &str| Regex::new(found).expect("it is one").replace_all(text, by).into_owned();
    let raw = replaced(&raw, r"127\.0\.0\.1:\d+", "127.0.0.1:8080");
    let raw = replaced(&raw, r"\b\d+(\.\d)? s\b", "1.2 s");
    let whole = raw.rfind(FRAME_ENDS).map_or(raw.as_str(), |end| &raw[..end]);
    let drawn = picture(whole, COLUMNS, name);
    assert!(drawn.len() < LARGEST, "{name}: {} bytes", drawn.len());
    assert!(!drawn.contains(&place.root().display().to_string()), "{name}: {drawn}");
    let file = format!("{FOLDER}/{name}.svg");
    if std::env::var_os("HAFT_TEST_WRITE").is_some() {
        std::fs::create_dir_all(FOLDER).expect("folders can be made");
        std::fs::write(&file, &drawn).expect("a picture can be written");
    }
    let written = std::fs::read_to_string(&file).expect("the guide has the picture");
    assert!(written.len() < LARGEST && written.starts_with("<svg ") && written.ends_with("</svg>\n"), "{file}");
}

#[test]
fn the_first_screen() {
    let place = project();
    let mut screen = Screen::console(&place, COLUMNS);
    screen.shows("no model").types("edit_file ").shows("path   The file.").waits_for_quiet();
    shown("first-run", &place, &screen);
    assert_eq!(screen.types("\u{15}").leaves(), 0);
}

#[test]
fn a_call_in_the_console_with_its_difference() {
    let place = project();
    let mut screen = Screen::console(&place, COLUMNS);
    screen.shows("no model").types(&format!("edit_file {}\r", edit())).asks().types("y").shows("/undo 1");
    screen.waits_for_quiet();
    shown("console-call", &place, &screen);
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_question_about_a_command() {
    let place = project();
    let command = "cargo test && rm -rf old-shop && git push";
    let turn = ScriptedTurn::text("I test, clean up and publish. ").and_call("bash", json!({ "command": command }));
    let model = model(vec![turn]);
    let mut screen = Screen::chat_in(&place, &model, &[], COLUMNS);
    screen.shows("scripted at").types("publish it\r").asks();
    shown("question", &place, &screen);
    assert_eq!(screen.types("\u{1b}").hides("allow it?").leaves(), 0);
}

#[test]
fn an_answer_while_it_comes() {
    let place = project();
    let model = model(vec![ScriptedTurn::text(ANSWER).held()]);
    let mut screen = Screen::chat_in(&place, &model, &[], COLUMNS);
    screen.shows("scripted at").types("why is the report slow?\r").shows("waiting for scripted");
    model.release(ANSWER.chars().count() / 16);
    screen.shows("205 ms").shows("Esc stops").waits_for_quiet();
    shown("answer", &place, &screen);
    model.release_all();
    screen.shows("of the format").hides("Esc stops");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn an_undo_that_is_asked_about() {
    let place = project();
    let turns = vec![ScriptedTurn::call("edit_file", edit()), ScriptedTurn::text("The greeting is polite now.")];
    let model = model(turns);
    let mut screen = Screen::chat_in(&place, &model, &["--yes"], COLUMNS);
    screen.shows("scripted at").types("greet politely\r").shows("polite now.").hides("Esc stops");
    screen.types("/undo\r").shows("Would undo change set 1").shows("yes, undo it").waits_for_quiet();
    shown("undo", &place, &screen);
    assert_eq!(screen.types("n").hides("yes, undo it").leaves(), 0);
}

#[test]
fn calls_side_by_side() {
    let place = project();
    let waits = |words: &str| json!({ "command": format!("echo {words}; tail -f /dev/null") });
    let turn = ScriptedTurn::text("I build and test side by side.")
        .and_call("bash", waits("Compiling shop v1.0.0"))
        .and_call("bash", waits("test orders::total ... ok"))
        .and_call("read_file", json!({ "path": "README.md" }));
    let model = model(vec![turn]);
    let mut screen = Screen::chat_in(&place, &model, &["--yolo"], COLUMNS);
    screen.shows("scripted at").types("is it ready?\r").shows("│ Compiling").shows("│ test orders").shows("# Shop");
    screen.shows("22 B printed").shows("26 B printed");
    shown("parallel-calls", &place, &screen);
    assert_eq!(screen.types("\u{1b}").shows("Stopped.").hides("◌").leaves(), 0);
}
