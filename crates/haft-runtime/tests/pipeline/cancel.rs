//! Stopping calls: before they act, while they act, when they do not listen.

use std::time::Duration;

use haft_contract::call::{CallId, RawArguments, ToolCall};
use haft_contract::outcome::result::{Did, Status};
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict};
use haft_runtime::record;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use haft_testkit::tools::{Misbehave, PutTool, WaitTool};
use serde_json::{Value, json};

fn wait_call(arguments: Value) -> ToolCall {
    ToolCall::new("wait", RawArguments::from(arguments)).with_id("w")
}

fn waiting() -> (Scene, std::sync::Arc<haft_testkit::tools::Signs>) {
    let wait = WaitTool::default();
    let signs = wait.signs.clone();
    (Scene::new().approver(ScriptedApprover::of([Verdict::AllowOnce])).tool(wait).tool(PutTool), signs)
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer_is_dropped_when_it_is_cancelled() {
    struct NeverAnswers;
    impl Approver for NeverAnswers {
        fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> haft_contract::BoxFuture<'a, Verdict> {
            Box::pin(std::future::pending())
        }
    }
    let scene = Scene::new().approver(NeverAnswers).tool(PutTool);
    let call = ToolCall::new("put", RawArguments::from(json!({ "path": "a", "content": "x" }))).with_id("p");
    let calling = scene.send(call);
    let cancelling = async {
        tokio::task::yield_now().await;
        assert!(scene.session().cancel(&CallId::new("p")));
    };
    let (result, ()) = tokio::join!(calling, cancelling);
    snapshot!(told(&result), @"
    cancelled at authorize (cancelled): The call was stopped before it had begun.
    next: wait for the user
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn a_running_call_is_told_to_stop_and_says_what_it_did() {
    let (scene, signs) = waiting();
    let (result, ()) = tokio::join!(scene.send(wait_call(json!({}))), async {
        signs.begun(1).await;
        scene.session().stop_turn();
    });
    snapshot!(told(&result), @"
    cancelled at execute (cancelled): The call was stopped while it ran.
    next: wait for the user
    did: nothing
    ");
    assert!(result.text().starts_with("half"), "what was done so far is kept: {}", result.text());
}

#[tokio::test]
async fn a_call_that_does_not_listen_is_given_up_within_its_grace() {
    let (scene, signs) = waiting();
    let began = std::time::Instant::now();
    let (result, ()) = tokio::join!(scene.send(wait_call(json!({ "path": "x", "stubborn": true }))), async {
        signs.begun(1).await;
        scene.session().stop_turn();
    });
    snapshot!(told(&result), @"
    cancelled at execute (cancelled): The call was stopped while it ran.
    next: wait for the user
    did: unknown
    ");
    assert!(result.text().contains("It is not known whether it did this: create x."), "{}", result.text());
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_timed_out() {
    let scene = waiting().0.limits(|limits| limits.call_time = Duration::from_secs(7));
    let result = scene.send(wait_call(json!({}))).await;
    assert_eq!(result.status, Status::TimedOut);
    assert!(result.text().starts_with("half"), "what was done so far is kept: {}", result.text());
    snapshot!(told(&result), @"
    timed_out at execute (timed_out): The call was stopped after 7 s.
    next: do less in one call, or allow more time
    did: nothing
    ");
}

#[tokio::test(start_paused = true)]
async fn a_silent_tool_is_told_to_run_on_and_one_that_speaks_is_not() {
    let heard = async |arguments: Value| {
        let scene = waiting().0.limits(|limits| limits.call_time = Duration::from_secs(7));
        let mut chunks = scene.runtime().events().subscribe_only(haft_runtime::events::EventKind::OutputChunk);
        scene.send(wait_call(arguments)).await;
        let texts = std::iter::from_fn(|| chunks.try_next()).map(|event| record::of_event(&event)["text"].clone());
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect::<String>()
    };
    let running = "still running after 1 s\nstill running after 2 s\nstill running after 4 s\n";
    assert_eq!(heard(json!({})).await, running);
    assert_eq!(heard(json!({ "say": "half\n" })).await, "half\n");
}

#[tokio::test]
async fn after_the_turn_was_stopped_new_calls_of_it_do_not_begin() {
    let scene = Scene::sample();
    scene.session().stop_turn();
    let result = scene.call("read_file", json!({ "path": "README.md" })).await;
    assert_eq!(result.status, Status::Cancelled);
    scene.session().begin_turn();
    assert_eq!(scene.call("read_file", json!({ "path": "README.md" })).await.status, Status::Ok);
}

#[tokio::test]
async fn a_tool_that_panics_is_one_failed_result() {
    let scene = Scene::new().tool(Misbehave);
    snapshot!(scene.told("misbehave", json!({ "how": "panic_in_plan" })).await, @r#"
    failed at line_up (bug): The tool "misbehave" crashed: planned to panic.
    next: tell the user that this tool has a defect
    did: nothing
    "#);
    snapshot!(scene.told("misbehave", json!({ "how": "panic_in_run" })).await, @r#"
    failed at execute (bug): The tool "misbehave" crashed: kaput.
    next: tell the user that this tool has a defect
    did: nothing
    "#);
    assert!(scene.told("misbehave", json!({ "how": "fail" })).await.starts_with("failed at execute (failed)"));
}

#[tokio::test]
async fn a_dropped_future_frees_its_place_and_says_unknown_once_it_had_begun() {
    let (scene, signs) = waiting();
    let mut events = scene.runtime().events().subscribe_only(haft_runtime::events::EventKind::Failed);
    {
        let calling = scene.send(wait_call(json!({ "path": "x" })));
        tokio::pin!(calling);
        tokio::select! {
            _ = &mut calling => panic!("it waits for a sign"),
            () = signs.begun(1) => {}
        }
    }
    let event = events.next().await;
    let haft_runtime::events::CallEventContent::Failed(result) = &event.what else {
        panic!("only failures were subscribed to")
    };
    assert!(matches!(result.did, Did::Unknown(_)));
    assert!(events.try_next().is_none(), "exactly one terminal event");
    assert_eq!(scene.told("read_file", json!({ "path": "nope" })).await.split(' ').next(), Some("failed"));
}
