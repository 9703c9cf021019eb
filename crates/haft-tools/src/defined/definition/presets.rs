//! Reads the arguments that a list of tools presets (`extra_kwargs`).
//!
//! A plain value is a default: haft shows it, and callers may override it. `{fixed: VALUE}` is hidden, and callers
//! cannot override it. If one value comes from the environment, all are fixed: a model that may choose the host would
//! receive the key. Only the definition can except some of them (`overridable`).

use haft_contract::description::schema_rules::of_some_arguments;
use serde_json::{Map, Value};

use super::Definition;
use super::check::near;
use super::schema::{self, INJECTED};
use super::syntax::fields::Problems;
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use super::syntax::placeholders::{Environment, Filling, has_any};

/// Arguments that are given beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presets {
    /// Shown, and callers may say otherwise.
    pub default: Map<String, Value>,
    /// Hidden, and callers cannot override it.
    pub fixed: Map<String, Value>,
    /// What came from the environment, to be hidden wherever it turns up.
    pub secrets: Vec<String>,
}

/// The presets of one tool as they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WrittenPresets {
    presets: Vec<Preset>,
    secrets: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Preset {
    name: String,
    line: Option<usize>,
    value: Value,
    /// Written `{fixed: VALUE}`.
    is_fixed: bool,
    is_from_environment: bool,
}

impl WrittenPresets {
    /// Reads the map of presets, with the values of the environment filled in.
    pub(super) fn read(node: &DefinitionNode, environment: Environment<'_>, problems: &mut Problems) -> Self {
        let reserved: Vec<_> =
            node.entries().iter().map(|(key, _)| key).filter(|key| INJECTED.contains(&key.name.as_str())).collect();
        if let Some(first) = reserved.first() {
            let names: Vec<String> = reserved.iter().map(|key| format!("{:?}", key.name)).collect();
            let what = format!("\"extra_kwargs\" has reserved names: {}", names.join(", "));
            problems.error(first.line, what, "remove them; haft fills them in where a function asks for them");
        }
        let mut filling = Filling::from(environment);
        let mut presets = Vec::new();
        for (key, written) in node.entries().iter().filter(|(key, _)| !INJECTED.contains(&key.name.as_str())) {
            let (node, is_fixed) = match written.entries() {
                [(word, inner)] if word.name == "fixed" => (inner, true),
                _ => (written, false),
            };
            let value = filling.value(node, problems);
            let is_from_environment = has_any(node);
            presets.push(Preset { name: key.name.clone(), line: key.line, value, is_fixed, is_from_environment });
        }
        let mut secrets = filling.secrets;
        secrets.retain(|secret| !secret.trim().is_empty());
        secrets.sort_unstable();
        secrets.dedup();
        Self { presets, secrets }
    }

    /// Sorts the presets by who may say otherwise.
    pub(super) fn sorted(&self, overridable: &[String]) -> Presets {
        let is_secret = self.presets.iter().any(|preset| preset.is_from_environment);
        let is_fixed = |preset: &&Preset| preset.is_fixed || (is_secret && !overridable.contains(&preset.name));
        let (fixed, default): (Vec<&Preset>, Vec<&Preset>) = self.presets.iter().partition(is_fixed);
        let map = |presets: Vec<&Preset>| presets.into_iter().map(|p| (p.name.clone(), p.value.clone())).collect();
        Presets { default: map(default), fixed: map(fixed), secrets: self.secrets.clone() }
    }

    /// Reads texts of the environment as what the tool wants there, where there is one way to.
    pub(super) fn fitted(mut self, definition: &Definition) -> Self {
        for preset in self.presets.iter_mut().filter(|preset| preset.is_from_environment) {
            let kind = schema::property(&definition.input_schema, &preset.name).and_then(|schema| schema.get("type"));
            let Some(read) = preset.value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
                continue;
            };
            let fits = match kind.and_then(Value::as_str) {
                Some("integer") => read.is_i64() || read.is_u64(),
                Some("number") => read.is_number(),
                Some("boolean") => read.is_boolean(),
                _ => false,
            };
            if fits {
                preset.value = read;
            }
        }
        self
    }

    /// Notes which presets are no arguments of the tool, do not fit, or would be shown although they are secret.
    pub(super) fn check(&self, definition: &Definition, problems: &mut Problems) {
        for preset in &self.presets {
            let name = &preset.name;
            if schema::property(&definition.input_schema, name).is_none() {
                let what = format!("the preset \"{name}\" is not an argument of \"{}\"", definition.name);
                problems.error(preset.line, what, near(name, &definition.input_schema));
                continue;
            }
            if let Some(misfit) = preset.misfit(&definition.input_schema) {
                let what = format!("the preset \"{name}\" does not fit \"{}\": {misfit}", definition.name);
                problems.error(preset.line, what, "give a value that fits its schema");
            }
            if preset.is_from_environment && !preset.is_fixed && definition.overridable.contains(name) {
                let what = format!("the preset \"{name}\" comes from the environment and is shown to the model");
                problems.warn(preset.line, what, "remove it from \"overridable\" when it is a secret");
            }
        }
    }
}

impl Preset {
    /// Says why the value does not fit, without showing a value of the environment.
    fn misfit(&self, schema: &Value) -> Option<String> {
        let validator = jsonschema::options().offline().build(&of_some_arguments(schema)).ok()?;
        let alone = Value::Object(Map::from_iter([(self.name.clone(), self.value.clone())]));
        let error = validator.iter_errors(&alone).next()?;
        Some(match self.is_from_environment {
            true => error.masked_with("what is in the environment").to_string(),
            false => error.to_string(),
        })
    }
}

/// Reads presets that must be a map.
pub(super) fn read(
    entry: Option<(&DefinitionKey, &DefinitionNode)>,
    environment: Environment<'_>,
    problems: &mut Problems,
) -> WrittenPresets {
    match entry {
        None => WrittenPresets::default(),
        Some((_, node)) if matches!(node.value, DefinitionValue::Map(_)) => {
            WrittenPresets::read(node, environment, problems)
        }
        Some((key, node)) => {
            let what = format!("\"{}\" is {}, but it is a map", key.name, node.sort());
            problems.error(key.line, what, "write NAME: VALUE, one argument per line");
            WrittenPresets::default()
        }
    }
}
