//! How other systems call the file tools, as data: their names and arguments, turned into ours.
//!
//! One core, many tongues: a prompt that was written for one of those systems works with these
//! tools. What differs in numbers and habits is in the profiles; here is only what calls look like.
//!
//! Not here: the catalogue that shows tools in a dialect, and the words of their results.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How one tool is called in another system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignTool {
    /// The native tool.
    pub tool: String,
    arguments: BTreeMap<String, Leads>,
    #[serde(default)]
    defaults: Map<String, Value>,
    #[serde(default)]
    fixed: Map<String, Value>,
    #[serde(default)]
    ignored: Vec<String>,
}

/// Where an argument leads, and how its value changes on the way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Leads {
    to: Place,
    how: How,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Argument(String),
    FirstEdit(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    AsItIs,
    FromZero,
    OneOfMany,
    NoneIfZero,
}

impl TryFrom<String> for Leads {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (place, how) = text.split_once(' ').unwrap_or((&text, ""));
        let how = match how {
            "" => How::AsItIs,
            "from-zero" => How::FromZero,
            "one-of-many" => How::OneOfMany,
            "none-if-zero" => How::NoneIfZero,
            other => return Err(format!("\"{other}\" is no known conversion")),
        };
        let to = match place.strip_prefix("edits[0].") {
            Some(field) => Place::FirstEdit(field.to_owned()),
            None => Place::Argument(place.to_owned()),
        };
        Ok(Self { to, how })
    }
}

static DIALECTS: LazyLock<BTreeMap<String, BTreeMap<String, ForeignTool>>> =
    LazyLock::new(|| toml::from_str(include_str!("dialects.toml")).expect("the table of dialects is in order"));

/// Finds a tool by the name it has in a dialect.
pub fn foreign_tool(dialect: &str, name: &str) -> Option<&'static ForeignTool> {
    DIALECTS.get(dialect)?.get(name)
}

/// Returns all tools of all dialects: dialect, name, and what it means.
pub fn foreign_tools() -> impl Iterator<Item = (&'static str, &'static str, &'static ForeignTool)> {
    DIALECTS
        .iter()
        .flat_map(|(dialect, tools)| tools.iter().map(move |(name, tool)| (dialect.as_str(), name.as_str(), tool)))
}

impl ForeignTool {
    /// Turns the arguments of the other system into native ones. What is not known stays, so that the schema names it.
    pub fn inward(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let mut native = self.defaults.clone();
        let mut edit = Map::new();
        for (name, value) in arguments {
            let Some(leads) = self.arguments.get(&name) else {
                if !self.ignored.contains(&name) {
                    native.insert(name, value);
                }
                continue;
            };
            let Some(value) = leads.how.converted(value) else { continue };
            match &leads.to {
                Place::Argument(to) => native.insert(to.clone(), value),
                Place::FirstEdit(to) => edit.insert(to.clone(), value),
            };
        }
        if !edit.is_empty() {
            native.insert("edits".to_owned(), json!([edit]));
        }
        native.extend(self.fixed.clone());
        native
    }

    /// Returns the native arguments that calls may lead to, for checking against a schema.
    pub fn native_arguments(&self) -> impl Iterator<Item = &str> {
        let led_to = self.arguments.values().map(|leads| match &leads.to {
            Place::Argument(to) => to.as_str(),
            Place::FirstEdit(_) => "edits",
        });
        led_to.chain(self.defaults.keys().map(String::as_str)).chain(self.fixed.keys().map(String::as_str))
    }
}

impl How {
    fn converted(self, value: Value) -> Option<Value> {
        match (self, value) {
            (How::FromZero, Value::Number(number)) => {
                Some(number.as_u64().map_or(json!(number), |line| json!(line + 1)))
            }
            (How::OneOfMany, value @ Value::String(_)) => Some(json!([value])),
            (How::NoneIfZero, Value::Number(number)) if number.as_u64() == Some(0) => None,
            (_, value) => Some(value),
        }
    }
}
