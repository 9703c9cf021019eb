//! Turns the answer of a tool into a result: checks it against the promised schema, and recognizes errors.

use haft_contract::doors::process::{HowEnded, SettledCommand};
use haft_contract::prelude::*;
use haft_contract::signals::signal_words;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::Value;

use super::log::last_of;
use crate::defined::definition::Definition;
use crate::run::bash::report;

/// Longest words of an error that a tool gives, in characters.
const LONGEST_WORDS: usize = 2_000;

/// Longest sort of an error that a tool names, in bytes.
const LONGEST_TYPE: usize = 64;

/// Exceptions that a function does not raise to say something: they are slips in it.
const SLIPS: [&str; 14] = [
    "AssertionError",
    "AttributeError",
    "IndexError",
    "KeyError",
    "MemoryError",
    "NameError",
    "NotImplementedError",
    "RecursionError",
    "SystemError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "ZeroDivisionError",
];

/// Returns whether an exception of this type is a slip in the tool, and not what it answers to a call that it does not
/// want.
pub(super) fn is_slip(exception: &str) -> bool {
    SLIPS.contains(&exception)
}

/// Checks answers against the schema that a definition promises.
pub(super) struct Promise(Option<jsonschema::Validator>);

impl Promise {
    /// Takes the promise of a definition; says why where its schema cannot be used.
    pub(super) fn of(definition: &Definition) -> Result<Self, String> {
        let schema = definition.output_schema.as_ref();
        let validator = schema.map(|schema| jsonschema::validator_for(schema).map_err(|error| error.to_string()));
        validator.transpose().map(Self)
    }

    /// Promises nothing.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Fails where an answer is not what was promised, and says where.
    pub(super) fn check(&self, tool: &str, answer: &Value) -> Result<(), ToolError> {
        let Some(error) = self.0.as_ref().and_then(|validator| validator.iter_errors(answer).next()) else {
            return Ok(());
        };
        let place = format!("${}", error.instance_path().to_string().replace('/', "."));
        let what = format!("\"{tool}\" did not answer as its output_schema says: {place}: {error}.");
        Err(ToolError::failed(shortened(&what), defect()).as_defect())
    }
}

/// What a tool says of its own error beside the message: its sort, and what to do.
#[derive(Default)]
pub(super) struct OwnWords {
    /// Such as `user_error`.
    pub(super) error_type: Option<String>,
    pub(super) suggestion: Option<String>,
}

impl OwnWords {
    /// Takes what of these fields is text. A sort is one word.
    pub(super) fn of(error_type: Option<&Value>, suggestion: Option<&Value>) -> Self {
        let is_word =
            |text: &&str| text.len() <= LONGEST_TYPE && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        Self {
            error_type: text(error_type).filter(is_word).map(str::to_owned),
            suggestion: text(suggestion).map(shortened),
        }
    }

    /// Puts these words into an error.
    pub(super) fn put_into(self, error: &mut ToolError) {
        error.about.own_type = self.error_type;
        if let Some(suggestion) = self.suggestion {
            error.next = Next::FixArguments(suggestion);
        }
    }
}

/// Returns a text that says something.
fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the error that the answer of a program or function is, with `error_type` and `suggestion` beside its message or
/// beside `error`. What another host suggests is no next step of haft, so requests do without.
pub(super) fn advised_error_in(tool: &str, answer: &Value) -> Option<ToolError> {
    let mut error = error_in(tool, answer)?;
    let field = |name: &str| answer.get("error").and_then(|error| error.get(name)).or_else(|| answer.get(name));
    OwnWords::of(field("error_type"), field("suggestion")).put_into(&mut error);
    Some(error)
}

/// Returns the error that an answer is, if it is one: `{"error": "…"}` or `{"error": {"message": "…", "type": "…"}}`.
pub(super) fn error_in(tool: &str, answer: &Value) -> Option<ToolError> {
    let (words, exception) = match answer.get("error")? {
        Value::String(words) if !words.trim().is_empty() => (words.clone(), None),
        Value::Object(error) => {
            let message = error.get("message").and_then(Value::as_str)?;
            match error.get("type").and_then(Value::as_str) {
                Some(kind) => (format!("{kind}: {message}"), Some(kind)),
                None => (message.to_owned(), None),
            }
        }
        _ => return None,
    };
    let mut error = ToolError::failed(format!("\"{tool}\" failed: {}", sentence(&words)), read_and_change());
    error.about.is_defect = exception.is_some_and(is_slip);
    if answer.as_object().is_some_and(|answer| answer.len() > 1) {
        error.so_far = Some(Box::new(ToolOutput::text(answer.to_string()).with_data(answer.clone())));
    }
    Some(error)
}

/// Says what became of a tool that did not come to its end.
pub(super) fn ending(tool: &str, ran: &SettledCommand, time: std::time::Duration, log: &str) -> Option<ToolError> {
    let (detail, line) = last_of(log);
    let said = line.map(|line| format!(": {}", sentence(line))).unwrap_or_else(|| ".".to_owned());
    let mut error = match ran.ended.how {
        HowEnded::Exited(0) => return None,
        HowEnded::Exited(status) => {
            let what = format!("\"{tool}\" failed with exit code {status}{said}");
            let mut error = ToolError::failed(what, read_and_change());
            // A tool that does not want a call says why.
            error.about.is_defect = line.is_none();
            error
        }
        HowEnded::Killed(signal) => {
            let what = format!("\"{tool}\" was ended by {}{said}", signal_words(signal));
            ToolError::failed(what, Next::FixArguments("ask for less in one call; else tell the user".into()))
                .as_defect()
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
pub(super) fn with_notes(mut output: ToolOutput, ran: &SettledCommand, cx: &RunContext<'_>) -> ToolOutput {
    let said = report::said(ran, Vec::new(), cx).text;
    if !said.is_empty() {
        output.for_model.push(haft_contract::outcome::output::Content::Text(said.trim_end().to_owned()));
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
            let left = GroupedNumber(words[end..].chars().count() as u64);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use haft_contract::doors::process::{CommandEnd, CommitReport, ConfinementLevel, Disposition};
    use serde_json::json;

    use super::*;

    fn ended(how: HowEnded, log: &str) -> bool {
        let ended = CommandEnd {
            how,
            took: Duration::ZERO,
            level: ConfinementLevel::Full,
            left_behind: 0,
            notes: Vec::new(),
            refused_hosts: Vec::new(),
        };
        let ran = SettledCommand { ended, settled: CommitReport::default(), uncovered: None, how: Disposition::Commit };
        ending("t", &ran, Duration::from_secs(1), log).expect("it is an error").about.is_defect
    }

    fn said(error: Value) -> bool {
        error_in("t", &json!({ "error": error })).expect("it is an error").about.is_defect
    }

    #[test]
    fn a_tool_names_the_sort_of_its_error_and_what_to_do() {
        let own = |answer: Value| {
            let error = advised_error_in("t", &answer).expect("it is an error");
            (error.about.own_type.clone(), error.next.to_string())
        };
        let words = |kind: &str, next: &str| (Some(kind.to_owned()), next.to_owned());
        let beside =
            json!({ "success": false, "error": "no city", "error_type": "user_error", "suggestion": "try Bonn" });
        assert_eq!(own(beside), words("user_error", "try Bonn"));
        let inside = json!({ "error": { "message": "no city", "error_type": "user_error", "suggestion": "try Bonn" } });
        assert_eq!(own(inside), words("user_error", "try Bonn"));
        let odd = json!({ "error": "no city", "error_type": "a b\nc", "suggestion": 7 });
        assert_eq!(own(odd), (None, "read the message and change the call".to_owned()));
    }

    #[test]
    fn what_a_tool_says_in_words_is_an_answer_and_the_rest_is_a_defect() {
        assert!(!ended(HowEnded::Exited(2), "usage: t CITY\n"));
        assert!(ended(HowEnded::Exited(2), ""));
        assert!(ended(HowEnded::Killed(11), "usage: t CITY\n"));
        assert!(!said(json!("no such city: Bonn")));
        assert!(!said(json!({ "message": "no such city", "type": "ValueError" })));
        assert!(said(json!({ "message": "'city'", "type": "KeyError" })));
        // Words of the tool are only words.
        assert!(!said(json!("KeyError: 'city'")));
        assert!(!ended(HowEnded::Exited(1), "ended its process with status 7\n"));
    }
}
