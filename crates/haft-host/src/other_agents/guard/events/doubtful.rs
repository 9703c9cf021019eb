//! Finds out who sent an event that cannot be read as JSON.
//!
//! Text of a model may make an event unreadable: half a character (`\ud800`), a number without limits, a thousand nested
//! lists. The answer must still have the agent's form, and be a denial where the agent does not ask. So haft reads the
//! fields of the event itself, one by one, and leaves out those whose values it cannot read.

use serde_json::{Map, Value};

/// Returns the fields of an event that can be read. Of the others only the names are there.
pub(super) fn readable_fields(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut rest = EventText { bytes, at: 0 };
    if rest.next_sign() != Some(b'{') {
        return fields;
    }
    rest.at += 1;
    while let Some(name) = rest.value() {
        if rest.next_sign() != Some(b':') {
            break;
        }
        rest.at += 1;
        let value = rest.value();
        if let Ok(name) = serde_json::from_slice::<String>(name) {
            let value = value.and_then(|value| serde_json::from_slice(value).ok());
            fields.insert(name, value.unwrap_or(Value::Object(Map::new())));
        }
        if rest.next_sign() != Some(b',') {
            break;
        }
        rest.at += 1;
    }
    fields
}

/// The text of an event, and how far it is read.
struct EventText<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> EventText<'b> {
    /// Returns the next sign that is no blank.
    fn next_sign(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Returns the text of one value, up to the sign that ends it.
    fn value(&mut self) -> Option<&'b [u8]> {
        self.next_sign()?;
        let (begin, mut depth, mut is_text) = (self.at, 0_usize, false);
        while let Some(sign) = self.bytes.get(self.at) {
            match sign {
                b'\\' if is_text => self.at += 1,
                b'"' => is_text = !is_text,
                _ if is_text => {}
                b'{' | b'[' => depth += 1,
                b',' | b':' | b'}' | b']' if depth == 0 => break,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.bytes.get(begin..self.at).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_beside_one_that_cannot_be_read_are_found() {
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        for broken in [r#""\ud800""#, r#"{"a\udfff": "}\\"}"#, "1e999", &deep, r#"{"x": [1e999, "\"]"]}"#] {
            let event = format!(r#" {{"cwd": "/w", "tool_input": {broken} , "permission_mode": "dontAsk"}}"#);
            let fields = readable_fields(event.as_bytes());
            let names: Vec<&String> = fields.keys().collect();
            assert_eq!(names, ["cwd", "tool_input", "permission_mode"], "{broken}");
            assert_eq!((&fields["cwd"], &fields["permission_mode"]), (&"/w".into(), &"dontAsk".into()), "{broken}");
        }
    }

    #[test]
    fn a_text_that_is_no_object_has_no_fields() {
        for text in ["", "[1]", "x", "{", "{\"a\"", "{]", "\"{"] {
            assert!(readable_fields(text.as_bytes()).is_empty(), "{text}");
        }
        assert_eq!(readable_fields(br#"{"a": "b", "c": "d"#).len(), 2, "the end is missing");
    }
}
