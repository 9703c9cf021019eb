//! One argument of another system: what it says, where it leads, and how its value changes on the way.

use haft_contract::error::{Next, ToolError};
use haft_contract::kinds::ErrorKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An argument, as it is shown and as it is meant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub(super) struct Argument {
    pub(super) name: String,
    /// What the model reads of it.
    says: String,
    /// What it is, where the native argument does not say it.
    kind: Option<Kind>,
    /// Another argument, beside which this one says nothing.
    pub(super) unless: Option<String>,
    meaning: Meaning,
}

/// An argument as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    says: String,
    kind: Option<Kind>,
    to: Option<String>,
    words: Option<Map<String, Value>>,
    but_for: Option<Vec<Value>>,
    next: Option<String>,
    unless: Option<String>,
    #[serde(default)]
    ignored: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Boolean,
    Integer,
    String,
    Strings,
    Object,
}

/// What becomes of an argument.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    /// It leads to a native one.
    Leads(Place, How),
    /// It leads to a native one that has other words for the same: the native value for each, written as text.
    Words(Place, Map<String, Value>),
    /// It has no counterpart: only these values, which change nothing, are accepted. Says what to do instead.
    Refused(Vec<Value>, String),
    /// It changes nothing, there or here.
    Ignored,
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
    FirstAddress,
    AsText,
}

/// A value with its native place.
pub(super) struct Taken {
    pub(super) to: Place,
    pub(super) value: Value,
}

impl Argument {
    /// Turns the value into a native one; nothing where it says what is so anyway.
    pub(super) fn inward(&self, value: Value) -> Result<Option<Taken>, ToolError> {
        match &self.meaning {
            Meaning::Leads(_, How::FirstAddress) if first_address(&value).is_none() && value.is_string() => {
                let what = format!("\"{}\" has no address. Nothing was done.", self.name);
                Err(bad(what, "write the whole address into it, with http:// or https://".to_owned()))
            }
            Meaning::Leads(to, how) => Ok(how.converted(value).map(|value| Taken { to: to.clone(), value })),
            // What is null was not given.
            Meaning::Words(..) | Meaning::Refused(..) if value.is_null() => Ok(None),
            Meaning::Words(to, words) => {
                let value = native_word(&self.name, words, &value)?;
                Ok(Some(Taken { to: to.clone(), value }))
            }
            Meaning::Refused(but_for, _) if but_for.contains(&value) => Ok(None),
            Meaning::Refused(_, next) => Err(bad(without_counterpart(&self.name, &value), next.clone())),
            Meaning::Ignored => Ok(None),
        }
    }

    /// Returns the value that becomes this native one; nothing where none does.
    pub(super) fn outward(&self, native: &Value) -> Option<Value> {
        match &self.meaning {
            Meaning::Leads(_, how) => how.outward(native).filter(|value| self.kind.is_none_or(|kind| kind.fits(value))),
            Meaning::Words(_, words) => {
                words.iter().find(|(_, meant)| *meant == native).map(|(word, _)| match &**word {
                    "true" => json!(true),
                    "false" => json!(false),
                    word => json!(word),
                })
            }
            Meaning::Refused(..) | Meaning::Ignored => None,
        }
    }

    /// Returns the native argument that it leads to.
    pub(super) fn native_argument(&self) -> Option<&str> {
        match self.place()? {
            Place::Argument(to) => Some(to),
            Place::FirstEdit(_) => Some("edits"),
        }
    }

    /// Returns the name that errors of the native tool have for it.
    pub(super) fn native_name(&self) -> Option<&str> {
        self.place().map(|place| match place {
            Place::Argument(to) | Place::FirstEdit(to) => to.as_str(),
        })
    }

    /// Returns the native argument whose very values it takes.
    pub(super) fn same_as(&self) -> Option<&str> {
        match &self.meaning {
            Meaning::Leads(Place::Argument(to), How::AsItIs) => Some(to),
            _ => None,
        }
    }

    /// Describes it; `native` are the properties of the native tool.
    pub(super) fn schema(&self, native: &Value) -> Value {
        let mut schema = match (self.kind, &self.meaning) {
            (Some(kind), _) => kind.schema(),
            (None, Meaning::Leads(place, how)) => how.schema(native_schema(native, place)),
            (None, Meaning::Words(_, words)) if words.contains_key("true") => json!({ "type": "boolean" }),
            (None, Meaning::Words(_, words)) => {
                json!({ "type": "string", "enum": words.keys().collect::<Vec<_>>() })
            }
            (None, Meaning::Refused(..) | Meaning::Ignored) => json!({ "type": "string" }),
        };
        schema["description"] = self.says.as_str().into();
        schema
    }

    fn place(&self) -> Option<&Place> {
        match &self.meaning {
            Meaning::Leads(to, _) | Meaning::Words(to, _) => Some(to),
            Meaning::Refused(..) | Meaning::Ignored => None,
        }
    }
}

fn native_schema(native: &Value, place: &Place) -> Value {
    let found = match place {
        Place::Argument(name) => native.get(name),
        Place::FirstEdit(name) => native.pointer("/edits/items/properties").and_then(|fields| fields.get(name)),
    };
    found.cloned().unwrap_or_else(|| json!({ "type": "string" }))
}

fn native_word(name: &str, words: &Map<String, Value>, value: &Value) -> Result<Value, ToolError> {
    let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    words.get(&word).cloned().ok_or_else(|| {
        let known = words.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        bad(without_counterpart(name, value), format!("use one of these, or leave it out: {known}"))
    })
}

impl TryFrom<Written> for Argument {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { name, says, kind, to, words, but_for, next, unless, ignored } = written;
        let meaning = match (to, words, next) {
            (Some(to), Some(words), None) => Meaning::Words(place(&to), words),
            (Some(to), None, None) => {
                let (to, how) = to.split_once(' ').unwrap_or((&to, ""));
                Meaning::Leads(place(to), How::named(how)?)
            }
            (None, None, Some(next)) => Meaning::Refused(but_for.unwrap_or_default(), next),
            (None, None, None) if ignored => Meaning::Ignored,
            _ => return Err(format!("the argument \"{name}\" leads somewhere, is refused, or is ignored")),
        };
        Ok(Self { name, says, kind, unless, meaning })
    }
}

fn place(text: &str) -> Place {
    match text.strip_prefix("edits[0].") {
        Some(field) => Place::FirstEdit(field.to_owned()),
        None => Place::Argument(text.to_owned()),
    }
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Integer => json!({ "type": "integer" }),
            Kind::String => json!({ "type": "string" }),
            Kind::Strings => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Object => json!({ "type": "object" }),
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Boolean => value.is_boolean(),
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::String => value.is_string(),
            Kind::Strings => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::Object => value.is_object(),
        }
    }
}

impl How {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "" => How::AsItIs,
            "from-zero" => How::FromZero,
            "one-of-many" => How::OneOfMany,
            "none-if-zero" => How::NoneIfZero,
            "from-milliseconds" => How::FromMilliseconds,
            "first-address" => How::FirstAddress,
            "as-text" => How::AsText,
            other => return Err(format!("\"{other}\" is not a known conversion")),
        })
    }

    fn schema(self, native: Value) -> Value {
        match self {
            How::AsItIs => native,
            How::FromZero | How::NoneIfZero => json!({ "type": "integer", "minimum": 0 }),
            How::OneOfMany | How::FirstAddress => json!({ "type": "string" }),
            How::FromMilliseconds => json!({ "type": "number" }),
            How::AsText => json!({ "type": "integer" }),
        }
    }

    /// Returns what is converted into this value.
    fn outward(self, native: &Value) -> Option<Value> {
        match self {
            How::AsItIs | How::NoneIfZero | How::FirstAddress => Some(native.clone()),
            How::AsText => native.as_str()?.parse::<i64>().ok().map(|number| json!(number)),
            How::FromZero => native.as_u64()?.checked_sub(1).map(|line| json!(line)),
            How::OneOfMany => native.as_array().filter(|items| items.len() == 1)?.first().cloned(),
            How::FromMilliseconds => native.as_f64().map(|seconds| json!(seconds * 1000.0)),
        }
    }

    fn converted(self, value: Value) -> Option<Value> {
        match (self, value) {
            (How::FromZero, Value::Number(number)) => {
                Some(number.as_u64().map_or(json!(number), |line| json!(line.saturating_add(1))))
            }
            (How::OneOfMany, value @ Value::String(_)) => Some(json!([value])),
            (How::FirstAddress, value) => first_address(&value).map(Value::from).or(Some(value)),
            (How::AsText, Value::Number(number)) => Some(json!(number.to_string())),
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

/// Finds the first address in a text.
fn first_address(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let starts = ["http://", "https://"].iter().filter_map(|scheme| text.find(scheme));
    let from = &text[starts.min()?..];
    let ends_here = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '\'');
    let address = &from[..from.find(ends_here).unwrap_or(from.len())];
    // A full stop or a bracket behind it belongs to the sentence.
    let mut address = address.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    for (open, close) in [('(', ')'), ('[', ']')] {
        while address.ends_with(close) && address.matches(close).count() > address.matches(open).count() {
            address = address[..address.len() - 1].trim_end_matches(['.', ',', ';', ':', '!', '?']);
        }
    }
    Some(address.to_owned())
}

fn without_counterpart(name: &str, value: &Value) -> String {
    format!("The argument \"{name}\": {value} has no counterpart here. Nothing was done.")
}

pub(super) fn bad(what: String, next: String) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next))
}
