//! Finds keywords of a schema that are probably misspelt: JSON Schema ignores what it does not know.

use haft_contract::text::closest::closest;

use super::fields::Problems;
use super::node::{DefinitionNode, DefinitionValue};

/// Keywords whose value is a schema.
const SCHEMA: [&str; 10] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas; `items` of draft-07 may be one too.
const LIST: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
/// Keywords whose value is a map of schemas.
const MAP: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// All others.
const PLAIN: [&str; 34] = [
    "$schema",
    "$id",
    "$ref",
    "$anchor",
    "$comment",
    "type",
    "enum",
    "const",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "contentMediaType",
];

/// Warns about keywords that are near a known one.
pub(in crate::defined::definition) fn check(schema: &DefinitionNode, problems: &mut Problems) {
    for (key, inner) in schema.entries() {
        let name = key.name.as_str();
        match &inner.value {
            DefinitionValue::Map(_) if SCHEMA.contains(&name) => check(inner, problems),
            DefinitionValue::List(items) if LIST.contains(&name) => items.iter().for_each(|item| check(item, problems)),
            DefinitionValue::Map(entries) if MAP.contains(&name) => {
                entries.iter().for_each(|(_, part)| check(part, problems))
            }
            _ => {}
        }
        let known = || SCHEMA.into_iter().chain(LIST).chain(MAP).chain(PLAIN);
        // Looking for one that is near takes its time, so it is done for what is not known.
        if known().any(|known| known == name) {
            continue;
        }
        if let Some(near) = closest(name, known()) {
            let what = format!("{name:?} is not a keyword of JSON Schema and is ignored");
            problems.warn(key.line, what, format!("did you mean \"{near}\"?"));
        }
    }
}
