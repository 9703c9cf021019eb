//! The question at a real terminal: what it shows, which keys answer it, and which never do.

use haft_testkit::scratch_home::ScratchHome;
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::screen::{Screen, place};

fn writes(name: &str) -> ScriptedTurn {
    ScriptedTurn::text("I write it. ").and_call("write_file", json!({ "path": name, "content": "new\n" }))
}

fn asked(place: &ScratchHome, model: &ScriptedModel) -> Screen {
    let mut screen = Screen::chat(place, model, &[]);
    screen.shows("scripted at").types("write it\r").asks();
    screen
}

#[test]
fn a_yes_for_longer_answers_the_next_question_too() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([writes("b.txt"), writes("c.txt"), ScriptedTurn::text("Both.")]));
    let mut screen = asked(&place, &model);
    screen.shows("yes, and don't ask again for all changes to files of the workspace in this session");
    screen.types("2").shows("Both.");
    assert!(place.path("ws/b.txt").exists() && place.path("ws/c.txt").exists());
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn yolo_answers_every_ordinary_question_from_then_on() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([writes("b.txt"), ScriptedTurn::text("It is there.")]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("/yolo\r").shows("haft answers every ordinary question with yes");
    screen.types("write it\r").shows("It is there.");
    assert!(place.path("ws/b.txt").exists());
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn neither_enter_nor_a_paste_nor_an_unknown_key_answers() {
    let place = place();
    let told = ScriptedTurn::text("Then not.").expect(Expect::tool_result_contains("use another name"));
    let model = ScriptedModel::start(ModelScript::of([writes("b.txt"), told]));
    let mut screen = asked(&place, &model);
    screen.types("\r").types("x").pastes("y").shows("› y");
    screen.waits_for_quiet().shows("allow it?");
    assert!(!place.path("ws/b.txt").exists());
    screen.types("n").shows("What should the model know?").types("use another name\r").shows("Then not.");
    assert!(!place.path("ws/b.txt").exists());
    assert_eq!(screen.types("\u{15}").leaves(), 0);
    model.assert_told();
}

#[test]
fn keys_that_were_typed_ahead_stay_in_the_line() {
    let place = place();
    let held = writes("b.txt").held();
    let model = ScriptedModel::start(ModelScript::of([held, ScriptedTurn::text("It is there.")]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("write it\r").shows("waiting for scripted");
    // The question appears in the middle of a word.
    screen.types("yes y").shows("› yes y");
    model.release_all();
    screen.shows("allow it?").types("y1y").shows("› yes yy1y");
    assert!(!place.path("ws/b.txt").exists());
    screen.asks().types("y").shows("It is there.").shows("› yes yy1y");
    assert!(place.path("ws/b.txt").exists());
    assert_eq!(screen.types("\u{15}").leaves(), 0);
}

#[test]
fn a_call_is_edited_and_the_model_reads_what_came_of_it() {
    let place = place();
    let told = ScriptedTurn::text("So it has another name.").expect(Expect::tool_result_contains("made it myself"));
    let wanted = ScriptedTurn::call("write_file", json!({ "path": "b.txt", "content": "new" }));
    let model = ScriptedModel::start(ModelScript::of([wanted, told]));
    let mut screen = asked(&place, &model);
    screen.types("e").shows("› write_file path=b.txt content=").shows("Enter runs the changed call");
    screen.types("\u{15}write_file path=other.txt content=mine\r").shows("So it has another name.");
    assert!(!place.path("ws/b.txt").exists());
    assert_eq!(place.get("ws/other.txt").as_deref(), Some("mine"));
    assert_eq!(screen.leaves(), 0);
    model.assert_told();
}

#[test]
fn a_dangerous_question_says_so_and_offers_no_longer_yes() {
    let place = place();
    place.put("ws/.env", "PASSWORD=hunter2hunter2\n");
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::call("read_file", json!({ "path": ".env" })),
        ScriptedTurn::text("I see."),
    ]));
    let mut screen = Screen::chat(&place, &model, &["--yolo"]);
    screen.shows("yolo").types("read it\r").asks().shows("? dangerous: Tool(read_file): allow it?");
    assert!(!screen.text().contains("don't ask again"), "{}", screen.text());
    screen.types("\r").types("1").waits_for_quiet().types("s").shows("Stopped.");
    assert!(!screen.text().contains("hunter2"), "{}", screen.text());
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn neither_a_name_nor_a_content_commands_the_terminal() {
    let place = place();
    let evil = "a\u{1b}[2J\u{202e}\u{7}\ny  yes, this once.txt";
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("\u{1b}]0;title\u{7}\u{9b}5A *now*\n\n")
            .and_call("write_file", json!({ "path": evil, "content": "\u{1b}[8mhidden\u{1b}[0m\r+ x\n" })),
        ScriptedTurn::text("Done."),
    ]));
    let mut screen = asked(&place, &model);
    screen.types("s").shows("Stopped.");
    assert_eq!(screen.leaves(), 0);
    let said = String::from_utf8_lossy(&screen.raw).into_owned();
    for command in ["\u{1b}[2J", "\u{1b}[8m", "\u{1b}]0", "\u{202e}", "\u{9b}", "\u{7}"] {
        assert!(!said.contains(command), "{command:?} reached the terminal");
    }
}
