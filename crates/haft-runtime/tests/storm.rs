//! Runs a thousand concurrent calls with everything that can go wrong; all end one by one and leave nothing.
//!
//! A binary of its own: it counts the open descriptors of the whole process.
#![expect(clippy::disallowed_methods, reason = "the descriptors of this process are in a folder")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::call::{CallId, RawArguments, ToolCall};
use haft_runtime::asking::approval::YesToOrdinary;
use haft_runtime::events::{CallEventContent, EventKind};
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use haft_testkit::tools::{Add, Misbehave, PutTool, WaitTool};
use serde_json::json;

const CALLS: usize = 1_000;

/// A small generator of the same numbers each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn call(number: usize, dice: &mut Dice) -> ToolCall {
    let (tool, arguments) = match dice.roll(8) {
        0 => ("add", json!({ "a": number, "b": 1 })),
        1 => ("read_file", json!({ "path": "README.md", "offset": number + 1 })),
        2 => ("put", json!({ "path": format!("f{}", dice.roll(5)), "content": "x" })),
        3 => ("misbehave", json!({ "how": "panic_in_run" })),
        4 => ("misbehave", json!({ "how": "panic_in_plan" })),
        5 => ("wait", json!({})),
        6 => ("list_dir", json!({ "depth": 3 })),
        _ => ("no_such_tool", json!({})),
    };
    ToolCall::new(tool, RawArguments::from(arguments)).with_id(number.to_string())
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("there is a proc").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_with_cancels_panics_and_drops_end_once_each_and_leave_nothing() {
    let wait = WaitTool::default();
    let scene = Arc::new(
        Scene::sample().approver(YesToOrdinary::or_ask(nobody())).tool(Add).tool(PutTool).tool(Misbehave).tool(wait),
    );
    // The first call makes what is made once: compiled patterns, threads for files.
    scene.call("read_file", json!({ "path": "README.md" })).await;
    let mut started = scene.runtime().events().subscribe_only(EventKind::Started);
    let mut finished = scene.runtime().events().subscribe_only(EventKind::Finished);
    let mut failed = scene.runtime().events().subscribe_only(EventKind::Failed);
    let tasks = tokio::runtime::Handle::current().metrics();
    let (tasks_before, descriptors_before) = (tasks.num_alive_tasks(), open_descriptors());

    let mut dice = Dice(7);
    let mut running = tokio::task::JoinSet::new();
    for number in 0..CALLS {
        let call = call(number, &mut dice);
        let (scene, patience) = (scene.clone(), Duration::from_micros(dice.roll(3_000)));
        match dice.roll(3) {
            // Given up by its caller in the middle.
            0 => drop(running.spawn(async move { drop(tokio::time::timeout(patience, scene.send(call)).await) })),
            // Cancelled, as one should.
            1 => drop(running.spawn(async move {
                let id = CallId::new(number.to_string());
                let cancelling = async {
                    tokio::task::yield_now().await;
                    scene.session().cancel(&id);
                };
                tokio::join!(scene.send(call), cancelling);
            })),
            _ => drop(running.spawn(async move { drop(scene.send(call).await) })),
        }
    }
    // Stopping the turn stops the calls that still wait for a sign.
    let stopping = async {
        loop {
            tokio::task::yield_now().await;
            scene.session().stop_turn();
            scene.session().begin_turn();
            if running.is_empty() {
                break;
            }
            let ended = tokio::time::timeout(Duration::from_millis(5), running.join_next()).await;
            assert!(!matches!(ended, Ok(Some(Err(_)))), "no panic of a tool reaches who called it");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), stopping).await.expect("every call ends");

    let mut ends: HashMap<String, usize> = HashMap::new();
    let mut count = |event: &haft_runtime::events::CallEvent| *ends.entry(event.call.to_string()).or_default() += 1;
    while let Some(event) = finished.try_next() {
        count(&event);
    }
    while let Some(event) = failed.try_next() {
        assert!(matches!(event.what, CallEventContent::Failed(_)));
        count(&event);
    }
    assert_eq!(std::iter::from_fn(|| started.try_next()).count(), CALLS);
    assert_eq!(ends.len(), CALLS);
    assert!(ends.values().all(|&count| count == 1), "exactly one terminal event each");
    // Files that were being read when their caller left are closed by their own threads.
    let settled = async {
        while (tasks.num_alive_tasks(), open_descriptors()) != (tasks_before, descriptors_before) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), settled).await.expect("nothing is left over");
}
