//! Events: one start, one end, everything between in order; records that do not change.

use haft_runtime::approval::Verdict;
use haft_runtime::events::{Event, EventKind};
use haft_runtime::record;
use haft_testkit::approver::Script;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use haft_testkit::tools::{Misbehave, Put};
use serde_json::json;
use std::sync::Arc;

fn records(events: &[Arc<Event>]) -> String {
    events.iter().map(|event| format!("{}\n", record::of_event(event))).collect()
}

async fn events_of(scene: &Scene, tool: &str, arguments: serde_json::Value) -> Vec<Arc<Event>> {
    let mut subscription = scene.runtime().events().subscribe();
    let call = haft::call::ToolCall::new(tool, arguments.into()).with_id("c1");
    scene.send(call).await;
    std::iter::from_fn(|| subscription.try_next()).collect()
}

#[tokio::test]
async fn the_records_of_a_call_that_worked() {
    let scene = Scene::new().approver(Script::of([Verdict::AllowOnce])).tool(Put);
    snapshot!(records(&events_of(&scene, "put", json!({ "path": "a", "content": "x" })).await), @r#"
    {"v":1,"event":"started","call":"c1","tool":"put","arguments":{"path":"a","content":"x"}}
    {"v":1,"event":"stage_finished","call":"c1","stage":"resolve","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"parse","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"prepare","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"before_hooks","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"line_up","took_us":0,"halted":false}
    {"v":1,"event":"approval_asked","call":"c1","tool":"put","rule":"changes","reason":"It would create a.","effects":["create a"]}
    {"v":1,"event":"approval_given","call":"c1","verdict":"allow_once"}
    {"v":1,"event":"stage_finished","call":"c1","stage":"authorize","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"recall","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"gate","took_us":0,"halted":false}
    {"v":1,"event":"files_changed","call":"c1","files":["a"]}
    {"v":1,"event":"stage_finished","call":"c1","stage":"execute","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"after_hooks","took_us":0,"halted":false}
    {"v":1,"event":"finished","call":"c1","result":{"v":1,"id":"c1","tool":"put","status":"ok","content":"wrote a","did":"changed","files":["a"],"duration_ms":0}}
    "#);
}

#[tokio::test]
async fn the_records_of_a_call_that_was_refused() {
    let scene = Scene::new();
    snapshot!(records(&events_of(&scene, "read_file", json!({ "path": "/etc/passwd" })).await), @r#"
    {"v":1,"event":"started","call":"c1","tool":"read_file","arguments":{"path":"/etc/passwd"}}
    {"v":1,"event":"stage_finished","call":"c1","stage":"resolve","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"parse","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"prepare","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"before_hooks","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"line_up","took_us":0,"halted":false}
    {"v":1,"event":"stage_finished","call":"c1","stage":"authorize","took_us":0,"halted":true}
    {"v":1,"event":"failed","call":"c1","result":{"v":1,"id":"c1","tool":"read_file","status":"refused","content":"The rule \"reads outside\" refuses this call. It would read /etc/passwd, which is outside the workspace.\nNext: ask the user to add that folder, or to copy the file into the workspace","error":{"kind":"denied","what":"The rule \"reads outside\" refuses this call. It would read /etc/passwd, which is outside the workspace.","next":"ask the user to add that folder, or to copy the file into the workspace","at":"authorize","rule":"reads outside"},"did":"nothing","duration_ms":0}}
    "#);
}

#[tokio::test]
async fn the_record_of_a_result_with_all_its_fields() {
    let scene = Scene::new().tool(Misbehave).file("src/a.rs", "");
    let repaired = scene.call_text("list_dir", r#"{"path":"src","depth":"1"}"#).await;
    snapshot!(record::of_result(&repaired).to_string().replace(repaired.id.as_str(), "[id]"), @r#"{"v":1,"id":"[id]","tool":"list_dir","status":"ok","content":"a.rs  0\n[1 file, 0 folders]\n[repaired $.depth: \"1\" → 1]","did":"nothing","repairs":["$.depth: \"1\" → 1"],"duration_ms":0}"#);
    let missing = scene.call("read_file", json!({ "path": "src/b.rs" })).await;
    snapshot!(record::of_result(&missing).to_string().replace(missing.id.as_str(), "[id]"), @r#"{"v":1,"id":"[id]","tool":"read_file","status":"failed","content":"src/b.rs does not exist. Near: src/a.rs.\nNext: use one of these, or call \"list_dir\" on src","error":{"kind":"missing_file","what":"src/b.rs does not exist. Near: src/a.rs.","next":"use one of these, or call \"list_dir\" on src","at":"line_up","path":"src/b.rs","operation":"access","recovery":["list_dir {\"path\":\"src\"}"]},"did":"nothing","duration_ms":0}"#);
}

#[tokio::test]
async fn a_listener_that_panics_disturbs_nobody() {
    let scene = Scene::sample();
    let mut broken = scene.runtime().events().subscribe_only(EventKind::Started);
    let listener = tokio::spawn(async move {
        broken.next().await;
        panic!("a listener broke");
    });
    let mut other = scene.runtime().events().subscribe_only(EventKind::Finished);
    scene.call("read_file", json!({ "path": "README.md" })).await;
    assert!(listener.await.is_err());
    assert!(other.try_next().is_some());
    scene.call("list_dir", json!({})).await;
    assert!(other.try_next().is_some());
}
