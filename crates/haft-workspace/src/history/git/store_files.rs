//! Decides which files of an object store undo restores or removes.
//!
//! Objects that a change set added stay: a later reference may need them. Undo repairs all other damage: a file in the place
//! of an object is not that object. It restores all caches about objects together, or keeps git's later ones.

use std::path::Path;

use super::journal_objects::is_sound;
use super::refs::GitStep;
use super::survey::{StepAt, SurveyedRepository, Treatment, changed_since, is_counted};
use super::{GitPathRole, is_in_object_store};
use crate::history::contents::Contents;
use crate::state::journal::PathState;

impl SurveyedRepository {
    /// Objects are restored, and never removed.
    pub(super) fn treat_object(&self, contents: &Contents<'_>, step: &StepAt<'_>) -> Treatment {
        let is_redo = contents.sets.is_undo(&[step.number]);
        let is_below_object = step.path.ancestors().skip(1).any(is_in_object_store);
        let plain_if = |is_plain: bool| if is_plain { Treatment::Plain } else { Treatment::Skip };
        match (step.before, step.after) {
            _ if is_below_object => plain_if(!is_redo && step.is_as_left()),
            (PathState::File { .. } | PathState::Folder { .. } | PathState::Link { .. }, PathState::Absent) => {
                plain_if(matches!(step.underway, None | Some(PathState::Absent)))
            }
            (PathState::Absent, PathState::File { .. }) => {
                self.kept_objects.set(self.kept_objects.get() + usize::from(is_counted(step.path)));
                Treatment::Skip
            }
            (PathState::File { .. }, PathState::File { .. }) => {
                let restores = || is_object(contents, step, step.before) || !is_object(contents, step, step.after);
                plain_if(!is_redo && step.is_as_left() && restores())
            }
            (
                PathState::File { .. } | PathState::Folder { .. },
                PathState::Folder { .. } | PathState::Link { .. } | PathState::File { .. },
            ) => plain_if(!is_redo && step.is_as_left()),
            _ => Treatment::Skip,
        }
    }

    /// Undo restores caches and the list of other stores; git rebuilds missing caches.
    pub(super) fn treat_object_info(&self, contents: &Contents<'_>, step: &StepAt<'_>) -> Treatment {
        let is_redo = contents.sets.is_undo(&[step.number]);
        let is_plain = match (step.before, step.after) {
            (PathState::Folder { .. }, PathState::Absent) => true,
            (PathState::Absent, _) if is_list_of_stores(step.path) => step.is_as_left() && !self.has_new_objects,
            _ if is_list_of_stores(step.path) => step.is_as_left(),
            _ => step.is_as_left() && self.has_caches_as_left && !is_redo,
        };
        if is_plain { Treatment::Plain } else { Treatment::Skip }
    }
}

/// Returns whether content of a step can be the object or the pack that its name promises.
fn is_object(contents: &Contents<'_>, step: &StepAt<'_>, state: &PathState) -> bool {
    let base = if std::ptr::eq(state, step.after) { step.before } else { &PathState::Absent };
    // What is too large to read was hardly written by accident.
    contents.bytes(state, base, step.inline).is_none_or(|bytes| is_sound(step.path, &bytes))
}

/// Returns whether a file names other object stores.
pub(super) fn is_list_of_stores(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "alternates" || name == "http-alternates")
}

/// Returns whether one of the caches about objects is not as the change sets left it.
pub(super) fn is_cache_changed(contents: &Contents<'_>, steps: &[&GitStep<'_>]) -> bool {
    let is_cache = |step: &GitStep<'_>| step.at.role == GitPathRole::ObjectInfo && !is_list_of_stores(&step.path);
    changed_since(contents, steps, &is_cache).is_some()
}
