//! Describes one argument of another system: its meaning, its native target, and the conversion of its value.

use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An argument of another system: how it is shown, and what it means here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenArgument")]
pub(super) struct ForeignArgument {
    pub(super) name: String,
    /// What the model reads of it.
    says: String,
    /// What it is, where the native argument does not say it.
    kind: Option<ForeignArgumentType>,
    /// Another argument, beside which this one says nothing.
    pub(super) unless: Option<String>,
    meaning: Meaning,
}

/// An argument as a dialect file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArgument {
    name: String,
    says: String,
    kind: Option<ForeignArgumentType>,
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
enum ForeignArgumentType {
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
    Leads(NativePlace, ValueConversion),
    /// It leads to a native one that has other words for the same: the native value for each, written as text.
    Words(NativePlace, Map<String, Value>),
    /// It has no counterpart: only these values, which change nothing, are accepted. Says what to do instead.
    Refused(Vec<Value>, String),
    /// It changes nothing, there or here.
    Ignored,
}

/// The place in a native call that a value goes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NativePlace {
    Argument(String),
    FirstEdit(String),
}

/// The conversion of a value on its way to a native argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueConversion {
    AsItIs,
    FromZero,
    OneOfMany,
    NoneIfZero,
    FromMilliseconds,
    FirstAddress,
    AsText,
}

/// A value with its place in a native call.
pub(super) struct NativeValue {
    pub(super) to: NativePlace,
    pub(super) value: Value,
}

impl ForeignArgument {
    /// Turns the value into a native one; nothing where it says what is so anyway.
    pub(super) fn inward(&self, value: Value) -> Result<Option<NativeValue>, ToolError> {
        match &self.meaning {
            Meaning::Leads(_, ValueConversion::FirstAddress)
                if first_address(&value).is_none() && value.is_string() =>
            {
                let what = format!("\"{}\" has no address. Nothing was done.", self.name);
                Err(bad(what, "write the whole address into it, with http:// or https://".to_owned()))
            }
            Meaning::Leads(to, how) => Ok(how.converted(value).map(|value| NativeValue { to: to.clone(), value })),
            // What is null was not given.
            Meaning::Words(..) | Meaning::Refused(..) if value.is_null() => Ok(None),
            Meaning::Words(to, words) => {
                let value = native_word(&self.name, words, &value)?;
                Ok(Some(NativeValue { to: to.clone(), value }))
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
            NativePlace::Argument(to) => Some(to),
            NativePlace::FirstEdit(_) => Some("edits"),
        }
    }

    /// Returns the name that errors of the native tool have for it.
    pub(super) fn native_name(&self) -> Option<&str> {
        self.place().map(|place| match place {
            NativePlace::Argument(to) | NativePlace::FirstEdit(to) => to.as_str(),
        })
    }

    /// Returns the native argument whose very values it takes.
    pub(super) fn same_as(&self) -> Option<&str> {
        match &self.meaning {
            Meaning::Leads(NativePlace::Argument(to), ValueConversion::AsItIs) => Some(to),
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

    fn place(&self) -> Option<&NativePlace> {
        match &self.meaning {
            Meaning::Leads(to, _) | Meaning::Words(to, _) => Some(to),
            Meaning::Refused(..) | Meaning::Ignored => None,
        }
    }
}

fn native_schema(native: &Value, place: &NativePlace) -> Value {
    let found = match place {
        NativePlace::Argument(name) => native.get(name),
        NativePlace::FirstEdit(name) => native.pointer("/edits/items/properties").and_then(|fields| fields.get(name)),
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

impl TryFrom<WrittenArgument> for ForeignArgument {
    type Error = String;

    fn try_from(written: WrittenArgument) -> Result<Self, String> {
        let WrittenArgument { name, says, kind, to, words, but_for, next, unless, ignored } = written;
        let meaning = match (to, words, next) {
            (Some(to), Some(words), None) => Meaning::Words(place(&to), words),
            (Some(to), None, None) => {
                let (to, how) = to.split_once(' ').unwrap_or((&to, ""));
                Meaning::Leads(place(to), ValueConversion::named(how)?)
            }
            (None, None, Some(next)) => Meaning::Refused(but_for.unwrap_or_default(), next),
            (None, None, None) if ignored => Meaning::Ignored,
            _ => return Err(format!("the argument \"{name}\" leads somewhere, is refused, or is ignored")),
        };
        Ok(Self { name, says, kind, unless, meaning })
    }
}

fn place(text: &str) -> NativePlace {
    match text.strip_prefix("edits[0].") {
        Some(field) => NativePlace::FirstEdit(field.to_owned()),
        None => NativePlace::Argument(text.to_owned()),
    }
}

impl ForeignArgumentType {
    fn schema(self) -> Value {
        match self {
            ForeignArgumentType::Boolean => json!({ "type": "boolean" }),
            ForeignArgumentType::Integer => json!({ "type": "integer" }),
            ForeignArgumentType::String => json!({ "type": "string" }),
            ForeignArgumentType::Strings => json!({ "type": "array", "items": { "type": "string" } }),
            ForeignArgumentType::Object => json!({ "type": "object" }),
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            ForeignArgumentType::Boolean => value.is_boolean(),
            ForeignArgumentType::Integer => value.is_i64() || value.is_u64(),
            ForeignArgumentType::String => value.is_string(),
            ForeignArgumentType::Strings => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            ForeignArgumentType::Object => value.is_object(),
        }
    }
}

impl ValueConversion {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "" => ValueConversion::AsItIs,
            "from-zero" => ValueConversion::FromZero,
            "one-of-many" => ValueConversion::OneOfMany,
            "none-if-zero" => ValueConversion::NoneIfZero,
            "from-milliseconds" => ValueConversion::FromMilliseconds,
            "first-address" => ValueConversion::FirstAddress,
            "as-text" => ValueConversion::AsText,
            other => return Err(format!("\"{other}\" is not a known conversion")),
        })
    }

    fn schema(self, native: Value) -> Value {
        match self {
            ValueConversion::AsItIs => native,
            ValueConversion::FromZero | ValueConversion::NoneIfZero => json!({ "type": "integer", "minimum": 0 }),
            ValueConversion::OneOfMany | ValueConversion::FirstAddress => json!({ "type": "string" }),
            ValueConversion::FromMilliseconds => json!({ "type": "number" }),
            ValueConversion::AsText => json!({ "type": "integer" }),
        }
    }

    /// Returns what is converted into this value.
    fn outward(self, native: &Value) -> Option<Value> {
        match self {
            ValueConversion::AsItIs | ValueConversion::NoneIfZero | ValueConversion::FirstAddress => {
                Some(native.clone())
            }
            ValueConversion::AsText => native.as_str()?.parse::<i64>().ok().map(|number| json!(number)),
            ValueConversion::FromZero => native.as_u64()?.checked_sub(1).map(|line| json!(line)),
            ValueConversion::OneOfMany => native.as_array().filter(|items| items.len() == 1)?.first().cloned(),
            ValueConversion::FromMilliseconds => native.as_f64().map(|seconds| json!(seconds * 1000.0)),
        }
    }

    fn converted(self, value: Value) -> Option<Value> {
        match (self, value) {
            (ValueConversion::FromZero, Value::Number(number)) => {
                Some(number.as_u64().map_or(json!(number), |line| json!(line.saturating_add(1))))
            }
            (ValueConversion::OneOfMany, value @ Value::String(_)) => Some(json!([value])),
            (ValueConversion::FirstAddress, value) => first_address(&value).map(Value::from).or(Some(value)),
            (ValueConversion::AsText, Value::Number(number)) => Some(json!(number.to_string())),
            (ValueConversion::NoneIfZero, Value::Number(number)) if number.as_u64() == Some(0) => None,
            (ValueConversion::FromMilliseconds, value) => {
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
