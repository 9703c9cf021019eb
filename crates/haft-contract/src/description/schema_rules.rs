//! The structural rules that every shown schema obeys, checked when a tool is registered.
//!
//! Providers answer a malformed schema with an error that names neither tool nor property, in the
//! middle of a conversation. Here the error names the rule and the fix, before haft sends a request.
//!
//! Not here: what one provider alone cannot express (`haft-model`).

use serde_json::{Map, Value};

use super::spec::Spec;

/// A rule that a tool's description breaks, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool \"{tool}\": {at}: {rule}; {fix}")]
pub struct BrokenRule {
    /// The tool.
    pub tool: String,
    /// Where in the description: `name`, `description`, or a JSON pointer into the schema.
    pub at: String,
    /// What must hold.
    pub rule: &'static str,
    /// How to fix it.
    pub fix: String,
    /// Whether providers take the tool all the same. haft's own tools break no rule at all.
    pub is_advice: bool,
}

const KINDS: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
const DEEPEST: usize = 64;

/// Checks a tool's name, words and schema; returns every rule that is broken.
pub fn check(spec: &Spec) -> Vec<BrokenRule> {
    let mut found = SchemaCheck { tool: &spec.name, broken: Vec::new() };
    if !is_safe_name(&spec.name) {
        found.add(
            "name",
            "a name has 1 to 64 letters, digits, `_` or `-` and begins with a letter or `_`",
            "rename the tool".to_owned(),
        );
    }
    if spec.manual.words.trim().is_empty() {
        found.add(
            "description",
            "a tool has a description for the model",
            "say what the tool does and when to use it".into(),
        );
    }
    let root = &*spec.input_schema;
    if root.get("type").is_none_or(|kind| kind != "object") {
        found.add("#", "the root of the schema is an object", "set \"type\": \"object\" at the root".into());
    } else {
        found.object(root, "#", 0);
    }
    found.broken
}

/// Returns the keyword by which a schema lists values of which none has its type, such as `"type": "boolean"` with
/// `"enum": ["True", "False"]`. Strictly read nothing is valid there. The author of the schema means the type, and lists
/// the values for the reader.
pub fn contradicting_values(schema: &Map<String, Value>) -> Option<&'static str> {
    let kinds = kinds(schema)?;
    let is_null = |value: &Value| value.is_null();
    let contradicts = |values: &[Value]| {
        let mut others = values.iter().filter(|value| !is_null(value)).peekable();
        others.peek().is_some() && others.all(|value| !kinds.iter().any(|kind| has_kind(value, kind)))
    };
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) if contradicts(std::slice::from_ref(value)) => Some("const"),
        (None, Some(Value::Array(values))) if contradicts(values) => Some("enum"),
        _ => None,
    }
}

/// Returns whether the default of a schema does not have its type.
pub fn has_contradicting_default(schema: &Map<String, Value>) -> bool {
    let default = schema.get("default").filter(|default| !default.is_null());
    default.zip(kinds(schema)).is_some_and(|(default, kinds)| !kinds.iter().any(|kind| has_kind(default, kind)))
}

fn kinds(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(kind) => Some(vec![kind]),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// Returns whether a value has this type of JSON Schema; one that is not known has every value.
fn has_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Returns whether every provider accepts the name as it is.
pub fn is_safe_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Keywords of an object that are about several arguments together.
const TOGETHER: [&str; 10] = [
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "minProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

/// Returns a schema that judges some arguments without the others. Its parts stay, because references lead to them.
pub fn of_some_arguments(schema: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    for keyword in TOGETHER {
        fields.shift_remove(keyword);
    }
    Value::Object(fields)
}

struct SchemaCheck<'a> {
    tool: &'a str,
    broken: Vec<BrokenRule>,
}

impl SchemaCheck<'_> {
    fn add(&mut self, at: &str, rule: &'static str, fix: String) {
        self.broken.push(BrokenRule { tool: self.tool.to_owned(), at: at.to_owned(), rule, fix, is_advice: false });
    }

    fn advise(&mut self, at: &str, rule: &'static str, fix: String) {
        self.broken.push(BrokenRule { tool: self.tool.to_owned(), at: at.to_owned(), rule, fix, is_advice: true });
    }

    fn object(&mut self, schema: &Value, at: &str, depth: usize) {
        if depth > DEEPEST {
            return self.add(at, "a schema is at most 64 levels deep", "use a reference, or fewer levels".into());
        }
        let Some(properties) = schema.get("properties") else { return };
        let Some(properties) = properties.as_object() else {
            return self.add(at, "\"properties\" is an object", "write name: schema pairs".into());
        };
        for (name, property) in properties {
            let at = format!("{at}/properties/{name}");
            if property.get("description").and_then(Value::as_str).is_none_or(|words| words.trim().is_empty()) {
                self.advise(&at, "every property has a description", format!("say what \"{name}\" is, with its unit"));
            }
            self.typed(property, &at, depth + 1);
        }
        self.required(schema, properties, at);
    }

    fn required(&mut self, schema: &Value, properties: &serde_json::Map<String, Value>, at: &str) {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if name.as_str().is_none_or(|name| !properties.contains_key(name)) {
                let fix = format!("add {name} to \"properties\" or remove it from \"required\"");
                self.add(at, "a required name is a property", fix);
            }
        }
    }

    fn typed(&mut self, schema: &Value, at: &str, depth: usize) {
        let kind = schema.get("type");
        let known = |kind: &Value| kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
        match kind {
            Some(Value::Array(kinds)) if !kinds.is_empty() && kinds.iter().all(known) => {}
            Some(kind) if known(kind) => {}
            Some(other) => {
                let fix = format!("{other} is not one of them; use one of {}", KINDS.join(", "));
                self.add(at, "a type is one of JSON Schema's", fix);
            }
            None if ["$ref", "enum", "const", "anyOf", "oneOf", "allOf"]
                .iter()
                .any(|key| schema.get(key).is_some()) => {}
            None => self.advise(at, "every property has a type", format!("add \"type\": one of {}", KINDS.join(", "))),
        }
        if kind.is_some_and(|kind| kind == "object") {
            self.object(schema, at, depth);
        }
        if let Some(items) = schema.get("items").filter(|items| items.get("type").is_some_and(|kind| kind == "object"))
        {
            self.object(items, &format!("{at}/items"), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::manual::Manual;
    use serde_json::json;

    fn check_schema(name: &str, schema: Value) -> String {
        let spec = Spec::new(name, Manual::plain(name, "Does a thing."), schema);
        check(&spec).iter().map(|broken| format!("{broken}\n")).collect()
    }

    #[test]
    fn each_broken_rule_is_named_with_its_fix() {
        insta::assert_snapshot!(check_schema("bad name", json!({
            "type": "object",
            "properties": { "a": { "description": "A." }, "b": { "type": "strnig" }, "c": { "type": "array",
                "description": "C.", "items": { "type": "object", "properties": { "d": { "type": "string" } } } } },
            "required": ["e"]
        })), @r#"
        tool "bad name": name: a name has 1 to 64 letters, digits, `_` or `-` and begins with a letter or `_`; rename the tool
        tool "bad name": #/properties/a: every property has a type; add "type": one of string, number, integer, boolean, array, object, null
        tool "bad name": #/properties/b: every property has a description; say what "b" is, with its unit
        tool "bad name": #/properties/b: a type is one of JSON Schema's; "strnig" is not one of them; use one of string, number, integer, boolean, array, object, null
        tool "bad name": #/properties/c/items/properties/d: every property has a description; say what "d" is, with its unit
        tool "bad name": #: a required name is a property; add "e" to "properties" or remove it from "required"
        "#);
    }

    #[test]
    fn a_tool_without_words_breaks_a_rule() {
        let broken = check(&Spec::new("t", Manual::plain("t", " \n"), json!({ "type": "object" })));
        let told: Vec<(String, bool)> = broken.iter().map(|broken| (broken.to_string(), broken.is_advice)).collect();
        let words = "a tool has a description for the model; say what the tool does and when to use it";
        assert_eq!(told, [(format!("tool \"t\": description: {words}"), false)]);
    }

    #[test]
    fn a_property_without_words_or_type_is_advice_only() {
        let schema = json!({ "type": "object", "properties": { "a": {} }, "required": ["b"] });
        let broken = check(&Spec::new("t", Manual::plain("t", "Does."), schema));
        assert_eq!(broken.iter().map(|broken| broken.is_advice).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn the_root_must_be_an_object() {
        insta::assert_snapshot!(check_schema("t", json!({ "type": "array" })), @r#"tool "t": #: the root of the schema is an object; set "type": "object" at the root"#);
    }

    #[test]
    fn a_good_tool_breaks_no_rule() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "description": "A." } } });
        assert_eq!(check_schema("good", schema), "");
    }
}
