//! Reads JSON strictly by the standard, and refuses text that has two readings.
//!
//! `serde_json` alone takes the last of two equal keys and rounds whole numbers that are too long. Both change what a
//! call means. This module finds them while it reads, without a second pass, because it runs for every call.
//!
//! Not here: any tolerance. Text that does not parse goes to `repair.rs`.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::fault::{Fault, UnknownKey, ValuePathStep, push_key, shown_text, written_path};

/// Deepest nesting that is read. It is the limit of `serde_json`, which counts to 128 and refuses that.
pub(super) const DEEPEST: usize = 127;

/// From here on a number may be a whole number that was rounded; the text has to be looked at again.
const SURELY_EXACT: f64 = 9_000_000_000_000_000_000.0;

/// Why the strict parser returned no value.
pub(super) enum StrictParseError {
    /// The text is JSON but says one thing twice.
    Duplicate(Fault),
    /// The text is no JSON, is too deep, or holds a number whose digits have to be looked at.
    Unread,
}

/// Reads a text that is exactly one JSON value.
pub(super) fn parse(text: &str) -> Result<Value, StrictParseError> {
    let findings = Findings::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Strict(&findings).deserialize(&mut deserializer);
    if let Some(duplicate) = findings.duplicate.take() {
        return Err(StrictParseError::Duplicate(duplicate.fault()));
    }
    match parsed {
        Ok(value) if !findings.huge_number.get() && deserializer.end().is_ok() => Ok(value),
        _ => Err(StrictParseError::Unread),
    }
}

/// Says that a key occurs twice in one object.
pub(super) fn duplicate_fault(path: String, key: &str) -> Fault {
    let key = shown_text(key);
    Fault {
        key: UnknownKey::Unsaid,
        path,
        expected: format!("the key {key} once"),
        received: format!("the key {key} twice in one object"),
        hint: Some("nothing was run; send each key once".to_owned()),
    }
}

/// What was seen besides the value.
#[derive(Default)]
struct Findings {
    duplicate: RefCell<Option<Duplicate>>,
    huge_number: Cell<bool>,
}

/// A key seen twice; the steps to it are collected while the error travels up, innermost first.
struct Duplicate {
    key: String,
    steps: Vec<ValuePathStep>,
}

impl Duplicate {
    fn fault(self) -> Fault {
        let mut path = written_path(self.steps.iter().rev());
        push_key(&mut path, &self.key);
        duplicate_fault(path, &self.key)
    }
}

#[derive(Clone, Copy)]
struct Strict<'f>(&'f Findings);

impl Strict<'_> {
    fn add_step(self, step: impl FnOnce() -> ValuePathStep) {
        if let Some(duplicate) = self.0.duplicate.borrow_mut().as_mut() {
            duplicate.steps.push(step());
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= SURELY_EXACT {
            self.0.huge_number.set(true);
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match items.next_element_seed(self) {
                Ok(Some(item)) => list.push(item),
                Ok(None) => return Ok(Value::Array(list)),
                Err(error) => {
                    self.add_step(|| ValuePathStep::Index(list.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                *self.0.duplicate.borrow_mut() = Some(Duplicate { key, steps: Vec::new() });
                return Err(A::Error::custom("a key occurs twice"));
            }
            match entries.next_value_seed(self) {
                Ok(value) => map.insert(key, value),
                Err(error) => {
                    self.add_step(|| ValuePathStep::Key(key));
                    return Err(error);
                }
            };
        }
        Ok(Value::Object(map))
    }
}
