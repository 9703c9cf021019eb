use std::time::Instant;

use haft_contract::call::{RawArguments, ToolCall};
use haft_runtime::events::{CallEvent, CallEventContent};
use haft_runtime::pipeline::stage::CallStage;
use serde_json::{Value, json};

use crate::workshop::{Workshop, text};

const MODULE: &str = r#"
import os, threading, time, uuid
WORKER = uuid.uuid4().hex
def quick(n): return n
def worker(global_storage):
    # Waits until as many calls have come as can be served at once.
    with global_storage.lock("come"):
        global_storage["come"] = global_storage.get("come", 0) + 1
    while global_storage["come"] < 4: pass
    return WORKER
def alone(global_storage):
    with global_storage.lock("inside"):
        global_storage["inside"] = global_storage.get("inside", 0) + 1
    most, until = 0, time.monotonic() + 0.25
    while time.monotonic() < until: most = max(most, global_storage["inside"])
    with global_storage.lock("inside"):
        global_storage["inside"] = global_storage["inside"] - 1
    return most
def waits(global_storage):
    print("it has begun", flush=True)
    while True: threading.Event().wait()
def counted(global_storage):
    global_storage["calls"] = global_storage.get("calls", 0) + 1
    return global_storage["calls"]
"#;

#[tokio::test]
async fn a_thousand_calls_are_served_by_a_warm_worker() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("quick", "effects: []");
    workshop.works("quick", json!({ "n": 0 })).await;
    let mut took = Vec::new();
    for n in 0..1_000 {
        let began = Instant::now();
        let result = workshop.call("quick", json!({ "n": n })).await;
        took.push(began.elapsed());
        assert_eq!(result.data, Some(json!(n)), "{}", text(&result));
    }
    took.sort_unstable();
    println!("a Python function through a warm worker: median {:?}, slowest {:?}", took[500], took[999]);
}

#[tokio::test]
async fn eight_calls_at_once_use_four_workers() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("worker", "effects: []");
    let calls = (0..8).map(|_| workshop.works("worker", json!({})));
    let mut workers = futures_util::future::join_all(calls).await;
    workers.sort();
    workers.dedup();
    assert_eq!(workers.len(), 4, "{workers:?}");
}

#[tokio::test]
async fn a_tool_that_must_be_alone_is_alone_and_others_are_not() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("worker", "effects: []").function("alone", "effects: []\ndisable_parallel: true");
    // All workers are there already, so that without the rule all calls are inside at the same time.
    futures_util::future::join_all((0..4).map(|_| workshop.works("worker", json!({})))).await;
    let calls = (0..4).map(|_| ToolCall::new("alone", RawArguments::from(json!({}))));
    let mut events = workshop.runtime().events().subscribe();
    let results = workshop.runtime().call_all(workshop.session(), calls.collect()).await;
    let inside: Vec<Option<Value>> = results.into_iter().map(|result| result.data).collect();
    assert_eq!(inside, vec![Some(json!(1)); 4]);
    // However fast they are: each comes through the gate when the one before has ended.
    let gate_or_end = |event: &CallEvent| match event.what {
        CallEventContent::StageFinished { stage: CallStage::Gate, .. } => Some("gate"),
        CallEventContent::Finished(_) => Some("end"),
        _ => None,
    };
    let order: Vec<&str> = std::iter::from_fn(|| events.try_next()).filter_map(|event| gate_or_end(&event)).collect();
    assert_eq!(order, ["gate", "end"].repeat(4));
}

#[tokio::test]
async fn a_call_that_is_stopped_costs_its_worker_and_nothing_else() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("waits", "effects: []").function("quick", "effects: []");
    let mut events = workshop.runtime().events().subscribe();
    let call = ToolCall::new("waits", RawArguments::from(json!({}))).with_id("w");
    let waiting = workshop.runtime().call(workshop.session(), call);
    let stopping = async {
        loop {
            let event = events.next().await;
            if format!("{event:?}").contains("it has begun") {
                break workshop.session().cancel(&haft_contract::call::CallId::new("w"));
            }
        }
    };
    let (result, was_there) = tokio::join!(waiting, stopping);
    assert!(was_there);
    assert_eq!(result.status.code(), "cancelled", "{}", text(&result));
    assert_eq!(workshop.works("quick", json!({ "n": 1 })).await, "1");
}

#[tokio::test]
async fn a_cached_answer_is_given_again() {
    let Some(workshop) = Workshop::with_python(MODULE) else { return };
    let workshop = workshop.function("counted", "effects: []\nuse_cache: true");
    assert_eq!(workshop.works("counted", json!({})).await, "1");
    assert_eq!(workshop.works("counted", json!({})).await, "1");
}
