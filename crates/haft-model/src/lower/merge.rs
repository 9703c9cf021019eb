//! Merges schemas that must hold together (`allOf`, keywords beside `$ref`) into one.
//!
//! Providers that know no `allOf` still have to be told what it says. The result may admit more than
//! the parts together (two patterns cannot become one); what is dropped is on the receipt. It never
//! admits less, except where the parts contradict each other: then nothing is valid, and that is
//! refused.
//!
//! Nested schemas are not merged here but left as a separate `allOf`. The code that reaches such a place merges it
//! then, so recursive definitions cost nothing until they are reached.

use serde_json::{Map, Value, json};

use super::SchemaRefusal;
use super::receipt::{Receipt, place};

/// Most alternatives when two unions have to hold together.
const MOST_BRANCHES: usize = 32;

/// Merges `other` into `schema`. Where both annotate, `schema` goes first.
pub(super) fn intersect(
    schema: &mut Map<String, Value>,
    other: Map<String, Value>,
    at: &str,
    receipt: &mut Receipt,
) -> Result<(), SchemaRefusal> {
    for (keyword, theirs) in other {
        let Some(ours) = schema.get_mut(&keyword) else {
            schema.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs {
            continue;
        }
        match keyword.as_str() {
            "properties" | "patternProperties" | "dependentSchemas" => both_members(ours, theirs),
            "required" => union_of_lists(ours, theirs),
            "allOf" => {
                if let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) {
                    ours.extend(theirs);
                }
            }
            "type" => *ours = common_types(ours, &theirs).ok_or_else(|| nothing(at, "type"))?,
            "enum" => *ours = common_values(ours, &theirs).ok_or_else(|| nothing(at, "enum"))?,
            "const" => return Err(nothing(at, "const")),
            "anyOf" | "oneOf" => *ours = product(ours, &theirs, at)?,
            "additionalProperties" | "unevaluatedProperties" | "items" | "propertyNames" | "contains" => {
                both(ours, theirs)
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                if theirs.as_f64() > ours.as_f64() {
                    *ours = theirs;
                }
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                if theirs.as_f64() < ours.as_f64() {
                    *ours = theirs;
                }
            }
            "uniqueItems" => *ours = Value::Bool(true),
            "prefixItems" => both_positions(ours, theirs),
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" => {}
            _ => receipt.lose(at, &keyword, "is said twice; only the first was kept"),
        }
    }
    Ok(())
}

/// Makes `ours` say that both schemas hold.
fn both(ours: &mut Value, theirs: Value) {
    if *ours == theirs || theirs == Value::Bool(true) || *ours == Value::Bool(false) {
        return;
    }
    if *ours == Value::Bool(true) || is_empty(ours) || theirs == Value::Bool(false) {
        *ours = theirs;
    } else if !is_empty(&theirs) {
        *ours = json!({ "allOf": [ours.take(), theirs] });
    }
}

fn both_members(ours: &mut Value, theirs: Value) {
    if let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) {
        for (name, schema) in theirs {
            match ours.get_mut(&name) {
                Some(known) => both(known, schema),
                None => {
                    ours.insert(name, schema);
                }
            }
        }
    }
}

fn both_positions(ours: &mut Value, theirs: Value) {
    if let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) {
        for (i, schema) in theirs.into_iter().enumerate() {
            match ours.get_mut(i) {
                Some(known) => both(known, schema),
                None => ours.push(schema),
            }
        }
    }
}

fn union_of_lists(ours: &mut Value, theirs: Value) {
    if let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) {
        for name in theirs {
            if !ours.contains(&name) {
                ours.push(name);
            }
        }
    }
}

fn common_types(ours: &Value, theirs: &Value) -> Option<Value> {
    let list = |value: &Value| match value {
        Value::Array(list) => list.clone(),
        single => vec![single.clone()],
    };
    let (ours, theirs) = (list(ours), list(theirs));
    let mut common: Vec<Value> = Vec::new();
    for name in &ours {
        let narrower = if theirs.contains(name) || name == "integer" && theirs.contains(&json!("number")) {
            name.clone()
        } else if name == "number" && theirs.contains(&json!("integer")) {
            json!("integer")
        } else {
            continue;
        };
        if !common.contains(&narrower) {
            common.push(narrower);
        }
    }
    match common.len() {
        0 => None,
        1 => common.pop(),
        _ => Some(Value::Array(common)),
    }
}

fn common_values(ours: &Value, theirs: &Value) -> Option<Value> {
    let theirs = theirs.as_array()?;
    let common: Vec<Value> = ours.as_array()?.iter().filter(|value| theirs.contains(value)).cloned().collect();
    (!common.is_empty()).then_some(Value::Array(common))
}

/// Two unions that hold together: every alternative of one with every alternative of the other.
fn product(ours: &Value, theirs: &Value, at: &str) -> Result<Value, SchemaRefusal> {
    let empty = Vec::new();
    let ours = ours.as_array().unwrap_or(&empty);
    let theirs = theirs.as_array().unwrap_or(&empty);
    if ours.len() * theirs.len() > MOST_BRANCHES {
        return Err(SchemaRefusal(format!(
            "two unions hold together at {}, which makes more than {MOST_BRANCHES} alternatives. Next: write one union",
            place(at)
        )));
    }
    Ok(ours.iter().flat_map(|ours| theirs.iter().map(move |theirs| json!({ "allOf": [ours, theirs] }))).collect())
}

fn nothing(at: &str, keyword: &str) -> SchemaRefusal {
    SchemaRefusal(format!(
        "the parts of allOf contradict each other in {keyword} at {}, so nothing is valid. Next: correct the schema there",
        place(at)
    ))
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(Map::is_empty)
}
