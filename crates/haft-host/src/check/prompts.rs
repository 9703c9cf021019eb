//! What is wrong with a prompt file, by itself and beside the tool that it is about.

use std::path::Path;

use haft_contract::closest::closest;
use haft_contract::spec::Spec;
use haft_tools::definition::{self, Definition};
use haft_tools::prompt_file::{self, CheckedPrompt, ENDING, tool_of};
use haft_workspace::state::read_project_file;

use super::Checking;

impl Checking {
    /// Checks a prompt file, against the tool of its name where that can be found.
    pub(super) fn prompt(&mut self, path: &Path, text: &str) {
        let CheckedPrompt { prompt, problems } = prompt_file::check(text);
        self.tell(path, problems);
        let whole = |what: String, fix: String, is_warning| definition::Problem { line: None, what, fix, is_warning };
        let Some(tool) = path.file_name().and_then(|name| name.to_str()).and_then(tool_of) else {
            let what = "haft does not find a prompt file of this name".to_owned();
            return self.tell(path, [whole(what, format!("call it TOOL{ENDING}"), false)]);
        };
        match spec_of(path, tool) {
            Some(spec) => {
                let contradictions = prompt.and_then(|prompt| prompt.apply(&spec).err());
                self.tell(path, contradictions.into_iter().flatten());
            }
            None => {
                let tools = haft_tools::all();
                let near = closest(tool, tools.iter().map(|tool| tool.spec().name.as_str()));
                let fix = near.map_or_else(
                    || "its parameters are compared when the tool is loaded".to_owned(),
                    |near| format!("did you mean {near}{ENDING}?"),
                );
                let what = format!("there is no tool \"{tool}\" in haft, nor a tools/{tool}.yaml beside this folder");
                self.tell(path, [whole(what, fix, true)]);
            }
        }
    }
}

/// Returns what the tool of a prompt file shows: a built-in one, or one that is defined in the folder beside.
fn spec_of(path: &Path, tool: &str) -> Option<Spec> {
    if let Some(built_in) = haft_tools::all().iter().find(|built_in| built_in.spec().name == tool) {
        return Some(built_in.spec().clone());
    }
    let beside = path.parent()?.join("../tools").join(format!("{tool}.yaml"));
    let text = read_project_file(&beside).ok().flatten()?;
    Definition::from_yaml(&text).ok().map(|definition| definition.spec())
}
