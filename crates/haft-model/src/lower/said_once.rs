//! Removes repeated descriptions of a property: a type that occurs again would repeat its words.
//!
//! haft sends every byte of a schema with every request. The tool's own schema keeps the words at each property,
//! because a reader may see only one part of it.

use std::collections::HashSet;

use serde_json::Value;

/// Leaves out the words of a property that another one of the same name has before it.
pub(super) fn say_once(schema: &mut Value) {
    say_new(schema, &mut HashSet::new());
}

fn say_new(schema: &mut Value, said: &mut HashSet<(String, String)>) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let words = property.get("description").and_then(Value::as_str).map(str::to_owned);
            if words.is_some_and(|words| !said.insert((name.clone(), words)))
                && let Value::Object(property) = property
            {
                property.shift_remove("description");
            }
        }
    }
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| say_new(schema, said));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| say_new(schema, said));
            }
            ("items" | "additionalProperties", schema) => say_new(schema, said),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_said_at_the_first_property_of_a_name() {
        let edit = json!({ "type": "object", "properties": { "old": { "type": "string", "description": "What." } } });
        let mut schema = json!({ "type": "object", "properties": {
            "one": edit, "more": { "type": "array", "items": edit }, "new": { "description": "What." } } });
        say_once(&mut schema);
        let text = schema.to_string();
        assert_eq!(text.matches("What.").count(), 2, "{text}");
        assert_eq!(schema["properties"]["one"], edit);
        assert_eq!(schema["properties"]["new"]["description"], "What.");
    }

    #[test]
    fn a_property_called_like_a_keyword_is_a_property() {
        let mut schema = json!({ "properties": {
            "description": { "type": "string", "description": "Words." },
            "properties": { "type": "object", "properties": { "description": { "description": "Words." } } } } });
        say_once(&mut schema);
        assert_eq!(schema["properties"]["description"], json!({ "type": "string", "description": "Words." }));
        assert_eq!(schema["properties"]["properties"]["properties"]["description"], json!({}));
    }
}
