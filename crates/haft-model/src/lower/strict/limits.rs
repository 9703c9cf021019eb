//! Counts what OpenAI limits in strict schemas.
//!
//! The numbers come from the guide on structured outputs. OpenAI refuses the whole request for one schema over a limit,
//! so haft keeps such a tool back. The guide does not say how to count levels: here objects and lists count,
//! alternatives do not, and a definition starts again at zero.

use serde_json::{Map, Value};

use super::super::SchemaRefusal;

const MOST_PROPERTIES: usize = 5_000;
const MOST_LEVELS: usize = 10;
const MOST_ENUM_VALUES: usize = 1_000;
const MOST_NAME_CHARACTERS: usize = 120_000;
/// An enum of more values than this has a limit of characters of its own.
const LONG_ENUM: usize = 250;
const MOST_LONG_ENUM_CHARACTERS: usize = 15_000;

/// Refuses a lowered schema that is over a limit.
pub(super) fn check(schema: &Map<String, Value>) -> Result<(), SchemaRefusal> {
    let mut count = Count::default();
    count.schema(schema, 0);
    for (what, counted, limit) in [
        ("properties", count.properties, MOST_PROPERTIES),
        ("levels of nesting", count.levels, MOST_LEVELS),
        ("enum values", count.enum_values, MOST_ENUM_VALUES),
        ("characters of names and constants", count.characters, MOST_NAME_CHARACTERS),
        ("characters in one long enum", count.long_enum, MOST_LONG_ENUM_CHARACTERS),
    ] {
        if counted > limit {
            return Err(SchemaRefusal(format!(
                "the schema has {counted} {what}, and strict mode takes {limit}. Next: offer it without strict mode, or make the schema smaller"
            )));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Count {
    properties: usize,
    levels: usize,
    enum_values: usize,
    characters: usize,
    long_enum: usize,
}

impl Count {
    fn schema(&mut self, schema: &Map<String, Value>, level: usize) {
        self.levels = self.levels.max(level);
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(members)) => {
                    self.properties += members.len();
                    self.members(members, level + 1);
                }
                ("$defs", Value::Object(members)) => self.members(members, 0),
                ("anyOf", Value::Array(branches)) => {
                    branches.iter().filter_map(Value::as_object).for_each(|branch| self.schema(branch, level))
                }
                ("items", Value::Object(items)) => self.schema(items, level + 1),
                ("enum", Value::Array(values)) => self.values(values),
                ("const", value) => self.values(std::slice::from_ref(value)),
                _ => {}
            }
        }
    }

    fn members(&mut self, members: &Map<String, Value>, level: usize) {
        for (name, schema) in members {
            self.characters += name.len();
            if let Value::Object(schema) = schema {
                self.schema(schema, level);
            }
        }
    }

    fn values(&mut self, values: &[Value]) {
        let characters = values.iter().filter_map(Value::as_str).map(|text| text.chars().count()).sum();
        self.characters += characters;
        self.enum_values += values.len();
        if values.len() > LONG_ENUM {
            self.long_enum = self.long_enum.max(characters);
        }
    }
}
