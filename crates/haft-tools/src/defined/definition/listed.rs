//! Reads `tools.yaml`: the list of tools, the places of their definitions, and their preset arguments.
//!
//! `tools` is a list whose entries have a `name`, or a map. In a map the key is the name that calls use, and `name` is
//! the name that people use. The name in the list overrides the name in the definition.

use std::path::PathBuf;

use haft_contract::description::schema_rules::is_safe_name;

use super::check::nearest_fit;
use super::presets::{self, WrittenPresets};
use super::syntax::fields::{Fields, Problems};
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use super::syntax::placeholders::{Environment, Filling};
use super::{Binding, Definition, DefinitionProblem, Presets, binding};

const KEYS: [&str; 5] = ["name", "yaml_path", "binding", "extra_kwargs", "as_skill"];
const FORM: &str = "write a list of {name, yaml_path, binding, extra_kwargs}";

/// Keys that people look for here, and what to write instead.
const MOVED: [(&str, &str); 8] = [
    ("path", "write yaml_path"),
    ("yaml", "write yaml_path"),
    ("lazy", "it belongs in the definition"),
    ("use_cache", "it belongs in the definition"),
    ("disable_parallel", "it belongs in the definition"),
    ("skill_description", "it belongs in the definition, and as_skill: true here shows it"),
    ("description", "it belongs in the definition that yaml_path names"),
    ("input_schema", "it belongs in the definition that yaml_path names"),
];

/// One entry of a list of tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolListEntry {
    /// The name that calls use.
    pub name: String,
    /// What people call the tool, where the list says so.
    pub title: Option<String>,
    /// Where the definition lies, from the folder of the list. Without it, the entry is about a tool that is there.
    pub yaml_path: Option<PathBuf>,
    /// What does the work; it counts before that of the definition.
    pub binding: Option<Binding>,
    /// Whether the tool is a skill: a model is shown its `skill_description` instead of its description.
    pub as_skill: bool,
    /// What is given beforehand, as strictly as it may be: [`Self::apply`] knows what the definition excepts.
    pub presets: Presets,
    /// The line of the entry.
    pub line: Option<usize>,
    given: WrittenPresets,
}

/// A list of tools that was looked through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedList {
    /// The entries in which nothing is wrong.
    pub listed: Vec<ToolListEntry>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<DefinitionProblem>,
}

impl ToolListEntry {
    /// Gives a definition the name, the title and the binding of this entry, and says what is given to it beforehand.
    ///
    /// # Errors
    ///
    /// Returns the presets that are no arguments of the tool or do not fit, with their lines in the list.
    pub fn apply(&self, definition: Definition) -> Result<(Definition, Presets), Vec<DefinitionProblem>> {
        let problems = self.problems_with(&definition);
        if problems.iter().any(|problem| !problem.is_warning) {
            return Err(problems);
        }
        let presets = self.given.clone().fitted(&definition).sorted(&definition.overridable);
        let definition = Definition {
            name: self.name.clone(),
            title: self.title.clone().or(definition.title),
            binding: self.binding.clone().or(definition.binding),
            ..definition
        };
        Ok((definition, presets))
    }

    /// Says what is wrong between this entry and the definition it names, warnings too.
    pub fn problems_with(&self, definition: &Definition) -> Vec<DefinitionProblem> {
        let mut problems = Problems::default();
        self.given.clone().fitted(definition).check(definition, &mut problems);
        if self.binding.is_none() && definition.binding.is_none() {
            let what = format!("\"{}\" has no binding", self.name);
            problems.error(self.line, what, "write a binding here or in the definition");
        }
        if self.as_skill && definition.skill_description.is_none() {
            let what = format!("\"{}\" is a skill, and its definition has no \"skill_description\"", self.name);
            problems.warn(self.line, what, "write one there; until then its description is shown");
        }
        problems.0
    }
}

/// Returns whether a text is a list of tools and no definition. What cannot be read is neither.
pub fn is_list(text: &str) -> bool {
    DefinitionNode::from_yaml(text).is_ok_and(|node| node.entry("tools").is_some())
}

/// Looks through the text of a list of tools.
pub fn check_list(text: &str, environment: Environment<'_>) -> CheckedList {
    let mut problems = Problems::default();
    let mut listed: Vec<ToolListEntry> = Vec::new();
    match DefinitionNode::from_yaml(text) {
        Ok(node) => read(&node, environment, &mut listed, &mut problems),
        Err(problem) => problems.0.push(problem),
    }
    problems.0.sort_by_key(|problem| problem.line);
    CheckedList { listed, problems: problems.0 }
}

fn read(node: &DefinitionNode, environment: Environment<'_>, listed: &mut Vec<ToolListEntry>, problems: &mut Problems) {
    if !matches!(node.value, DefinitionValue::Map(_)) {
        let what = if node.is_null() { "it is empty".to_owned() } else { format!("it is {}", node.sort()) };
        return problems.error(node.line, what, format!("write tools: and below it {FORM}"));
    }
    let fields = Fields::of(node, &["tools"], &[], problems);
    let entries: Vec<(Option<&DefinitionKey>, &DefinitionNode)> = match fields
        .entry("tools")
        .map(|(_, node)| &node.value)
    {
        Some(DefinitionValue::List(items)) => items.iter().map(|item| (None, item)).collect(),
        Some(DefinitionValue::Map(entries)) => entries.iter().map(|(key, entry)| (Some(key), entry)).collect(),
        Some(_) => return problems.error(node.line, "\"tools\" is neither a list nor a map", FORM),
        // `tools:` with nothing below it names no tools.
        None if node.entry("tools").is_some() => return,
        None => return problems.error(node.line, "there is no \"tools\"", format!("write tools: and below it {FORM}")),
    };
    for (key, item) in entries {
        let mut found = Problems::default();
        let entry = ListEntryNode { key, item }.read(environment, &mut found);
        let is_good = !found.has_errors();
        problems.0.append(&mut found.0);
        let Some(entry) = entry.filter(|_| is_good) else { continue };
        match listed.iter().find(|earlier| earlier.name == entry.name) {
            Some(earlier) => {
                let first = earlier.line.map_or(String::new(), |line| format!(" (line {line})"));
                let what = format!("two tools are called \"{}\"{first}", entry.name);
                problems.error(entry.line, what, "give one of them another name");
            }
            None => listed.push(entry),
        }
    }
}

/// An entry of a list of tools as it was written, with its key where the list is a map.
struct ListEntryNode<'n> {
    key: Option<&'n DefinitionKey>,
    item: &'n DefinitionNode,
}

impl ListEntryNode<'_> {
    fn read(&self, environment: Environment<'_>, problems: &mut Problems) -> Option<ToolListEntry> {
        let line = self.key.map_or(self.item.line, |key| key.line);
        if !matches!(self.item.value, DefinitionValue::Map(_)) {
            let what = format!("an entry of \"tools\" is {}, but it is a map", self.item.sort());
            problems.error(line, what, FORM);
            return None;
        }
        let fields = Fields::of(self.item, &KEYS, &MOVED, problems);
        let written = fields.text("name", problems);
        let (name, title) = match self.key {
            Some(key) => (key.name.clone(), written),
            None => (written.unwrap_or_default(), None),
        };
        if name.is_empty() {
            problems.error(line, "the entry has no name", "write name: NAME");
        } else if !is_safe_name(&name) {
            let what = format!("{name:?} cannot be the name of a tool: 1 to 64 letters, digits, `_` or `-`");
            problems.error(line, what, format!("write {}", nearest_fit(&name)));
        }
        let mut filling = Filling::from(environment);
        let path = fields.text("yaml_path", problems).map(|path| filling.text(&path, line, problems));
        let given = presets::read(fields.entry("extra_kwargs"), environment, problems);
        Some(ToolListEntry {
            name,
            title,
            yaml_path: path.map(PathBuf::from),
            binding: fields.entry("binding").and_then(|entry| binding::read(entry, problems)),
            as_skill: fields.flag("as_skill", problems),
            presets: given.sorted(&[]),
            line,
            given,
        })
    }
}
