//! Calls a tool that is not in the model's list.
//!
//! It does nothing by itself: before haft judges anything, it treats the call as a call of the other tool. So rules,
//! questions, grants, limits and the log see the other tool and its arguments.

use std::sync::Arc;

use haft_contract::call::RawArguments;
use haft_contract::description::spec::Spec;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, ForwardedCall, ToolInvocation, Typed};
use serde_json::{Map, Value};

/// Calls another tool.
struct CallTool;

/// The arguments of `call_tool`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of the tool, as "search_tools" shows it.
    #[expect(dead_code, reason = "the call is passed on before it is bound")]
    name: String,
    /// The arguments of the tool. Default {}.
    #[expect(dead_code, reason = "as above")]
    arguments: Option<Map<String, Value>>,
}

impl Tool for CallTool {
    const NAME: &'static str = "call_tool";
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("name", &["tool", "tool_name", "toolName"]),
        ("arguments", &["args", "input", "parameters", "params", "tool_input"]),
    ];
    type Args = Args;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::read(include_str!("call_tool.md"))
    }

    async fn plan(&self, _args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        let next = Next::FixArguments("name the tool to call".to_owned());
        Err(ToolError::new(ErrorKind::BadArguments, "call_tool cannot call itself.", next))
    }

    async fn run(&self, _args: Args, (): (), _cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        Err(ToolError::of(ErrorKind::Bug, "The call was not passed on."))
    }
}

/// `call_tool` for a catalogue.
pub struct CallOther(Arc<Typed<CallTool>>);

impl Default for CallOther {
    fn default() -> Self {
        Self(Arc::new(Typed::new(CallTool)))
    }
}

impl AnyTool for CallOther {
    fn spec(&self) -> &Spec {
        self.0.spec()
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        self.0.clone().bind(args)
    }

    fn forwarded(&self, args: &Value) -> Option<ForwardedCall> {
        let tool = args.get("name")?.as_str()?.to_owned();
        let arguments = match args.get("arguments") {
            None | Some(Value::Null) => RawArguments::Object(Map::new()),
            Some(arguments) => RawArguments::from(arguments.clone()),
        };
        Some(ForwardedCall { tool, arguments })
    }
}
