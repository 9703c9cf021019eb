//! Finds mistakes in a prompt file, by itself and compared with its tool.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::description::dialect::Dialect;
use haft_contract::description::spec::Spec;
use haft_contract::text::closest::closest;
use haft_tools::defined::definition;
use haft_tools::defined::definition::Definition;
use haft_tools::defined::prompt_file;
use haft_tools::defined::prompt_file::{CheckedPrompt, ENDING, tool_of};
use haft_tools::dialect;
use haft_workspace::state::{list_config_folder, read_project_file};

use super::Checking;
use crate::opening::prompt_names::{built_in_dialects, shown_tools};

impl Checking {
    /// Checks a prompt file, against the tool of its name where that can be found.
    pub(super) fn prompt(&mut self, path: &Path, text: &str) {
        let CheckedPrompt { prompt, problems } = prompt_file::check(text);
        self.tell(path, problems);
        let whole =
            |what: String, fix: String, is_warning| definition::DefinitionProblem { line: None, what, fix, is_warning };
        let Some(tool) = path.file_name().and_then(|name| name.to_str()).and_then(tool_of) else {
            let what = "haft does not find a prompt file of this name".to_owned();
            return self.tell(path, [whole(what, format!("call it TOOL{ENDING}"), false)]);
        };
        let tools = tools_of(path, tool);
        if tools.is_empty() {
            let all = all_names(path);
            let near = closest(tool, all.iter().map(String::as_str));
            let fix = near.map_or_else(
                || "its parameters are compared when the tool is loaded".to_owned(),
                |near| format!("did you mean {near}{ENDING}?"),
            );
            let what = format!(
                "there is no tool \"{tool}\" in haft or its dialects, nor a tools/{tool}.yaml beside this folder"
            );
            return self.tell(path, [whole(what, fix, true)]);
        }
        let Some(prompt) = prompt else { return };
        // It is compared with the tool that it fits best; haft's own comes first.
        let contradictions = tools.iter().map(|spec| prompt.apply(spec).err().unwrap_or_default());
        self.tell(path, contradictions.min_by_key(Vec::len).unwrap_or_default());
    }
}

/// Returns what the tool of a prompt file may show: a built-in one as haft or a dialect shows it, or one that is defined
/// in the folder beside.
fn tools_of(path: &Path, tool: &str) -> Vec<Spec> {
    let built_in: Vec<Spec> = shown_tools(tool, &dialects(path)).into_iter().map(|tool| tool.spec).collect();
    if !built_in.is_empty() {
        return built_in;
    }
    let beside = path.parent().map(|folder| folder.join("../tools").join(format!("{tool}.yaml")));
    let text = beside.and_then(|beside| read_project_file(&beside).ok().flatten());
    text.and_then(|text| Definition::from_yaml(&text).ok()).map(|definition| definition.spec()).into_iter().collect()
}

/// Returns the dialects of haft, and those in the folder beside.
fn dialects(path: &Path) -> Vec<Arc<dyn Dialect>> {
    let folder = path.parent().map(|folder| folder.join("../dialects"));
    let files = folder.and_then(|folder| list_config_folder(&folder).ok().flatten()).unwrap_or_default();
    let read = |file: PathBuf| {
        let text = read_project_file(&file).ok().flatten()?;
        dialect::check(file.file_stem()?.to_str()?, &text).dialect
    };
    let is_toml = |file: &PathBuf| file.extension().is_some_and(|end| end == "toml");
    built_in_dialects().into_iter().chain(files.into_iter().filter(is_toml).filter_map(read)).collect()
}

/// Returns the names of all built-in tools, also as dialects call them.
fn all_names(path: &Path) -> Vec<String> {
    let own = haft_tools::all().into_iter().map(|tool| tool.spec().name.clone());
    let of_dialects = dialects(path).into_iter().flat_map(|dialect| dialect.tools());
    own.chain(of_dialects.map(|tool| tool.name().to_owned())).collect()
}
