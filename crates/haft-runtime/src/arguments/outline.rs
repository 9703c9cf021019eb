//! Reads a JSON Schema just far enough to know which values it may admit.
//!
//! Fitting a value often asks "does this part fit unchanged?" for parts of a schema, and schemas may come from
//! strangers. Compiling each part would take milliseconds. This module answers in microseconds and errs on one side
//! only: it never refuses a value that the schema admits, so a valid value stays unchanged. It lets the keywords it
//! does not know (`pattern`, `format`, `not`, `if`) admit everything.
//!
//! Not here: the verdict and its message. `check.rs` gives both and knows every keyword.

mod bounds;

use std::cell::Cell;

use serde_json::{Map, Value};

/// Questions asked before everything counts as admitted: recursive unions grow exponentially.
const MOST_QUESTIONS: u32 = 200_000;
/// Most schemas for one value that are looked at; more admit everything.
pub(super) const MOST_LAYERS: usize = 100;
/// Deepest nesting of schemas and references that is followed.
const DEEPEST: usize = 160;

/// A schema with its definitions.
pub(super) struct Outline<'s> {
    root: &'s Value,
    /// Before draft 2019-09 the keywords beside `$ref` did not count.
    reads_beside_ref: bool,
    questions: Cell<u32>,
}

impl<'s> Outline<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let is_old = ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old));
        Self { root, reads_beside_ref: !is_old, questions: Cell::new(0) }
    }

    /// Returns the schemas that all apply to the same value: the schema, what it refers to, its `allOf`.
    ///
    /// A part that cannot be followed is left out, and so admits everything.
    pub(super) fn layers(&self, schema: &'s Value) -> Vec<&'s Map<String, Value>> {
        let mut layers = Vec::new();
        self.add_layers(schema, 0, &mut layers);
        layers
    }

    fn add_layers(&self, schema: &'s Value, depth: usize, layers: &mut Vec<&'s Map<String, Value>>) {
        let Some(map) = schema.as_object() else { return };
        let is_seen = layers.iter().any(|layer| std::ptr::eq(*layer, map));
        if depth > DEEPEST || layers.len() >= MOST_LAYERS || is_seen || !self.is_readable(schema) {
            return;
        }
        if let Some(target) = self.target(map) {
            self.add_layers(target, depth + 1, layers);
        }
        if map.contains_key("$ref") && !self.reads_beside_ref {
            return;
        }
        layers.push(map);
        for part in parts(map, "allOf") {
            self.add_layers(part, depth + 1, layers);
        }
    }

    /// Whether references inside this schema mean places in the root document.
    pub(super) fn is_readable(&self, schema: &Value) -> bool {
        std::ptr::eq(schema, self.root) || schema.get("$id").is_none()
    }

    /// Whether a part of the schema leads somewhere that is not read here.
    pub(super) fn leads_away(&self, map: &'s Map<String, Value>) -> bool {
        map.contains_key("$dynamicRef")
            || map.contains_key("$recursiveRef")
            || map.contains_key("$ref") && self.target(map).is_none_or(|target| !self.is_readable(target))
    }

    /// The schema a `$ref` means, when it is in the root document.
    pub(super) fn target(&self, map: &Map<String, Value>) -> Option<&'s Value> {
        let pointer = map.get("$ref")?.as_str()?.strip_prefix('#')?;
        if pointer.contains('%') {
            return None;
        }
        self.root.pointer(pointer)
    }

    /// Whether the schema may admit the value. `false` is certain.
    pub(super) fn admits(&self, value: &Value, schema: &'s Value) -> bool {
        self.admits_at(value, schema, 0)
    }

    fn admits_at(&self, value: &Value, schema: &'s Value, depth: usize) -> bool {
        self.questions.set(self.questions.get().saturating_add(1));
        if depth > DEEPEST || self.questions.get() > MOST_QUESTIONS {
            return true;
        }
        let Some(map) = schema.as_object() else {
            return schema != &Value::Bool(false);
        };
        if !self.is_readable(schema) {
            return true;
        }
        if let Some(target) = self.target(map)
            && !self.admits_at(value, target, depth + 1)
        {
            return false;
        }
        if map.contains_key("$ref") && !self.reads_beside_ref {
            return true;
        }
        admits_type(value, map)
            && admits_choice(value, map)
            && bounds::admits(value, map)
            && parts(map, "allOf").iter().all(|part| self.admits_at(value, part, depth + 1))
            && ["anyOf", "oneOf"].iter().all(|keyword| {
                let branches = parts(map, keyword);
                branches.is_empty() || branches.iter().any(|branch| self.admits_at(value, branch, depth + 1))
            })
            && self.admits_children(value, map, depth)
    }

    fn admits_children(&self, value: &Value, map: &'s Map<String, Value>, depth: usize) -> bool {
        match value {
            Value::Object(entries) => {
                let required = map.get("required").and_then(Value::as_array);
                let has_required = required
                    .is_none_or(|names| names.iter().filter_map(Value::as_str).all(|name| entries.contains_key(name)));
                has_required
                    && entries.iter().all(|(key, value)| {
                        property_schema(map, key).is_none_or(|schema| self.admits_at(value, schema, depth + 1))
                    })
            }
            Value::Array(items) => items.iter().enumerate().all(|(index, item)| {
                item_schema(map, index).is_none_or(|schema| self.admits_at(item, schema, depth + 1))
            }),
            _ => true,
        }
    }
}

/// The schema of a property: its own, or the one for all others unless a pattern may claim it.
pub(super) fn property_schema<'s>(map: &'s Map<String, Value>, key: &str) -> Option<&'s Value> {
    let own = map.get("properties").and_then(|properties| properties.get(key));
    own.or_else(|| {
        let others = map.get("additionalProperties")?;
        (!map.contains_key("patternProperties")).then_some(others)
    })
}

/// The schema of an item of a list.
pub(super) fn item_schema(map: &Map<String, Value>, index: usize) -> Option<&Value> {
    let (first, others) = match map.get("prefixItems") {
        Some(prefix) => (prefix.as_array(), map.get("items")),
        None => match map.get("items") {
            Some(Value::Array(tuple)) => (Some(tuple), map.get("additionalItems")),
            items => (None, items),
        },
    };
    let first = first.map_or(&[][..], Vec::as_slice);
    first.get(index).or(others)
}

/// The subschemas of `anyOf`, `oneOf` or `allOf`.
pub(super) fn parts<'s>(map: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    map.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The names in `type`; none when every type is right.
pub(super) fn types(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether the value has one of the types named.
pub(super) fn admits_type(value: &Value, map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::String(name)) => has_type(value, name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(|name| has_type(value, name)),
        _ => true,
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(_) => name == "number" || name == "integer" && is_whole(value),
    }
}

/// Whether a number has no fraction: `5.0` is a whole number for JSON Schema.
pub(super) fn is_whole(value: &Value) -> bool {
    !value.is_f64() || value.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Whether the value is among those listed in `enum` or `const`.
pub(super) fn admits_choice(value: &Value, map: &Map<String, Value>) -> bool {
    let in_enum = map.get("enum").and_then(Value::as_array);
    in_enum.is_none_or(|choices| choices.iter().any(|choice| is_same(value, choice)))
        && map.get("const").is_none_or(|choice| is_same(value, choice))
}

/// Whether two values are equal for JSON Schema, where 5 and 5.0 are.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => left == right,
    }
}
