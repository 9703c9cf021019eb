//! What a session remembers, and what it makes of it.

use haft_contract::call::CallId;
use haft_contract::files::path::RawPath;
use haft_contract::outcome::result::Status;
use haft_policy::grant::GrantScope;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::tools::{Misbehave, PutTool};
use serde_json::json;

#[tokio::test]
async fn the_session_knows_which_files_were_read_until_it_forgets() {
    let scene = Scene::new().file("a.txt", "x");
    let read = |path: &str| scene.session().has_read(&RawPath::new(path));
    assert!(!read("a.txt"));
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    scene.call("read_file", json!({ "path": "missing.txt" })).await;
    assert!(read("a.txt") && read("./a.txt") && !read("missing.txt"));
    scene.session().forget();
    assert!(!read("a.txt"));
}

#[tokio::test]
async fn a_session_that_forgets_has_neither_grants_nor_stored_values() {
    let scene = Scene::new();
    scene.session().grant(GrantScope::ChangesInside);
    scene.session().storage().set("key", json!(1)).expect("there is room");
    scene.session().forget();
    assert_eq!(scene.session().grants(), []);
    assert!(scene.session().storage().keys().is_empty());
}

#[tokio::test]
async fn a_file_that_changed_since_is_not_a_file_that_was_read() {
    let scene = Scene::new().file("a.txt", "x");
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    std::fs::write(scene.root().join("a.txt"), "other").expect("the file can be written");
    assert!(!scene.session().has_read(&RawPath::new("a.txt")));
    assert_eq!(scene.call("read_file", json!({ "path": "a.txt" })).await.status, Status::Ok);
}

#[tokio::test]
async fn a_read_of_an_earlier_turn_is_done_again_with_a_note() {
    let scene = Scene::new().file("a.txt", "x");
    let first = scene.call("read_file", json!({ "path": "a.txt" })).await;
    scene.session().begin_turn();
    snapshot!(scene.told("read_file", json!({ "path": "a.txt" })).await, @"
    ok:      1	x
    [end of file: 1 line]
    [note: The same was read in an earlier turn (call [id]) and has not changed since.]
    note: The same was read in an earlier turn (call [id]) and has not changed since.
    did: nothing
    ");
    assert_eq!(first.status, Status::Ok);
}

#[tokio::test]
async fn a_read_whose_text_has_left_the_conversation_is_done_again() {
    let scene = Scene::new().file("a.txt", "x");
    let results = scene.turn(&[("read_file", json!({ "path": "a.txt" }))]).await;
    assert_eq!(results[0].status, Status::Ok);
    scene.session().text_dropped(&CallId::new("1"));
    assert_eq!(scene.call("read_file", json!({ "path": "a.txt" })).await.status, Status::Ok);
}

#[tokio::test]
async fn a_read_is_not_redundant_when_a_file_it_missed_is_there_now() {
    let scene = Scene::new().file("a", "x");
    let both = json!({ "paths": ["a", "b"] });
    assert!(scene.call("read_file", both.clone()).await.text().contains("b does not exist"));
    std::fs::write(scene.root().join("b"), "new").expect("the file can be written");
    let again = scene.call("read_file", both.clone()).await;
    assert!(again.error.is_none() && again.text().contains("new"), "{}", again.text());
    assert_eq!(scene.call("read_file", both).await.status, Status::Refused);
}

#[tokio::test]
async fn a_call_of_an_earlier_turn_can_still_be_cancelled() {
    let wait = haft_testkit::tools::WaitTool::default();
    let signs = wait.signs.clone();
    let scene = Scene::new().tool(wait);
    let call = haft_contract::call::ToolCall::new("wait", json!({}).into()).with_id("w");
    let (result, ()) = tokio::join!(scene.send(call), async {
        signs.begun(1).await;
        scene.session().begin_turn();
        assert!(scene.session().cancel(&CallId::new("w")));
    });
    assert_eq!(result.status, Status::Cancelled);
}

#[tokio::test]
async fn listings_and_changes_are_never_redundant() {
    let scene = Scene::new()
        .tool(PutTool)
        .approver(haft_runtime::asking::approval::YesToOrdinary::or_ask(haft_testkit::scripted::approver::nobody()));
    let results = scene.turn(&vec![("list_dir", json!({})); 3]).await;
    assert!(results.iter().all(|result| result.status == Status::Ok));
    let results = scene.turn(&vec![("put", json!({ "path": "a", "content": "x" })); 3]).await;
    assert!(results.iter().all(|result| result.status == Status::Ok));
}

#[tokio::test]
async fn a_result_is_kept_only_when_the_plan_says_so() {
    let scene = Scene::new().tool(Misbehave);
    let first = scene.told("misbehave", json!({ "how": "cached" })).await;
    assert_eq!(scene.told("misbehave", json!({ "how": "cached" })).await, first);
    scene.session().forget();
    assert_eq!(scene.told("misbehave", json!({ "how": "cached" })).await, first, "the workspace has it too");
}
