//! Knows which argument of an agent's tool says the folder of a call, or the names of the files that it is about.
//!
//! Such an argument makes a call smaller, so haft believes only the one that the tool of this agent has. A tool ignores the
//! arguments that it does not know. With another one that looks like it, haft judges the call with it and without it.

use super::form::GuardEventForm;
use crate::other_agents::guard::secrets::name_pattern::alternatives;

/// An argument that makes a call smaller.
#[derive(Clone, Copy)]
pub(super) struct NarrowingArgument {
    /// Its names in the tools of all agents.
    pub(super) names: &'static [&'static str],
    /// Its names in one tool of one agent.
    pub(super) own: fn(&str, GuardEventForm) -> &'static [&'static str],
}

/// The folder in which a command starts.
pub(super) const COMMAND_FOLDERS: NarrowingArgument = NarrowingArgument {
    names: &[
        "dir_path",
        "directory",
        "dir",
        "folder",
        "working_directory",
        "working_dir",
        "workdir",
        "cwd",
        "target_directory",
    ],
    own: |tool, form| match (form, tool) {
        (GuardEventForm::Gemini, _) => &["dir_path"],
        (GuardEventForm::Cursor | GuardEventForm::CursorTool, _) => &["working_directory"],
        (GuardEventForm::Opencode, _) => &["workdir"],
        // The events of Codex name the folder of the call themselves; a tool that is called by its own name has this.
        (GuardEventForm::Codex | GuardEventForm::Permission, "shell" | "shell_command" | "exec_command") => {
            &["workdir"]
        }
        _ => &[],
    },
};

/// The folder below which a search looks.
pub(super) const SEARCHED_FOLDERS: NarrowingArgument = NarrowingArgument {
    names: &[
        "path",
        "dir_path",
        "directory",
        "dir",
        "folder",
        "target_directory",
        "working_directory",
        "workdir",
        "cwd",
    ],
    own: |tool, form| match (form, tool) {
        (GuardEventForm::Gemini, _) | (GuardEventForm::Codex, "list_dir") => &["dir_path"],
        (GuardEventForm::Cursor | GuardEventForm::CursorTool, "Glob" | "LS") => &["target_directory"],
        _ => &["path"],
    },
};

/// The names of the files in which a search looks.
pub(super) const NAMES: NarrowingArgument = NarrowingArgument {
    names: &["glob", "include_pattern", "include"],
    own: |_, form| match form {
        GuardEventForm::Gemini => &["include_pattern"],
        GuardEventForm::Opencode | GuardEventForm::Codex => &["include"],
        _ => &["glob"],
    },
};

/// Returns the folders below which a pattern for names looks: the folders in front of its first sign belong to the place.
pub(super) fn ahead(pattern: &str, folders: &[Option<String>]) -> Vec<Option<String>> {
    let patterns = alternatives(pattern).unwrap_or_else(|| vec![pattern.to_owned()]);
    let below = |folder: &Option<String>, pattern: &String| match folders_of(pattern) {
        Some(ahead) if ahead.starts_with(['/', '~']) => Some(ahead),
        Some(ahead) => Some(format!("{}/{ahead}", folder.as_deref().unwrap_or("."))),
        None => folder.clone(),
    };
    let mut all: Vec<Option<String>> =
        folders.iter().flat_map(|folder| patterns.iter().map(|pattern| below(folder, pattern))).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns whether a pattern that haft cannot read may lead out of the folder that it belongs to: `@(../a|b)`.
pub(super) fn may_lead_anywhere(pattern: &str) -> bool {
    let away = ["..", "{/", "(/", "|/", ",/", "{~", "(~", "|~", ",~"];
    alternatives(pattern).is_none() && away.iter().any(|begin| pattern.contains(begin))
}

/// Returns the folders in front of the first sign of a pattern, where they lead somewhere else.
fn folders_of(pattern: &str) -> Option<String> {
    if may_lead_anywhere(pattern) {
        return Some("/".to_owned());
    }
    let leads_away = pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..");
    let plain: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
    let ahead = plain.join("/");
    // Behind a pattern it may lead up from anywhere.
    let leads_up_later = pattern.split('/').skip(plain.len()).any(|part| part == "..");
    match () {
        () if !leads_away => None,
        () if leads_up_later => Some("/".to_owned()),
        () if ahead.is_empty() && pattern.starts_with('/') => Some("/".to_owned()),
        () => Some(ahead),
    }
}
