//! Replaces a tool's own words with those of a prompt file, within the tool's schema.
//!
//! The model sees the tool's schema with other words and perhaps fewer values, never with more.

use std::sync::Arc;

use haft_contract::description::manual::{Example, Manual};
use haft_contract::description::spec::Spec;
use haft_contract::text::closest::closest;
use serde_json::{Map, Value, json};

use super::{PromptFile, PromptParameter};
use crate::defined::definition::DefinitionProblem;

/// How many references are followed from one argument.
const MOST_REFERENCES: usize = 8;

/// Returns a tool in other words, or everything that contradicts its schema.
pub(super) fn apply(file: &PromptFile, spec: &Spec) -> Result<Spec, Vec<DefinitionProblem>> {
    let mut schema = (*spec.input_schema).clone();
    let mut problems = Vec::new();
    let mut narrowed: Map<String, Value> = Map::new();
    for parameter in &file.parameters {
        match reworded(parameter, &spec.input_schema) {
            Ok(property) => {
                if let Some(values) = property.get("enum").filter(|_| !parameter.enums.is_empty()) {
                    narrowed.insert(parameter.name.clone(), values.clone());
                }
                if let Some(place) = schema.pointer_mut("/properties").and_then(|all| all.get_mut(&parameter.name)) {
                    *place = property;
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let manual = manual(file, &spec.manual, &narrowed);
    Ok(Spec { manual, input_schema: Arc::new(schema), ..spec.clone() })
}

/// Returns the words of the file with their examples. Where they have none, those of the tool stay as far as they fit.
fn manual(file: &PromptFile, own: &Manual, narrowed: &Map<String, Value>) -> Manual {
    let words = file.description.clone().unwrap_or_else(|| own.words.clone());
    // Only for its examples: reading takes a heading out of the words, which belongs to them here.
    let written = Manual::read(&words).examples;
    let mut examples = if written.is_empty() { own.examples.clone() } else { written };
    let fits = |(name, values): (&String, &Value), example: &Example| {
        let given = example.arguments.get(name);
        given.is_none_or(|given| values.as_array().is_none_or(|values| values.contains(given)))
    };
    examples.retain(|example| narrowed.iter().all(|narrowed| fits(narrowed, example)));
    Manual { title: own.title.clone(), words, examples }
}

/// Returns the schema of one argument in other words.
fn reworded(parameter: &PromptParameter, schema: &Value) -> Result<Value, Vec<DefinitionProblem>> {
    let error = |what: String, fix: String| DefinitionProblem::error(parameter.line, what, fix);
    let name = &parameter.name;
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(own) = properties.and_then(|properties| properties.get(name)) else {
        let names = || properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        let fix = match (closest(name, names()), names().next()) {
            (Some(near), _) => format!("did you mean \"{near}\"?"),
            (None, Some(_)) => format!("the arguments are {}", names().collect::<Vec<_>>().join(", ")),
            (None, None) => "remove it; the tool has no arguments".to_owned(),
        };
        return Err(vec![error(format!("\"{name}\" is not an argument of the tool"), fix)]);
    };
    let property = Property::of(schema, own);
    let mut problems = Vec::new();
    let needed = required(schema, name);
    if parameter.required.is_some_and(|said| said != needed) {
        let what = if needed { "must be given" } else { "may be left out" };
        problems.push(error(format!("\"{name}\" {what}"), format!("write required=\"{needed}\"")));
    }
    let kinds = property.kinds();
    if let Some(kind) = parameter.kind.as_deref().filter(|kind| !kinds.is_empty() && !kinds.contains(kind)) {
        let own = kinds.join(" or ");
        problems.push(error(
            format!("\"{name}\" is of type {own}, not {kind}"),
            format!("write <type>{}</type>", kinds[0]),
        ));
    }
    let values = property.narrowed(&parameter.enums);
    match (values, problems.is_empty()) {
        (Ok(values), true) => Ok(property.with(parameter.description.as_deref(), values)),
        (Ok(_), false) => Err(problems),
        (Err((what, fix)), _) => {
            problems.push(error(format!("\"{name}\" {what}"), fix));
            Err(problems)
        }
    }
}

/// Returns whether a schema wants an argument.
pub(super) fn required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|required| required == name))
}

/// Returns a value as a file writes it.
pub(super) fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The schema of one argument.
pub(super) struct Property<'s> {
    own: &'s Value,
    /// Where its references lead.
    meant: &'s Value,
}

impl<'s> Property<'s> {
    pub(super) fn of(schema: &'s Value, own: &'s Value) -> Self {
        let mut meant = own;
        for _ in 0..MOST_REFERENCES {
            let pointer = meant.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
            let Some(target) = pointer.and_then(|pointer| schema.pointer(pointer)) else { break };
            meant = target;
        }
        Self { own, meant }
    }

    pub(super) fn description(&self) -> Option<&'s str> {
        self.own.get("description").and_then(Value::as_str)
    }

    /// Returns the types that it may have; none where the schema leaves that open.
    fn kinds(&self) -> Vec<&'s str> {
        let mut kinds = Vec::new();
        let known = kinds_in(self.meant, &mut kinds);
        if known { kinds } else { Vec::new() }
    }

    /// Returns its type where there is one, besides that of nothing.
    pub(super) fn only_kind(&self) -> Option<&'s str> {
        let mut kinds = self.kinds();
        kinds.retain(|kind| *kind != "null");
        match kinds.as_slice() {
            [kind] => Some(kind),
            _ => None,
        }
    }

    /// Returns its values where they are listed.
    pub(super) fn values(&self) -> Option<&'s [Value]> {
        self.meant.get("enum").and_then(Value::as_array).map(Vec::as_slice)
    }

    /// Returns the values that are left when only these are offered; nothing where all are.
    fn narrowed(&self, offered: &[String]) -> Result<Option<Vec<Value>>, (String, String)> {
        if offered.is_empty() {
            return Ok(None);
        }
        let mut left = Vec::new();
        for text in offered {
            left.push(self.value(text)?);
        }
        // Nothing at all is no value to choose, so a file does not list it.
        let takes_nothing = match self.values() {
            Some(values) => values.contains(&Value::Null),
            None => self.kinds().contains(&"null"),
        };
        if takes_nothing && !left.contains(&Value::Null) {
            left.push(Value::Null);
        }
        if self.values().is_some_and(|values| values.iter().all(|value| left.contains(value))) {
            return Ok(None);
        }
        let default = self.own.get("default").or_else(|| self.meant.get("default"));
        if let Some(default) = default.filter(|default| !left.contains(default)) {
            let what = format!("has the default {default}, which the file does not offer");
            return Err((what, format!("add <enum>{}</enum>", told(default))));
        }
        if !std::ptr::eq(self.own, self.meant) {
            let what = "takes its values from another part of the schema, so fewer cannot be offered".to_owned();
            return Err((what, "leave its <enum> out".to_owned()));
        }
        Ok(Some(left))
    }

    /// Returns the value that a text of the file means.
    fn value(&self, text: &String) -> Result<Value, (String, String)> {
        let Some(values) = self.values() else {
            let kinds = self.kinds();
            if kinds.contains(&"string") && kinds.iter().all(|kind| ["string", "null"].contains(kind)) {
                return Ok(json!(text));
            }
            let what = "is not plain text, so values cannot be listed for it".to_owned();
            return Err((what, "leave its <enum> out, and say it in the description".to_owned()));
        };
        let is_text = |value: &&Value| value.as_str() == Some(text);
        let found = values.iter().find(is_text).or_else(|| values.iter().find(|value| told(value) == *text));
        found.cloned().ok_or_else(|| {
            let texts: Vec<String> = values.iter().map(told).collect();
            let fix = match closest(text, texts.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("its values are {}", texts.join(", ")),
            };
            (format!("has no value {text:?}"), fix)
        })
    }

    fn with(&self, description: Option<&str>, values: Option<Vec<Value>>) -> Value {
        let mut fields = match self.own {
            Value::Object(fields) => fields.clone(),
            // A schema that takes everything, and so everything that has a description.
            Value::Bool(true) => Map::new(),
            other => return other.clone(),
        };
        if let Some(words) = description.filter(|words| self.description().map(str::trim) != Some(words)) {
            fields.insert("description".to_owned(), json!(words));
        }
        if let Some(values) = values {
            fields.insert("enum".to_owned(), Value::Array(values));
        }
        if fields.is_empty() { self.own.clone() } else { Value::Object(fields) }
    }
}

/// Collects the types of a schema; `false` where it leaves them open.
fn kinds_in<'s>(schema: &'s Value, kinds: &mut Vec<&'s str>) -> bool {
    let mut add = |kind: &'s str| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    match schema.get("type") {
        Some(Value::String(kind)) => {
            add(kind);
            return true;
        }
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).for_each(add);
            return true;
        }
        _ => {}
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        values.iter().for_each(|value| add(kind_of(value)));
        return true;
    }
    let choice = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)).and_then(Value::as_array);
    choice.is_some_and(|choice| choice.iter().all(|one| kinds_in(one, kinds)))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
