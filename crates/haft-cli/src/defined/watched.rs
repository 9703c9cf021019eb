//! A tool of a project is called only while its files are what was trusted.

use std::sync::Arc;

use haft::BoxFuture;
use haft::context::{PlanContext, RunContext};
use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use haft::output::ToolOutput;
use haft::plan::Plan;
use haft::result::ToolResult;
use haft::spec::Spec;
use haft::tool::{AnyTool, Bound};
use haft_workspace::project::Held;
use serde_json::Value;

/// A tool of a project that is trusted.
pub(super) struct Watched {
    pub(super) tool: Arc<dyn AnyTool>,
    pub(super) held: Held,
}

impl AnyTool for Watched {
    fn spec(&self) -> &Spec {
        self.tool.spec()
    }

    fn bind(self: Arc<Self>, args: Value) -> Result<Box<dyn Bound>, ToolError> {
        let call = Arc::clone(&self.tool).bind(args)?;
        Ok(Box::new(WatchedCall { call, watched: self }))
    }

    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        self.tool.summary(result, max_lines)
    }
}

impl Watched {
    fn check(&self) -> Result<(), ToolError> {
        let next = || Next::AskUser("ask the user to read it and to trust it again: haft trust".into());
        let refused = |why: String| ToolError::new(ErrorKind::Denied, format!("{why}."), next()).by_rule("trust");
        self.held.still().map_err(refused)
    }
}

struct WatchedCall {
    call: Box<dyn Bound>,
    watched: Arc<Watched>,
}

impl Bound for WatchedCall {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            self.watched.check()?;
            self.call.plan(cx).await
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            // Somebody may have been asked meanwhile.
            self.watched.check()?;
            self.call.run(cx).await
        })
    }
}
