//! What a model sent: one call of one tool.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::lift::Lift;

/// Identifies a call within its session; results, events and output chunks carry it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Takes the id that a model or a driver chose.
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(Arc::from(id.as_ref()))
    }

    /// Makes an id that sorts by time, for callers that have none.
    pub fn fresh() -> Self {
        Self::new(uuid::Uuid::now_v7().simple().to_string())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One call of one tool, as it came in.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Identifies the call.
    pub id: CallId,
    /// The name of the tool as the caller wrote it.
    pub name: String,
    /// The arguments, not yet understood.
    pub arguments: RawArguments,
    /// Who made the call.
    pub origin: Origin,
    /// Turns arguments of a provider's lowered schema back; none when the schema was not lowered.
    pub lift: Option<Arc<Lift>>,
}

impl ToolCall {
    /// Makes a call of a model with a fresh id.
    pub fn new(name: impl Into<String>, arguments: RawArguments) -> Self {
        Self { id: CallId::fresh(), name: name.into(), arguments, origin: Origin::Model, lift: None }
    }

    /// Gives the call the id that its caller chose.
    pub fn with_id(mut self, id: impl AsRef<str>) -> Self {
        self.id = CallId::new(id);
        self
    }

    /// Says who made the call.
    pub fn by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Says how the arguments are turned back from a provider's schema.
    pub fn lifted_by(mut self, lift: Arc<Lift>) -> Self {
        self.lift = Some(lift);
        self
    }
}

/// Arguments as they came in.
#[derive(Clone, Debug, PartialEq)]
pub enum RawArguments {
    /// The text exactly as a model sent it; it may be broken.
    Text(String),
    /// An object that somebody else has parsed already.
    Object(Map<String, Value>),
    /// `key=value` words of a command line, read by the schema.
    Words(Vec<(String, String)>),
}

impl From<String> for RawArguments {
    /// Takes the text as a model sent it.
    fn from(text: String) -> Self {
        RawArguments::Text(text)
    }
}

impl From<&str> for RawArguments {
    /// Takes the text as a model sent it.
    fn from(text: &str) -> Self {
        RawArguments::Text(text.to_owned())
    }
}

impl From<Value> for RawArguments {
    /// Takes an object as it is; any other value as the text it would be.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(map) => RawArguments::Object(map),
            Value::String(text) => RawArguments::Text(text),
            other => RawArguments::Text(other.to_string()),
        }
    }
}

/// Who made a call. It decides what must have been read before it is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Somebody at a terminal who sees the question and answers it.
    Person,
    /// A command line without anybody there.
    Script,
    /// A model, also through another program.
    Model,
}
