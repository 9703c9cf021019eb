//! Conversations that outlive the process: what was said, what waited, what was being typed.

use std::path::PathBuf;

use haft_testkit::scratch_home::{ScratchHome, said};
use haft_testkit::scripted_model::{Expect, Script, ScriptedModel, Turn};

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
    let model = ScriptedModel::start(Script::of([Turn::text("I remember 47.")]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("remember 47\r").shows("I remember 47.");
    assert_eq!(screen.leaves(), 0);
    assert!(screen.text().contains("To continue this conversation: haft --continue"), "{}", screen.text());

    let next = ScriptedModel::start(Script::of([Turn::text("It was 47.").expect(Expect::user_says("which number?"))]));
    let mut screen = Screen::chat(&place, &next, &["--continue"]);
    screen.shows("Continuing session").shows("› remember 47").shows("I remember 47.").shows("scripted at");
    screen.types("which number?\r").shows("It was 47.");
    assert_eq!(screen.leaves(), 0);
    let last = ScriptedModel::start(Script::of([Turn::text("Still 47.").expect(Expect::user_says("and now?"))]));
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
    let model = ScriptedModel::start(Script::of([Turn::text("held").held()]));
    let mut screen = Screen::chat(&place, &model, &[]);
    screen.shows("scripted at").types("go\r").shows("waiting for scripted");
    screen.types("first wait\r").shows("next step: first wait").types("second\u{1b}\r").shows("afterwards: second");
    screen.types("half a sent").shows("› half a sent");
    screen.waits_until(|| session_text(&place).contains("half a sent")).is_killed();

    let next = ScriptedModel::start(Script::of([]));
    let mut screen = Screen::chat(&place, &next, &["--continue"]);
    screen.shows("Continuing session").shows("› go").shows("next step: first wait").shows("afterwards: second");
    screen.shows("› half a sent");
    assert_eq!(screen.types("\u{15}").leaves(), 0);
}
