//! Finds the workspace in which haft judges an event.

use std::path::{Component, Path, PathBuf};

use haft_config::environment::{current_folder, variable};

use haft_workspace::files::is_guarded_folder;

use super::event::GuardEvent;
use super::form::GuardEventForm;
use crate::options::Options;

/// Where Claude Code says which project it was started in: the folder of an event changes with `cd`.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// Where it keeps copies of a project to work on, below the project.
const COPIES: &str = ".claude/worktrees";

/// Returns the command line of the workspace that an event is about: the one that was named, the one that the agent
/// says it works on, or the folder that it is in.
pub(in crate::other_agents::guard) fn workspace(options: &Options, event: &GuardEvent) -> Options {
    if options.folder.is_some() {
        return options.clone();
    }
    let (first, others) = match event.roots.split_first() {
        Some((first, others)) => (first.clone(), others),
        None => (project(event).unwrap_or_else(|| event.folder.clone()), &[][..]),
    };
    let added = options.added.iter().chain(others).cloned().collect();
    // An agent may have changed to such a folder; only the folder above shows the meaning of its names.
    let first =
        first.ancestors().find(|folder| !is_guarded_folder(folder)).map_or_else(|| first.clone(), Path::to_owned);
    Options { folder: Some(first), added, ..options.clone() }
}

fn project(event: &GuardEvent) -> Option<PathBuf> {
    // Codex starts its hooks in the folder of the session. Where it is `/`, a program in between has changed it.
    if event.is_of_codex {
        return current_folder().filter(|folder| folder.parent().is_some());
    }
    // Others hand the variable on to whatever they start, also to another agent.
    if !matches!(event.recipient.form, GuardEventForm::Claude | GuardEventForm::Permission) {
        return None;
    }
    let project = PathBuf::from(variable(PROJECT)?);
    if !project.is_absolute() {
        return None;
    }
    Some(copy_of(&project, &event.folder).unwrap_or(project))
}

/// Returns the copy of a project that contains a folder.
fn copy_of(project: &Path, folder: &Path) -> Option<PathBuf> {
    let copies = project.join(COPIES);
    match folder.strip_prefix(&copies).ok()?.components().next()? {
        Component::Normal(name) => Some(copies.join(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_project_is_a_workspace_of_its_own() {
        let copy = |folder: &str| copy_of(Path::new("/p"), Path::new(folder));
        assert_eq!(copy("/p/.claude/worktrees/fix/src"), Some(PathBuf::from("/p/.claude/worktrees/fix")));
        assert_eq!((copy("/p/src"), copy("/p/.claude/worktrees")), (None, None));
        assert_eq!(copy("/p/.claude/worktrees/../.."), None);
    }
}
