//! Reads a provider's JSON member by member, and keeps the text that goes back to the provider.
//!
//! Providers send members and kinds of values that differ from their published types. This reads only the requested
//! members, and treats a value of another kind as missing, so a new member never breaks a reply. Nesting needs no
//! stack, because the text of a member is only skipped until a caller asks for it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::{RawValue, to_raw_value};

/// An object whose members are not read yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object(BTreeMap<String, Box<RawValue>>);

impl Object {
    /// Reads a text that is one object.
    pub(crate) fn read(text: &str) -> Option<Object> {
        serde_json::from_str(text).ok().map(Object)
    }

    /// Returns the text of a member; nothing when it is missing or null.
    pub(crate) fn raw(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(Box::as_ref).filter(|raw| raw.get() != "null")
    }

    pub(crate) fn object(&self, name: &str) -> Option<Object> {
        self.raw(name).and_then(|raw| Object::read(raw.get()))
    }

    pub(crate) fn list(&self, name: &str) -> Option<Vec<Box<RawValue>>> {
        self.raw(name).and_then(|raw| list(raw.get()))
    }

    /// Returns the elements of a list that are objects.
    pub(crate) fn objects(&self, name: &str) -> Vec<Object> {
        let elements = self.list(name).unwrap_or_default();
        elements.iter().filter_map(|element| Object::read(element.get())).collect()
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(text)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.raw(name).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.raw(name).is_some_and(|raw| raw.get() == "true")
    }

    /// Returns the text of the whole, with its members in the order of their names.
    pub(crate) fn to_raw(&self) -> Box<RawValue> {
        to_raw_value(&self.0).expect("members that were read can be written")
    }

    /// Returns the object with another text as a member.
    pub(crate) fn with(self, name: &str, text: &str) -> Object {
        self.with_raw(name, to_raw_value(text).expect("a text can be written"))
    }

    /// Returns the object with another value as a member.
    pub(crate) fn with_raw(mut self, name: &str, value: Box<RawValue>) -> Object {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Returns the members without those that are null.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), raw.as_ref())).filter(|(_, raw)| raw.get() != "null")
    }
}

/// Reads a text that is one list.
pub(crate) fn list(text: &str) -> Option<Vec<Box<RawValue>>> {
    serde_json::from_str(text).ok()
}

/// Reads a value that is a string.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Lossy>(raw.get()).ok().map(|lossy| lossy.0)
}

/// Returns the text of a value without the white space between its tokens: a record of one line stays one line, and
/// strings and numbers keep every byte.
pub(crate) fn compact(raw: &RawValue) -> Box<RawValue> {
    let mut kept = String::with_capacity(raw.get().len());
    let mut in_string = false;
    let mut is_escaped = false;
    for character in raw.get().chars() {
        if in_string {
            in_string = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = character == '"';
        }
        kept.push(character);
    }
    RawValue::from_string(kept).unwrap_or_else(|_| raw.to_owned())
}

/// Puts the text of values into one list.
pub(crate) fn joined<'a>(elements: impl IntoIterator<Item = &'a RawValue>) -> String {
    let texts: Vec<&str> = elements.into_iter().map(RawValue::get).collect();
    format!("[{}]", texts.join(","))
}

/// A string in which half a surrogate pair is replaced instead of refused: some servers cut between the halves.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lossy, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Lossy, E> {
                Ok(Lossy(text.to_owned()))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("it is JSON")
    }

    #[test]
    fn what_stands_between_tokens_goes_and_strings_and_numbers_stay() {
        let sent = raw("{\n  \"a b\" : [1.50, \"x \\\" {\\\\\" , \" \"]\n}");
        assert_eq!(compact(&sent).get(), r#"{"a b":[1.50,"x \" {\\"," "]}"#);
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        let read = text(&raw(r#""a\ud83db""#)).expect("it is a string");
        assert_eq!(read.trim_matches('\u{FFFD}').replace('\u{FFFD}', ""), "ab");
        assert!(read.contains('\u{FFFD}'));
        assert_eq!(text(&raw(r#""\ud83d\ude00""#)).as_deref(), Some("😀"));
    }

    #[test]
    fn a_member_of_another_kind_counts_as_missing() {
        let object = Object::read(r#"{"a":1,"b":null,"c":"x"}"#).expect("it is an object");
        assert_eq!(object.text("a"), None);
        assert!(object.raw("b").is_none());
        assert_eq!(object.number("a"), Some(1));
        assert_eq!(object.text("c").as_deref(), Some("x"));
    }
}
