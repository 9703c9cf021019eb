//! Ends the work of an agent with a summary, a result, or both.
//!
//! The agent decides whether the result is what the run needs (`AgentState::finish`). A result that does not fit is an
//! error of this call, and the run continues.

use haft_contract::doors::session_state::{FinishReport, FinishScope};
use haft_contract::prelude::*;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// Longest summary, in characters.
const LONGEST_SUMMARY: usize = 20_000;

/// Ends the work of an agent.
pub struct Finish;

/// The arguments of `finish`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What you did, how you checked it, and what is left, at most 20000 characters.
    summary: Option<String>,
    /// The result itself, where one is wanted.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    result: Option<Value>,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "array", "string", "number", "boolean"] })
}

impl Tool for Finish {
    const NAME: &'static str = "finish";
    const DEFERRED: bool = true;
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("summary", &["message", "text", "answer"]), ("result", &["output", "value"])];
    const OTHER_NAMES: &'static [&'static str] =
        &["submit", "complete_task", "attempt_completion", "task_complete", "final_answer", "done"];
    type Args = Args;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::read(include_str!("finish.md"))
    }

    async fn plan(&self, args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        let bad = |what: &str, fix: &str| {
            Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(fix.to_owned())))
        };
        if args.result.as_ref().is_some_and(|result| result.as_str().is_some_and(|text| text.trim().is_empty())) {
            return bad("$.result is empty, so the work is not finished.", "give the result, or leave \"result\" out");
        }
        if args.summary.as_ref().is_some_and(|summary| summary.chars().count() > LONGEST_SUMMARY) {
            return bad(
                "$.summary has more than 20000 characters.",
                "say it shorter, or write it to a file and name that",
            );
        }
        Ok((Plan::new([Effect::Session(StateKey("end of the work".to_owned()))]), ()))
    }

    async fn run(&self, args: Args, (): (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let summary = args.summary.filter(|summary| !summary.trim().is_empty());
        let data = json!({ "summary": summary, "result": args.result });
        let text = match cx.agent_state().finish(FinishReport { summary, result: args.result }).await? {
            FinishScope::OfRun => "The task is finished.",
            FinishScope::NoRun => "The task is marked as finished. It did not end a run of haft.",
        };
        Ok(ToolOutput::text(text).with_data(data))
    }
}
