//! Defines where tools come from, and the wrappers that change how they are shown.
//!
//! A toolset lists tools but never calls them. `only`, `without`, `prefixed`, `renamed`, `worded`, `preset` and
//! `in_dialect` wrap any toolset. A wrapper that names a missing tool is an error, because a filter that silently
//! matches nothing is a hole.

use haft_contract::BoxFuture;
use haft_contract::description::dialect::Dialect;
use haft_contract::description::schema_rules::of_some_arguments;
use haft_contract::description::spec::Spec;
use haft_contract::text::closest::closest;
use haft_contract::tool::AnyTool;
use serde_json::{Map, Value};
use std::sync::Arc;

use super::entry::{ArgumentMismatch, ArgumentStep, CatalogEntry};
use crate::arguments::Checker;

/// A source of tools.
pub trait Toolset: Send + Sync {
    /// Returns the name of the source, for errors.
    fn name(&self) -> &str;

    /// Lists the tools, in a stable order.
    fn list(&self) -> BoxFuture<'_, Result<Vec<CatalogEntry>, ToolsetError>>;
}

/// Why a toolset cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("toolset \"{toolset}\": {what}; {fix}")]
pub struct ToolsetError {
    /// The toolset.
    pub toolset: String,
    /// What is wrong.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

/// A toolset of tools that are there from the start.
pub struct ToolList {
    name: String,
    entries: Vec<CatalogEntry>,
}

impl ToolList {
    /// Makes a toolset of these tools.
    pub fn new(name: impl Into<String>, tools: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Self {
        let name = name.into();
        let entries = tools.into_iter().map(|tool| CatalogEntry::of(tool).in_toolset(&name)).collect();
        Self { name, entries }
    }

    pub(crate) fn into_entries(self) -> Vec<CatalogEntry> {
        self.entries
    }
}

impl Toolset for ToolList {
    fn name(&self) -> &str {
        &self.name
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<CatalogEntry>, ToolsetError>> {
        Box::pin(async { Ok(self.entries.clone()) })
    }
}

/// The wrappers.
pub trait ToolsetExt: Toolset + Sized {
    /// Shows only these tools.
    fn only<'n>(self, names: impl IntoIterator<Item = &'n str>) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Only(owned(names)) }
    }

    /// Shows all but these tools.
    fn without<'n>(self, names: impl IntoIterator<Item = &'n str>) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Without(owned(names)) }
    }

    /// Puts this before every name.
    fn prefixed(self, prefix: impl Into<String>) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Prefixed(prefix.into()) }
    }

    /// Shows one tool under another name.
    fn renamed(self, from: impl Into<String>, to: impl Into<String>) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Renamed { from: from.into(), to: to.into() } }
    }

    /// Shows one tool in the words of a description, which has the same arguments; it may offer fewer values. Words
    /// come before presets, which may hide an argument.
    fn worded(self, tool: impl Into<String>, spec: Spec) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Worded { tool: tool.into(), spec: Box::new(spec) } }
    }

    /// Gives one tool arguments beforehand.
    fn preset(self, tool: impl Into<String>, preset: Preset) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Preset { tool: tool.into(), preset } }
    }

    /// Shows the tools as another system does, and none that it does not have. Presets come before it.
    fn in_dialect(self, dialect: Arc<dyn Dialect>) -> WrappedToolset<Self> {
        WrappedToolset { inner: self, by: Wrapper::Dialect(dialect) }
    }
}

impl<T: Toolset> ToolsetExt for T {}

fn owned<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Arguments that are given beforehand.
#[derive(Clone, Debug, PartialEq)]
pub enum Preset {
    /// Shown, and the caller may say otherwise.
    Default(Map<String, Value>),
    /// Hidden, and callers cannot override it.
    Fixed(Map<String, Value>),
}

/// A toolset inside a wrapper that changes how its tools are shown.
pub struct WrappedToolset<T> {
    inner: T,
    by: Wrapper,
}

enum Wrapper {
    Only(Vec<String>),
    Without(Vec<String>),
    Prefixed(String),
    Renamed { from: String, to: String },
    Worded { tool: String, spec: Box<Spec> },
    Preset { tool: String, preset: Preset },
    Dialect(Arc<dyn Dialect>),
}

impl<T: Toolset> Toolset for WrappedToolset<T> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<CatalogEntry>, ToolsetError>> {
        Box::pin(async {
            let entries = self.inner.list().await?;
            self.by.apply(entries).map_err(|(what, fix)| ToolsetError { toolset: self.name().to_owned(), what, fix })
        })
    }
}

type WrapperProblem = (String, String);

impl Wrapper {
    fn apply(&self, entries: Vec<CatalogEntry>) -> Result<Vec<CatalogEntry>, WrapperProblem> {
        for name in self.names() {
            if !entries.iter().any(|entry| entry.shown.name == *name) {
                return Err(not_there(name, &entries));
            }
        }
        let is = |entry: &CatalogEntry, name: &String| entry.shown.name == *name;
        Ok(match self {
            Wrapper::Only(names) => entries.into_iter().filter(|entry| names.contains(&entry.shown.name)).collect(),
            Wrapper::Without(names) => entries.into_iter().filter(|entry| !names.contains(&entry.shown.name)).collect(),
            Wrapper::Prefixed(prefix) => entries
                .into_iter()
                .map(|entry| {
                    let name = format!("{prefix}{}", entry.shown.name);
                    entry.shown_as(name)
                })
                .collect(),
            Wrapper::Renamed { from, to } => entries
                .into_iter()
                .map(|entry| if is(&entry, from) { entry.shown_as(to.clone()) } else { entry })
                .collect(),
            Wrapper::Worded { tool, spec } => entries
                .into_iter()
                .map(|entry| if is(&entry, tool) { worded(entry, spec) } else { Ok(entry) })
                .collect::<Result<_, _>>()?,
            Wrapper::Preset { tool, preset } => entries
                .into_iter()
                .map(|entry| if is(&entry, tool) { preset.apply(entry) } else { Ok(entry) })
                .collect::<Result<_, _>>()?,
            Wrapper::Dialect(dialect) => in_dialect(&**dialect, entries),
        })
    }

    fn names(&self) -> &[String] {
        match self {
            Wrapper::Only(names) | Wrapper::Without(names) => names,
            Wrapper::Renamed { from: name, .. }
            | Wrapper::Worded { tool: name, .. }
            | Wrapper::Preset { tool: name, .. } => std::slice::from_ref(name),
            Wrapper::Prefixed(_) | Wrapper::Dialect(_) => &[],
        }
    }
}

/// Returns the tools of a dialect whose native ones are there.
fn in_dialect(dialect: &dyn Dialect, entries: Vec<CatalogEntry>) -> Vec<CatalogEntry> {
    let entries: Vec<Arc<CatalogEntry>> = entries.into_iter().map(Arc::new).collect();
    let shown = |foreign: Arc<dyn haft_contract::description::dialect::ForeignTool>| {
        let of = |name: &str| entries.iter().find(|entry| entry.native_name() == name).cloned();
        let names: Vec<String> = foreign.natives().into_iter().map(str::to_owned).collect();
        // Without the usual one it would be another tool.
        let usual = of(names.first()?)?;
        let others = names.iter().skip(1).filter_map(|name| of(name));
        CatalogEntry::in_dialect(foreign, std::iter::once(usual).chain(others).collect())
    };
    dialect.tools().into_iter().filter_map(shown).collect()
}

fn not_there(name: &str, entries: &[CatalogEntry]) -> WrapperProblem {
    let names = || entries.iter().map(|entry| entry.shown.name.as_str());
    let fix = match closest(name, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
    };
    (format!("there is no tool \"{name}\" in it"), fix)
}

fn worded(entry: CatalogEntry, spec: &Spec) -> Result<CatalogEntry, WrapperProblem> {
    let tool = entry.shown.name.clone();
    entry.in_words_of(spec).map_err(|ArgumentMismatch { argument }| {
        let what =
            format!("the description of \"{tool}\" has the argument \"{argument}\" in another form than the tool");
        (what, "make it from the tool as it is shown, before presets".to_owned())
    })
}

impl Preset {
    fn values(&self) -> &Map<String, Value> {
        match self {
            Preset::Default(values) | Preset::Fixed(values) => values,
        }
    }

    fn apply(&self, entry: CatalogEntry) -> Result<CatalogEntry, WrapperProblem> {
        if entry.way_in().is_some() {
            let what = format!("\"{}\" is shown in a dialect, and presets are native", entry.shown.name);
            return Err((what, "give the preset first, then call `in_dialect`".to_owned()));
        }
        let mut schema = (*entry.shown.input_schema).clone();
        for (name, value) in self.values() {
            self.check(&entry, name, value)?;
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|required| required != name);
            }
            let Some(Value::Object(properties)) = schema.get_mut("properties") else { continue };
            match (self, properties.get_mut(name)) {
                (Preset::Default(_), Some(Value::Object(property))) => {
                    property.insert("default".to_owned(), value.clone());
                }
                (Preset::Fixed(_), _) => drop(properties.shift_remove(name)),
                (Preset::Default(_), _) => {}
            }
        }
        let step = match self {
            Preset::Default(values) => ArgumentStep::Defaults(values.clone()),
            Preset::Fixed(values) => ArgumentStep::Fixed(values.clone()),
        };
        Ok(entry.with_step(schema, step))
    }

    fn check(&self, entry: &CatalogEntry, name: &str, value: &Value) -> Result<(), WrapperProblem> {
        let tool = &entry.shown.name;
        let properties = entry.shown.input_schema.get("properties").and_then(Value::as_object);
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            let names = properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
            let fix =
                closest(name, names).map_or("remove the preset".to_owned(), |near| format!("did you mean \"{near}\"?"));
            return Err((format!("the preset \"{name}\" is not an argument of \"{tool}\""), fix));
        }
        let alone = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
        let checker = Checker::new(&of_some_arguments(&entry.shown.input_schema))
            .map_err(|why| (format!("the schema of \"{tool}\" cannot be used: {why}"), "fix the schema".to_owned()))?;
        checker.check(&alone).map_err(|faults| {
            let expected = faults.first().map(|fault| fault.expected.clone()).unwrap_or_default();
            (format!("the preset \"{name}\" of \"{tool}\" does not fit"), format!("give {expected}"))
        })
    }
}
