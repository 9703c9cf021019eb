//! What a tool answers, as a result: checked against what it promised, with errors taken for what they are.

use haft_contract::grouped::Grouped;
use haft_contract::prelude::*;
use haft_contract::process::{HowEnded, Ran};
use serde_json::Value;

use super::log::last_of;
use crate::bash::report;
use crate::definition::Definition;

/// Longest words of an error that a tool gives, in characters.
const LONGEST_WORDS: usize = 2_000;

/// Checks answers against the schema that a definition promises.
pub(super) struct Promise(Option<jsonschema::Validator>);

impl Promise {
    /// Takes the promise of a definition; says why where its schema cannot be used.
    pub(super) fn of(definition: &Definition) -> Result<Self, String> {
        let schema = definition.output_schema.as_ref();
        let validator = schema.map(|schema| jsonschema::validator_for(schema).map_err(|error| error.to_string()));
        validator.transpose().map(Self)
    }

    /// Fails where an answer is not what was promised, and says where.
    pub(super) fn check(&self, tool: &str, answer: &Value) -> Result<(), ToolError> {
        let Some(error) = self.0.as_ref().and_then(|validator| validator.iter_errors(answer).next()) else {
            return Ok(());
        };
        let place = format!("${}", error.instance_path().to_string().replace('/', "."));
        let what = format!("\"{tool}\" did not answer as its output_schema says: {place}: {error}.");
        Err(ToolError::failed(shortened(&what), defect()))
    }
}

/// Returns the error that an answer is, if it is one: `{"error": "…"}` or `{"error": {"message": "…", "type": "…"}}`.
pub(super) fn error_in(tool: &str, answer: &Value) -> Option<ToolError> {
    let words = match answer.get("error")? {
        Value::String(words) if !words.trim().is_empty() => words.clone(),
        Value::Object(error) => {
            let message = error.get("message").and_then(Value::as_str)?;
            match error.get("type").and_then(Value::as_str) {
                Some(kind) => format!("{kind}: {message}"),
                None => message.to_owned(),
            }
        }
        _ => return None,
    };
    let mut error = ToolError::failed(format!("\"{tool}\" failed: {}", sentence(&words)), read_and_change());
    if answer.as_object().is_some_and(|answer| answer.len() > 1) {
        error.so_far = Some(Box::new(ToolOutput::text(answer.to_string()).with_data(answer.clone())));
    }
    Some(error)
}

/// Says what became of a tool that did not come to its end.
pub(super) fn ending(tool: &str, ran: &Ran, time: std::time::Duration, log: &str) -> Option<ToolError> {
    let (detail, line) = last_of(log);
    let said = line.map(|line| format!(": {}", sentence(line))).unwrap_or_else(|| ".".to_owned());
    let mut error = match ran.ended.how {
        HowEnded::Exited(0) => return None,
        HowEnded::Exited(status) => {
            ToolError::failed(format!("\"{tool}\" failed with exit code {status}{said}"), read_and_change())
        }
        HowEnded::Killed(signal) => {
            let what = format!("\"{tool}\" was ended by {}{said}", report::signal_words(signal));
            ToolError::failed(what, Next::FixArguments("ask for less in one call; else tell the user".into()))
        }
        HowEnded::TimedOut => {
            let seconds = time.as_secs_f64();
            let what = format!("\"{tool}\" was stopped after {seconds} s, with everything that it had started.");
            ToolError::new(ErrorKind::TimedOut, what, Next::FixArguments("ask for less in one call".into()))
        }
        HowEnded::Stopped => ToolError::of(ErrorKind::Cancelled, format!("\"{tool}\" was stopped.")),
    };
    error.detail = detail;
    Some(error)
}

/// Puts what is to be said of a run behind its output.
pub(super) fn with_notes(mut output: ToolOutput, ran: &Ran, cx: &RunContext<'_>) -> ToolOutput {
    let said = report::said(ran, Vec::new(), cx).1;
    if !said.is_empty() {
        output.for_model.push(haft_contract::output::Content::Text(said.trim_end().to_owned()));
    }
    output
}

/// Returns a value to the model as text, and as data.
pub(super) fn of_value(value: Value) -> ToolOutput {
    let text = match &value {
        Value::Null => "Done.".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    ToolOutput::text(text).with_data(value)
}

/// Ends words like a sentence.
pub(super) fn sentence(words: &str) -> String {
    let words = shortened(words.trim());
    if words.ends_with(['.', '!', '?', '…', '"', ')', ']']) { words } else { words + "." }
}

fn shortened(words: &str) -> String {
    match words.char_indices().nth(LONGEST_WORDS) {
        None => words.to_owned(),
        Some((end, _)) => {
            let left = Grouped(words[end..].chars().count() as u64);
            format!("{}[… {left} characters left out]", &words[..end])
        }
    }
}

pub(super) fn read_and_change() -> Next {
    Next::FixArguments("read the message and change the call".into())
}

/// The next step after a fault that no other call can avoid.
pub(super) fn defect() -> Next {
    Next::DoNotRetry("tell the user that this tool has a defect".into())
}
