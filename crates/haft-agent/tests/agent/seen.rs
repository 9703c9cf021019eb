//! What tools see of the agent that calls them.

use haft_agent::agent::AgentLoop;
use haft_agent::memory::record::NoRecord;
use haft_agent::settings::AgentSettings;
use haft_contract::prelude::*;
use haft_testkit::scene::Scene;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::puppet::{Puppet, call, calls};
use crate::work::work;

/// Tells what it sees.
struct LookAround;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LookAroundArgs {}

impl Tool for LookAround {
    const NAME: &'static str = "look_around";
    type Args = LookAroundArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Tells what it sees of the agent.")
    }

    async fn plan(&self, _args: &LookAroundArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        Ok((Plan::nothing(), ()))
    }

    async fn run(&self, _args: LookAroundArgs, _draft: (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let state = cx.agent_state();
        let history = serde_json::Value::from(state.history(1..9));
        let (step, length) = (state.current_iteration(), state.history_length());
        Ok(ToolOutput::text(format!("step {step}, {length} messages, from the second on {history}")))
    }
}

#[tokio::test]
async fn a_tool_sees_the_step_and_what_was_said() {
    let scene = Scene::new().tool(LookAround);
    let look = |id: &str| calls([call(id, "look_around", json!({}))]);
    let worked = work(&scene, &Puppet::of([look("1"), look("2")]), AgentSettings::default()).await;
    let reply = |id: &str| {
        let calls = [json!({ "id": id, "name": "look_around", "arguments": "{}" })];
        json!({ "role": "assistant", "content": "", "tool_calls": calls })
    };
    assert_eq!(worked.answer("1"), format!("step 1, 2 messages, from the second on {}", json!([reply("1")])));
    let text = worked.answer("1");
    let answers = [json!({ "call": "1", "name": "look_around", "text": text, "is_error": false })];
    let seen = json!([reply("1"), { "role": "tool", "content": answers }, reply("2")]);
    assert_eq!(worked.answer("2"), format!("step 2, 4 messages, from the second on {seen}"));
}

#[test]
fn a_run_may_be_given_to_another_thread() {
    fn is_send(_: &impl Send) {}
    let scene = Scene::new();
    let (puppet, stop) = (Puppet::of([]), CancellationToken::new());
    let mut agent = AgentLoop::new(scene.runtime(), scene.session(), &puppet, &NoRecord);
    is_send(&agent.run(String::new(), &|_| {}, &stop));
}
