//! Events: one start, one end, everything between in order; records that do not change.

use haft_runtime::asking::approval::Verdict;
use haft_runtime::events::{CallEvent, EventKind};
use haft_runtime::record;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_testkit::tools::{Misbehave, PutTool, WaitTool};
use serde_json::json;

fn records(events: &[CallEvent]) -> String {
    events.iter().map(|event| format!("{}\n", record::of_event(event))).collect()
}

async fn events_of(scene: &Scene, tool: &str, arguments: serde_json::Value) -> Vec<CallEvent> {
    let mut subscription = scene.runtime().events().subscribe();
    let call = haft_contract::call::ToolCall::new(tool, arguments.into()).with_id("c1");
    scene.send(call).await;
    std::iter::from_fn(|| subscription.try_next()).collect()
}

#[tokio::test]
async fn the_records_of_a_call_that_worked() {
    let scene = Scene::new().approver(ScriptedApprover::of([Verdict::AllowOnce])).tool(PutTool);
    snapshot!(golden "events-of-a-change", records(&events_of(&scene, "put", json!({ "path": "a", "content": "x" })).await));
}

#[tokio::test]
async fn the_records_of_a_call_that_was_refused() {
    let scene = Scene::new();
    snapshot!(golden "events-of-a-refusal", records(&events_of(&scene, "read_file", json!({ "path": "/etc/passwd" })).await));
}

#[tokio::test]
async fn the_record_of_a_result_with_all_its_fields() {
    let scene = Scene::new().tool(Misbehave).file("src/a.rs", "");
    let repaired = scene.call_text("list_dir", r#"{"path":"src","depth":"1"}"#).await;
    snapshot!(golden "result-repaired", record::of_result(&repaired).to_string().replace(repaired.id.as_str(), "[id]"));
    let missing = scene.call("read_file", json!({ "path": "src/b.rs" })).await;
    snapshot!(golden "result-missing-file", record::of_result(&missing).to_string().replace(missing.id.as_str(), "[id]"));
}

#[tokio::test]
async fn output_is_told_while_the_call_still_runs() {
    let wait = WaitTool::default();
    let signs = wait.signs.clone();
    let scene = Scene::new().tool(wait);
    let mut chunks = scene.runtime().events().subscribe_only(EventKind::OutputChunk);
    let call = haft_contract::call::ToolCall::new("wait", json!({ "say": "half\n" }).into()).with_id("c1");
    let (_, told) = tokio::join!(scene.send(call), async {
        signs.begun(1).await;
        let told: Vec<CallEvent> = std::iter::from_fn(|| chunks.try_next()).collect();
        signs.go(1);
        records(&told)
    });
    snapshot!(told, @r#"{"v":1,"event":"output_chunk","call":"c1","text":"half\n"}"#);
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
