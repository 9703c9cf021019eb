//! Leaves out arguments whose value shows that the model does not mean them: `""`, `[]`, `{}`, `limit: 0`.
//!
//! Many models send every argument they know, and give an empty value to those they do not mean. haft leaves an empty
//! value out only where it cannot be meant: the schema of an optional argument does not admit it (`fit`), the tool
//! has no such argument, or it pages through an answer. An admitted value stays: `content: ""` is an empty file.
//!
//! Not here: empty paths, which name nothing (`stages/prepare/places`).

use haft_contract::description::shape::whole;
use haft_contract::description::spec::{AtMost, Spec};
use serde_json::{Map, Value};

use crate::arguments::ArgumentReading;
use crate::arguments::fault::{key_path, shown};
use haft_contract::text::closest::folded;

/// Arguments that choose a part of an answer, from 1: none of it is never wanted.
const PARTS: [&str; 4] = ["offset", "limit", "column", "page"];

/// Returns whether there is nothing in a value.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns whether a text is a word for no value, in any language of programs.
pub(crate) fn is_word_for_nothing(text: &str) -> bool {
    ["null", "none", "nil", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Leaves out empty arguments that the tool does not have, and zero where a tool that only looks counts from one.
#[must_use]
pub(crate) fn leave_out(value: Value, spec: &Spec, schema: &Value) -> ArgumentReading {
    let Value::Object(mut entries) = value else { return ArgumentReading::unchanged(value) };
    let left_out: Vec<String> = entries
        .iter()
        .filter(|(key, value)| is_not_meant(key, value, spec, schema))
        .map(|(key, _)| key.clone())
        .collect();
    let take = |key: String| {
        let written = entries.shift_remove(&key)?;
        Some(format!("{}: {} left out", key_path("$", &key), shown(&written)))
    };
    let repairs = left_out.into_iter().filter_map(take).collect();
    ArgumentReading { value: Value::Object(entries), repairs }
}

fn is_not_meant(key: &str, value: &Value, spec: &Spec, schema: &Value) -> bool {
    let known = schema.get("properties").and_then(Value::as_object);
    match known.and_then(|known| known.get(key)) {
        Some(property) => {
            let is_from_one = property.get("minimum").and_then(Value::as_i64) == Some(1);
            let is_part = spec.does == AtMost::Looks && PARTS.contains(&key) && is_from_one;
            is_part && whole(value) == Some(0) && !is_required(schema, key)
        }
        None => is_closed(schema) && (value.is_null() || is_empty(value) && !is_other_name(key, known, spec)),
    }
}

/// Whether a key stands for an argument that the tool has: then an empty value may contradict what is given for that.
fn is_other_name(key: &str, known: Option<&Map<String, Value>>, spec: &Spec) -> bool {
    // A key may be megabytes long.
    let is_spelled = |name: &str| key.len() <= 8 * name.len() && folded(name) == folded(key);
    spec.aliases.iter().any(|(alias, _)| is_spelled(alias))
        || known.into_iter().flatten().any(|(name, _)| is_spelled(name))
}

fn is_required(schema: &Value, key: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|name| name == key))
}

fn is_closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::description::manual::Manual;
    use serde_json::json;

    fn check(does: AtMost, value: Value, expected: Value) {
        let schema = json!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "limit": { "type": "integer", "minimum": 1 }, "copies": { "type": "integer", "minimum": 1 } },
            "additionalProperties": false,
        });
        let mut spec = Spec::new("t", Manual::plain("T", "Words."), schema.clone());
        spec.does = does;
        spec.aliases = vec![("content".to_owned(), "text".to_owned())];
        let read = leave_out(value.clone(), &spec, &schema);
        assert_eq!(read.value, expected, "{value}");
        assert_eq!(read.repairs.is_empty(), value == expected, "{value}: {:?}", read.repairs);
    }

    #[test]
    fn an_empty_value_for_what_the_tool_does_not_have_is_left_out() {
        for empty in [json!(null), json!(""), json!("  "), json!([]), json!({})] {
            check(AtMost::Anything, json!({ "text": "a", "colour": empty }), json!({ "text": "a" }));
        }
        for meant in [json!(0), json!(false), json!("red"), json!([""])] {
            let value = json!({ "colour": meant });
            check(AtMost::Anything, value.clone(), value);
        }
    }

    #[test]
    fn an_empty_value_under_another_name_of_an_argument_may_contradict_it() {
        let value = json!({ "text": "a", "content": "" });
        check(AtMost::Looks, value.clone(), value);
        check(AtMost::Looks, json!({ "text": "a", "content": null }), json!({ "text": "a" }));
    }

    #[test]
    fn zero_is_left_out_where_a_part_of_an_answer_is_chosen_and_nowhere_else() {
        check(AtMost::Looks, json!({ "limit": 0 }), json!({}));
        check(AtMost::Looks, json!({ "limit": "0" }), json!({}));
        for value in [json!({ "copies": 0 }), json!({ "limit": -1 }), json!({ "limit": false })] {
            check(AtMost::Looks, value.clone(), value);
        }
        check(AtMost::Changes, json!({ "limit": 0 }), json!({ "limit": 0 }));
    }
}
