//! Schemas: made from types, or by hand for tools that are not known at compile time.
//!
//! The schema that a model is shown has no noise: no `title`, no integer `format`, no `null` for
//! what is merely optional, documented choices as one `enum`. The order of properties is kept.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Returns the schema of a type, as a model is shown it.
pub fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        // The words of a tool stand in its manual; the type's own doc is for Rust.
        root.shift_remove("description");
        root.entry("properties").or_insert_with(|| json!({}));
        close(root);
    }
    simplify(&mut schema);
    schema
}

/// Builds the schema of an object with these properties: name, whether required, schema.
///
/// For tools that are not Rust types. `required` is left out when nothing is required, and
/// unknown properties are not admitted.
pub fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Presence, Value)>) -> Value {
    let mut listed = Map::new();
    let mut required = Vec::new();
    for (name, presence, schema) in properties {
        if presence == Presence::Required {
            required.push(Value::from(name));
        }
        listed.insert(name.to_owned(), schema);
    }
    let mut object = json!({ "type": "object", "properties": listed });
    if !required.is_empty() {
        object["required"] = Value::from(required);
    }
    object["additionalProperties"] = Value::from(false);
    object
}

/// Whether a property must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
}

fn close(object: &mut Map<String, Value>) {
    if !object.contains_key("additionalProperties") {
        object.insert("additionalProperties".to_owned(), Value::from(false));
    }
}

fn simplify(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.shift_remove("title");
    if object.get("type").is_some_and(|kind| kind == "integer" || kind == "number") {
        object.shift_remove("format");
    }
    fold_documented_choices(object);
    let required = object.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|n| n == name));
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !is_required(name) {
                drop_null(property);
            }
        }
        for property in properties.values_mut() {
            simplify(property);
        }
        close(object);
    }
    if object.contains_key("description")
        && let Some(Value::Object(items)) = object.get_mut("items")
        && items.contains_key("properties")
    {
        // The list says what its items are; the doc of their type is for Rust.
        items.shift_remove("description");
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(inner) = object.get_mut(key) {
            simplify(inner);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(branches)) = object.get_mut(key) {
            branches.iter_mut().for_each(simplify);
        }
    }
    if let Some(Value::Object(definitions)) = object.get_mut("$defs") {
        definitions.values_mut().for_each(simplify);
    }
}

/// An optional property is left out, not null; what an `Option` adds is removed again.
fn drop_null(property: &mut Value) {
    let Value::Object(object) = property else { return };
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

/// Documented variants of an enum come as `oneOf` of `const`; one `enum` with the docs in the
/// description is shorter and accepted everywhere.
fn fold_documented_choices(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get("oneOf") else { return };
    let mut choices = Vec::new();
    let mut words = Vec::new();
    for branch in branches {
        if let Some(choice) = branch.get("const") {
            if let Some(doc) = branch.get("description").and_then(Value::as_str) {
                words.push(format!("{}: {doc}", choice.as_str().map_or(choice.to_string(), str::to_owned)));
            }
            choices.push(choice.clone());
        } else if let (Some(Value::Array(plain)), None) = (branch.get("enum"), branch.get("properties")) {
            choices.extend(plain.iter().cloned());
        } else {
            return;
        }
    }
    let before = object.get("description").and_then(Value::as_str).unwrap_or_default();
    let is_said = |choice: &Value| before.contains(&choice.to_string());
    if !words.is_empty() && !choices.iter().all(is_said) {
        let joined = format!("{before}\n{}", words.join("\n"));
        object.insert("description".to_owned(), joined.trim().into());
    }
    object.shift_remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), Value::from(choices));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Sample {
        /// Where.
        path: String,
        /// How many.
        limit: Option<u32>,
        /// Which.
        mode: Option<SampleMode>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum SampleMode {
        /// Shows lines.
        Content,
        /// Shows names.
        Files,
    }

    #[test]
    fn the_shown_schema_has_no_noise_and_keeps_its_order() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&of::<Sample>()).expect("a schema is JSON"), @r#"
        {
          "type": "object",
          "properties": {
            "path": {
              "type": "string",
              "description": "Where."
            },
            "limit": {
              "type": "integer",
              "minimum": 0,
              "description": "How many."
            },
            "mode": {
              "description": "Which.\ncontent: Shows lines.\nfiles: Shows names.",
              "type": "string",
              "enum": [
                "content",
                "files"
              ]
            }
          },
          "required": [
            "path"
          ],
          "additionalProperties": false
        }
        "#);
    }

    #[test]
    fn an_object_schema_leaves_out_an_empty_required() {
        let schema = object([("path", Presence::Optional, json!({ "type": "string", "description": "Where." }))]);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": { "path": { "type": "string", "description": "Where." } },
                "additionalProperties": false
            })
        );
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct ListingSample {
        /// "tree", or "flat" for one path in each line.
        view: View,
        /// What to leave out.
        without: Vec<SampleName>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum View {
        /// As a tree.
        Tree,
        /// One path in each line.
        Flat,
    }

    /// A name.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct SampleName {
        /// The glob.
        glob: String,
    }

    #[test]
    fn what_an_argument_says_itself_is_not_said_again_for_its_type() {
        let properties = &of::<ListingSample>()["properties"];
        assert_eq!(properties["view"]["description"], "\"tree\", or \"flat\" for one path in each line.");
        assert_eq!(properties["without"]["items"].get("description"), None);
        assert_eq!(properties["without"]["items"]["properties"]["glob"]["description"], "The glob.");
    }
}
