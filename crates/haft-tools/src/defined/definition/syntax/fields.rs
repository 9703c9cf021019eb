//! Reads the entries of a map by their names, and notes every error in them.

use std::time::Duration;

use haft_contract::text::closest::closest;

use super::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use super::problem::DefinitionProblem;

/// What is wrong, as far as it was found.
#[derive(Debug, Default)]
pub(in crate::defined::definition) struct Problems(pub(in crate::defined::definition) Vec<DefinitionProblem>);

impl Problems {
    pub(in crate::defined::definition) fn error(
        &mut self,
        line: Option<usize>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.0.push(DefinitionProblem::error(line, what, fix));
    }

    pub(in crate::defined::definition) fn warn(
        &mut self,
        line: Option<usize>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.0.push(DefinitionProblem::warning(line, what, fix));
    }

    pub(in crate::defined::definition) fn has_errors(&self) -> bool {
        self.0.iter().any(|problem| !problem.is_warning)
    }

    /// Says that a value is not what belongs there.
    fn wrong(&mut self, (key, node): (&DefinitionKey, &DefinitionNode), wanted: &str) {
        let what = format!("\"{}\" is {}, but it must be {wanted}", key.name, node.sort());
        self.error(key.line, what, format!("write {wanted}"));
    }
}

/// The entries of one map.
pub(in crate::defined::definition) struct Fields<'n> {
    node: &'n DefinitionNode,
}

impl<'n> Fields<'n> {
    /// Takes a map whose keys are all known, or notes those that are not.
    ///
    /// `moved` has keys that people look for here and what to write instead.
    pub(in crate::defined::definition) fn of(
        node: &'n DefinitionNode,
        known: &[&str],
        moved: &[(&str, &str)],
        problems: &mut Problems,
    ) -> Self {
        for (key, _) in node.entries().iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let instead = moved.iter().find(|(name, _)| *name == key.name).map(|(_, instead)| (*instead).to_owned());
            let fix = instead.unwrap_or_else(|| match closest(&key.name, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the keys are {}", known.join(", ")),
            });
            problems.error(key.line, format!("there is no key {:?}", key.name), fix);
        }
        Self { node }
    }

    /// Returns an entry that is there and is not null.
    pub(in crate::defined::definition) fn entry(&self, name: &str) -> Option<(&'n DefinitionKey, &'n DefinitionNode)> {
        self.node.entry(name).filter(|(_, node)| !node.is_null())
    }

    /// Returns text that is not blank.
    pub(in crate::defined::definition) fn text(&self, name: &str, problems: &mut Problems) -> Option<String> {
        let entry = self.entry(name)?;
        match entry.1.text() {
            Some(text) if text.trim().is_empty() => None,
            Some(text) => Some(text.trim().to_owned()),
            None => {
                problems.wrong(entry, "text");
                None
            }
        }
    }

    /// Returns whether a flag is set.
    pub(in crate::defined::definition) fn flag(&self, name: &str, problems: &mut Problems) -> bool {
        match self.entry(name) {
            None => false,
            Some((_, DefinitionNode { value: DefinitionValue::Bool(flag), .. })) => *flag,
            Some(entry) => {
                problems.wrong(entry, "true or false");
                false
            }
        }
    }

    /// Returns a time that is given in seconds.
    pub(in crate::defined::definition) fn seconds(
        &self,
        name: &str,
        most: u64,
        problems: &mut Problems,
    ) -> Option<Duration> {
        let entry = self.entry(name)?;
        let wanted = format!("a number of seconds above 0, at most {most}");
        let DefinitionValue::Number(number) = &entry.1.value else {
            problems.wrong(entry, &wanted);
            return None;
        };
        let seconds = number.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= most as f64);
        // Parts of a nanosecond are no time.
        let time = seconds.map(Duration::from_secs_f64).filter(|time| !time.is_zero());
        if time.is_none() {
            let what = format!("\"{name}\" is {number}, but it must be {wanted}");
            problems.error(entry.0.line, what, format!("write {wanted}"));
        }
        time
    }

    /// Returns the items of a list.
    pub(in crate::defined::definition) fn list(
        &self,
        name: &str,
        of: &str,
        problems: &mut Problems,
    ) -> Option<&'n [DefinitionNode]> {
        let entry = self.entry(name)?;
        match &entry.1.value {
            DefinitionValue::List(items) => Some(items),
            _ => {
                problems.wrong(entry, &format!("a list of {of}"));
                None
            }
        }
    }

    /// Returns a list of texts.
    pub(in crate::defined::definition) fn texts(
        &self,
        name: &str,
        of: &str,
        problems: &mut Problems,
    ) -> Option<Vec<(String, Option<usize>)>> {
        let items = self.list(name, of, problems)?;
        let mut texts = Vec::new();
        for item in items {
            match item.text() {
                Some(text) => texts.push((text.to_owned(), item.line)),
                None => {
                    let what = format!("\"{name}\" holds {}, but it must be a list of {of}", item.sort());
                    problems.error(item.line, what, "write each as text, in quotes where it looks like something else");
                }
            }
        }
        Some(texts)
    }
}
