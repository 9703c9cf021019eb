//! Checks keywords that hold no schemas, and rewrites those that changed between drafts.

use serde_json::{Map, Value};

use super::super::SchemaRefusal;
use super::wrong;

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "integer", "string"];

/// Returns the value of a keyword when it has the form JSON Schema gives it. Keywords that JSON
/// Schema does not know pass.
pub(super) fn checked(keyword: &str, value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
    let rule = match keyword {
        "type" => return types(value, at),
        "required" if !is_strings(value) => "it has to be a list of property names",
        "enum" if value.as_array().is_none_or(Vec::is_empty) => "it has to be a list of at least one value",
        "minimum" | "maximum" if !value.is_number() => "it has to be a number",
        "exclusiveMinimum" | "exclusiveMaximum" if !value.is_number() && !value.is_boolean() => "it has to be a number",
        "multipleOf" if value.as_f64().is_none_or(|number| number <= 0.0) => "it has to be a number above 0",
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains"
            if !is_count(value) =>
        {
            "it has to be a whole number from 0"
        }
        "pattern" | "format" | "title" | "description" if !value.is_string() => "it has to be a string",
        "uniqueItems" if !value.is_boolean() => "it has to be true or false",
        "$defs" | "definitions" => "it has to be an object of schemas",
        "dependentRequired" if value.as_object().is_none_or(|map| !map.values().all(is_strings)) => {
            "it has to be an object of lists of property names"
        }
        _ => return Ok(value.clone()),
    };
    Err(wrong(at, rule, value))
}

/// Rewrites what one schema has of older drafts.
pub(super) fn modernise(schema: &mut Map<String, Value>) {
    if let Some(more) = schema.shift_remove("additionalItems")
        && schema.contains_key("prefixItems")
        && !schema.contains_key("items")
    {
        schema.insert("items".to_owned(), more);
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(exclusive) {
            Some(Value::Bool(true)) => {
                schema.shift_remove(exclusive);
                if let Some(limit) = schema.shift_remove(bound) {
                    schema.insert(exclusive.to_owned(), limit);
                }
            }
            Some(Value::Bool(false)) => {
                schema.shift_remove(exclusive);
            }
            _ => {}
        }
    }
}

fn types(value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
    let known = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let rule = "a type is one of null, boolean, object, array, number, integer and string";
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(known) => {
            let mut unique: Vec<Value> = Vec::new();
            for name in list {
                if !unique.contains(name) {
                    unique.push(name.clone());
                }
            }
            match unique.len() {
                1 => Ok(unique.remove(0)),
                _ => Ok(Value::Array(unique)),
            }
        }
        _ if known(value) => Ok(value.clone()),
        _ => Err(wrong(at, rule, value)),
    }
}

fn is_strings(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_count(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}
