//! NexAU: an object with `content`, and `error` with its message and type where something went wrong.

use haft::dialect::Outcome;
use haft::error::ToolError;
use haft::kinds::Vocabulary;
use serde_json::{Value, json};

use super::command::{CommandTold, with_line_end};
use super::{Voice, fields, lines};
use crate::dialect::is_built_in;

pub(in crate::dialect) struct Nexau;

impl Voice for Nexau {
    fn output(&self, outcome: &Outcome<'_>) -> Option<String> {
        let told = CommandTold::of(outcome)?;
        let printed = with_line_end(told.out) + &with_line_end(told.err);
        let printed = if printed.is_empty() { "(empty)\n".to_owned() } else { printed };
        let code = told.failing_code().map(|code| format!("Error: {}\nExit Code: {code}\n", ended(code)));
        Some(printed + &code.unwrap_or_default() + &told.said)
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, _outcome: &Outcome<'_>) -> String {
        let (what, next) = (format!("Error: {}", error.what), format!("Next: {}", error.next));
        lines([Some(what.as_str()), happened, Some(next.as_str())])
    }

    fn object(&self, content: &str, outcome: &Outcome<'_>) -> Option<Value> {
        if let Some(error) = outcome.error {
            let told = json!({ "message": error.what, "type": error.kind.name_in(Vocabulary::Nexau) });
            return Some(json!({ "content": content, "error": told, "is_error": true }));
        }
        match (outcome.data, outcome.native.is_some_and(is_built_in)) {
            // What a tool of somebody else returns is the result; what is no object is put into one.
            (Some(Value::Object(_)), false) => None,
            (Some(data), false) => Some(json!({ "result": data })),
            (None, false) => Some(json!({ "result": content })),
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

fn ended(code: i64) -> String {
    format!("The command ended with exit code {code}.")
}
