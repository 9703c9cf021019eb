//! Custom tools, as cases describe them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use haft_contract::BoxFuture;
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::manual::Manual;
use haft_contract::description::spec::Spec;
use haft_contract::effect::{Effect, StateKey};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::Plan;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::{Value, json};

/// What a tool does when it is run.
#[derive(Clone)]
pub(crate) enum Act {
    /// Breaks down with these words.
    Throw(String),
    /// Returns its arguments, and notes them.
    Echo(Arc<Mutex<Vec<Value>>>),
    /// Lets others run for a while, and counts how many do so side by side.
    Linger(Arc<AtMost>),
}

/// How many have run side by side.
#[derive(Default)]
pub(crate) struct AtMost {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl AtMost {
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// A custom tool.
pub(crate) struct Custom {
    spec: Spec,
    act: Act,
    alone: bool,
}

impl Custom {
    pub(crate) fn new(name: &str, properties: Value, act: Act) -> Self {
        let schema = json!({ "type": "object", "properties": properties });
        let spec = Spec::new(name, Manual::plain(name, "A tool that a case describes."), schema);
        Self { spec, act, alone: false }
    }

    /// Runs one call after the other.
    pub(crate) fn alone(self) -> Self {
        Self { alone: true, ..self }
    }
}

impl AnyTool for Custom {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        Ok(Box::new(Called { tool: self, args: args.clone() }))
    }
}

struct Called {
    tool: Arc<Custom>,
    args: Value,
}

impl ToolInvocation for Called {
    fn plan<'a>(&'a mut self, _cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        let key = StateKey(format!("alone:{}", self.tool.spec.name));
        let effects = self.tool.alone.then_some(Effect::Session(key));
        Box::pin(async move { Ok(Plan::new(effects)) })
    }

    fn run<'a>(self: Box<Self>, _cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match &self.tool.act {
                Act::Throw(words) => panic!("{words}"),
                Act::Echo(seen) => {
                    seen.lock().expect("nobody broke down with it").push(self.args.clone());
                    Ok(ToolOutput::text(self.args.to_string()))
                }
                Act::Linger(at_most) => {
                    let now = at_most.now.fetch_add(1, Ordering::SeqCst) + 1;
                    at_most.most.fetch_max(now, Ordering::SeqCst);
                    for _ in 0..200 {
                        tokio::task::yield_now().await;
                    }
                    at_most.now.fetch_sub(1, Ordering::SeqCst);
                    Ok(ToolOutput::text("done"))
                }
            }
        })
    }
}
