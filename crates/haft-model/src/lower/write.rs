//! Writes a simple form back as a schema, for the providers that need one way to express it.
//!
//! Not here: reading a schema as a simple form (`simplify`).

use serde_json::{Map, Value, json};

use super::simplify::SchemaType;

/// Puts `type` in front of a schema.
pub(super) fn typed(kind: SchemaType, rest: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".to_owned(), json!(kind.name()))]);
    schema.extend(rest);
    schema
}

/// Writes an `anyOf` with a description beside it.
pub(super) fn with_notes(branches: Vec<Value>, notes: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Map::from_iter([("anyOf".to_owned(), Value::Array(branches))]);
    schema.extend(notes);
    schema
}
