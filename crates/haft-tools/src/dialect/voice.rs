//! Words the outcome of a call as each system does, where a table is not enough.
//!
//! Every voice says what happened and what to do next, even if the original left it out. A voice changes the words of an
//! outcome but never says less.

mod ally;
mod command;
mod nexau;
pub(super) mod template;
mod tunacode;
pub(super) mod written;
mod wyrm;

use haft_contract::description::dialect::CallOutcome;
use haft_contract::outcome::error::ToolError;
use serde_json::{Map, Value};

pub(super) use ally::Ally;
pub(super) use nexau::Nexau;
pub(super) use tunacode::Tunacode;
pub(super) use written::WrittenVoice;
pub(super) use wyrm::Wyrm;

/// The words of one system.
pub(super) trait Voice: Send + Sync {
    /// Writes a call as an example.
    fn call(&self, tool: &str, arguments: &Value) -> String {
        format!("{tool}({arguments})")
    }

    /// Writes what the model reads of the output; nothing where that stays as it is.
    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String>;

    /// Writes what the model reads of an error.
    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String;

    /// Returns the result object; nothing where the data stays as it is.
    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value>;
}

/// Puts lines together that are there.
fn lines<'a>(lines: impl IntoIterator<Item = Option<&'a str>>) -> String {
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The fields of the native data, where it has fields.
fn fields(data: Option<&Value>) -> Map<String, Value> {
    data.and_then(Value::as_object).cloned().unwrap_or_default()
}
