//! Finds what changed after the change sets that are being undone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{ChangeSetKind, Sets, paths_of_step};
use crate::files::guarding::repository::concerns;
use crate::state::journal::IntentStep;

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
        // An undo of later changes, or of such an undo, leaves what these say by themselves.
        let only_reverts_later = |number: &u64| match self.kind(*number) {
            ChangeSetKind::Undo(back) | ChangeSetKind::Redo(back) => {
                back.iter().all(|back| *back > oldest && !numbers.contains(back))
            }
            ChangeSetKind::Change => false,
        };
        let is_other = |number: &u64| *number > oldest && !numbers.contains(number) && !only_reverts_later(number);
        let mut later = LaterChanges::default();
        for (number, set) in self.sets.iter().filter(|(number, _)| is_other(number)) {
            later.paths.extend(set.paths.keys().filter(|path| !set.is_undone(path)).cloned());
            for step in self.intents_of(*number).flat_map(|(intent, _)| &intent.steps) {
                if let IntentStep::Move { .. } | IntentStep::Tree { .. } = step {
                    later.moved.extend(paths_of_step(step));
                }
            }
        }
        later
    }

    /// Returns the permission bits that paths had right before the newest redo of each of these change sets. Where a
    /// person set them after the undo, the change set itself does not know them.
    pub(in crate::history) fn modes_before_redo(&self, numbers: &[u64]) -> HashMap<(u64, PathBuf), u32> {
        let mut modes = HashMap::new();
        for number in numbers {
            let redoes = |redo: &&u64| match self.kind(**redo) {
                ChangeSetKind::Redo(undos) => self.redone_by(&undos).contains(number),
                ChangeSetKind::Change | ChangeSetKind::Undo(_) => false,
            };
            let redo = self.sets.keys().rev().take_while(|later| *later > number).find(redoes);
            for step in redo.into_iter().flat_map(|redo| self.intents_of(*redo)).flat_map(|(intent, _)| &intent.steps) {
                if let IntentStep::Change { path, before, .. } = step
                    && let Some(mode) = before.mode()
                {
                    modes.insert((*number, path.path()), mode);
                }
            }
        }
        modes
    }
}
