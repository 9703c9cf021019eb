//! Facts about each tool: enough to complete a call, to show help, and to find mistakes while the user types.

use haft_contract::description::spec::Spec;
use haft_contract::text::closest::closest;
use serde_json::Value;

/// One tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolFacts {
    /// The name by which it is called.
    pub(super) name: String,
    /// The name that rules use.
    pub(super) native: String,
    /// Its first sentence.
    pub(super) summary: String,
    pub(super) parameters: Vec<ParameterFacts>,
}

/// One parameter of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParameterFacts {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) takes: Takes,
    pub(super) is_required: bool,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Path,
    Number,
    YesOrNo,
    OneOf(Vec<String>),
    /// A list or an object, written as JSON.
    Json,
}

impl ToolFacts {
    /// Reads what is known of a tool under its shown name.
    pub(super) fn of(spec: &Spec, native: &str) -> Self {
        let schema = &spec.input_schema;
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let parameter = |(name, schema): (&String, &Value)| ParameterFacts {
            name: name.clone(),
            about: schema["description"].as_str().unwrap_or_default().to_owned(),
            takes: takes(name, schema, spec.paths),
            is_required: required.contains(&name.as_str()),
        };
        let summary = spec.manual.words.lines().next().unwrap_or_default();
        let end = summary.find(". ").map_or(summary.len(), |end| end + 1);
        Self {
            name: spec.name.clone(),
            native: native.to_owned(),
            summary: summary[..end].to_owned(),
            parameters: properties.map(parameter).collect(),
        }
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&ParameterFacts> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Returns the names of the parameters, optional ones in brackets.
    pub(super) fn signature(&self) -> String {
        let mut required: Vec<&str> = Vec::new();
        let mut optional: Vec<&str> = Vec::new();
        for parameter in &self.parameters {
            if parameter.is_required { &mut required } else { &mut optional }.push(&parameter.name);
        }
        match (required.join(", "), optional.join(", ")) {
            (required, optional) if optional.is_empty() => required,
            (required, optional) if required.is_empty() => format!("[{optional}]"),
            (required, optional) => format!("{required}, [{optional}]"),
        }
    }

    /// Says what is wrong with the arguments that were typed so far; nothing where nothing is.
    pub(super) fn mistake(&self, pairs: &[(String, String)]) -> Option<String> {
        for (key, value) in pairs {
            let Some(parameter) = self.parameter(key) else {
                let names = self.parameters.iter().map(|parameter| parameter.name.as_str());
                let near = closest(key, names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                return Some(format!("{} has no parameter {key}{near}", self.name));
            };
            if let Some(wanted) = parameter.takes.misfit(value) {
                return Some(format!("{key} takes {wanted}"));
            }
        }
        None
    }

    /// Returns the required parameters that are missing.
    pub(super) fn missing(&self, pairs: &[(String, String)]) -> Vec<&str> {
        let is_missing =
            |parameter: &&ParameterFacts| parameter.is_required && pairs.iter().all(|(key, _)| *key != parameter.name);
        self.parameters.iter().filter(is_missing).map(|parameter| parameter.name.as_str()).collect()
    }
}

impl Takes {
    /// Says what is wanted instead of this value.
    fn misfit(&self, value: &str) -> Option<String> {
        match self {
            _ if value.is_empty() => None,
            Takes::Number if value.parse::<f64>().is_err() => Some("a number".to_owned()),
            Takes::YesOrNo if !["true", "false"].contains(&value) => Some("true or false".to_owned()),
            Takes::OneOf(all) if !all.iter().any(|one| one.starts_with(value)) => {
                Some(format!("one of {}", all.join(", ")))
            }
            _ => None,
        }
    }

    /// Returns the values that can be chosen.
    pub(super) fn choices(&self) -> Vec<String> {
        match self {
            Takes::OneOf(all) => all.clone(),
            Takes::YesOrNo => vec!["true".to_owned(), "false".to_owned()],
            Takes::Text | Takes::Path | Takes::Number | Takes::Json => Vec::new(),
        }
    }
}

fn takes(name: &str, schema: &Value, paths: &[&str]) -> Takes {
    let choices = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let choices: Vec<String> = choices.map(str::to_owned).collect();
    match schema["type"].as_str() {
        _ if !choices.is_empty() => Takes::OneOf(choices),
        _ if paths.contains(&name) => Takes::Path,
        Some("integer" | "number") => Takes::Number,
        Some("boolean") => Takes::YesOrNo,
        Some("array" | "object") => Takes::Json,
        _ => Takes::Text,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use haft_contract::description::manual::Manual;
    use serde_json::json;

    /// A tool to read with, as the built-in one is.
    pub(in crate::terminal) fn read_file() -> ToolFacts {
        let schema = json!({ "type": "object", "required": ["path"], "properties": {
            "path": { "type": "string", "description": "The file." },
            "limit": { "type": "integer", "description": "Most lines." },
            "mode": { "enum": ["content", "count"] } } });
        let mut spec = Spec::new("read_file", Manual::read("# Read file\n\nReads a file. More.\n"), schema);
        spec.paths = &["path"];
        ToolFacts::of(&spec, "read_file")
    }

    #[test]
    fn a_mistake_is_seen_while_a_call_is_typed() {
        let facts = read_file();
        let mistake = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            facts.mistake(&pairs)
        };
        assert_eq!(mistake(&[("path", "a"), ("limit", "3"), ("mode", "co")]), None);
        assert_eq!(mistake(&[("limt", "3")]).as_deref(), Some("read_file has no parameter limt; did you mean limit?"));
        assert_eq!(mistake(&[("limit", "x")]).as_deref(), Some("limit takes a number"));
        assert_eq!(mistake(&[("mode", "x")]).as_deref(), Some("mode takes one of content, count"));
        assert_eq!((facts.missing(&[]), facts.signature()), (vec!["path"], "path, [limit, mode]".to_owned()));
        assert_eq!(facts.summary, "Reads a file.");
    }
}
