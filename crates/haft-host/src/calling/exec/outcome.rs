//! Builds the report that the caller of a command gets at its end.

use haft_contract::outcome::result::{Did, ToolResult};
use haft_net::exec::ExecOutcome;
use haft_runtime::record;
use serde_json::Value;

/// Returns the report of a result.
pub(super) fn of(result: &ToolResult) -> ExecOutcome {
    let field = |name: &str| result.data.as_ref().and_then(|data| data.get(name));
    let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
    let notes = field("notes").and_then(Value::as_array).into_iter().flatten();
    let undo = match &result.did {
        Did::Changed { change_set: Some(number), .. } => format!(" (undo: haft undo {number})"),
        _ => String::new(),
    };
    ExecOutcome {
        status: result.status.code().to_owned(),
        exit_code: result.exit_code,
        error: result.error.as_ref().map(|error| format!("{} Next: {}.", error.what, error.next)),
        notes: notes.filter_map(Value::as_str).map(str::to_owned).collect(),
        changed: text("changed").map(|changed| changed + &undo),
        differences: text("differences").unwrap_or_default(),
        record: record::of_result(result).to_string(),
    }
}
