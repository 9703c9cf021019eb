//! Tools in this process that do not stop: no sandbox ends them, so that the kit has to see it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::description::manual::{Example, Manual};
use haft_contract::prelude::*;
use haft_policy::policy::Mode;
use haft_runtime::conformance::{Check, ConformanceSubject, ConformanceVerdict, Finding, tried};
use haft_testkit::scene::Scene;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Answers, but for some calls, which never end.
struct Deaf {
    calls: AtomicUsize,
    deaf_at: Range<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

impl Tool for Deaf {
    const NAME: &'static str = "deaf";
    type Args = NoArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Answers.")
    }

    async fn plan(&self, _args: &NoArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, _args: NoArgs, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        if self.deaf_at.contains(&(self.calls.fetch_add(1, Ordering::SeqCst) + 1)) {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::text("fine"))
    }
}

/// Takes longer than any limit.
struct Late;

impl Tool for Late {
    const NAME: &'static str = "late";
    type Args = NoArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Answers late.")
    }

    async fn plan(&self, _args: &NoArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, _args: NoArgs, _draft: (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        tokio::time::advance(Duration::from_millis(1_500)).await;
        Ok(ToolOutput::text("fine"))
    }
}

/// Tries the tool; returns what failed.
async fn failed(deaf_at: Range<usize>, hurried: Option<&'static str>) -> Vec<Finding> {
    let scene = Scene::new().tool(Deaf { calls: AtomicUsize::new(0), deaf_at }).tool(Late);
    let examples = [Example { arguments: json!({}), contains: Some("fine".to_owned()) }];
    let hurried = |_limit: Duration| -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(hurried.map(str::to_owned)))
    };
    let subject = ConformanceSubject {
        runtime: scene.runtime(),
        tool: "deaf",
        mode: Mode::Normal,
        examples: &examples,
        promise: None,
        declares: true,
        is_cached: false,
        connects: None,
        hurried: &hurried,
    };
    tried(subject).await.into_iter().filter(|finding| finding.verdict == ConformanceVerdict::Failed).collect()
}

#[tokio::test]
async fn a_tool_that_stops_fails_nothing() {
    assert_eq!(failed(0..0, None).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_stop_when_it_is_told_to_is_found() {
    // The example, the same again, the one after the limit of time; then come those that are stopped, as often as it is tried.
    let failed = failed(4..10, None).await;
    assert_eq!(failed.iter().map(|finding| finding.check).collect::<Vec<_>>(), [Check::Cancel]);
    assert!(failed[0].what.starts_with("it did not stop within 500 ms"), "{}", failed[0].what);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_comes_late_all_but_once_is_no_failure() {
    assert_eq!(failed(4..9, None).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_does_not_keep_its_limit_of_time_is_found() {
    let failed = failed(0..0, Some("late")).await;
    assert_eq!(failed.iter().map(|finding| finding.check).collect::<Vec<_>>(), [Check::TimeLimit]);
}
