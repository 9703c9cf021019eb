//! Reads a list or an object that a model sent as text inside a string.
//!
//! It tries JSON first, then the Python form with single quotes, `True`, tuples and trailing commas. A text that begins
//! like a list or an object but has no single reading is broken. It never counts as one plain item of a list.
//!
//! Not here: the text of a whole call (`repair.rs`), which may close brackets. Here a value that was cut off stays cut off.

use serde_json::Value;

use super::repair;
use crate::arguments::strict;
use crate::arguments::strict::StrictParseError;

/// What a text in the place of a list or an object turns out to be.
pub(crate) enum Literal {
    /// A list or an object.
    Container(Value),
    /// It begins like one, but has no single reading.
    Broken,
    /// Anything else.
    Plain,
}

/// Reads a text as a list or an object.
pub(crate) fn read(text: &str) -> Literal {
    let text = out_of_fence(text.trim());
    let begins = text.chars().next();
    if !matches!(begins, Some('[' | '{' | '(')) {
        return Literal::Plain;
    }
    let read = match strict::parse(text) {
        Ok(value) => Some(value),
        Err(StrictParseError::Duplicate(_)) => None,
        Err(StrictParseError::Unread) => repair::read_literal(text),
    };
    match read {
        Some(value @ (Value::Array(_) | Value::Object(_))) => Literal::Container(value),
        // A regular expression may begin with a parenthesis.
        _ if begins == Some('(') => Literal::Plain,
        _ => Literal::Broken,
    }
}

/// Takes the text out of the code fence that is around all of it.
fn out_of_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inner = inner.map(|inner| inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim());
    inner.filter(|inner| !inner.is_empty()).unwrap_or(text)
}
