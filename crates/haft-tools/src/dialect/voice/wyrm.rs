//! Speaks as wyrmspire/agent: one object with the call id, `output`, `success` and `error`; commands have labels.

use haft_contract::description::dialect::CallOutcome;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::Vocabulary;
use serde_json::{Value, json};

use super::command::{CommandTold, with_line_end};
use super::{Voice, lines};

pub(in crate::dialect) struct Wyrm;

impl Voice for Wyrm {
    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String> {
        let told = CommandTold::of(outcome)?;
        let labelled = |label: &str, text: &str| match text {
            "" => String::new(),
            text => format!("{label}:\n{}", with_line_end(text)),
        };
        let printed = labelled("stdout", told.out) + &labelled("stderr", told.err);
        let printed = if printed.is_empty() { "(no output)\n".to_owned() } else { printed };
        let code = failing(&told).map_or_else(String::new, |words| words + "\n");
        Some(printed + &code + told.said)
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, _outcome: &CallOutcome<'_>) -> String {
        let (what, next) = (format!("Error: {}", error.what), format!("Next: {}", error.next));
        lines([Some(what.as_str()), happened, Some(next.as_str())])
    }

    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        let failing = CommandTold::of(outcome).and_then(|told| failing(&told));
        let mut object = json!({ "tool_call_id": outcome.call.as_str() });
        match outcome.error {
            None => object["output"] = content.into(),
            Some(_) => object["output"] = outcome.text.into(),
        }
        object["success"] = (outcome.error.is_none() && failing.is_none()).into();
        if let Some(words) = outcome.error.map(|error| format!("{} Next: {}", error.what, error.next)).or(failing) {
            object["error"] = words.into();
        }
        if let Some(error) = outcome.error {
            object["blocked_by"] = error.kind.name_in(Vocabulary::Wyrm).into();
            object["code"] = error.kind.code().to_uppercase().into();
        }
        // Streams and exit code are there however it ended.
        for name in ["stdout", "stderr", "exit_code"] {
            if let Some(value) = outcome.data.and_then(|data| data.get(name)) {
                object[name] = value.clone();
            }
        }
        Some(object)
    }
}

/// A command that ended with another code than 0 has failed there.
fn failing(told: &CommandTold<'_>) -> Option<String> {
    told.failing_code().map(|code| format!("The command ended with exit code {code}."))
}
