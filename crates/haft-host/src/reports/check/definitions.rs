//! Finds mistakes in definitions and in lists of tools, together with the files that they name.
//!
//! Not here: whether a program or a Python module exists and does what it should (`trials`).

use std::path::{Path, PathBuf};

use haft_config::environment::variable;
use haft_contract::text::closest::closest;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use haft_runtime::arguments::Checker;
use haft_tools::defined::definition;
use haft_tools::defined::definition::{Binding, CheckedList, Definition, Presets, ToolListEntry, check_list, is_list};
use haft_workspace::state::read_project_file;

use super::trials::DefinitionTrial;
use super::{Checking, FileProblem};

impl Checking {
    /// Checks a definition, or a list of tools.
    pub(super) fn yaml(&mut self, path: &Path, text: &str) {
        let is_named_list = path.file_stem().is_some_and(|name| name == "tools");
        if is_named_list || is_list(text) {
            self.list(path, text);
        } else if let Some(definition) = self.definition(path, text).filter(|definition| definition.binding.is_some()) {
            let (file, presets) = (path.to_owned(), Presets::default());
            let (binding, described) = (file.clone(), file.clone());
            self.trials.push(DefinitionTrial { binding, described, file, line: None, definition, presets });
        }
    }

    pub(super) fn tell(&mut self, file: &Path, problems: impl IntoIterator<Item = definition::DefinitionProblem>) {
        self.found.extend(problems.into_iter().map(|problem| FileProblem {
            file: file.into(),
            line: problem.line.unwrap_or(1),
            problem: problem.what,
            fix: problem.fix,
            is_warning: problem.is_warning,
        }));
    }

    /// Checks a definition by itself, and returns it where it can be used.
    fn definition(&mut self, path: &Path, text: &str) -> Option<Definition> {
        let checked = definition::check(text);
        self.tell(path, checked.problems);
        let definition = checked.definition?;
        self.tell(path, in_use(&definition));
        Some(definition)
    }

    fn list(&mut self, path: &Path, text: &str) {
        let CheckedList { listed, problems } = check_list(text, &variable);
        self.tell(path, problems);
        for entry in &listed {
            self.listed(path, entry);
        }
    }

    fn listed(&mut self, list: &Path, entry: &ToolListEntry) {
        let problem = |what: String, fix: &str| definition::DefinitionProblem {
            line: entry.line,
            what,
            fix: fix.to_owned(),
            is_warning: false,
        };
        let Some(named) = &entry.yaml_path else {
            let undescribed =
                matches!(entry.binding, Some(Binding::Command(_) | Binding::Python(_) | Binding::Http(_)));
            let what = format!("nothing describes \"{}\"", entry.name);
            return self.tell(list, undescribed.then(|| problem(what, "write yaml_path: the definition of the tool")));
        };
        let path: PathBuf = list.parent().unwrap_or(Path::new("")).join(named).components().collect();
        let text = match read_project_file(&path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let what = format!("there is no file {}", named.display());
                return self.tell(list, [problem(what, "yaml_path begins at the folder of this list")]);
            }
            Err(error) => {
                let what = format!("{} cannot be read: {error}", named.display());
                return self.tell(list, [problem(what, "name a readable text file")]);
            }
        };
        let is_new = self.seen.insert(path.clone());
        let definition = match is_new {
            true => self.definition(&path, &text),
            false => definition::check(&text).definition,
        };
        if let Some(definition) = definition {
            self.tell(list, entry.problems_with(&definition));
            if let Ok((definition, presets)) = entry.apply(definition) {
                let binding = if entry.binding.is_some() { list.to_owned() } else { path.clone() };
                let (file, described) = (list.to_owned(), path.clone());
                self.trials.push(DefinitionTrial { file, binding, described, line: entry.line, definition, presets });
            }
            self.tell(list, entry.binding.iter().filter_map(|binding| unbound(binding, entry.line)));
        }
    }
}

/// Says what else keeps a definition from being used.
fn in_use(definition: &Definition) -> Vec<definition::DefinitionProblem> {
    let problem = |what: String, fix: &str, is_warning| definition::DefinitionProblem {
        line: None,
        what,
        fix: fix.to_owned(),
        is_warning,
    };
    let mut problems = Vec::new();
    if let Err(why) = Checker::new(&definition.input_schema) {
        problems.push(problem(format!("\"input_schema\" cannot be used: {why}"), "fix the schema", false));
    }
    let spec = definition.spec();
    for provider in ProviderDialect::ALL {
        if let Err(quarantined) = lower(&ToolOffer::of(&spec), provider) {
            problems.push(problem(format!("it cannot be offered to {provider}"), &quarantined.reason, true));
        }
    }
    // The name of a deferred one is free.
    let is_taken = |name: &str| haft_tools::all().iter().any(|tool| tool.spec().name == name && !tool.spec().deferred);
    if definition.binding.is_some() && is_taken(&definition.name) {
        let what = format!("haft has a tool \"{}\" itself and skips this one", definition.name);
        problems.push(problem(what, "give it another name", true));
    }
    problems.extend(definition.binding.iter().filter_map(|binding| unbound(binding, None)));
    problems
}

/// Says that there is no such built-in tool.
fn unbound(binding: &Binding, line: Option<usize>) -> Option<definition::DefinitionProblem> {
    let Binding::Builtin(name) = binding else { return None };
    let tools = haft_tools::all();
    let names = || tools.iter().map(|tool| tool.spec().name.as_str());
    if names().any(|known| known == name) {
        return None;
    }
    let fix = match closest(name, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("the built-in tools are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let what = format!("there is no built-in tool \"{name}\"");
    Some(definition::DefinitionProblem { line, what, fix, is_warning: false })
}
