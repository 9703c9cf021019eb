//! Speaks as Code-Ally: one object with `success`, `error`, `error_type` and `suggestion`; errors begin with the call.

use haft_contract::description::dialect::CallOutcome;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::Vocabulary;
use serde_json::{Map, Value, json};

use super::command::CommandTold;
use super::{Voice, fields, lines};

/// Longest value of an argument in an error, in characters.
const LONGEST_VALUE: usize = 50;

pub(in crate::dialect) struct Ally;

impl Voice for Ally {
    fn call(&self, tool: &str, arguments: &Value) -> String {
        let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !is_nothing(value));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={}", shown(value))).collect();
        format!("{tool}({})", given.join(", "))
    }

    fn output(&self, _outcome: &CallOutcome<'_>) -> Option<String> {
        None
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String {
        let suggestion = format!("Suggestion: {}", error.next);
        lines([Some(self.message(error, outcome).as_str()), happened, Some(suggestion.as_str())])
    }

    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        let mut object = Map::from_iter([("success".to_owned(), json!(outcome.error.is_none()))]);
        let command = CommandTold::of(outcome);
        let printed = command.as_ref().map_or("", |command| command.err);
        let error = outcome.error.map_or_else(|| printed.to_owned(), |error| self.message(error, outcome));
        object.insert("error".to_owned(), error.into());
        if let Some(error) = outcome.error {
            let own = error.about.own_type.as_deref();
            object.insert("error_type".to_owned(), own.unwrap_or(error.kind.name_in(Vocabulary::Ally)).into());
            object.insert("suggestion".to_owned(), error.next.to_string().into());
        }
        if let Some(command) = &command {
            object.insert("output".to_owned(), command.out.into());
            object.insert("return_code".to_owned(), command.return_code().into());
            return Some(Value::Object(object));
        }
        if outcome.error.is_none() {
            object.insert("content".to_owned(), content.into());
        }
        for (name, value) in fields(outcome.data) {
            object.entry(name).or_insert(value);
        }
        if let Some(data) = outcome.data.filter(|data| !data.is_object()) {
            object.insert("result".to_owned(), data.clone());
        }
        Some(Value::Object(object))
    }
}

impl Ally {
    fn message(&self, error: &ToolError, outcome: &CallOutcome<'_>) -> String {
        format!("{}: {}", self.call(outcome.tool, outcome.arguments), error.what)
    }
}

/// What says nothing is left out.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn shown(value: &Value) -> String {
    let shown = value.to_string();
    match shown.char_indices().nth(LONGEST_VALUE) {
        None => shown,
        Some((end, _)) => format!("{}…", &shown[..end]),
    }
}
