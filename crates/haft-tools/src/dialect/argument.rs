//! One argument of another system: where it leads, and how its value changes on the way.

use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What becomes of an argument.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Argument {
    /// It leads to a native one.
    Leads(Leads),
    /// It leads to a native one that has other words for the same.
    Words(Words),
    /// It has no counterpart: only a value that changes nothing is accepted.
    Refused(Refused),
}

/// The place of an argument, written `offset from-zero`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Leads {
    to: Place,
    how: How,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    to: String,
    /// The native value for each value, which is written as text.
    words: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refused {
    #[serde(default)]
    but_for: Vec<Value>,
    /// What to do instead.
    next: String,
}

/// Where a value goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Argument(String),
    FirstEdit(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    AsItIs,
    FromZero,
    OneOfMany,
    NoneIfZero,
    FromMilliseconds,
}

/// A value with its native place.
pub(super) struct Taken {
    pub(super) to: Place,
    pub(super) value: Value,
}

impl Argument {
    /// Turns the value into a native one; nothing where it says what is so anyway.
    pub(super) fn inward(&self, name: &str, value: Value) -> Result<Option<Taken>, ToolError> {
        match self {
            Argument::Leads(leads) => Ok(leads.how.converted(value).map(|value| Taken { to: leads.to.clone(), value })),
            // What is null was not given.
            Argument::Words(_) | Argument::Refused(_) if value.is_null() => Ok(None),
            Argument::Words(words) => {
                let value = words.native(name, &value)?;
                Ok(Some(Taken { to: Place::Argument(words.to.clone()), value }))
            }
            Argument::Refused(refused) if refused.but_for.contains(&value) => Ok(None),
            Argument::Refused(refused) => Err(bad(without_counterpart(name, &value), refused.next.clone())),
        }
    }

    /// Returns the native argument that it leads to.
    pub(super) fn native_argument(&self) -> Option<&str> {
        match self {
            Argument::Leads(Leads { to: Place::Argument(to), .. }) | Argument::Words(Words { to, .. }) => Some(to),
            Argument::Leads(Leads { to: Place::FirstEdit(_), .. }) => Some("edits"),
            Argument::Refused(_) => None,
        }
    }
}

impl Words {
    fn native(&self, name: &str, value: &Value) -> Result<Value, ToolError> {
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.words.get(&word).cloned().ok_or_else(|| {
            let known = self.words.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            bad(without_counterpart(name, value), format!("use one of these, or leave it out: {known}"))
        })
    }
}

impl TryFrom<String> for Leads {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (place, how) = text.split_once(' ').unwrap_or((&text, ""));
        let how = match how {
            "" => How::AsItIs,
            "from-zero" => How::FromZero,
            "one-of-many" => How::OneOfMany,
            "none-if-zero" => How::NoneIfZero,
            "from-milliseconds" => How::FromMilliseconds,
            other => return Err(format!("\"{other}\" is no known conversion")),
        };
        let to = match place.strip_prefix("edits[0].") {
            Some(field) => Place::FirstEdit(field.to_owned()),
            None => Place::Argument(place.to_owned()),
        };
        Ok(Self { to, how })
    }
}

impl How {
    fn converted(self, value: Value) -> Option<Value> {
        match (self, value) {
            (How::FromZero, Value::Number(number)) => {
                Some(number.as_u64().map_or(json!(number), |line| json!(line.saturating_add(1))))
            }
            (How::OneOfMany, value @ Value::String(_)) => Some(json!([value])),
            (How::NoneIfZero, Value::Number(number)) if number.as_u64() == Some(0) => None,
            (How::FromMilliseconds, value) => {
                let written = value.as_str().map(|text| text.trim().parse().ok());
                // What is no number is left to those who read the argument.
                Some(written.unwrap_or_else(|| value.as_f64()).map_or(value, |number: f64| json!(number / 1000.0)))
            }
            (_, value) => Some(value),
        }
    }
}

fn without_counterpart(name: &str, value: &Value) -> String {
    format!("The argument \"{name}\": {value} has no counterpart here. Nothing was done.")
}

pub(super) fn bad(what: String, next: String) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next))
}
