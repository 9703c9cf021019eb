//! Leaves out arguments that a tool does not have, where the profile is lenient, and reports them.
//!
//! It never does so silently: a model that misspells a name believes that the tool received it.

use serde_json::{Map, Value};

use crate::arguments::fault::{key_path, shown};

/// Takes out the keys of an object that its schema does not list; returns a sentence for each.
///
/// Leaves the object alone if its schema has other rules about keys: then no list says which key is too many.
#[must_use]
pub fn drop_unknown(value: &mut Value, schema: &Value) -> Vec<String> {
    const SAYS_MORE: [&str; 7] =
        ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "unevaluatedProperties"];
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let (Value::Object(entries), Some(known)) = (value, schema.get("properties").and_then(Value::as_object)) else {
        return Vec::new();
    };
    if !is_closed || SAYS_MORE.iter().any(|keyword| schema.get(keyword).is_some()) {
        return Vec::new();
    }
    let (kept, dropped): (Map<_, _>, Map<_, _>) =
        std::mem::take(entries).into_iter().partition(|(key, _)| known.contains_key(key));
    *entries = kept;
    let told = |(key, value): (&String, &Value)| {
        format!("{}: {} is not an argument of this tool and was left out", key_path("$", key), shown(value))
    };
    dropped.iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_keys_that_are_not_listed_go_and_each_is_told() {
        let schema = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": false });
        let mut value = json!({ "a": 1, "colour": "red" });
        let told = drop_unknown(&mut value, &schema);
        assert_eq!(
            (value, told),
            (json!({ "a": 1 }), vec!["$.colour: \"red\" is not an argument of this tool and was left out".to_owned()])
        );
        let open = json!({ "type": "object", "properties": { "a": {} } });
        assert!(drop_unknown(&mut json!({ "b": 1 }), &open).is_empty());
        let union = json!({ "properties": {}, "additionalProperties": false, "anyOf": [{}] });
        assert!(drop_unknown(&mut json!({ "b": 1 }), &union).is_empty());
    }
}
