//! Calls a project's tool only while its files are those that the user trusted.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::spec::Spec;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::{Content, ToolOutput};
use haft_contract::outcome::result::ToolResult;
use haft_contract::plan::Plan;
use haft_contract::tool::{AnyTool, ToolInvocation};
use haft_workspace::project::{HelpersChanged, TrustCheck};
use serde_json::Value;

use crate::opening::project_files::LOOK_AT_HELPERS;

/// A tool of a project that is trusted.
pub(super) struct TrustGated {
    pub(super) tool: Arc<dyn AnyTool>,
    pub(super) held: TrustCheck,
}

impl AnyTool for TrustGated {
    fn spec(&self) -> &Spec {
        self.tool.spec()
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let call = Arc::clone(&self.tool).bind(args)?;
        Ok(Box::new(WatchedCall { call, trust_gated: self }))
    }

    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        self.tool.summary(result, max_lines)
    }
}

/// Says that something is not what the user trusts, and why.
pub(super) fn refused(why: String) -> ToolError {
    let next = Next::AskUser("ask the user to read it and to trust it again: haft trust".into());
    ToolError::new(ErrorKind::Denied, format!("{why}."), next).by_rule("trust")
}

impl TrustGated {
    fn check(&self) -> Result<(), ToolError> {
        self.held.still().map_err(refused)
    }
}

impl TrustGated {
    /// Refuses where the copy cannot be shown and the project's own files are others.
    fn check_helpers(&self, level: ConfinementLevel) -> Result<(), ToolError> {
        match self.held.helpers_changed() {
            Some(HelpersChanged(names)) if level != ConfinementLevel::Full => Err(refused(format!(
                "{} changed since it was trusted, and the sandbox cannot show the trusted copy here",
                names.join(", ")
            ))),
            _ => Ok(()),
        }
    }
}

struct WatchedCall {
    call: Box<dyn ToolInvocation>,
    trust_gated: Arc<TrustGated>,
}

impl ToolInvocation for WatchedCall {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            self.trust_gated.check()?;
            self.trust_gated.check_helpers(cx.confinement().reached)?;
            self.call.plan(cx).await
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            // The files may have changed while a person answered a question.
            self.trust_gated.check()?;
            let note =
                self.trust_gated.held.named_helpers_changed().map(|changed| format!("[{changed}. {LOOK_AT_HELPERS}]"));
            let mut output = self.call.run(cx).await?;
            output.for_model.extend(note.map(Content::Text));
            Ok(output)
        })
    }
}
