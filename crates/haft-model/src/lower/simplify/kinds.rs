//! The seven types of JSON Schema, and the keywords of each.

use serde_json::{Map, Value, json};

use super::{NOTES, Simple};

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum SchemaType {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Object,
}

const STRING_KEYWORDS: [&str; 7] =
    ["pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"];
const NUMBER_KEYWORDS: [&str; 6] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"];
const LIST_KEYWORDS: [&str; 9] = [
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
];
const OBJECT_KEYWORDS: [&str; 10] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
];
const OTHER_RESTRICTIONS: [&str; 11] =
    ["type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

impl SchemaType {
    const ALL: [SchemaType; 7] = [
        SchemaType::Null,
        SchemaType::Boolean,
        SchemaType::Integer,
        SchemaType::Number,
        SchemaType::Text,
        SchemaType::List,
        SchemaType::Object,
    ];

    /// Returns the value of `type`.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            SchemaType::Null => "null",
            SchemaType::Boolean => "boolean",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::Text => "string",
            SchemaType::List => "array",
            SchemaType::Object => "object",
        }
    }

    fn named(name: &Value) -> Option<SchemaType> {
        SchemaType::ALL.into_iter().find(|kind| name == kind.name())
    }

    /// Returns the keywords that restrict values of this type and no other.
    fn keywords(self) -> &'static [&'static str] {
        match self {
            SchemaType::Null | SchemaType::Boolean => &[],
            SchemaType::Integer | SchemaType::Number => &NUMBER_KEYWORDS,
            SchemaType::Text => &STRING_KEYWORDS,
            SchemaType::List => &LIST_KEYWORDS,
            SchemaType::Object => &OBJECT_KEYWORDS,
        }
    }

    fn admits(self, value: &Value) -> bool {
        match self {
            SchemaType::Null => value.is_null(),
            SchemaType::Boolean => value.is_boolean(),
            SchemaType::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            SchemaType::Number => value.is_number(),
            SchemaType::Text => value.is_string(),
            SchemaType::List => value.is_array(),
            SchemaType::Object => value.is_object(),
        }
    }
}

/// Returns whether a keyword restricts which values are valid.
pub(super) fn is_restriction(keyword: &str) -> bool {
    SchemaType::ALL.iter().any(|kind| kind.keywords().contains(&keyword)) || OTHER_RESTRICTIONS.contains(&keyword)
}

/// Returns whether a value is neither a list nor an object.
pub(super) fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Returns the values of `const` or `enum` that the rest of the schema does not rule out by type.
pub(super) fn listed_values(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Returns the simple form of a schema without references and unions.
pub(super) fn typed(mut schema: Map<String, Value>) -> Simple {
    let said = said_kinds(&schema);
    if let Some(mut values) = listed_values(&schema) {
        values.retain(|value| said.is_empty() || said.iter().any(|kind| kind.admits(value)));
        return by_values(schema, values, &said);
    }
    let kinds = if said.is_empty() { implied_kinds(&schema) } else { said };
    match kinds.as_slice() {
        [] => Simple::Anything(schema),
        [kind] => {
            schema.shift_remove("type");
            Simple::Typed(*kind, schema)
        }
        kinds => split(schema, kinds),
    }
}

fn by_values(mut schema: Map<String, Value>, values: Vec<Value>, said: &[SchemaType]) -> Simple {
    for keyword in ["type", "const", "enum"] {
        schema.shift_remove(keyword);
    }
    if !values.iter().all(is_scalar) {
        return Simple::Constants(values, schema);
    }
    let mut groups: Vec<(SchemaType, Vec<Value>)> = Vec::new();
    for value in values {
        // Whole numbers among fractions are one group, or the union would split an enum for nothing.
        let kind = match said.iter().find(|kind| kind.admits(&value)) {
            Some(kind) => *kind,
            None => SchemaType::ALL.into_iter().find(|kind| kind.admits(&value)).unwrap_or(SchemaType::Null),
        };
        match groups.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, group)) if !group.contains(&value) => group.push(value),
            Some(_) => {}
            None => groups.push((kind, vec![value])),
        }
    }
    let with_values = |schema: &mut Map<String, Value>, mut values: Vec<Value>| {
        match values.len() {
            1 => schema.insert("const".to_owned(), values.remove(0)),
            _ => schema.insert("enum".to_owned(), Value::Array(values)),
        };
    };
    match groups.len() {
        0 => Simple::Nothing,
        1 => {
            let (kind, values) = groups.remove(0);
            if kind != SchemaType::Null {
                with_values(&mut schema, values);
            }
            Simple::Typed(kind, schema)
        }
        _ => {
            let branches = groups
                .into_iter()
                .map(|(kind, values)| {
                    let mut branch = Map::from_iter([("type".to_owned(), json!(kind.name()))]);
                    with_values(&mut branch, values);
                    Value::Object(branch)
                })
                .collect();
            Simple::Union(branches, schema)
        }
    }
}

/// Makes a list of types a union, every alternative with the keywords of its type.
fn split(schema: Map<String, Value>, kinds: &[SchemaType]) -> Simple {
    let mut notes = Map::new();
    let mut rest = Map::new();
    for (keyword, value) in schema {
        if keyword == "type" {
            continue;
        }
        if SchemaType::ALL.iter().any(|kind| kind.keywords().contains(&keyword.as_str())) {
            rest.insert(keyword, value);
        } else {
            notes.insert(keyword, value);
        }
    }
    let branches = kinds
        .iter()
        .map(|kind| {
            let mut branch = Map::from_iter([("type".to_owned(), json!(kind.name()))]);
            branch.extend(
                rest.iter()
                    .filter(|(key, _)| kind.keywords().contains(&key.as_str()))
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            Value::Object(branch)
        })
        .collect();
    Simple::Union(branches, notes)
}

fn said_kinds(schema: &Map<String, Value>) -> Vec<SchemaType> {
    let mut kinds: Vec<SchemaType> = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(SchemaType::named).collect(),
        Some(name) => SchemaType::named(name).into_iter().collect(),
        None => Vec::new(),
    };
    if kinds.contains(&SchemaType::Number) {
        kinds.retain(|kind| *kind != SchemaType::Integer);
    }
    kinds
}

/// Returns the types a schema without `type` is about, by its keywords. Strictly, it admits every other type too, but
/// no author means that.
fn implied_kinds(schema: &Map<String, Value>) -> Vec<SchemaType> {
    let mut kinds: Vec<SchemaType> = [SchemaType::Object, SchemaType::List, SchemaType::Text, SchemaType::Number]
        .into_iter()
        .filter(|kind| schema.keys().any(|key| key != "format" && kind.keywords().contains(&key.as_str())))
        .collect();
    if kinds.is_empty() && schema.contains_key("format") {
        kinds.push(SchemaType::Text);
    }
    debug_assert!(NOTES.iter().all(|note| !is_restriction(note)));
    kinds
}
