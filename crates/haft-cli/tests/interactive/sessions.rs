//! Conversations that outlive the process: what was said, what waited, what was being typed.

use std::path::PathBuf;

use haft_testkit::scratch_home::{ScratchHome, said};
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};

use crate::screen::{Screen, place};

/// Returns what is written of the only session.
fn session_text(place: &ScratchHome) -> String {
    let inside = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let workspaces = inside(place.path("home/.local/state/haft/workspaces"));
    let files = workspaces.into_iter().flat_map(|workspace| inside(workspace.join("sessions")));
    files.map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()).collect()
}

#[test]
fn a_conversation_goes_on_with_continue() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("I remember 47.")]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("remember 47\r").shows("I remember 47.");
    assert_eq!(screen.leaves(), 0);
    assert!(screen.text().contains("To continue this conversation: haft --continue"), "{}", screen.text());

    let next = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("It was 47.").expect(Expect::user_says("which number?"))
    ]));
    let mut screen = Screen::chat(&place, &next, &["--continue"]);
    screen.shows("Continuing session").shows("› remember 47").shows("I remember 47.").shows("scripted at");
    screen.types("which number?\r").shows("It was 47.");
    assert_eq!(screen.leaves(), 0);
    let last =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Still 47.").expect(Expect::user_says("and now?"))]));
    let mut screen = Screen::chat(&place, &last, &[]);
    screen.shows("scripted at").types("/resu\r").shows("remember 47").types("\r").shows("Continuing session");
    screen.shows("It was 47.").types("and now?\r").shows("Still 47.");
    assert_eq!(screen.leaves(), 0);
    let sessions = said(place.command(&["sessions"]), "");
    assert_eq!(sessions.out.lines().count(), 1, "it is one session: {}", sessions.out);
    let replayed = said(place.command(&["replay"]), "");
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
}

#[test]
fn a_kill_loses_neither_what_waits_nor_what_is_typed() {
    let place = place();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("held").held()]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r").shows("waiting for scripted");
    screen.types("first wait\r").shows("next step: first wait").types("second\u{1b}\r").shows("afterwards: second");
    screen.types("half a sent").shows("› half a sent");
    screen.waits_until(|| session_text(&place).contains("half a sent")).is_killed();

    let next = ScriptedModel::start(ModelScript::of([]));
    let mut screen = Screen::chat(&place, &next, &["--continue"]);
    screen.shows("Continuing session").shows("› go").shows("next step: first wait").shows("afterwards: second");
    screen.shows("› half a sent");
    assert_eq!(screen.types("\u{15}").leaves(), 0);
}

#[test]
fn a_conversation_has_a_name_a_preview_and_can_be_exported() {
    let place = place();
    place.put("ws/.env", "PASSWORD=hunter2hunter2\n");
    let call =
        ScriptedTurn::call("write_file", serde_json::json!({ "path": "new.txt", "content": "hunter2hunter2 ```\n" }));
    let model = ScriptedModel::start(ModelScript::of([call, ScriptedTurn::text("It is written.")]));
    let mut screen = Screen::chat(&place, &model, &["--yes"]);
    screen.shows("scripted at").types("write it\r").shows("It is written.");
    screen.types("/name Fix the login\r").shows("This conversation is called Fix-the-login");
    screen.types("/export talk.md\r").shows("Wrote ").types("/export talk.md\r").shows("it exists already");
    screen.types("/export talk.json\r").waits_until(|| place.path("ws/talk.json").exists());
    assert_eq!(screen.leaves(), 0);
    let markdown = place.get("ws/talk.md").expect("it was written");
    for words in ["# Fix-the-login", "## User\n\nwrite it", "Call of `write_file`", "It is written."] {
        assert!(markdown.contains(words), "{words}:\n{markdown}");
    }
    let json = place.get("ws/talk.json").expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["messages"][1]["calls"][0]["tool"], "write_file");
    assert!(!markdown.contains("hunter2") && !json.to_string().contains("hunter2"), "secrets stay hidden");

    let next = ScriptedModel::start(ModelScript::of([]));
    let mut screen = Screen::chat(&place, &next, &[]);
    screen.shows("scripted at").types("/resume\r").shows("Fix-the-login: write it").shows("│ first    write it");
    screen.shows("│ answer   It is written.").shows("│ changed  1 file: new.txt");
    screen.types("\u{15}");
    assert_eq!(screen.leaves(), 0);
    let sessions = said(place.command(&["sessions"]), "");
    assert!(sessions.out.contains("Fix-the-login"), "{}", sessions.out);
    let exported = said(place.command(&["sessions", "export", "fix-the-login"]), "");
    assert_eq!(exported.out, markdown);
    let renamed = said(place.command(&["sessions", "name", "fix-the-login", "other"]), "");
    assert!(renamed.code == 0 && renamed.err.contains("is called other"), "{}", renamed.err);
}

#[test]
fn at_whatever_moment_haft_ends_everything_typed_queued_and_answered_is_there_again() {
    for moment in 0..12 {
        let place = place();
        let call = ScriptedTurn::text("I write. ")
            .and_call("write_file", serde_json::json!({ "path": "n.txt", "content": "n" }));
        let turns = [call.held(), ScriptedTurn::text("Then this.").held(), ScriptedTurn::text("And that.").held()];
        let model = ScriptedModel::start(ModelScript::of(turns));
        let mut screen = Screen::chat(&place, &model, &["--yes"]);
        screen.shows("scripted at").types("the very first\r").shows("waiting for scripted");
        screen.types("first wait\r").shows("next step: first wait").types("second wait\u{1b}\r");
        screen.shows("afterwards: second wait").types("half a sent");
        screen.waits_until(|| session_text(&place).contains("half a sent"));
        model.release(2 * moment);
        screen.waits_for_quiet();
        if moment % 2 == 0 {
            screen.is_killed()
        } else {
            screen.hangs_up()
        }

        let next = ScriptedModel::start(ModelScript::of([]));
        let mut screen = Screen::chat(&place, &next, &["--continue"]);
        screen.shows("Continuing session").shows("scripted at").waits_for_quiet();
        let shown = screen.all_rows().join("\n");
        assert_eq!(screen.types("\u{15}").leaves(), 0);
        let told = said(place.command(&["sessions", "export"]), "").out;
        for words in ["the very first", "first wait", "second wait", "half a sent"] {
            assert!(shown.contains(words) || told.contains(words), "{words:?} is lost at {moment}:\n{shown}\n{told}");
        }
        assert!(told.contains("the very first"), "{moment}: {told}");
        assert_eq!(place.path("ws/n.txt").exists(), told.contains("Created n.txt"), "{moment}: {told}");
    }
}
