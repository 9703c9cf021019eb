//! Implements the voice of a file: texts and objects with names in braces for the outcome of a call.
//!
//! For anything the file leaves out, haft uses its own words. A text must name everything that happened, so no voice says
//! less than another; `check` enforces that for files.

use std::collections::BTreeMap;

use haft_contract::description::dialect::CallOutcome;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::command::{CommandTold, with_line_end};
use super::template::Template;
use super::{Voice, lines};

/// What a call is written with.
pub(in crate::dialect) const CALL: &[&str] = &["tool", "arguments"];
/// What an error is told with; the first three must be there.
pub(in crate::dialect) const ERROR: &[&str] = &["what", "next", "happened", "tool", "kind", "path"];
/// What a command is told with; the first four must be there.
pub(in crate::dialect) const COMMAND: &[&str] = &["out", "err", "code", "said", "command", "tool"];
/// What an object of a result is made of.
pub(in crate::dialect) const WORKED: &[&str] = &["content", "data", "id", "tool", "code"];
/// What an object of a failure is made of.
pub(in crate::dialect) const FAILED: &[&str] =
    &["content", "what", "next", "kind", "path", "printed", "data", "id", "tool", "code"];

/// The voice of a system, as a dialect file writes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::dialect) struct WrittenVoice {
    pub(in crate::dialect) call: Option<Template>,
    pub(in crate::dialect) error: Option<Template>,
    pub(in crate::dialect) command: Option<Template>,
    /// The object of a call that worked; without it the data stays as it is.
    pub(in crate::dialect) worked: Option<Map<String, Value>>,
    /// The object of a call that did not.
    pub(in crate::dialect) failed: Option<Map<String, Value>>,
    /// What kinds of errors are called there.
    #[serde(default)]
    pub(in crate::dialect) kinds: BTreeMap<String, String>,
}

impl WrittenVoice {
    fn kind(&self, kind: ErrorKind) -> String {
        self.kinds.get(kind.code()).cloned().unwrap_or_else(|| kind.code().to_owned())
    }

    /// Returns what a name stands for in an object.
    fn value(&self, name: &str, content: &str, outcome: &CallOutcome<'_>) -> Value {
        let error = outcome.error;
        match name {
            "content" => content.into(),
            "data" => outcome.data.cloned().unwrap_or_default(),
            "id" => outcome.call.as_str().into(),
            "tool" => outcome.tool.into(),
            "code" => outcome.exit_code.into(),
            "printed" => outcome.text.into(),
            "what" => error.map(|error| error.what.clone()).into(),
            "next" => error.map(|error| error.next.to_string()).into(),
            "kind" => error.map(|error| self.kind(error.kind)).into(),
            "path" => error.and_then(|error| error.about.path.clone()).into(),
            _ => Value::Null,
        }
    }

    /// Fills an object: a text that is one name becomes its value, whatever that is.
    fn filled(&self, written: &Value, content: &str, outcome: &CallOutcome<'_>) -> Value {
        match written {
            Value::String(text) => {
                let template = Template::read(text).unwrap_or_default();
                match template.only_name() {
                    Some(name) => self.value(name, content, outcome),
                    None => template.filled(|name| plain(self.value(name, content, outcome))).into(),
                }
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item, content, outcome)).collect(),
            Value::Object(fields) => {
                let fill = |(name, value): (&String, &Value)| (name.clone(), self.filled(value, content, outcome));
                fields.iter().map(fill).collect::<Map<String, Value>>().into()
            }
            other => other.clone(),
        }
    }
}

/// Writes a value into a text.
fn plain(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        value => value.to_string(),
    }
}

impl Voice for WrittenVoice {
    fn call(&self, tool: &str, arguments: &Value) -> String {
        match &self.call {
            None => format!("{tool}({arguments})"),
            Some(call) => call.filled(|name| if name == "tool" { tool.to_owned() } else { arguments.to_string() }),
        }
    }

    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String> {
        let command = self.command.as_ref()?;
        let told = CommandTold::of(outcome)?;
        Some(command.filled(|name| match name {
            "out" => with_line_end(told.out),
            "err" => with_line_end(told.err),
            "code" => told.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string()),
            "said" => told.said.to_owned(),
            "command" => told.command.to_owned(),
            _ => outcome.tool.to_owned(),
        }))
    }

    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String {
        let next = error.next.to_string();
        let Some(template) = &self.error else {
            return lines([Some(error.what.as_str()), happened, Some(format!("Next: {next}").as_str())]);
        };
        template.filled(|name| match name {
            "what" => error.what.clone(),
            "next" => next.clone(),
            "happened" => happened.unwrap_or_default().to_owned(),
            "kind" => self.kind(error.kind),
            "path" => error.about.path.clone().unwrap_or_default(),
            _ => outcome.tool.to_owned(),
        })
    }

    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value> {
        let written = if outcome.error.is_none() { &self.worked } else { &self.failed };
        Some(self.filled(&Value::Object(written.clone()?), content, outcome))
    }
}
