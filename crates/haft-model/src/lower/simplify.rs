//! Reads one place of a schema as one of a few simple forms.
//!
//! JSON Schema says the same thing in many ways: `allOf` of a reference, a `oneOf` of constants, a list of types,
//! keywords beside `$ref`. Providers with a narrow dialect need one way. This step comes before theirs and looks at one
//! schema, not at the schemas inside it.
//!
//! Not here: the form that a provider gets (`strict`, `gemini`).

mod kinds;

use serde_json::{Map, Value, json};

use super::SchemaRefusal;
use super::bounds::{DEEPEST, MOST_NODES};
use super::merge::intersect;
use super::modern::SchemaDocument;
use super::receipt::{Receipt, place, say};
pub(super) use kinds::SchemaType;

/// Keywords that describe and do not restrict.
const NOTES: [&str; 7] = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

/// One place of a schema, in the form it comes down to.
#[derive(Debug)]
pub(super) enum Simple {
    /// Any value. What else the schema holds cannot be said simply.
    Anything(Map<String, Value>),
    /// No value.
    Nothing,
    /// What the definition with this number says, with notes of its own.
    Reference(usize, Map<String, Value>),
    /// One of several schemas, with notes about them together.
    Union(Vec<Value>, Map<String, Value>),
    /// One of these values, some of which are lists or objects.
    Constants(Vec<Value>, Map<String, Value>),
    /// Values of one type. `type` is left out of the schema.
    Typed(SchemaType, Map<String, Value>),
}

/// Simplifies the places of one document.
pub(super) struct Simplifier<'d> {
    pub(super) document: &'d SchemaDocument,
    pub(super) receipt: Receipt,
    copied: usize,
}

impl<'d> Simplifier<'d> {
    pub(super) fn new(document: &'d SchemaDocument, receipt: Receipt) -> Simplifier<'d> {
        Simplifier { document, receipt, copied: 0 }
    }

    /// Returns the simple form of a schema at the place `at`.
    pub(super) fn simple(&mut self, schema: &Value, at: &str) -> Result<Simple, SchemaRefusal> {
        let mut schema = match schema {
            Value::Object(map) => map.clone(),
            Value::Bool(false) => return Ok(Simple::Nothing),
            _ => return Ok(Simple::Anything(Map::new())),
        };
        self.flatten(&mut schema, at)?;
        if let Some(target) = self.document.target(&schema) {
            schema.shift_remove("$ref");
            return Ok(Simple::Reference(target, schema));
        }
        self.one_of_to_any_of(&mut schema, at)?;
        match schema.shift_remove("anyOf") {
            Some(Value::Array(branches)) => self.union(branches, schema, at),
            _ => Ok(kinds::typed(schema)),
        }
    }

    /// Merges `allOf`, and `$ref` where restricting keywords stand beside it.
    pub(super) fn flatten(&mut self, schema: &mut Map<String, Value>, at: &str) -> Result<(), SchemaRefusal> {
        for _ in 0..=DEEPEST {
            if schema.contains_key("$ref") && restricts_beside(schema, "$ref") {
                self.inline(schema, at)?;
            } else if let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
                self.merge_parts(schema, parts, at)?;
            } else {
                return Ok(());
            }
        }
        Err(SchemaRefusal(format!(
            "allOf and references at {} do not come to an end. Next: write the merged schema there",
            place(at)
        )))
    }

    /// Replaces `$ref` by what it refers to, merged with the keywords beside it.
    pub(super) fn inline(&mut self, schema: &mut Map<String, Value>, at: &str) -> Result<(), SchemaRefusal> {
        let Some(target) = self.document.target(schema) else {
            return Ok(());
        };
        schema.shift_remove("$ref");
        match &self.document.defs[target].schema {
            Value::Object(target) => {
                self.spend(target.values().map(size).sum())?;
                intersect(schema, target.clone(), at, &mut self.receipt)
            }
            Value::Bool(false) => Err(nothing(at)),
            _ => Ok(()),
        }
    }

    /// Counts values that are copied, because a few references can ask for very many copies.
    fn spend(&mut self, values: usize) -> Result<(), SchemaRefusal> {
        self.copied = self.copied.saturating_add(values);
        if self.copied <= MOST_NODES {
            return Ok(());
        }
        Err(SchemaRefusal(format!(
            "merging makes the schema larger than {MOST_NODES} values. Next: write the merged definitions once"
        )))
    }

    fn merge_parts(
        &mut self,
        schema: &mut Map<String, Value>,
        parts: Vec<Value>,
        at: &str,
    ) -> Result<(), SchemaRefusal> {
        if let [Value::Object(part)] = parts.as_slice()
            && part.len() == 1
            && part.contains_key("$ref")
            && !restricts_beside(schema, "")
        {
            schema.extend(part.clone());
            return Ok(());
        }
        for part in parts {
            match part {
                Value::Object(mut part) => {
                    self.inline(&mut part, at)?;
                    // A part can bring a reference of its own; the caller comes back for it.
                    if schema.contains_key("$ref") && part.contains_key("$ref") {
                        self.inline(schema, at)?;
                    }
                    intersect(schema, part, at, &mut self.receipt)?;
                }
                Value::Bool(false) => return Err(nothing(at)),
                _ => {}
            }
        }
        Ok(())
    }

    fn one_of_to_any_of(&mut self, schema: &mut Map<String, Value>, at: &str) -> Result<(), SchemaRefusal> {
        let Some(Value::Array(branches)) = schema.shift_remove("oneOf") else {
            return Ok(());
        };
        if constants(&branches).is_none() {
            self.receipt.lose(
                at,
                "oneOf",
                "became anyOf; that only one alternative holds is checked when the tool is called",
            );
        }
        let any_of = Map::from_iter([("anyOf".to_owned(), Value::Array(branches))]);
        intersect(schema, any_of, at, &mut self.receipt)
    }

    fn union(&mut self, branches: Vec<Value>, mut rest: Map<String, Value>, at: &str) -> Result<Simple, SchemaRefusal> {
        let restricts = restricts_beside(&rest, "");
        if rest.contains_key("properties") && branches.iter().all(only_requires) {
            say(&mut rest, &needed_sets(&branches));
            self.receipt.lose(at, "anyOf", "asks for one of several sets of properties; the description says it");
            return Ok(kinds::typed(rest));
        }
        if !rest.contains_key("enum")
            && let Some((values, words)) = constants(&branches)
        {
            rest.insert("enum".to_owned(), Value::Array(values));
            if let Some(words) = words {
                say(&mut rest, &words);
            }
            return Ok(kinds::typed(rest));
        }
        if branches.iter().any(is_anything) {
            return Ok(kinds::typed(rest));
        }
        let mut branches: Vec<Value> = branches.into_iter().filter(|branch| *branch != Value::Bool(false)).collect();
        let (base, notes): (Map<_, _>, Map<_, _>) =
            rest.into_iter().partition(|(key, _)| restricts && !NOTES.contains(&key.as_str()));
        if !base.is_empty() {
            self.spend(base.values().map(size).sum::<usize>().saturating_mul(branches.len()))?;
            branches = branches.into_iter().map(|branch| json!({ "allOf": [base, branch] })).collect();
        }
        match branches.len() {
            0 => Ok(Simple::Nothing),
            1 => {
                let mut only = notes;
                only.insert("allOf".to_owned(), Value::Array(branches));
                self.simple(&Value::Object(only), at)
            }
            _ => Ok(Simple::Union(branches, notes)),
        }
    }
}

/// Returns the constants a list of branches stands for, and what their descriptions say.
fn constants(branches: &[Value]) -> Option<(Vec<Value>, Option<String>)> {
    let mut values = Vec::new();
    let mut words = Vec::new();
    for branch in branches {
        let map = branch.as_object()?;
        let plain = |key: &String| NOTES.contains(&key.as_str()) || ["const", "enum", "type"].contains(&key.as_str());
        let own = kinds::listed_values(map)?;
        if !map.keys().all(plain) || !own.iter().all(kinds::is_scalar) {
            return None;
        }
        if let (Some(text), [value]) = (map.get("description").and_then(Value::as_str), own.as_slice()) {
            words.push(format!("{value}: {text}"));
        }
        values.extend(own);
    }
    let words = (!words.is_empty()).then(|| format!("({})", words.join("; ")));
    Some((values, words))
}

/// Returns whether a schema only names properties that have to be there.
fn only_requires(schema: &Value) -> bool {
    schema.as_object().is_some_and(|map| {
        map.contains_key("required")
            && map.keys().all(|key| key == "required" || key == "not" || NOTES.contains(&key.as_str()))
    })
}

fn needed_sets(branches: &[Value]) -> String {
    let sets: Vec<String> = branches
        .iter()
        .filter_map(|branch| branch["required"].as_array())
        .map(|names| {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" and ")
        })
        .collect();
    format!("(give {})", sets.join(", or "))
}

fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(admits) => *admits,
        Value::Object(map) => map.keys().all(|key| NOTES.contains(&key.as_str())),
        _ => false,
    }
}

/// Returns whether a schema restricts values with keywords other than `keyword`.
fn restricts_beside(schema: &Map<String, Value>, keyword: &str) -> bool {
    schema.keys().any(|key| key != keyword && kinds::is_restriction(key))
}

fn nothing(at: &str) -> SchemaRefusal {
    SchemaRefusal(format!(
        "nothing is valid at {}: a part of the schema is `false`. Next: correct the schema there",
        place(at)
    ))
}

/// Returns how many JSON values a value consists of.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
