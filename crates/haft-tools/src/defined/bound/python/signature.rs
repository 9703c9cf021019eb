//! Reads the signature of a Python function, and checks whether it fits the definition that names it.

use haft_contract::prelude::*;
use haft_contract::text::closest::closest;
use serde_json::{Map, Value};

use super::super::error;
use crate::defined::definition::{Definition, DefinitionProblem};

/// Lines with which the parts behind the first one begin in docstrings.
const SECTIONS: [&str; 10] =
    ["args:", "arguments:", "parameters:", "params:", "returns:", "return:", "raises:", "yields:", "example", "note:"];

/// What a Python function says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its parameters, without those that haft gives.
    pub parameters: Vec<PythonParameter>,
    /// Which of `agent_state` and `global_storage` it declares.
    pub injected: Vec<String>,
    /// Its docstring.
    pub doc: String,
    /// Whether it is a coroutine.
    pub is_async: bool,
}

/// A parameter of a Python function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonParameter {
    /// Its name.
    pub name: String,
    /// Whether a call must give it.
    pub is_required: bool,
    /// Whether it takes all arguments that no other parameter takes.
    pub takes_rest: bool,
    /// Its annotation, as written.
    pub annotation: String,
    /// Which types of JSON values it takes, where its annotation says that.
    pub takes: Option<Vec<String>>,
}

impl Description {
    pub(super) fn read(value: &Value) -> Self {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let texts = |value: Option<&Value>| -> Option<Vec<String>> {
            Some(value?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        let flag = |value: &Value, name: &str| value.get(name).and_then(Value::as_bool).unwrap_or_default();
        let parameter = |value: &Value| {
            let kind = text(value, "kind");
            let is_rest = kind.starts_with("var_");
            (kind != "var_positional").then(|| PythonParameter {
                name: text(value, "name"),
                is_required: flag(value, "is_required") && !is_rest,
                takes_rest: is_rest,
                annotation: text(value, "annotation"),
                takes: texts(value.get("takes")),
            })
        };
        let parameters = value.get("parameters").and_then(Value::as_array).into_iter().flatten();
        Self {
            parameters: parameters.filter_map(parameter).collect(),
            injected: texts(value.get("injected")).unwrap_or_default(),
            doc: text(value, "doc"),
            is_async: flag(value, "is_async"),
        }
    }

    /// Returns the first part of the docstring: what is said before arguments and results are explained.
    pub fn summary(&self) -> Option<String> {
        let is_section = |line: &&str| {
            let line = line.trim().to_lowercase();
            SECTIONS.iter().any(|section| line.starts_with(section))
                || line.starts_with(":param")
                || line.starts_with("---")
        };
        let lines: Vec<&str> = self.doc.lines().take_while(|line| !is_section(line)).collect();
        let text = lines.join("\n").trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Returns everything in which the function and the definition differ. Presets give these arguments.
    pub fn compared_with(&self, definition: &Definition, preset: &[String]) -> Vec<DefinitionProblem> {
        let none = Map::new();
        let properties = definition.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let mut problems = self.missing(definition, properties, preset);
        problems.extend(self.unknown(properties.keys().chain(preset)));
        for (name, schema) in properties {
            let parameter = self.parameters.iter().find(|parameter| parameter.name == *name && !parameter.takes_rest);
            problems.extend(parameter.and_then(|parameter| parameter.contradiction(schema)));
        }
        problems
    }

    fn missing(
        &self,
        definition: &Definition,
        properties: &Map<String, Value>,
        preset: &[String],
    ) -> Vec<DefinitionProblem> {
        let required = definition.input_schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
        let mut problems = Vec::new();
        for PythonParameter { name, .. } in self.parameters.iter().filter(|parameter| parameter.is_required) {
            if preset.contains(name) {
                continue;
            }
            match properties.get(name) {
                None => problems.push(error(
                    format!("the function needs \"{name}\", which is not a property of \"input_schema\""),
                    format!("add \"{name}\" to its properties, or give the parameter a default"),
                )),
                Some(_) if !is_required(name) => problems.push(DefinitionProblem {
                    is_warning: true,
                    ..error(
                        format!("\"{name}\" may be left out in a call, but the function needs it"),
                        format!("list \"{name}\" under \"required\", or give the parameter a default"),
                    )
                }),
                Some(_) => {}
            }
        }
        problems
    }

    fn unknown<'a>(&self, names: impl Iterator<Item = &'a String>) -> Vec<DefinitionProblem> {
        if self.parameters.iter().any(|parameter| parameter.takes_rest) {
            return Vec::new();
        }
        let known: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let problem = |name: &String| {
            let fix = match closest(name, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("add the parameter \"{name}\" to the function, or remove it here"),
            };
            error(format!("the function has no parameter \"{name}\""), fix)
        };
        names.filter(|name| !known.contains(&name.as_str())).map(problem).collect()
    }

    /// Returns why the function cannot take these arguments, where that is so.
    pub(super) fn cannot_take(&self, function: &str, arguments: &Map<String, Value>) -> Option<ToolError> {
        let quoted = |names: Vec<&str>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let is_missing =
            |parameter: &&PythonParameter| parameter.is_required && !arguments.contains_key(&parameter.name);
        let missing: Vec<&str> = self.parameters.iter().filter(is_missing).map(|one| one.name.as_str()).collect();
        if !missing.is_empty() {
            let what = format!("The function {function} needs {}, which the call does not give.", quoted(missing));
            let next = "give it if the tool has such an argument; else tell the user that the definition and the \
                        function differ (haft check shows how)";
            return Some(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
        }
        let takes = |name: &str| self.parameters.iter().any(|one| one.takes_rest || one.name == name);
        let unknown: Vec<&str> = arguments.keys().map(String::as_str).filter(|name| !takes(name)).collect();
        if unknown.is_empty() {
            return None;
        }
        let what = format!("The function {function} has no parameter {}.", quoted(unknown));
        let next = "leave it out, and tell the user that the definition and the function differ (haft check shows how)";
        Some(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())))
    }
}

impl PythonParameter {
    /// Says where the types of the schema are none that the annotation takes.
    fn contradiction(&self, schema: &Value) -> Option<DefinitionProblem> {
        let takes = self.takes.as_ref()?;
        let types: Vec<&str> = match schema.get("type")? {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let is_taken = |kind: &&str| {
            takes.iter().any(|taken| taken == kind)
                || (*kind == "integer" && takes.iter().any(|taken| taken == "number"))
        };
        let (taken, refused): (Vec<&str>, Vec<&str>) = types.into_iter().partition(is_taken);
        let odd = refused.first()?;
        let Self { name, annotation, .. } = self;
        let what = format!("\"{name}\" is of type {odd} in \"input_schema\", but the function says {annotation}");
        let fix = format!("write type: {}, or change the annotation", takes.first().map_or("any", String::as_str));
        Some(DefinitionProblem { is_warning: !taken.is_empty(), ..error(what, fix) })
    }
}
