//! How other systems call the built-in tools, as data: their names and arguments, turned into ours.
//!
//! One core, many tongues: what a model learned to call elsewhere works here, and what cannot be done here is refused by
//! the name it has there, never dropped in silence. What differs in numbers and habits is in the profiles; here is only
//! what calls look like.
//!
//! Not here: the catalogue that shows tools in a dialect, and the words of their results. Nor are all tools of those
//! systems, or all their ways: `dialects.toml` has what there is.

mod argument;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use argument::{Argument, Place, Taken, bad};
use haft::error::ToolError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How one tool is called in another system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignTool {
    /// The native tool.
    pub tool: String,
    arguments: BTreeMap<String, Argument>,
    /// Lists of objects, by the name of the argument.
    #[serde(default)]
    each: BTreeMap<String, Each>,
    /// Objects whose fields are arguments too.
    #[serde(default)]
    unfold: Vec<String>,
    #[serde(default)]
    defaults: Map<String, Value>,
    #[serde(default)]
    fixed: Map<String, Value>,
    #[serde(default)]
    ignored: Vec<String>,
    instead: Option<Instead>,
}

/// What becomes of each object of a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    /// The native list.
    to: String,
    arguments: BTreeMap<String, Argument>,
    #[serde(default)]
    defaults: Map<String, Value>,
}

/// Another native tool, for calls that mean something else than the others of their name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Instead {
    /// It is meant when this text is empty; a JSON pointer.
    when_empty: String,
    /// What it cannot do besides.
    cannot: Option<Cannot>,
    tool: String,
    /// Native arguments, and where in the call their values stand.
    arguments: BTreeMap<String, String>,
    #[serde(default)]
    fixed: Map<String, Value>,
}

/// Something that is refused when it is there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cannot {
    /// A JSON pointer.
    at: String,
    what: String,
    next: String,
}

/// A call of a native tool.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
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
    /// Turns a call of the other system into a native one, or says which argument has no counterpart.
    ///
    /// What is not known at all stays as it is, so that the schema of the native tool names it.
    pub fn inward(&self, arguments: Map<String, Value>) -> Result<NativeCall, ToolError> {
        let arguments = self.unfolded(arguments);
        if let Some(instead) = &self.instead
            && let Some(call) = instead.call(&Value::Object(arguments.clone()))?
        {
            return Ok(call);
        }
        let mut native = Gathered::default();
        for (name, value) in arguments {
            if let Some(each) = self.each.get(&name) {
                native.put(&each.to, each.inward(value)?, &name)?;
            } else if let Some(argument) = self.arguments.get(&name) {
                native.take(argument.inward(&name, value)?, &name)?;
            } else if !self.ignored.contains(&name) {
                native.put(&name, value, &name)?;
            }
        }
        let mut arguments = self.defaults.clone();
        arguments.extend(native.into_arguments());
        arguments.extend(self.fixed.clone());
        Ok(NativeCall { tool: self.tool.clone(), arguments })
    }

    /// Returns the native tools and arguments that calls may lead to, for checking against schemas.
    pub fn leads_to(&self) -> impl Iterator<Item = (&str, &str)> {
        let led_to = self.arguments.values().filter_map(Argument::native_argument);
        let lists = self.each.values().map(|each| each.to.as_str());
        let set = self.defaults.keys().chain(self.fixed.keys()).map(String::as_str);
        let own = led_to.chain(lists).chain(set).map(|argument| (self.tool.as_str(), argument));
        let instead = self.instead.iter().flat_map(|instead| {
            let arguments = instead.arguments.keys().chain(instead.fixed.keys());
            arguments.map(|argument| (instead.tool.as_str(), argument.as_str()))
        });
        own.chain(instead)
    }

    fn unfolded(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let mut unfolded = Map::new();
        for (name, value) in arguments {
            match value {
                Value::Object(fields) if self.unfold.contains(&name) => unfolded.extend(fields),
                value => _ = unfolded.insert(name, value),
            }
        }
        unfolded
    }
}

impl Each {
    fn inward(&self, list: Value) -> Result<Value, ToolError> {
        let Value::Array(list) = list else { return Ok(list) };
        let one = |one: Value| {
            let Value::Object(fields) = one else { return Ok(one) };
            let mut native = Gathered::default();
            for (name, value) in fields {
                match self.arguments.get(&name) {
                    Some(argument) => native.take(argument.inward(&name, value)?, &name)?,
                    None => native.put(&name, value, &name)?,
                }
            }
            let mut fields = self.defaults.clone();
            fields.extend(native.into_arguments());
            Ok(Value::Object(fields))
        };
        list.into_iter().map(one).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }
}

impl Instead {
    /// Returns the other call, if it is the one that is meant.
    fn call(&self, arguments: &Value) -> Result<Option<NativeCall>, ToolError> {
        if arguments.pointer(&self.when_empty) != Some(&json!("")) {
            return Ok(None);
        }
        if let Some(cannot) = self.cannot.as_ref().filter(|cannot| arguments.pointer(&cannot.at).is_some()) {
            return Err(bad(cannot.what.clone(), cannot.next.clone()));
        }
        let taken = self.arguments.iter().filter_map(|(to, from)| Some((to.clone(), arguments.pointer(from)?.clone())));
        let arguments = taken.chain(self.fixed.clone()).collect();
        Ok(Some(NativeCall { tool: self.tool.clone(), arguments }))
    }
}

/// Native arguments, as far as a call gave them.
#[derive(Default)]
struct Gathered {
    arguments: Map<String, Value>,
    edit: Map<String, Value>,
    /// From which argument each of them came.
    origins: BTreeMap<Place, String>,
}

impl Gathered {
    fn put(&mut self, to: &str, value: Value, from: &str) -> Result<(), ToolError> {
        self.take(Some(Taken { to: Place::Argument(to.to_owned()), value }), from)
    }

    /// Takes a value over. Two names of one thing in the same call have no meaning.
    fn take(&mut self, taken: Option<Taken>, from: &str) -> Result<(), ToolError> {
        let Some(Taken { to, value }) = taken else { return Ok(()) };
        match &to {
            Place::Argument(to) => _ = self.arguments.insert(to.clone(), value),
            Place::FirstEdit(to) => _ = self.edit.insert(to.clone(), value),
        }
        match self.origins.insert(to, from.to_owned()) {
            Some(other) => {
                Err(bad(format!("\"{other}\" and \"{from}\" mean the same here."), format!("leave out \"{from}\"")))
            }
            None => Ok(()),
        }
    }

    fn into_arguments(mut self) -> Map<String, Value> {
        if !self.edit.is_empty() {
            self.arguments.insert("edits".to_owned(), json!([self.edit]));
        }
        self.arguments
    }
}
