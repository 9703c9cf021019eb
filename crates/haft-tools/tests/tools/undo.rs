//! Scenes of `undo`.

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::outcome::result::ToolResult;
use haft_runtime::asking::approval::Verdict;
use haft_runtime::state::session::Session;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use serde_json::{Value, json};

fn scene() -> Scene {
    Scene::new()
        .approver(ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 64)))
        .file("a.txt", "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\n")
}

fn edit(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> = edits.iter().map(|(old, new)| json!({ "old_text": old, "new_text": new })).collect();
    json!({ "path": path, "edits": edits })
}

async fn call_in(scene: &Scene, session: &Session, tool: &str, arguments: Value) -> ToolResult {
    scene.runtime().call(session, ToolCall::new(tool, RawArguments::from(arguments))).await
}

#[tokio::test]
async fn a_session_lists_previews_and_takes_back_its_own_changes() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n"), ("l11", "eleven")])).await;
    scene.call("write_file", json!({ "path": "new.txt", "content": "x\n" })).await;
    snapshot!(scene.told("undo", json!({ "action": "list" })).await, @"
    ok: 2  write_file: created new.txt
    1  edit_file: changed a.txt
    did: nothing
    ");
    snapshot!(scene.told("undo", json!({ "action": "preview", "change_set": 1 })).await, @r#"
    ok: Undo of change set 1 would:
      restore a.txt
    What change set 1 did:
    a.txt:
    hunk 1 @@ line 1 @@
      l1
    - l2
    + two
      l3
      l4
      l5
    hunk 2 @@ line 8 @@
      l8
      l9
      l10
    - l11
    + eleven
      l12
    Nothing is undone yet: "action": "take_back" undoes it.
    did: nothing
    "#);
    snapshot!(scene.told("undo", json!({ "action": "take_back" })).await, @"
    ok: Undid change set 2:
      removed new.txt
    did: changed new.txt
    ");
    snapshot!(scene.told("undo", json!({ "action": "take_back", "file": "a.txt", "hunk": 2 })).await, @"
    ok: Undid hunk 2 of a.txt in change set 1:
      restored a.txt (the chosen hunks; the others stay)
    did: changed a.txt
    ");
    assert_eq!(scene.read("a.txt"), "l1\ntwo\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\n");
    snapshot!(scene.told("undo", json!({ "action": "take_back", "change_set": 1 })).await, @"
    ok: Undid change set 1:
      merged a.txt (later changes are kept)
    did: changed a.txt
    ");
    scene.assert_untouched();
    snapshot!(scene.told("undo", json!({ "action": "take_back" })).await, @"
    failed at line_up (no_match): This session has made no change that could be undone.
    next: go on
    did: nothing
    ");
}

#[tokio::test]
async fn what_others_changed_since_is_kept_or_stands_in_the_way() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n")])).await;
    let scene = scene.file("a.txt", "l1\ntwo\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\ntwelve\n");
    snapshot!(scene.told("undo", json!({ "action": "take_back" })).await, @"
    ok: Undid change set 1:
      merged a.txt (later changes are kept)
    did: changed a.txt
    ");
    assert_eq!(scene.read("a.txt"), "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\ntwelve\n");
    scene.call("edit_file", edit("a.txt", &[("l3\n", "three\n")])).await;
    let scene = scene.file("a.txt", "l1\nl2\nmine\n");
    snapshot!(scene.told("undo", json!({ "action": "take_back" })).await, @r#"
    failed at line_up (stale): Nothing was undone.
    a.txt was changed since change set 3, in the same lines:
    @@ line 1 @@
      l1
      l2
    - three
    - l4
    - l5
    - l6
    - l7
    - l8
    - l9
    - l10
    - l11
    - twelve
    + mine
    next: call "edit_file" to revert what you still want to, because the file was changed outside of haft
    did: nothing
    "#);
    assert_eq!(scene.read("a.txt"), "l1\nl2\nmine\n");
}

#[tokio::test]
async fn a_redo_that_is_refused_says_that_nothing_was_redone_and_what_its_number_means() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n")])).await;
    scene.call("undo", json!({ "action": "take_back" })).await;
    let scene = scene.file("a.txt", "l1\nmine\n");
    let told = scene.told("undo", json!({ "action": "redo" })).await;
    let first = "failed at line_up (stale): Nothing was redone.\na.txt was changed since the undo, change set 2, in the same lines:";
    assert!(told.starts_with(first), "{told}");
}

#[tokio::test]
async fn a_change_set_of_another_session_is_not_taken_back() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n")])).await;
    let other = scene.another_session("other");
    let result = call_in(&scene, &other, "undo", json!({ "action": "take_back", "change_set": 1 })).await;
    snapshot!(told(&result), @r#"
    failed at line_up (no_match): Change set 1 is not of this session.
    next: call "undo" to look at your change sets, with action "list"
    did: nothing
    "#);
    let result = call_in(&scene, &other, "undo", json!({ "action": "list" })).await;
    snapshot!(told(&result), @"
    ok: This session has made no change sets.
    did: nothing
    ");
    // What another session built on it stays, too.
    call_in(&scene, &other, "edit_file", edit("a.txt", &[("two\n", "zwei\n")])).await;
    snapshot!(scene.told("undo", json!({ "action": "take_back" })).await, @"
    failed at line_up (stale): Nothing was undone.
    a.txt was changed since change set 1, in the same lines:
    @@ line 1 @@
      l1
    - two
    + zwei
      l3
      l4
      l5
    next: leave it, or ask the user: change set 2, which is not of this session, builds on it
    did: nothing
    ");
}

#[tokio::test]
async fn a_later_change_of_the_same_session_is_named_as_the_one_to_take_back_first() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n")])).await;
    scene.call("edit_file", edit("a.txt", &[("two\n", "zwei\n")])).await;
    let result = scene.call("undo", json!({ "action": "take_back", "change_set": 1 })).await;
    let error = result.error.expect("change set 2 is built on it");
    assert_eq!(error.next.to_string(), "undo change set 2 first");
}

#[tokio::test]
async fn a_session_takes_back_its_own_undo() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n"), ("l11", "eleven")])).await;
    let changed = scene.read("a.txt");
    for redo in [json!({ "action": "redo" }), json!({ "action": "redo", "change_set": 1 })] {
        scene.session().begin_turn();
        scene.call("undo", json!({ "action": "take_back" })).await;
        assert!(scene.read("a.txt").contains("l2\n"));
        scene.call("undo", redo).await;
        assert_eq!(scene.read("a.txt"), changed);
    }
    snapshot!(scene.told("undo", json!({ "action": "redo" })).await, @r#"
    failed at line_up (no_match): This session has not undone that, so there is nothing to redo.
    next: call "undo" to look at your change sets, with action "list"
    did: nothing
    "#);
    let other = scene.another_session("other");
    scene.call("undo", json!({ "action": "take_back" })).await;
    let told = told(&call_in(&scene, &other, "undo", json!({ "action": "redo" })).await);
    assert!(told.contains("nothing to redo"), "it is not of that session: {told}");
}

#[tokio::test]
async fn a_hunk_needs_no_file_where_only_one_changed() {
    let scene = scene().file("b.txt", "b\n");
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n"), ("l11", "eleven")])).await;
    scene.call("undo", json!({ "action": "take_back", "hunk": 2 })).await;
    assert!(scene.read("a.txt").contains("two") && scene.read("a.txt").contains("l11"));
    let files = json!({ "files": [edit("a.txt", &[("l3\n", "three\n")]), edit("b.txt", &[("b", "c")])] });
    scene.call("edit_file", files).await;
    snapshot!(scene.told("undo", json!({ "action": "take_back", "hunk": 1 })).await, @r#"
    failed at line_up (bad_arguments): A hunk is one of a file, and change set 3 changed 2 files.
    next: name one of them in "file": a.txt, b.txt
    did: nothing
    "#);
}

#[tokio::test]
async fn other_words_for_the_actions_are_understood() {
    let scene = scene();
    scene.call("edit_file", edit("a.txt", &[("l2\n", "two\n")])).await;
    for arguments in [
        json!({ "action": "history" }),
        json!({ "action": "list", "change_set": "", "file": "", "hunk": 0 }),
        json!({ "action": "diff", "hunk": 0 }),
    ] {
        let result = scene.call("undo", arguments.clone()).await;
        assert!(result.error.is_none(), "{arguments}: {}", result.text());
    }
    let refused = scene.call("undo", json!({ "action": "undo", "hunk": 0 })).await;
    assert!(refused.error.is_some(), "it may be the first or none: {}", refused.text());
    scene.call("undo", json!({ "action": "revert" })).await;
    scene.assert_untouched();
}

#[tokio::test]
async fn a_version_that_an_own_undo_brings_back_counts_as_read() {
    let scene = scene();
    let whole = |content: &str| json!({ "path": "a.txt", "content": content });
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    scene.call("write_file", whole("second\n")).await;
    scene.call("write_file", whole("third\n")).await;
    scene.call("undo", json!({ "action": "take_back" })).await;
    let after_undo = scene.call("write_file", whole("fourth\n")).await;
    assert!(after_undo.error.is_none(), "the second version is its own: {}", told(&after_undo));
    scene.call("undo", json!({ "action": "take_back" })).await;
    scene.call("undo", json!({ "action": "redo" })).await;
    let after_redo = scene.call("write_file", whole("fifth\n")).await;
    assert!(after_redo.error.is_none(), "{}", told(&after_redo));
    // What another one brings back is news.
    let scene = scene.file("a.txt", "second\n");
    let by_others = scene.call("write_file", whole("sixth\n")).await;
    assert_eq!(by_others.error.map(|error| error.kind.code()), Some("stale"));
}

#[tokio::test]
async fn an_undo_of_one_file_says_what_stays_and_a_redo_that_the_change_is_back() {
    let scene = scene().file("b.txt", "b\n");
    let files = json!({ "files": [edit("a.txt", &[("l3\n", "three\n")]), edit("b.txt", &[("b", "c")])] });
    scene.call("edit_file", files).await;
    snapshot!(scene.told("undo", json!({ "change_set": 1, "file": "b.txt" })).await, @r#"
    ok: Undo of b.txt of change set 1 would:
      restore b.txt
    It would leave its other file changed.
    What change set 1 did:
    b.txt:
    hunk 1 @@ line 1 @@
    - b
    + c
    Nothing is undone yet: "action": "take_back" undoes it.
    did: nothing
    "#);
    snapshot!(scene.told("undo", json!({ "action": "take_back", "file": "b.txt" })).await, @"
    ok: Undid b.txt of change set 1; its other file stays changed:
      restored b.txt
    did: changed b.txt
    ");
    snapshot!(scene.told("undo", json!({ "action": "list" })).await, @"
    ok: 2  undo of change set 1: changed b.txt
    1  edit_file (partly undone): changed a.txt, b.txt
    did: nothing
    ");
    snapshot!(scene.told("undo", json!({ "action": "redo" })).await, @"
    ok: Redid change set 1; its changes are back (the undo was change set 2):
      changed b.txt again
    did: changed b.txt
    ");
}
