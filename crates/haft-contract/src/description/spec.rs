//! The description of a tool: the facts that are known without calling it.

use std::sync::Arc;

use serde_json::Value;

use super::manual::Manual;
use super::shape::Shapes;

/// Describes a tool: what the catalogue lists and a model is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The name that calls use.
    pub name: String,
    /// Title, words and examples.
    pub manual: Manual,
    /// Shorter words, which are shown instead where the tool is a skill.
    pub skill: Option<String>,
    /// The schema of the arguments; its root is an object.
    pub input_schema: Arc<Value>,
    /// Other names of arguments that models use: what they write, what is meant.
    pub aliases: Vec<(String, String)>,
    /// Arguments that are times in seconds, each with its name in milliseconds.
    pub times: Vec<(String, String)>,
    /// Other shapes in which models write arguments.
    pub shapes: Shapes,
    /// Other names of the tool that models call.
    pub other_names: &'static [&'static str],
    /// Arguments that are paths.
    pub paths: &'static [&'static str],
    /// The schema of the data of results that worked, where the tool promises one.
    pub output_schema: Option<Arc<Value>>,
    /// The most that its calls can do.
    pub does: AtMost,
    /// Whether the tool is left out of the list that a model gets. Calls by its name work all the same.
    pub deferred: bool,
    /// Whether nothing of the tool is loaded before its first call.
    pub lazy: bool,
    /// Whether only one call of it runs at a time.
    pub exclusive: bool,
    /// Arguments that work and are not shown to a model.
    pub deferred_arguments: &'static [&'static str],
    /// Changes when the tool would answer differently, so that kept results do not outlive it.
    pub version: String,
}

/// The most that calls of a tool can do, known before one is planned: a hint for choosing tools.
///
/// What one call does is said by its plan, and nothing is allowed or refused because of this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtMost {
    /// They look at files, or only compute.
    Looks,
    /// They put files into a state; the same call again changes nothing more.
    Puts,
    /// They change files.
    Changes,
    /// They run programs or talk to other machines, or no declaration says what they do.
    #[default]
    Anything,
}

impl Spec {
    /// Describes a tool of this name.
    pub fn new(name: impl Into<String>, manual: Manual, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            manual,
            skill: None,
            input_schema: Arc::new(input_schema),
            aliases: Vec::new(),
            times: Vec::new(),
            shapes: Shapes::default(),
            other_names: &[],
            paths: &[],
            output_schema: None,
            does: AtMost::default(),
            deferred: false,
            lazy: false,
            exclusive: false,
            deferred_arguments: &[],
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Returns the schema that a model is shown: without the deferred arguments.
    pub fn listed_schema(&self) -> Arc<Value> {
        if self.deferred_arguments.is_empty() {
            return Arc::clone(&self.input_schema);
        }
        let mut schema = (*self.input_schema).clone();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !self.deferred_arguments.contains(&name.as_str()));
        }
        Arc::new(schema)
    }

    /// Describes the tool as a skill: in the shorter words, where it has some.
    pub fn as_skill(&self) -> Self {
        let mut spec = self.clone();
        if let Some(words) = &self.skill {
            spec.manual.words.clone_from(words);
        }
        spec
    }
}
