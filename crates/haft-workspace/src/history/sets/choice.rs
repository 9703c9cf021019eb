//! Chooses the change sets for a person who names none: the newest, or those of its turn or session.
//!
//! A redo right after its undo leaves everything as if neither had happened, so the change sets that it restored keep their
//! place. A redo after other changes is merged with them and stands on top of them: it is a separate change, undone first.

use std::path::Path;

use haft_contract::doors::history::Undone;

use super::{ChangeSetKind, Sets};
use crate::history::{HistoryError, UndoSelection};
use crate::state::journal::{ChangeAuthor, IntentStep};

/// A redo that was merged with changes made after its undo.
struct MergedRedo {
    number: u64,
    /// The changes that it restored, newest first.
    restored: Vec<u64>,
    /// The changes that it was merged with and that hold.
    beneath: Vec<u64>,
}

impl Sets {
    /// Returns the numbers that were asked for, newest first.
    pub(in crate::history) fn chosen(
        &self,
        which: UndoSelection,
        only: Option<&Path>,
    ) -> Result<Vec<u64>, HistoryError> {
        let newest = || self.newest().ok_or(HistoryError::NothingLeft);
        let chosen = match (which, only) {
            (UndoSelection::Newest, Some(path)) => vec![self.newest_at(path)?],
            (UndoSelection::Newest, None) => vec![newest()?],
            (UndoSelection::Number(number), _) => vec![number],
            (UndoSelection::Since(number), _) => self.since(number)?,
            (UndoSelection::LastUndo, _) => vec![self.newest_undo().ok_or(HistoryError::NothingToRedo)?],
            (UndoSelection::Turn, _) => {
                self.alike(newest()?, |one, other| (&one.run, one.turn) == (&other.run, other.turn))
            }
            (UndoSelection::Session, _) => self.alike(newest()?, ChangeAuthor::is_of_session),
        };
        chosen.iter().try_for_each(|number| self.sound(*number))?;
        match chosen.iter().find(|number| self.undone(**number) == Undone::Yes) {
            Some(number) => Err(HistoryError::AlreadyUndone(*number)),
            None => Ok(chosen),
        }
    }

    /// Returns the changes of one session that hold, from this one on. The one that is named may be undone already.
    fn since(&self, number: u64) -> Result<Vec<u64>, HistoryError> {
        // Only with all later ones at hand are none of them missed.
        let is_read = number > self.reading.not_read;
        let by = self.by(number).filter(|_| is_read).ok_or(HistoryError::Unknown(number))?;
        let later: Vec<u64> = self.of_session(by).filter(|later| *later >= number).collect();
        if later.is_empty() { Err(HistoryError::AlreadyUndone(number)) } else { Ok(later) }
    }

    /// Returns the newest change that holds, or the redo on top of it; what is damaged is told by the warnings, and skipped.
    pub(in crate::history) fn newest(&self) -> Option<u64> {
        let redo = self.merged_redo(&|_| true).map(|redo| redo.number);
        redo.or_else(|| self.changes().find(|number| !self.lost.contains(number)))
    }

    /// Returns who made the newest change that holds; of a redo, the newest change that it restored.
    pub(in crate::history) fn by_of_newest(&self) -> Option<ChangeAuthor> {
        let restored = self.merged_redo(&|_| true).and_then(|redo| redo.restored.first().copied());
        self.by(restored.or_else(|| self.newest())?).cloned()
    }

    /// Returns the newest undo that did something.
    fn newest_undo(&self) -> Option<u64> {
        let mut undos =
            self.holding().filter(|(_, kind)| matches!(kind, ChangeSetKind::Undo(_))).map(|(number, _)| number);
        undos.find(|number| self.did_something(*number) && !self.lost.contains(number))
    }

    /// Returns the newest change that holds at this path, or in this folder, or the redo on top of it.
    fn newest_at(&self, path: &Path) -> Result<u64, HistoryError> {
        let holds_there = |number: &u64| self.holds_below(*number, path);
        let redo = self.merged_redo(&|number| self.holds_below(number, path)).map(|redo| redo.number);
        redo.or_else(|| self.changes().find(holds_there)).ok_or_else(|| self.not_concerned(path))
    }

    /// Says why no change set can be undone at a path. It may lie in a build folder, which is kept as a whole.
    fn not_concerned(&self, path: &Path) -> HistoryError {
        let shown = path.display().to_string();
        let is_above = |step: &IntentStep| match step {
            IntentStep::Tree { path: tree, .. } => path.starts_with(tree.path()),
            IntentStep::Change { .. } | IntentStep::Move { .. } => false,
        };
        let tree_of = |set: u64| {
            let steps = self.intents_of(set).flat_map(|(intent, _)| &intent.steps);
            let tree = steps.into_iter().find(|step| is_above(step))?.paths().next()?.path();
            Some(HistoryError::InBuildFolder { path: shown.clone(), folder: tree.display().to_string(), set })
        };
        self.changes().find_map(tree_of).unwrap_or_else(|| HistoryError::NotConcerned(shown.clone()))
    }

    /// Returns the changes that hold and were made in the same circumstances as the newest. A redo takes the place of what it
    /// restored, unless it was merged with a change from other circumstances: then it goes alone.
    fn alike(&self, newest: u64, is_alike: impl Fn(&ChangeAuthor, &ChangeAuthor) -> bool) -> Vec<u64> {
        let redo = self.merged_redo(&|_| true);
        let like = redo.as_ref().and_then(|redo| redo.restored.first().copied()).unwrap_or(newest);
        let is_alike =
            |other: &u64| matches!((self.by(*other), self.by(like)), (Some(one), Some(other)) if is_alike(one, other));
        match redo {
            None => self.changes().filter(is_alike).collect(),
            Some(redo) if !redo.beneath.iter().all(is_alike) => vec![redo.number],
            Some(redo) => {
                let others = self.changes().filter(is_alike).filter(|number| !redo.restored.contains(number));
                std::iter::once(redo.number).chain(others).collect()
            }
        }
    }

    /// Returns the redo that holds, is newer than every change that does, and was merged with some of them. Only change sets
    /// that concern the question count.
    fn merged_redo(&self, concerns: &dyn Fn(u64) -> bool) -> Option<MergedRedo> {
        let changes: Vec<u64> = self.changes().filter(|number| concerns(*number)).collect();
        let newest = *changes.first()?;
        let redoes = self.holding().take_while(|(number, _)| *number > newest);
        redoes.into_iter().find_map(|(number, kind)| {
            let ChangeSetKind::Redo(undos) = kind else { return None };
            let is_sound = concerns(number) && self.did_something(number) && !self.lost.contains(&number);
            let since = undos.iter().min().copied().filter(|_| is_sound)?;
            let restored = self.changes_behind(number);
            // What was undone since by its own number is no longer what the redo left.
            if restored.is_empty() || !restored.iter().all(|change| changes.contains(change)) {
                return None;
            }
            let beneath: Vec<u64> = changes.iter().copied().filter(|change| *change > since).collect();
            (!beneath.is_empty()).then_some(MergedRedo { number, restored, beneath })
        })
    }

    /// Returns the changes that an undo or a redo is about in the end, newest first.
    fn changes_behind(&self, number: u64) -> Vec<u64> {
        let mut changes = match self.kind(number) {
            ChangeSetKind::Change => vec![number],
            ChangeSetKind::Undo(back) | ChangeSetKind::Redo(back) => {
                back.iter().flat_map(|back| self.changes_behind(*back)).collect()
            }
        };
        changes.sort_unstable_by(|one, other| other.cmp(one));
        changes.dedup();
        changes
    }

    fn by(&self, number: u64) -> Option<&ChangeAuthor> {
        self.intents_of(number).next().map(|(intent, _)| &intent.by)
    }

    pub(super) fn did_something(&self, number: u64) -> bool {
        self.intents_of(number).any(|(intent, _)| !intent.steps.is_empty())
    }

    /// Returns whether a change set holds at a path, or somewhere below it.
    pub(super) fn holds_below(&self, number: u64, path: &Path) -> bool {
        self.sets.get(&number).is_some_and(|set| set.paths_below(path).any(|path| !set.is_undone(path)))
    }
}
