//! Refuses schemas that are too deep or too large before anything walks them.
//!
//! A schema comes from a stranger's server and is sent with every request. These limits are far
//! above honest schemas and keep lowering fast; a provider's own, narrower limits are counted where
//! that provider is lowered.

use serde_json::Value;

use super::SchemaRefusal;

/// Deepest nesting of JSON values.
pub(super) const DEEPEST: usize = 64;
/// Most JSON values in one schema.
pub(super) const MOST_NODES: usize = 20_000;
/// Most bytes of text in one schema.
const MOST_BYTES: usize = 1 << 20;

/// Refuses `schema` when it is over a limit.
pub(super) fn check(schema: &Value) -> Result<(), SchemaRefusal> {
    let mut nodes = 0;
    let mut bytes = 0;
    let mut rest = vec![(schema, 0)];
    while let Some((value, depth)) = rest.pop() {
        nodes += 1;
        bytes += 1;
        if depth > DEEPEST {
            return Err(SchemaRefusal(format!(
                "the schema is nested deeper than {DEEPEST} levels. Next: move inner parts into $defs and refer to them"
            )));
        }
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(object) => {
                bytes += object.keys().map(String::len).sum::<usize>();
                rest.extend(object.values().map(|value| (value, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if nodes > MOST_NODES || bytes > MOST_BYTES {
            return Err(SchemaRefusal(format!(
                "the schema has more than {MOST_NODES} values or more than 1 MiB of text. Next: offer a smaller schema, or take this part as text"
            )));
        }
    }
    Ok(())
}
