//! Results that may serve again: for whom, for how long, and what of them lies on disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::manual::Manual;
use haft_contract::doors::door::PageRequest;
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{RawPath, Target};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::output::ToolOutput;
use haft_contract::outcome::result::{Did, Status};
use haft_contract::plan::Plan;
use haft_contract::tool::Tool;
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::YesToOrdinary;
use haft_runtime::state::session::ResultCaching;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Reads a file, and says how often it was run.
#[derive(Default)]
struct Counting {
    runs: AtomicUsize,
    version: Arc<AtomicUsize>,
}

#[derive(Deserialize, JsonSchema)]
struct CountingArgs {
    /// The file.
    path: RawPath,
    /// What else it does.
    #[serde(default)]
    then: String,
}

impl Tool for Counting {
    const NAME: &'static str = "counting";
    type Args = CountingArgs;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Counts its runs.")
    }

    async fn plan(&self, args: &CountingArgs, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let target = cx.locate(&args.path)?;
        let effect = match args.then.as_str() {
            "write" => Effect::Change(target.clone(), Change::Replace),
            _ => Effect::Read(target.clone()),
        };
        let version = self.version.load(Ordering::SeqCst).to_string();
        Ok((Plan::new([effect]).cached_for(Duration::from_secs(60)).depending_on([version]), target))
    }

    async fn run(&self, args: CountingArgs, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        match args.then.as_str() {
            "fail" => return Err(ToolError::failed("it does not work", Next::DoNotRetry("do something else".into()))),
            "write" => drop(cx.write(&target, run.to_string().as_bytes()).await?),
            _ => {}
        }
        let page = cx.page(&target, PageRequest { first_line: 1, lines: 9, column: 1, line_length: 99 }).await?;
        let text = page.lines.first().map(|line| line.text.clone()).unwrap_or_default();
        Ok(ToolOutput::text(format!("run {run}: {text}")).with_data(json!({ "text": text })))
    }
}

fn scene() -> Scene {
    Scene::new().file("a", "one\n").tool(Counting::default())
}

async fn told(scene: &Scene, arguments: Value) -> String {
    // A new turn each time: within one, the same read would be redundant.
    scene.session().begin_turn();
    let result = scene.call("counting", arguments).await;
    let text = result.text();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Calls in another session of the same workspace.
async fn told_elsewhere(scene: &Scene, keeping: ResultCaching) -> String {
    let session = scene.another_session("other").with_keeping(keeping);
    let call = ToolCall::new("counting", RawArguments::from(json!({ "path": "a" })));
    scene.runtime().call(&session, call).await.text()
}

#[tokio::test]
async fn a_kept_result_says_how_old_it_is_and_that_nothing_was_done() {
    let scene = scene();
    let first = scene.call("counting", json!({ "path": "a" })).await;
    assert_eq!((first.text().as_str(), first.cached), ("run 1: one", None));
    let session = scene.another_session("other");
    let call = ToolCall::new("counting", RawArguments::from(json!({ "path": "a" })));
    let second = scene.runtime().call(&session, call).await;
    assert_eq!((second.text(), second.data.clone(), second.did.clone()), (first.text(), first.data, Did::Nothing));
    assert!(second.cached.is_some_and(|age| age < Duration::from_secs(60)));
    let record = haft_runtime::record::of_result(&second);
    assert!(record["cached_ms"].is_u64(), "{record}");
}

#[tokio::test]
async fn another_file_version_argument_or_dependency_is_another_call() {
    let version = Arc::new(AtomicUsize::new(0));
    let tool = Counting { version: version.clone(), ..Counting::default() };
    let scene = Scene::new().file("a", "one\n").tool(tool);
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 1: one");
    assert_eq!(told(&scene, json!({ "path": "a", "then": "more" })).await, "run 2: one");
    assert_eq!(
        told(&scene, json!({ "then": "more", "path": "a" })).await,
        "run 2: one",
        "the order of keys is nothing"
    );
    std::fs::write(scene.root().join("a"), "two\n").expect("it can be written");
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 3: two");
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 3: two");
    version.store(1, Ordering::SeqCst);
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 4: two");
}

#[tokio::test]
async fn failures_and_results_of_changes_are_not_kept() {
    let scene = scene().approver(YesToOrdinary::or_ask(nobody()));
    for run in 1..=2 {
        let result = scene.call("counting", json!({ "path": "a", "then": "fail" })).await;
        assert_eq!((result.status, result.cached), (Status::Failed, None), "{run}");
    }
    for run in 3..=4 {
        assert_eq!(told(&scene, json!({ "path": "a", "then": "write" })).await, format!("run {run}: {run}"));
    }
    scene.session().set_mode(Mode::Try);
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 5: 4");
    scene.session().set_mode(Mode::Normal);
    assert_eq!(told(&scene, json!({ "path": "a" })).await, "run 6: 4", "what was only tried is not kept");
}

#[tokio::test]
async fn who_wants_every_call_to_run_gets_that_and_leaves_nothing() {
    let scene = scene();
    assert_eq!(told_elsewhere(&scene, ResultCaching::Off).await, "run 1: one");
    assert_eq!(told_elsewhere(&scene, ResultCaching::On).await, "run 2: one");
    assert_eq!(told_elsewhere(&scene, ResultCaching::Off).await, "run 3: one");
    assert_eq!(told_elsewhere(&scene, ResultCaching::On).await, "run 2: one");
}

#[tokio::test]
async fn no_secret_lies_on_disk() {
    let scene = Scene::new().file("a", "hunter2-hunter2\n").secret("hunter2-hunter2").tool(Counting::default());
    let first = told(&scene, json!({ "path": "a", "then": "hunter2-hunter2" })).await;
    assert!(!first.contains("hunter2"), "{first}");
    let state = scene.root().join("../state");
    let mut folders = vec![state];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it can be read").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                let bytes = std::fs::read(entry.path()).expect("it can be read");
                assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{:?}", entry.path());
            }
        }
    }
    assert!(files >= 2, "the key and a result are there");
}
