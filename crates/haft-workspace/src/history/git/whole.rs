//! Tells whether change sets made a whole repository, and whether it was used since.
//!
//! The undo of a command removes a repository that the command made as a whole, objects included: nothing else can refer to
//! them. If anything else was put into it, it stays as a whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::earlier;
use super::refs::{GitStep, files_below};
use crate::files::change::snapshot;
use crate::history::contents::Contents;
use crate::history::git_index;
use crate::state::journal::PathState;

/// The origin of a repository, seen from the change sets that are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum RepositoryOrigin {
    /// It was there before.
    Earlier,
    /// The change sets made it, and nothing else has been put into it.
    Made,
    /// The change sets made it, and it was used since.
    MadeAndUsed,
}

/// Finds out how a git directory came about; the steps are those of all repositories, the newest first.
pub(in crate::history) fn origin(contents: &Contents<'_>, dir: &Path, steps: &[GitStep<'_>]) -> RepositoryOrigin {
    let head = dir.join("HEAD");
    let oldest = steps.iter().rfind(|step| step.path == head);
    if !oldest.is_some_and(|step| *step.before == PathState::Absent && *step.after != PathState::Absent) {
        return RepositoryOrigin::Earlier;
    }
    let mut left: HashMap<&PathBuf, &GitStep<'_>> = HashMap::new();
    for step in steps.iter().filter(|step| step.path.starts_with(dir)) {
        left.entry(&step.path).or_insert(step);
    }
    let began = earlier::began_at(contents, left.values().map(|step| step.number));
    // What no step touched was there before them, such as settings that a command could not remove.
    let is_older =
        |path: &PathBuf| earlier::changed_at(contents, path).zip(began).is_some_and(|(at, began)| at < began);
    let is_as_left = |path: &PathBuf| {
        let Some(step) = left.get(path) else { return is_older(path) };
        let is_same = snapshot::look(contents.root, path).is_ok_and(|seen| seen.state.is_same_content(step.after));
        let is_refreshed = || {
            let both = step.left(contents).zip(contents.now(path));
            git_index::is_index(path) && both.is_some_and(|(left, now)| git_index::says_the_same(&left, &now))
        };
        is_same || is_refreshed()
    };
    match files_below(contents.root, dir).iter().all(is_as_left) {
        true => RepositoryOrigin::Made,
        false => RepositoryOrigin::MadeAndUsed,
    }
}
