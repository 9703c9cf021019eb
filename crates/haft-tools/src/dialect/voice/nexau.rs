//! Speaks as NexAU: an object with `content`, and `error` with its message and type if the call failed.

use haft_contract::description::dialect::CallOutcome;
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::{ErrorKind, Vocabulary};
use serde_json::{Value, json};

use super::command::{CommandTold, with_line_end};
use super::{Voice, fields, lines};
use crate::dialect::is_built_in;

pub(in crate::dialect) struct Nexau;

impl Voice for Nexau {
    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String> {
        let told = CommandTold::of(outcome)?;
        let printed = with_line_end(told.out) + &with_line_end(told.err);
        let printed = if printed.is_empty() { "(empty)\n".to_owned() } else { printed };
        let code = told.failing_code().map(|code| format!("Error: {}\nExit Code: {code}\n", ended(code)));
        Some(printed + &code.unwrap_or_default() + told.said)
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, _outcome: &CallOutcome<'_>) -> String {
        let (what, next) = (format!("Error: {}", error.what), format!("Next: {}", error.next));
        lines([Some(what.as_str()), happened, Some(next.as_str())])
    }

    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        if let Some(error) = outcome.error {
            let told = json!({ "message": error.what, "type": code(error, outcome) });
            return Some(json!({ "content": content, "error": told, "is_error": true }));
        }
        match (outcome.data, outcome.native.is_some_and(is_built_in)) {
            // The return value of a foreign tool is the result; a value that is no object is put into one.
            (Some(Value::Object(_)), false) => None,
            (Some(data), false) => Some(json!({ "result": data })),
            (None, false) => Some(json!({ "result": outcome.text })),
            (_, true) => {
                let mut object = json!({ "content": content, "is_error": false });
                if let Some(code) = CommandTold::of(outcome).and_then(|told| told.failing_code()) {
                    object["error"] = json!({ "message": ended(code), "type": "SHELL_EXECUTE_ERROR" });
                }
                for (name, value) in fields(outcome.data) {
                    if object.get(&name).is_none() {
                        object[&name] = value;
                    }
                }
                Some(object)
            }
        }
    }
}

/// The type of an error: the original has more than one where the same went wrong with something else.
fn code(error: &ToolError, outcome: &CallOutcome<'_>) -> &'static str {
    // A pattern is judged by those who search, an argument by its schema, which names the place.
    let is_pattern = outcome.native == Some("grep") && error.about.argument.is_none();
    match (error.kind, error.about.operation) {
        (ErrorKind::IsFolder, Some(FailedOperation::Write)) => "TARGET_IS_DIRECTORY",
        (ErrorKind::Io, Some(FailedOperation::Read | FailedOperation::Access | FailedOperation::Decode)) => {
            "READ_ERROR"
        }
        (ErrorKind::BadArguments, _) if is_pattern => "INVALID_PATTERN",
        (kind, _) => kind.name_in(Vocabulary::Nexau),
    }
}

fn ended(code: i64) -> String {
    format!("The command ended with exit code {code}.")
}
