//! A conversation: text as it comes, calls, what waits, Ctrl-C.

use haft_testkit::scripted::scripted_model::{Expect, Fault, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::screen::{Screen, place};

const ANSWER: &str = "## Done\n\nSome *words* and `code`:\n\n1. one\n2. two\n\n```rust\nfn main() {} // go\n```\n\n| name | what it is, in many words that do not fit |\n|---|---|\n| 漢字 | wide |\n\nThe end \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}.\n";

#[test]
fn an_answer_is_printed_block_by_block_at_any_width() {
    let place = place();
    for columns in [40, 80, 200] {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(ANSWER)]));
        let mut screen = Screen::chat_in(&place, &model, &[], columns);
        screen.shows("scripted at").types("go\r").shows("The end");
        let text = screen.text();
        for words in ["Done\n", "Some words and code:\n", "1. one\n2. two\n", "  fn main() {} // go\n", "漢字 │ wide"]
        {
            assert!(text.contains(words), "{words:?} at {columns}:\n{text}");
        }
        assert!(!text.contains("```") && !text.contains("|---"), "{text}");
        assert_eq!(screen.leaves(), 0);
    }
}

#[test]
fn calls_have_a_title_and_at_most_three_lines_and_ctrl_o_shows_the_rest() {
    let place = place();
    place.put("ws/long.txt", &(0..50).map(|number| format!("row {number}\n")).collect::<String>());
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::call("read_file", json!({ "path": "gone.txt" })),
        ScriptedTurn::call("read_file", json!({ "path": "long.txt" })),
        ScriptedTurn::text("Both read."),
    ]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("read\r").shows("Both read.");
    let text = screen.text();
    assert!(text.contains("● Tool(read_file) long.txt (") && text.contains("row 2 …"), "{text}");
    assert!(text.contains("● Tool(read_file) gone.txt (failed") && text.contains("Next: "), "{text}");
    assert!(!text.contains("row 30"), "{text}");
    screen.types("\u{f}").shows("row 49");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_change_that_nobody_was_asked_about_is_shown_with_its_difference() {
    let place = place();
    let edit = json!({ "path": "a.txt", "edits": [{ "old_text": "two", "new_text": "zwei" }] });
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::call("read_file", json!({ "path": "a.txt" })),
        ScriptedTurn::call("edit_file", edit),
        ScriptedTurn::text("Edited."),
    ]));
    let mut screen = Screen::chat(&place, &model, &["--yes"]);
    screen.shows("scripted at").types("edit\r").shows("- two").shows("+ zwei").shows("Edited.");
    assert!(screen.text().contains("/undo 1"), "{}", screen.text());
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_message_that_is_typed_while_the_model_works_reaches_it_after_its_calls() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::call("read_file", json!({ "path": "a.txt" })).held(),
        ScriptedTurn::text("With that in mind.").expect(Expect::user_says("mind the gap")),
        ScriptedTurn::text("And afterwards.").expect(Expect::user_says("one more thing")),
    ]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r").shows("waiting for scripted");
    screen.types("mind the gap\r").shows("at the next step: mind the gap");
    screen.types("one more thing\u{1b}\r").shows("afterwards: one more thing");
    screen.types("not this\r").shows("at the next step: not this").types("\u{1b}[1;3A").shows("› not this");
    screen.types("\u{15}");
    model.release_all();
    screen.shows("With that in mind.").shows("And afterwards.").hides("afterwards: one more");
    assert_eq!(screen.leaves(), 0);
    model.assert_told();
}

#[test]
fn ctrl_c_stops_the_model_and_what_waited_comes_back() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("never").fault(Fault::HangBeforeHeaders),
        ScriptedTurn::text("Here."),
    ]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r").shows("waiting for scripted");
    screen.types("later\r").shows("at the next step: later").types("\u{3}").shows("Stopped.").shows("› later");
    screen.types("\r").shows("never");
    assert_eq!(screen.leaves(), 0);
}

#[test]
fn a_long_paste_is_folded_and_sent_whole() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("Read it.").expect(Expect::user_says("row 99 of it"))
    ]));
    let mut screen = Screen::chat(&place, &model, &[]);
    let long: String = (0..100).map(|number| format!("row {number} of it\r")).collect();
    screen.shows("scripted at").types("look: ").pastes(&long).shows("› look: [pasted 100 lines]");
    screen.types("\r").shows("Read it.");
    assert_eq!(screen.leaves(), 0);
    model.assert_told();
}

#[test]
fn a_provider_that_fails_is_said_with_what_to_do() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("never").fault(Fault::status(401))]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r").shows("haft: ").hides("Esc stops");
    assert_eq!(screen.leaves(), 0);
}

/// A small picture.
fn picture() -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0"[..], &[0; 27]].concat()
}

#[test]
fn an_image_that_is_named_or_dropped_is_shown_to_the_model() {
    let place = place();
    let shown = |images, words: &str| Expect { images: Some(images), ..Expect::user_says(words) };
    std::fs::write(place.path("ws/logo.png"), picture()).expect("a file can be written");
    std::fs::write(place.path("ws/my shot.png"), picture()).expect("a file can be written");
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("A logo.").expect(shown(1, "what is on @logo.png?")),
        ScriptedTurn::text("A shot.").expect(shown(2, "and on @'")),
    ]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("what is on @gone.png?\r").shows("the image gone.png cannot be shown");
    screen.shows("› what is on @gone.png?").types("\u{15}what is on @logo.png?\r").shows("A logo.");
    let dropped = place.path("ws/my shot.png").display().to_string().replace(' ', "\\ ");
    screen.types("and on ").pastes(&dropped).shows("my shot.png'").types("\r").shows("A shot.");
    assert_eq!(screen.leaves(), 0);
    model.assert_told();
}
