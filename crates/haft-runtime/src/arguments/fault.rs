//! Describes what is wrong with arguments, in words a model can act on.
//!
//! Every refusal of this module is a [`Fault`], for broken text and for values that do not fit. So the runtime writes
//! only one kind of answer. This file also writes a place (`$.edits[1].old_text`) and a value in few characters. A value
//! can be megabytes long, but no text made here grows with it.

use std::fmt;
use std::io::{self, Write};

use serde_json::Value;

/// Most bytes of a value that are shown.
const SHOWN_BYTES: usize = 72;
/// Most bytes of a path that are shown: keys come from the model and may be of any length.
const PATH_BYTES: usize = 160;

/// One thing wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it is: `$` for the whole, `$.edits[1].old_text` for a part.
    pub path: String,
    /// What belongs there, in words: `a whole number of at least 1`.
    pub expected: String,
    /// What was sent: a short form of the value, or `nothing`.
    pub received: String,
    /// What to do about it, when more can be said than `expected` says.
    pub hint: Option<String>,
    /// What is known of a key that the schema does not have.
    pub key: UnknownKey,
}

/// What is known of a key that the schema does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum UnknownKey {
    /// The fault is about something else, or the hint says all.
    #[default]
    Unsaid,
    /// Its value may be meant for the property of this name.
    MeantFor(String),
    /// The schema has nothing like it.
    WithoutCounterpart,
}

impl fmt::Display for Fault {
    /// Writes the fault as one line: path, expected, received, hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { path, expected, received, hint, key: _ } = self;
        write!(f, "{path}: expected {expected}, received {received}")?;
        match hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Writes a value as JSON, cut after some 70 bytes.
pub(crate) fn shown(value: &Value) -> String {
    let mut start = PrefixWriter { bytes: Vec::with_capacity(SHOWN_BYTES), cut: false };
    // The only error is our own "enough", which stops the serialiser early.
    let written = serde_json::to_writer(&mut start, value);
    let mut text = String::from_utf8_lossy(&start.bytes).into_owned();
    if start.cut || written.is_err() {
        // A character cut in half at the border was replaced; drop the replacement.
        text.truncate(text.trim_end_matches('\u{fffd}').len());
        text.push('…');
    }
    text
}

/// Writes a piece of text as a JSON string, cut like a value.
pub(super) fn shown_text(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_BYTES).collect();
    let is_whole = start.len() == text.len();
    let mut shown = shown(&Value::String(start));
    if !is_whole && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// One step from a value to a part of it.
pub(super) enum ValuePathStep {
    Key(String),
    Index(usize),
}

/// Writes the path of a part: `$.edits[1].old_text`.
pub(super) fn written_path<'a>(steps: impl Iterator<Item = &'a ValuePathStep>) -> String {
    let mut path = "$".to_owned();
    for step in steps {
        match step {
            ValuePathStep::Key(key) => push_key(&mut path, key),
            ValuePathStep::Index(index) => push_index(&mut path, *index),
        }
    }
    path
}

/// Appends a key to a path: `$.a`, or `$["a b"]` when the key is no plain name.
pub(super) fn push_key(path: &mut String, key: &str) {
    if path.len() > PATH_BYTES {
        if !path.ends_with('…') {
            path.push('…');
        }
    } else if is_plain_name(key) && key.len() <= SHOWN_BYTES {
        path.push('.');
        path.push_str(key);
    } else {
        path.push('[');
        path.push_str(&shown_text(key));
        path.push(']');
    }
}

/// Appends an index to a path: `$.a[3]`.
pub(super) fn push_index(path: &mut String, index: usize) {
    if path.len() > PATH_BYTES {
        if !path.ends_with('…') {
            path.push('…');
        }
    } else {
        path.push_str(&format!("[{index}]"));
    }
}

/// Returns the path of a property below `path`.
pub(crate) fn key_path(path: &str, key: &str) -> String {
    let mut path = path.to_owned();
    push_key(&mut path, key);
    path
}

fn is_plain_name(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

/// Keeps the first bytes that are written to it and refuses the rest: long values are not serialised whole.
struct PrefixWriter {
    bytes: Vec<u8>,
    cut: bool,
}

impl Write for PrefixWriter {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = SHOWN_BYTES - self.bytes.len();
        if room == 0 && !piece.is_empty() {
            self.cut = true;
            return Err(io::Error::other("enough"));
        }
        let taken = room.min(piece.len());
        self.bytes.extend_from_slice(&piece[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{key_path, shown, shown_text};
    use serde_json::json;

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        assert_eq!(shown(&json!({ "a": 1 })), r#"{"a":1}"#);
        let long = shown(&json!("ä".repeat(1000)));
        assert!(long.starts_with("\"ää") && long.ends_with("ä…") && long.len() < 90, "{long}");
        assert!(shown_text(&"\u{1}".repeat(1000)).len() < 90);
        assert_eq!(shown_text("a\"b"), r#""a\"b""#);
    }

    #[test]
    fn a_key_that_is_no_name_is_quoted_in_the_path() {
        assert_eq!(key_path("$.a", "b"), "$.a.b");
        assert_eq!(key_path("$", "a b"), r#"$["a b"]"#);
        assert_eq!(key_path("$", ""), r#"$[""]"#);
    }
}
