//! The form of a structured last answer: one JSON object that fits a schema.
//!
//! haft describes the schema to the model in words, reads the answer as leniently as arguments, checks it as strictly,
//! and reports errors to the model. This works with every provider and every local server, with tools beside it; the
//! providers' own features for this do not (decision 0018).
//!
//! Not here: how often haft reports errors (`agent`), where a schema comes from.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::text::grouped::GroupedNumber;
use haft_runtime::arguments::{Checker, Fault, read_text};
use serde_json::Value;

/// What a model is told, before the schema.
const WORDS: &str = include_str!("output.md");
/// Longest schema without white space, in bytes: it is part of every request.
const LONGEST_SCHEMA: usize = 64 * 1024;
/// References from the root of a schema that are followed.
const MOST_REFERENCES: usize = 8;
const FENCE: &str = "```";
/// How long an answer may take to be checked.
const LONGEST_CHECK: Duration = Duration::from_secs(5);

/// A JSON Schema that the last answer of a model has to fit.
///
/// ```
/// use haft_agent::output::OutputSchema;
///
/// let schema = OutputSchema::from_text(r#"{"type": "object", "required": ["lines"], "properties": {"lines": {"type": "integer"}}}"#)?;
/// assert_eq!(schema.read("```json\n{\"lines\": 2}\n```").expect("it fits").value["lines"], 2);
/// assert!(schema.read("Two.").is_err());
/// # Ok::<(), haft_agent::output::OutputSchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OutputSchema {
    /// The schema without white space.
    text: String,
    checker: Arc<Checker>,
}

/// An answer that fits its schema.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredOutput {
    /// The answer, an object.
    pub value: Value,
    /// The repairs that were necessary to read it, a line each; mostly none.
    pub repairs: Vec<String>,
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It does not fit; says what is wrong, in words for the model.
    Wrong(String),
    /// Whether it fits cannot be told in time.
    NotChecked,
}

/// Why something is no schema for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputSchemaError {
    /// It is no JSON, for this reason.
    NotJson(String),
    /// It is longer than may be part of every request: so many bytes.
    TooLong(usize),
    /// It does not say that the answer is an object.
    NotAnObject,
    /// It is no JSON Schema, or refers to what is not in it.
    NotASchema(String),
}

impl OutputSchema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be one; see [`OutputSchema::new`].
    pub fn from_text(text: &str) -> Result<Self, OutputSchemaError> {
        let text = text.trim_start_matches('\u{feff}');
        let schema = serde_json::from_str(text).map_err(|error| OutputSchemaError::NotJson(error.to_string()))?;
        Self::new(&schema)
    }

    /// Makes a schema ready: of any draft, with references only to what is inside of it.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be one: it has more than 64 KiB without white space, its root is not of the type "object"
    /// (itself, or what it refers to), or it is not a valid JSON Schema.
    pub fn new(schema: &Value) -> Result<Self, OutputSchemaError> {
        let text = schema.to_string();
        if text.len() > LONGEST_SCHEMA {
            return Err(OutputSchemaError::TooLong(text.len()));
        }
        if schema.is_object() {
            let checker = Arc::new(Checker::new(schema).map_err(OutputSchemaError::NotASchema)?);
            if wants_an_object(schema) {
                return Ok(Self { text, checker });
            }
        }
        Err(OutputSchemaError::NotAnObject)
    }

    /// Reads an answer.
    ///
    /// It may stand in one code fence, or between words if it is the only object. This repairs text that is not quite
    /// JSON if it has one sensible reading. It changes no values, and adds nothing that the text does not have.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, in words for the model: at most eight places, each with what belongs there.
    pub fn read(&self, text: &str) -> Result<StructuredOutput, String> {
        let fenced = only_fence(text).filter(|inner| inner.contains('{'));
        let text = fenced.unwrap_or(text);
        let reading = match read_text(text) {
            // Arguments may be left out. An answer may not.
            Ok(_) if !text.contains('{') => return Err("$: expected one JSON object, received none".to_owned()),
            // haft knows when a call was cut. Of an answer, it cannot know whether only a bracket is missing.
            Ok(reading) if reading.is_completed() => {
                return Err("$: expected a complete JSON object, received text that ends inside it".to_owned());
            }
            Ok(reading) => reading,
            // What it says to do is said of calls.
            Err(fault) => return Err(Fault { hint: None, ..fault }.to_string()),
        };
        self.checker.check(&reading.value).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("\n")
        })?;
        let unfenced = fenced.map(|_| "json: took the text out of a code fence".to_owned());
        Ok(StructuredOutput { value: reading.value, repairs: unfenced.into_iter().chain(reading.repairs).collect() })
    }

    /// Reads an answer in a thread of its own, because there are schemas that take for ever with some answers. Returns
    /// nothing where it takes too long; the thread is left behind.
    pub(crate) async fn read_in_time(&self, text: &str) -> Result<StructuredOutput, Misfit> {
        let (schema, text) = (self.clone(), text.to_owned());
        let (sender, read) = tokio::sync::oneshot::channel();
        let thread = std::thread::Builder::new().name("haft-output".to_owned());
        // If the caller no longer waits, the send has no effect.
        thread.spawn(move || drop(sender.send(schema.read(&text)))).map_err(|_| Misfit::NotChecked)?;
        match tokio::time::timeout(LONGEST_CHECK, read).await {
            Ok(Ok(read)) => read.map_err(Misfit::Wrong),
            Ok(Err(_)) | Err(_) => Err(Misfit::NotChecked),
        }
    }

    /// Returns what a model is told of it.
    pub(crate) fn words(&self) -> String {
        format!("\n\n{}\n\n{}", WORDS.trim_end(), self.text)
    }
}

/// Says whether the root of a schema, or what it refers to, is an object and nothing else.
fn wants_an_object(schema: &Value) -> bool {
    let mut root = schema;
    for _ in 0..MOST_REFERENCES {
        if let Some(kind) = root.get("type") {
            return kind == "object";
        }
        let reference = root.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match reference.and_then(|pointer| schema.pointer(pointer)) {
            Some(next) => root = next,
            None => return false,
        }
    }
    false
}

/// Returns what stands in the only code fence of a text.
fn only_fence(text: &str) -> Option<&str> {
    let mut inner = None;
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match open {
            None if line.trim_start().starts_with(FENCE) => {
                if inner.is_some() {
                    return None;
                }
                open = Some(end);
            }
            Some(start) if line.trim() == FENCE => {
                inner = text.get(start..at);
                open = None;
            }
            None | Some(_) => {}
        }
        at = end;
    }
    open.map_or(inner, |start| text.get(start..))
}

impl fmt::Display for OutputSchemaError {
    /// Writes what is wrong with the schema, and what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputSchemaError::NotJson(why) => {
                write!(f, "The schema is not JSON: {why}. Next: write one JSON Schema, an object.")
            }
            OutputSchemaError::TooLong(bytes) => write!(
                f,
                "The schema has {} without white space; it is part of every request, so it may have {}. Next: leave out \
                 what the answer does not need.",
                GroupedNumber(*bytes as u64).of("byte"),
                GroupedNumber(LONGEST_SCHEMA as u64)
            ),
            OutputSchemaError::NotAnObject => f.write_str(
                "The schema does not say that the answer is an object. Next: write \"type\": \"object\" at its root, and \
                 a list or a number as a property of that.",
            ),
            OutputSchemaError::NotASchema(why) => {
                write!(f, "The schema cannot be used: {why}. Next: fix it there.")
            }
        }
    }
}

impl std::error::Error for OutputSchemaError {}
