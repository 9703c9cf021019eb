//! Holds one tool of the catalogue: the tool itself, its shown form, and the way inward.
//!
//! Wrappers are data here, not decorators. haft judges arguments against the *shown* form, then takes them inward step
//! by step. So hooks, rules and memory see the native tool, whatever name the call used.

mod fit;

pub(crate) use fit::Fit;
pub use fit::FittedArguments;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use haft_contract::description::dialect::ForeignTool;
use haft_contract::description::spec::Spec;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::tool::{AnyTool, Tool, Typed};
use serde_json::{Map, Value};

use crate::arguments::Checker;

/// One tool of the catalogue.
#[derive(Clone)]
pub struct CatalogEntry {
    pub(crate) tool: Arc<dyn AnyTool>,
    pub(crate) shown: Spec,
    pub(crate) steps: Vec<ArgumentStep>,
    pub(crate) toolset: String,
    /// Whether it is there for models, or only understood when it is called.
    pub(crate) is_shown: bool,
    /// Compiled at the first call; a listing never needs it.
    checker: Arc<OnceLock<Result<Checker, String>>>,
}

/// One step from the shown arguments to the native ones.
#[derive(Clone)]
pub enum ArgumentStep {
    /// Values for arguments that the caller left out. They are shown.
    Defaults(Map<String, Value>),
    /// Values that the caller neither sees nor can change.
    Fixed(Map<String, Value>),
    /// The call of another system, which leads to one of several entries.
    Dialect(WayIn),
}

impl ArgumentStep {
    /// Returns whether it gives an argument a value that the caller cannot change.
    fn sets(&self, name: &str) -> bool {
        matches!(self, ArgumentStep::Fixed(values) if values.contains_key(name))
    }
}

/// The way from a call of another system to a native one.
#[derive(Clone)]
pub struct WayIn {
    pub(crate) foreign: Arc<dyn ForeignTool>,
    /// The entries it may lead to, the usual one first.
    entries: Vec<Arc<CatalogEntry>>,
}

impl WayIn {
    /// Finds the entry that is meant, with its arguments.
    pub(crate) fn inward(&self, arguments: Value) -> Result<(Arc<CatalogEntry>, Value), ToolError> {
        let arguments = match arguments {
            Value::Object(fields) => fields,
            other => return Err(ToolError::of(ErrorKind::BadArguments, format!("{other} is not an object."))),
        };
        let call = self.foreign.inward(arguments)?;
        let entry = self.entries.iter().find(|entry| entry.native_name() == call.tool);
        let entry = entry.ok_or_else(|| {
            let what = format!("This call of \"{}\" needs \"{}\", which is missing.", self.foreign.name(), call.tool);
            ToolError::new(ErrorKind::Unavailable, what, Next::DoNotRetry("do it in another way".into()))
        })?;
        Ok((entry.clone(), Value::Object(call.arguments)))
    }
}

impl CatalogEntry {
    /// Shows a tool as it is.
    pub fn of(tool: Arc<dyn AnyTool>) -> Self {
        let shown = Spec { input_schema: tool.spec().listed_schema(), ..tool.spec().clone() };
        Self { tool, shown, steps: Vec::new(), toolset: String::new(), is_shown: true, checker: Arc::default() }
    }

    /// Shows tools as another system does; the first entry is the usual one.
    pub(crate) fn in_dialect(foreign: Arc<dyn ForeignTool>, entries: Vec<Arc<CatalogEntry>>) -> Option<Self> {
        let usual = entries.first()?.clone();
        // A call may lead to any of them.
        let does = entries.iter().map(|entry| entry.shown.does).max().unwrap_or_default();
        Some(Self {
            tool: usual.tool.clone(),
            // What a dialect has, it lists.
            shown: Spec { does, deferred: false, ..foreign.spec(&usual.call_spec()) },
            toolset: usual.toolset.clone(),
            is_shown: foreign.is_shown(),
            steps: vec![ArgumentStep::Dialect(WayIn { foreign, entries })],
            checker: Arc::default(),
        })
    }

    /// Shows a typed tool as it is.
    pub fn typed(tool: impl Tool) -> Self {
        Self::of(Arc::new(Typed::new(tool)))
    }

    /// Returns whether a model gets the tool in its list.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_shown && !self.shown.deferred
    }

    /// Returns what is shown of the tool.
    pub fn shown(&self) -> &Spec {
        &self.shown
    }

    /// Returns the tool itself.
    pub fn tool(&self) -> &Arc<dyn AnyTool> {
        &self.tool
    }

    /// Returns the name that rules, hooks and memory know.
    pub fn native_name(&self) -> &str {
        &self.tool.spec().name
    }

    /// Returns the toolset that the tool came from.
    pub fn toolset(&self) -> &str {
        &self.toolset
    }

    /// Leads arguments that fit what is shown inward: the tool that is meant, and all of its arguments.
    pub fn inward(&self, shown: Value) -> Result<(Arc<dyn AnyTool>, Value), ToolError> {
        match self.way_in() {
            None => Ok((self.tool.clone(), self.with_fixed(&self.with_defaults(shown)).into_owned())),
            Some(way) => way.inward(shown).and_then(|(entry, arguments)| entry.inward(arguments)),
        }
    }

    /// Returns the way inward of a tool that is shown as another system does.
    pub(crate) fn way_in(&self) -> Option<&WayIn> {
        self.steps.iter().find_map(|step| match step {
            ArgumentStep::Dialect(way) => Some(way),
            ArgumentStep::Defaults(_) | ArgumentStep::Fixed(_) => None,
        })
    }

    /// Puts the shown names of arguments in the place of others that are understood without a word.
    pub(crate) fn with_shown_names(&self, mut arguments: Value) -> Value {
        let other_names = self.way_in().map(|way| way.foreign.other_names()).unwrap_or_default();
        if let Value::Object(fields) = &mut arguments {
            for (written, meant) in other_names {
                if !fields.contains_key(&meant)
                    && let Some(value) = fields.shift_remove(&written)
                {
                    fields.insert(meant, value);
                }
            }
        }
        arguments
    }

    pub(crate) fn in_toolset(mut self, toolset: &str) -> Self {
        if self.toolset.is_empty() {
            self.toolset = toolset.to_owned();
        }
        self
    }

    pub(crate) fn shown_as(mut self, name: String) -> Self {
        self.shown.name = name;
        self
    }

    /// Takes another shown schema, with the step that leads inward from it.
    pub(crate) fn with_step(mut self, schema: Value, step: ArgumentStep) -> Self {
        self.shown.input_schema = Arc::new(schema);
        self.steps.push(step);
        self.checker = Arc::default();
        self
    }

    /// Shows the tool in the words of a description, which has the same arguments. Fails where it has others.
    pub(crate) fn in_words_of(mut self, spec: &Spec) -> Result<Self, ArgumentMismatch> {
        let (own, given) = (ArgumentNames::of(&self.shown), ArgumentNames::of(spec));
        if own != given {
            let differs = own.names.symmetric_difference(&given.names).next();
            let differs = differs.or_else(|| own.required.symmetric_difference(&given.required).next());
            return Err(ArgumentMismatch { argument: differs.map(|name| (*name).to_owned()).unwrap_or_default() });
        }
        if self.shown.input_schema != spec.input_schema {
            self.shown.input_schema = Arc::clone(&spec.input_schema);
            self.checker = Arc::default();
        }
        self.shown.manual = spec.manual.clone();
        Ok(self)
    }

    /// Returns what judges the arguments. One that the schema does not name is refused, also where it leaves that open.
    pub(crate) fn checker(&self) -> &Result<Checker, String> {
        self.checker.get_or_init(|| Checker::new(&closed(&self.call_spec().input_schema)))
    }

    /// Returns what calls may have: what is shown, with the arguments that work and are not shown.
    pub fn call_spec(&self) -> Cow<'_, Spec> {
        let native = self.tool.spec();
        if native.deferred_arguments.is_empty() || self.way_in().is_some() {
            return Cow::Borrowed(&self.shown);
        }
        let mut schema = (*self.shown.input_schema).clone();
        let all = native.input_schema.get("properties").and_then(Value::as_object);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (properties, all) in properties.into_iter().zip(all) {
            let is_preset = |name: &str| self.steps.iter().any(|step| step.sets(name));
            let deferred = native.deferred_arguments.iter().filter(|name| !is_preset(name));
            properties.extend(deferred.filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone()))));
        }
        Cow::Owned(Spec { input_schema: Arc::new(schema), ..self.shown.clone() })
    }

    /// Fills in the defaults: what hooks, rules and memory see.
    pub(crate) fn with_defaults(&self, mut arguments: Value) -> Value {
        // From the outermost to the innermost: what was said last is shown.
        for step in self.steps.iter().rev() {
            if let (ArgumentStep::Defaults(defaults), Value::Object(fields)) = (step, &mut arguments) {
                for (name, value) in defaults {
                    fields.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        arguments
    }

    /// Adds what only the tool itself gets to see.
    pub(crate) fn with_fixed<'v>(&self, arguments: &'v Value) -> Cow<'v, Value> {
        let mut arguments = Cow::Borrowed(arguments);
        for step in self.steps.iter().rev() {
            if let ArgumentStep::Fixed(fixed) = step
                && let Value::Object(fields) = arguments.to_mut()
            {
                fields.extend(fixed.clone());
            }
        }
        arguments
    }
}

/// An argument that has another form in a description than in the tool.
pub(crate) struct ArgumentMismatch {
    pub(crate) argument: String,
}

/// The names of the arguments that a description has, and which of them are required.
#[derive(PartialEq)]
struct ArgumentNames<'s> {
    names: BTreeSet<&'s str>,
    required: BTreeSet<&'s str>,
}

impl<'s> ArgumentNames<'s> {
    fn of(spec: &'s Spec) -> Self {
        let names = spec.input_schema.get("properties").and_then(Value::as_object);
        let required = spec.input_schema.get("required").and_then(Value::as_array);
        Self {
            names: names.into_iter().flat_map(|names| names.keys().map(String::as_str)).collect(),
            required: required.into_iter().flatten().filter_map(Value::as_str).collect(),
        }
    }
}

/// Parts of a schema that may name arguments beside its properties, or say what becomes of others.
const OPEN: [&str; 11] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
    "dependencies",
    "$dynamicRef",
];

/// Closes a schema whose arguments are all named.
fn closed(schema: &Value) -> Cow<'_, Value> {
    let says_otherwise = |fields: &Map<String, Value>| OPEN.iter().any(|keyword| fields.contains_key(*keyword));
    match schema.as_object().filter(|fields| fields.contains_key("properties") && !says_otherwise(fields)) {
        Some(fields) => {
            let mut fields = fields.clone();
            fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            Cow::Owned(Value::Object(fields))
        }
        None => Cow::Borrowed(schema),
    }
}
