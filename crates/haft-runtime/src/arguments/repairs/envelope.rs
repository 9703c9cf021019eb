//! Unwraps arguments from an object that only wraps them: `{"arguments": {"path": "a"}}`.
//!
//! Models copy the form in which calls are sent, or the name of the tool. haft removes such a wrapper only if nothing is
//! lost: a name beside the arguments must be the tool's own, and no argument may appear both inside and outside.

use haft_contract::text::closest::folded;
use serde_json::{Map, Value};

use super::literal::{self, Literal};
use crate::arguments::ArgumentReading;
use crate::arguments::fault::key_path;

/// Keys that wrap all arguments and mean nothing by themselves.
const WRAPPERS: [&str; 10] =
    ["arguments", "args", "kwargs", "parameters", "params", "input", "inputs", "tool_input", "options", "properties"];
/// Keys that name the tool beside them.
const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];

/// Returns the arguments without the object around them; `names` are those of the tool.
#[must_use]
pub fn out_of_envelope(value: Value, schema: &Value, names: &[&str]) -> ArgumentReading {
    match &value {
        Value::Object(entries) => match opened(entries, schema, names) {
            Some((wrapper, inner)) => {
                let line = format!("{}: its entries read as the arguments", key_path("$", wrapper));
                ArgumentReading { value: Value::Object(inner), repairs: vec![line] }
            }
            None => ArgumentReading::unchanged(value),
        },
        _ => ArgumentReading::unchanged(value),
    }
}

fn opened<'a>(
    entries: &'a Map<String, Value>,
    schema: &Value,
    names: &[&str],
) -> Option<(&'a str, Map<String, Value>)> {
    let known = schema.get("properties")?.as_object()?;
    let is_open = ["additionalProperties", "patternProperties", "unevaluatedProperties", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some_and(|others| others != &Value::Bool(false)));
    let is_tool = |name: &str| names.iter().any(|own| folded(own) == folded(name));
    let mut wrapper = None;
    let mut outer = Map::new();
    for (key, value) in entries {
        if known.contains_key(key) {
            outer.insert(key.clone(), value.clone());
        } else if WRAPPERS.contains(&key.as_str()) || is_tool(key) {
            wrapper = if wrapper.is_none() { Some((key.as_str(), object_in(value)?)) } else { return None };
        } else if !NAMES.contains(&key.as_str()) || !value.as_str().is_some_and(is_tool) {
            return None;
        }
    }
    let (wrapper, inner) = wrapper.filter(|_| !is_open)?;
    let is_twice = inner.keys().any(|key| outer.contains_key(key));
    outer.extend(inner);
    (!is_twice).then_some((wrapper, outer))
}

/// The object that a value is, or that is written in it as text.
fn object_in(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(entries) => Some(entries.clone()),
        Value::String(text) => match literal::read(text) {
            Literal::Container(Value::Object(entries)) => Some(entries),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::out_of_envelope;
    use serde_json::{Value, json};

    fn check(value: Value, expected: Value) {
        let schema =
            json!({ "type": "object", "properties": { "path": {}, "limit": {} }, "additionalProperties": false });
        let read = out_of_envelope(value.clone(), &schema, &["read_file"]);
        assert_eq!((&read.value, read.repairs.is_empty()), (&expected, value == expected));
    }

    #[test]
    fn arguments_are_taken_out_of_an_object_that_only_wraps_them() {
        let plain = json!({ "path": "a" });
        for wrapped in [
            json!({ "arguments": { "path": "a" } }),
            json!({ "name": "read_file", "parameters": { "path": "a" } }),
            json!({ "tool": "ReadFile", "input": "{\"path\": \"a\"}" }),
            json!({ "args": "{'path': 'a'}" }),
            json!({ "read_file": { "path": "a" } }),
            plain.clone(),
        ] {
            check(wrapped, plain.clone());
        }
        check(json!({ "path": "a", "options": { "limit": 1 } }), json!({ "path": "a", "limit": 1 }));
    }

    #[test]
    fn an_object_that_says_more_is_left_alone() {
        for value in [
            json!({ "name": "write_file", "arguments": { "path": "a" } }),
            json!({ "path": "b", "arguments": { "path": "a" } }),
            json!({ "arguments": { "path": "a" }, "other": 1 }),
            json!({ "arguments": "a" }),
            json!({ "args": {}, "params": {} }),
            json!({ "filters": { "path": "a" } }),
        ] {
            check(value.clone(), value);
        }
    }
}
