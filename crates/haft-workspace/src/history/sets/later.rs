//! What was changed after the change sets that are taken back.

use std::path::{Path, PathBuf};

use super::{Sets, paths_of_step};
use crate::files::repository::concerns;
use crate::state::journal::Step;

/// What later change sets changed.
#[derive(Default)]
pub(in crate::history) struct LaterChanges {
    paths: Vec<PathBuf>,
    /// What was moved as a whole.
    moved: Vec<PathBuf>,
}

impl LaterChanges {
    /// Returns whether they changed a repository: one of its names, or a folder above it as a whole.
    pub(in crate::history) fn concern(&self, repository: &Path) -> bool {
        self.paths.iter().any(|path| concerns(repository, path))
            || self.moved.iter().any(|path| repository.starts_with(path))
    }
}

impl Sets {
    /// Returns what change sets changed that are later than the oldest of these, and hold.
    pub(in crate::history) fn later_than(&self, numbers: &[u64]) -> LaterChanges {
        let oldest = numbers.iter().min().copied().unwrap_or_default();
        let is_other = |number: &u64| *number > oldest && !numbers.contains(number);
        let mut later = LaterChanges::default();
        for (number, set) in self.sets.iter().filter(|(number, _)| is_other(number)) {
            later.paths.extend(set.paths.keys().filter(|path| !set.is_undone(path)).cloned());
            for step in self.intents_of(*number).flat_map(|(intent, _)| &intent.steps) {
                if let Step::Move { .. } | Step::Tree { .. } = step {
                    later.moved.extend(paths_of_step(step));
                }
            }
        }
        later
    }
}
