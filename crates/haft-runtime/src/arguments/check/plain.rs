//! Accepts values by plain schemas without the validator.
//!
//! Before the crate builds a validator, it checks the schema against the schema of schemas. That costs more than the
//! rest of a first call. Schemas of tools are nearly always plain: types, properties, lists of values. This module
//! recognizes such a schema and accepts values that fit it. All other cases, and all error messages, need the validator.

use serde_json::{Map, Value};

/// Deepest nesting that is looked at here.
const DEEPEST: usize = 32;

/// A plain schema, taken apart. A value has to fit all that is there.
#[derive(Debug, Default)]
pub(super) struct Plain {
    refuses: bool,
    types: Option<Vec<Type>>,
    fields: Vec<(String, Plain)>,
    other_fields: Option<Box<Plain>>,
    required: Vec<String>,
    items: Option<Box<Plain>>,
    names: Option<Vec<String>>,
    any_of: Option<Vec<Plain>>,
    minimum: Option<i128>,
    maximum: Option<i128>,
    least_items: u64,
    most_items: Option<u64>,
    is_filled: bool,
    longest: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Plain {
    /// Takes a schema apart, if it has nothing but what is known here, each in its right form.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        Self::below(schema, DEEPEST)
    }

    fn below(schema: &Value, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let mut plain = Self::default();
        match schema {
            Value::Bool(accepts) => plain.refuses = !accepts,
            Value::Object(keywords) => {
                keywords.iter().try_for_each(|(keyword, wanted)| plain.add(keyword, wanted, depth))?;
            }
            _ => return None,
        }
        Some(plain)
    }

    fn add(&mut self, keyword: &str, wanted: &Value, depth: usize) -> Option<()> {
        let below = |schema: &Value| Self::below(schema, depth);
        match keyword {
            // Words. Where no draft is named, a format is one too.
            "title" | "description" | "format" => return wanted.is_string().then_some(()),
            "deprecated" => return wanted.is_boolean().then_some(()),
            "examples" => return wanted.is_array().then_some(()),
            "default" => {}
            "type" => self.types = Some(types(wanted)?),
            "properties" => {
                let named = wanted.as_object()?.iter().map(|(name, schema)| Some((name.clone(), below(schema)?)));
                self.fields = named.collect::<Option<_>>()?;
            }
            "additionalProperties" => self.other_fields = Some(Box::new(below(wanted)?)),
            "required" => self.required = names(wanted)?,
            "items" => self.items = Some(Box::new(below(wanted)?)),
            "enum" => self.names = Some(names(wanted).filter(|names| !names.is_empty())?),
            "anyOf" => {
                let any_of = wanted.as_array()?.iter().map(below).collect::<Option<Vec<_>>>()?;
                self.any_of = Some(any_of).filter(|any_of| !any_of.is_empty());
                self.any_of.as_ref()?;
            }
            "minimum" => self.minimum = Some(whole(wanted)?),
            "maximum" => self.maximum = Some(whole(wanted)?),
            "minItems" => self.least_items = wanted.as_u64()?,
            "maxItems" => self.most_items = Some(wanted.as_u64()?),
            "minLength" => self.is_filled = wanted.as_u64().filter(|least| *least < 2)? == 1,
            "maxLength" => self.longest = Some(wanted.as_u64()?),
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a value fits for sure. What is in doubt is left to the validator.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        let fits = match value {
            Value::Object(fields) => self.accepts_fields(fields),
            Value::Array(items) => self.accepts_items(items),
            // A text has no more letters than bytes; where that does not decide, they have to be counted.
            Value::String(text) => {
                !(self.is_filled && text.is_empty()) && self.longest.is_none_or(|most| text.len() as u64 <= most)
            }
            Value::Number(_) if self.minimum.is_some() || self.maximum.is_some() => {
                whole(value).is_some_and(|number| {
                    self.minimum.is_none_or(|least| least <= number) && self.maximum.is_none_or(|most| number <= most)
                })
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => true,
        };
        fits && !self.refuses
            && self.types.as_ref().is_none_or(|types| types.iter().any(|wanted| wanted.has(value)))
            && self.names.as_ref().is_none_or(|names| names.iter().any(|name| value.as_str() == Some(name)))
            && self.any_of.as_ref().is_none_or(|any_of| any_of.iter().any(|one| one.accepts(value)))
    }

    fn accepts_fields(&self, fields: &Map<String, Value>) -> bool {
        let fits = |(name, value): (&String, &Value)| {
            let named = self.fields.iter().find(|(field, _)| field == name).map(|(_, schema)| schema);
            named.or(self.other_fields.as_deref()).is_none_or(|schema| schema.accepts(value))
        };
        fields.iter().all(fits) && self.required.iter().all(|name| fields.contains_key(name))
    }

    fn accepts_items(&self, items: &[Value]) -> bool {
        let count = items.len() as u64;
        self.least_items <= count
            && self.most_items.is_none_or(|most| count <= most)
            && self.items.as_ref().is_none_or(|schema| items.iter().all(|item| schema.accepts(item)))
    }
}

impl Type {
    fn of(name: &Value) -> Option<Self> {
        Some(match name.as_str()? {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    fn has(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

fn types(wanted: &Value) -> Option<Vec<Type>> {
    let types: Vec<Type> = match wanted {
        Value::Array(names) => names.iter().map(Type::of).collect::<Option<_>>()?,
        name => vec![Type::of(name)?],
    };
    (!types.is_empty() && has_no_doubles(&types)).then_some(types)
}

fn names(wanted: &Value) -> Option<Vec<String>> {
    let names: Vec<String> =
        wanted.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    has_no_doubles(&names).then_some(names)
}

fn has_no_doubles<T: PartialEq>(all: &[T]) -> bool {
    all.iter().enumerate().all(|(place, one)| !all[..place].contains(one))
}

/// Returns a whole number, which can be compared exactly.
fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}
