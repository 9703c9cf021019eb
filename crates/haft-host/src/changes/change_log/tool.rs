//! The log of changes as a tool, for clients that show their model no resources.
//!
//! haft creates it before it opens the workspace, as every tool of a program, and later tells it which log to show.

use std::sync::{Arc, OnceLock, Weak};

use haft_contract::BoxFuture;
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::manual::Manual;
use haft_contract::description::spec::{AtMost, Spec};
use haft_contract::doors::door::Breadth;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::Plan;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::{Value, json};

use super::{as_text, hide_in, record};
use crate::host::Host;

/// How many change sets are listed if the call says nothing else.
const USUAL: u64 = 20;
/// Most change sets of a list.
const MOST: u64 = 100;

/// Lists the change sets of a workspace.
pub struct LogTool {
    spec: Spec,
    host: OnceLock<Weak<Host>>,
}

impl Default for LogTool {
    fn default() -> Self {
        let limit = json!({
            "type": "integer", "minimum": 1, "maximum": MOST,
            "description": format!("Maximum number of change sets. Default {USUAL}."),
        });
        let schema = json!({ "type": "object", "properties": { "limit": limit }, "additionalProperties": false });
        let mut spec = Spec::new("log", Manual::read(include_str!("log.md")), schema);
        spec.does = AtMost::Looks;
        // A tool of the user's that has this name takes its place.
        spec.deferred = true;
        spec.output_schema = Some(Arc::new(json!({
            "type": "object",
            "properties": { "change_sets": { "type": "array", "items": { "type": "object" } } },
            "required": ["change_sets"],
        })));
        Self { spec, host: OnceLock::new() }
    }
}

impl LogTool {
    /// Shows the log of this workspace from now on.
    pub fn show(&self, host: &Arc<Host>) {
        // It is told once.
        let _ = self.host.set(Arc::downgrade(host));
    }
}

impl AnyTool for LogTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let limit = args.get("limit").and_then(Value::as_u64).unwrap_or(USUAL).clamp(1, MOST);
        Ok(Box::new(ChangeLogCall { tool: self, limit: usize::try_from(limit).unwrap_or(usize::MAX) }))
    }
}

/// A call of the log tool, which lists the newest change sets.
struct ChangeLogCall {
    tool: Arc<LogTool>,
    limit: usize,
}

impl ToolInvocation for ChangeLogCall {
    fn plan<'a>(&'a mut self, _cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async { Ok(Plan::nothing()) })
    }

    fn run<'a>(self: Box<Self>, _cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let host = self.tool.host.get().and_then(Weak::upgrade);
            let host = host.ok_or_else(|| ToolError::of(ErrorKind::Unavailable, "The workspace is closed."))?;
            let limit = self.limit;
            // It reads the journal, and files with secrets.
            let listed = tokio::task::spawn_blocking(move || listed(&host, limit)).await;
            listed.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| ToolError::of(ErrorKind::Io, why))
        })
    }
}

fn listed(host: &Host, limit: usize) -> Result<ToolOutput, String> {
    let redactor = host.runtime.redactor();
    // Names of files and commands may hold secrets of the workspace.
    redactor.also_hide_files(&host.runtime.doors().look.secrets(Breadth::Whole).changed);
    let mut log = host.history.newest(limit).map_err(|error| error.to_string())?;
    log.sets.iter_mut().for_each(|set| hide_in(set, redactor));
    let (sets, older): (Vec<Value>, u64) = (log.sets.iter().map(record).collect(), log.older);
    let mut text = as_text(log, limit, redactor);
    if older > 0 {
        text.push_str(&format!("[{older} older ones; a larger \"limit\" lists more, at most {MOST}]\n"));
    }
    Ok(ToolOutput::text(text).with_data(json!({ "change_sets": sets })))
}
