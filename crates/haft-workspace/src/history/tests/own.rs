//! Tests what a session undoes when it names no change set.

use std::sync::Arc;

use haft_contract::doors::door::Purpose;
use haft_contract::doors::history::{History as SessionHistory, Reversal, SessionRun};

use super::*;

/// Changes a file: by a command, or by a tool that edits.
fn change(ground: &HistoryFixture, name: &str, command: Option<&str>) -> u64 {
    let permit = ground.permit_for(Purpose { command: command.map(str::to_owned), ..Purpose::default() });
    let ops = [FileOp::Put(target(name), Bytes::copy_from_slice(name.as_bytes()))];
    run(ground.workspace().doors(&ground.state()).files.change(&permit, &ops)).expect("it can be written");
    permit.receipts().change_set().expect("it was changed").0
}

/// Returns the change set that would be taken back, and the notes.
fn chosen(ground: &HistoryFixture) -> (u64, Vec<String>) {
    let session = SessionRun { name: SessionName::new("s"), run: Arc::from("one") };
    let history = ground.workspace().history(&ground.state());
    let reversed = history.preview(&session, &Reversal::default()).expect("it can be taken back");
    (reversed.change_set.0, reversed.notes)
}

#[test]
fn a_session_means_its_last_edit_and_not_the_caches_that_its_tests_filled() {
    let ground = HistoryFixture::new();
    let cache = change(&ground, "node_modules/.vite/a", Some("npm test"));
    assert_eq!(chosen(&ground), (cache, Vec::new()), "there is nothing else");
    let edit = change(&ground, "src/a.ts", None);
    assert_eq!(chosen(&ground), (edit, Vec::new()));
    let later = change(&ground, "node_modules/.vite/b", Some("npm test"));
    let note = format!("Change set {later} wrote only generated files and stays; name it to undo it.");
    assert_eq!(chosen(&ground), (edit, vec![note]));
    let own = change(&ground, "build/a.js", None);
    assert_eq!(chosen(&ground), (own, Vec::new()), "what an edit wrote is meant wherever it is");
}
