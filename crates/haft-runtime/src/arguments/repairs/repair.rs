//! Repairs JSON text that is broken but has exactly one sensible reading.
//!
//! Runs only after strict reading failed. It makes one pass, so repairing a long text costs as much as reading it. It
//! never goes back to try another guess: the first place without a single reading ends it with a fault. This file finds
//! the object in the text around it. `repairs/repair/object.rs` reads the object, and `repairs/repair/string.rs` and
//! `repairs/repair/number.rs` read the parts where the most meaning can be lost.
//!
//! Not here: completing a text that was cut off inside a string, choosing between two objects, removing a
//! backslash. Those change what the call says.

mod number;
mod object;
mod string;

#[cfg(test)]
mod tests;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::arguments::ArgumentReading;
use crate::arguments::fault::{Fault, UnknownKey, shown_text};
use crate::arguments::strict;
use crate::arguments::strict::StrictParseError;
pub(in crate::arguments) use object::CLOSED;
use object::Parser;

const DECODED: &str = "json: the object was sent as a string and was decoded";
const ONE_OBJECT: &str = "one JSON object";

/// Reads a text that strict reading refused.
pub(in crate::arguments) fn read(text: &str) -> Result<ArgumentReading, Fault> {
    match escaped_object(text.trim()) {
        Some(inner) => read_encoded(&inner),
        None => mend(text),
    }
}

fn mend(text: &str) -> Result<ArgumentReading, Fault> {
    let body = text.trim_start_matches('\u{feff}');
    let Some(start) = body.find('{') else {
        return Err(no_object(&shown_text(body.trim())));
    };
    let (before, object) = body.split_at(start);
    let mut reading = Parser::read_object(object, text)?;
    let after = object[reading.length..].trim();
    let mut lines = Vec::new();
    if body.len() != text.len() {
        lines.push("json: removed a byte order mark".to_owned());
    }
    let wrapped = ObjectWrapping::around(before.trim(), after).map_err(|complaint| Fault {
        key: UnknownKey::Unsaid,
        path: "$".to_owned(),
        expected: ONE_OBJECT.to_owned(),
        received: complaint,
        hint: Some("nothing was run; send one JSON object and nothing else".to_owned()),
    })?;
    lines.extend(wrapped.lines());
    lines.append(&mut reading.repairs);
    Ok(ArgumentReading { value: reading.value, repairs: lines })
}

/// Reads an object that was sent inside a JSON string. Only one such layer is taken off.
pub(in crate::arguments) fn read_encoded(inner: &str) -> Result<ArgumentReading, Fault> {
    let read = match strict::parse(inner) {
        Ok(value @ Value::Object(_)) => Ok(ArgumentReading::unchanged(value)),
        Ok(_) => Err(no_object(&shown_text(inner))),
        Err(StrictParseError::Duplicate(fault)) => Err(fault),
        Err(StrictParseError::Unread) if inner.trim_start().starts_with('{') => mend(inner),
        Err(StrictParseError::Unread) => Err(no_object(&shown_text(inner))),
    };
    read.map(|mut reading| {
        reading.repairs.insert(0, DECODED.to_owned());
        reading
    })
}

/// Reads a text that is one list or object, as JSON with slips or as Python writes it, and nothing else.
pub(in crate::arguments) fn read_literal(text: &str) -> Option<Value> {
    Parser::read_literal(text)
}

/// Says that the text holds something else than an object.
pub(in crate::arguments) fn no_object(received: &str) -> Fault {
    Fault {
        key: UnknownKey::Unsaid,
        path: "$".to_owned(),
        expected: ONE_OBJECT.to_owned(),
        received: received.to_owned(),
        hint: Some("nothing was run; send the arguments as {\"name\": value, …}".to_owned()),
    }
}

/// Decodes `{\"path\":\"x\"}`: an object escaped for a string, sent without the quotes around it.
fn escaped_object(text: &str) -> Option<String> {
    let first = text.strip_prefix('{')?.trim_start_matches(['\\', 'n', ' ']);
    let is_escaped = first.starts_with('"') && text[..text.len() - first.len()].ends_with('\\');
    if !is_escaped {
        return None;
    }
    serde_json::from_str(&format!("\"{text}\"")).ok()
}

/// Which kinds of text around an object were left out.
#[derive(Default)]
struct ObjectWrapping {
    fence: bool,
    prose: bool,
    comma: bool,
    bracket: bool,
}

impl ObjectWrapping {
    /// Judges the text before and after the object, or says why more than one reading is possible.
    fn around(before: &str, after: &str) -> Result<ObjectWrapping, String> {
        let mut wrapping = ObjectWrapping::default();
        let before = match before.rsplit_once("```") {
            Some((prose, language)) if language.chars().all(|c| c.is_alphanumeric()) => {
                wrapping.fence = true;
                prose.trim()
            }
            _ => before,
        };
        let after = match after.strip_prefix("```") {
            Some(prose) => {
                wrapping.fence = true;
                prose.trim()
            }
            None => after,
        };
        if before == after && matches!(before, "\"" | "'" | "`") {
            wrapping.prose = true;
            return Ok(wrapping);
        }
        if is_part_of_data(before) {
            return Err(format!("{} before the object", shown_text(before)));
        }
        if after == "," {
            wrapping.comma = true;
        } else if after == "}" {
            wrapping.bracket = true;
        } else if is_more_data(after) {
            return Err(format!("an object and then {}", shown_text(after)));
        } else {
            wrapping.prose = !after.is_empty();
        }
        wrapping.prose |= !before.is_empty();
        Ok(wrapping)
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        [
            (self.fence, "json: took the text out of a code fence"),
            (self.prose, "json: left out the text around the object"),
            (self.comma, "json: removed a trailing comma"),
            (self.bracket, "json: removed an extra closing bracket"),
        ]
        .into_iter()
        .filter(|(happened, _)| *happened)
        .map(|(_, line)| line.to_owned())
    }
}

/// Whether text before the object may be the start of a larger value, not just words.
fn is_part_of_data(before: &str) -> bool {
    // `limit: 5, options: {…}` is an object without its brackets; "Here it is: {…}" is a sentence.
    before.contains(['[', ']', '}', '"']) || before.matches(':').count() > 1 || before.matches('\'').count() > 1
}

/// Whether text after the object may be a second value or the rest of a broken one, not just words.
fn is_more_data(after: &str) -> bool {
    after.contains(['{', '}', '[', ']', '"'])
        || after.starts_with([',', ':'])
        || serde_json::from_str::<IgnoredAny>(after).is_ok()
}

/// The place of a byte in a text, for a person: line and column, both from 1.
fn position(text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[line_start..].chars().count() + 1;
    format!("line {line}, column {column}")
}

/// Some characters before and after a byte of a text, quoted.
fn excerpt(text: &str, at: usize) -> String {
    let start = text[..at].char_indices().rev().nth(19).map_or(0, |(index, _)| index);
    let end = text[at..].char_indices().nth(20).map_or(text.len(), |(index, _)| at + index);
    shown_text(&text[start..end])
}
