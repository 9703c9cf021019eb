//! Replaces `${env.NAME}` with values of the environment.
//!
//! This happens after the YAML is read, so no value can become a key, a list or an alias. The redactor later gets the
//! inserted values.

use serde_json::Value;

use super::fields::Problems;
use super::node::{DefinitionNode, DefinitionValue};

const START: &str = "${env.";

/// Looks a variable up.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Fills in placeholders, and remembers what came from the environment.
pub(in crate::defined::definition) struct Filling<'e> {
    environment: Environment<'e>,
    /// The values of all variables that were asked for.
    pub(in crate::defined::definition) secrets: Vec<String>,
}

impl<'e> Filling<'e> {
    pub(in crate::defined::definition) fn from(environment: Environment<'e>) -> Self {
        Self { environment, secrets: Vec::new() }
    }

    /// Fills in all texts of a value.
    pub(in crate::defined::definition) fn value(&mut self, node: &DefinitionNode, problems: &mut Problems) -> Value {
        match &node.value {
            DefinitionValue::Text(text) => Value::String(self.text(text, node.line, problems)),
            DefinitionValue::List(items) => items.iter().map(|item| self.value(item, problems)).collect(),
            DefinitionValue::Map(entries) => {
                entries.iter().map(|(key, inner)| (key.name.clone(), self.value(inner, problems))).collect()
            }
            DefinitionValue::Null | DefinitionValue::Bool(_) | DefinitionValue::Number(_) => node.to_value(),
        }
    }

    /// Fills in one text.
    pub(in crate::defined::definition) fn text(
        &mut self,
        text: &str,
        line: Option<usize>,
        problems: &mut Problems,
    ) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(START) {
            filled.push_str(before);
            let Some((name, behind)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
                problems.error(line, format!("{text:?} has a broken placeholder"), "write ${env.NAME}");
                return filled;
            };
            match (self.environment)(name) {
                Some(value) => {
                    filled.push_str(&value);
                    self.secrets.push(value);
                }
                None => {
                    let what = format!("the environment variable {name} is not set");
                    problems.error(line, what, format!("set {name} before haft starts, or remove ${{env.{name}}}"));
                }
            }
            rest = behind;
        }
        filled + rest
    }
}

/// Returns whether a value has placeholders.
pub(in crate::defined::definition) fn has_any(node: &DefinitionNode) -> bool {
    match &node.value {
        DefinitionValue::Text(text) => text.contains(START),
        DefinitionValue::List(items) => items.iter().any(has_any),
        DefinitionValue::Map(entries) => entries.iter().any(|(_, inner)| has_any(inner)),
        DefinitionValue::Null | DefinitionValue::Bool(_) | DefinitionValue::Number(_) => false,
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
