//! Going back to an earlier message: files and conversation together, or either.

use haft_testkit::scratch_home::{ScratchHome, said};
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::screen::{Screen, place};

fn write(path: &str) -> ScriptedTurn {
    ScriptedTurn::call("write_file", json!({ "path": path, "content": path }))
}

/// A terminal in which two messages were answered; each wrote a file.
fn two_messages(place: &ScratchHome, after: Vec<ScriptedTurn>) -> (ScriptedModel, Screen) {
    let turns =
        [write("one.txt"), ScriptedTurn::text("First done."), write("two.txt"), ScriptedTurn::text("Second done.")];
    let model = ScriptedModel::start(ModelScript::of(turns.into_iter().chain(after)));
    let mut screen = Screen::chat(place, &model, &["--yes"]);
    screen.shows("scripted at").types("write one\r").shows("First done.").types("write two\r").shows("Second done.");
    screen.hides("Esc stops");
    (model, screen)
}

fn without_second() -> ScriptedTurn {
    let forgotten = Expect { body_contains: vec!["First done.".into()], ..Expect::user_says("write two, better") };
    ScriptedTurn::text("Third done.").expect(forgotten)
}

#[test]
fn files_and_conversation_go_back_to_any_message_together() {
    let place = place();
    let (model, mut screen) = two_messages(&place, vec![without_second()]);
    screen.types("/undo ").shows("#2").shows("write two · 1 file: two.txt").shows("#1").types("two\r");
    screen
        .shows("Back to before: write two")
        .shows("Would undo change set 2")
        .shows("remove two.txt")
        .shows("Go back?");
    screen.waits_for_quiet().types("b").shows("Went back.").shows("› write two");
    assert!(!place.path("ws/two.txt").exists() && place.path("ws/one.txt").exists());
    screen.types(", better\r").shows("Third done.");
    assert!(!model.requests()[4].text.contains("Second done."), "the model is not told what was forgotten");
    assert_eq!(screen.leaves(), 0);
    model.assert_told();

    // What was forgotten stays so when the conversation continues.
    let next = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.").expect(Expect::user_says("still?"))]));
    let mut screen = Screen::chat(&place, &next, &["--continue"]);
    screen.shows("› write two, better").shows("Third done.").types("still?\r").shows("Yes.");
    assert!(!next.requests()[0].text.contains("Second done."));
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn either_goes_back_without_the_other() {
    let place = place();
    let (_model, mut screen) = two_messages(&place, vec![]);
    screen.types("/undo #1\r").shows("Go back?").waits_for_quiet();
    screen.shows("b  go back with both").shows("f  undo the changes of files only").types("f").shows("→ files only");
    screen.shows("Undid change sets 2, 1").hides("Go back?");
    assert!(!place.path("ws/one.txt").exists() && !place.path("ws/two.txt").exists());
    screen.types("/undo #2\r").shows("files: this conversation changed none since").shows("Go back?").waits_for_quiet();
    assert!(!screen.text().contains("f  undo"), "{}", screen.text());
    screen.types("c").shows("Went back.").shows("› write two");
    assert_eq!(screen.types("\u{15}").leaves(), 0);
    let exported = said(place.command(&["sessions", "export"]), "");
    assert!(exported.out.contains("First done.") && !exported.out.contains("Second done."), "{}", exported.out);
}

#[test]
fn a_no_changes_nothing_and_a_wrong_number_is_said() {
    let place = place();
    let (_model, mut screen) = two_messages(&place, vec![]);
    screen.types("/undo #7\r").shows("There is no message #7: you sent 2 messages");
    screen.types("/undo #1\r").shows("Go back?").waits_for_quiet().types("n").hides("Go back?");
    assert!(place.path("ws/one.txt").exists() && place.path("ws/two.txt").exists());
    assert_eq!(screen.leaves(), 0);
}
