//! Recovers after a process was killed in the middle of a change.
//!
//! The journal says what the process was about to do; the files show how far it came. Completed steps stay, and haft reverts
//! partial ones. If the user has changed a file since, haft cannot tell whether its step was done. Then the rest stays too,
//! and undo decides path by path.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use haft_contract::files::path::one_line;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::replace::set_aside;
use super::snapshot;
use super::snapshot::PlaceSnapshot;
use super::step_back::{Back, Images, name_for_the_way_back, take_back};
use crate::files::read::open::WorkspaceRoot;
use crate::files::searching::order::is_workable;
use crate::files::structure;
use crate::files::tree;
use crate::files::tree::{ExchangeProgress, TreeStores};
use crate::state::journal::{
    Intent, IntentOutcome, IntentStep, JournalSnapshot, JournalWriter, PathState, PathText, TreeRecord, UndoDirection,
};

/// Most paths that are named.
const MOST_NAMED: usize = 5;

#[cfg(test)]
mod tests;

/// Finds out what became of the last intent when it has no outcome, and writes it down.
pub(in crate::files) fn recover(
    root: &WorkspaceRoot,
    writing: &mut JournalWriter<'_>,
) -> io::Result<Option<RecoveryReport>> {
    if !writing.is_unfinished() {
        return Ok(None);
    }
    let reading = writing.reading()?;
    let Some((intent, inline)) = reading.intents.last() else { return Ok(None) };
    let of_this = |at, length| reading.inline(*inline, at, length);
    let images = Images { inline: &of_this, objects: writing.objects(), stores: writing.stores() };
    let is_held = intent.steps.iter().flat_map(IntentStep::paths).all(|path| root.holds(&path.path()));
    // Folders that are not added today were when it was allowed; left alone they would stay half changed.
    let everything = if is_held { None } else { Some(root.with_everything()?) };
    let root = everything.as_ref().unwrap_or(root);
    let outcome = settle(root, intent, &images);
    for (folder, mode) in &intent.opened {
        // It may be gone, and another program's later change counts more.
        let _ = structure::narrow(root, &folder.path(), *mode);
    }
    let recovered = RecoveryReport::new(&reading, intent, &outcome);
    writing.conclude(outcome)?;
    Ok(Some(recovered))
}

/// Tells the user in a sentence which change was interrupted, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecoveryReport {
    what: String,
    /// Whether it was an undo or a redo.
    pub(crate) takes_back: bool,
    /// Whether it counts as done.
    is_done: bool,
    /// What could not be taken back.
    standing: Vec<PathBuf>,
}

impl RecoveryReport {
    fn new(reading: &JournalSnapshot, intent: &Intent, outcome: &IntentOutcome) -> Self {
        let numbers = |sets: &[u64]| {
            let noun = if sets.len() == 1 { "change set" } else { "change sets" };
            format!("{noun} {}", sets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        };
        let what = match &intent.takes_back {
            None => format!("An interrupted change by {} ({})", one_line(&intent.by.tool), numbers(&[intent.set])),
            Some(back) if back.how == UndoDirection::Undo => format!("An interrupted undo of {}", numbers(&back.sets)),
            Some(back) => {
                let undone = |set: &u64| {
                    let undo = reading.intents.iter().find(|(intent, _)| intent.set == *set);
                    undo.and_then(|(undo, _)| undo.takes_back.as_ref())
                        .map(|undo| undo.sets.clone())
                        .unwrap_or_default()
                };
                format!("An interrupted redo of {}", numbers(&back.sets.iter().flat_map(undone).collect::<Vec<_>>()))
            }
        };
        let stand = |step: &usize| intent.steps.get(*step).into_iter().flat_map(IntentStep::paths).map(PathText::path);
        let standing: Vec<PathBuf> = outcome.standing.iter().flat_map(stand).collect();
        let (takes_back, is_done) = (intent.takes_back.is_some(), outcome.happened && standing.is_empty());
        Self { what, takes_back, is_done, standing }
    }
}

impl Display for RecoveryReport {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { what, is_done, standing, .. } = self;
        match (is_done, standing.len()) {
            (true, _) => write!(formatter, "{what} was finished."),
            (false, 0) => write!(formatter, "{what} was rolled back: all files are as before it."),
            (false, count) => {
                let names: Vec<String> = standing
                    .iter()
                    .take(MOST_NAMED)
                    .map(|path| one_line(&path.to_string_lossy()).into_owned())
                    .collect();
                let more = if count > MOST_NAMED { " and others" } else { "" };
                write!(formatter, "{what} was rolled back, except in {}{more}.", names.join(", "))
            }
        }
    }
}

/// How far an interrupted step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepProgress {
    /// Its path is unchanged.
    Nowhere,
    /// Its path is as it should be.
    Through,
    /// Its path is as before, and so it should be: another name of a file that changes.
    Either,
    /// Its path has another program's content, or haft cannot look at it.
    Unknown,
}

/// Takes an intent back that was done in part; returns what counts as done.
fn settle(root: &WorkspaceRoot, intent: &Intent, images: &Images<'_>) -> IntentOutcome {
    let came: Vec<StepProgress> = intent.steps.iter().map(|step| settle_step(root, step, images)).collect();
    // Steps are done in order, so all before the last one that came through were done once.
    let done = came.iter().rposition(|came| *came == StepProgress::Through).map_or(0, |last| last + 1);
    let rest = &came[done..];
    // What comes after a step that was not done was not done either.
    let may_be_done =
        rest.iter().take_while(|came| **came != StepProgress::Nowhere).any(|came| *came == StepProgress::Unknown);
    if may_be_done || rest.iter().all(|came| *came == StepProgress::Either) {
        narrow_folders(root, intent);
        return intent.happened();
    }
    let steps: Vec<Back<'_>> =
        intent.steps[..done].iter().map(|step| Back { step, brought: None, tree: None }).collect();
    intent.failed(take_back(root, &steps, images))
}

/// Gives folders that were made their modes; that is done last.
fn narrow_folders(root: &WorkspaceRoot, intent: &Intent) {
    for step in intent.steps.iter().rev() {
        if let IntentStep::Change { path, after: PathState::Folder { mode }, .. } = step
            && !is_workable(*mode)
        {
            // Another program's later change counts more.
            let _ = structure::narrow(root, &path.path(), *mode);
        }
    }
}

/// Removes what a step left beside its path; returns how far it came.
fn settle_step(root: &WorkspaceRoot, step: &IntentStep, images: &Images<'_>) -> StepProgress {
    let (path, before, after, beside) = match step {
        IntentStep::Move { from, to } => {
            return match (is_absent(root, from), is_absent(root, to)) {
                (Some(true), Some(false)) => StepProgress::Through,
                (Some(false), _) => StepProgress::Nowhere,
                _ => StepProgress::Unknown,
            };
        }
        IntentStep::Tree { path, tree } => return settle_tree(root, (&path.path(), tree), &images.stores),
        IntentStep::Change { path, before, after, beside } => (path.path(), before, after, beside.as_deref()),
    };
    let left = beside.map_or(LeftoverKind::Nothing, |beside| {
        let back = name_for_the_way_back(beside);
        Swap { root, place: &path, beside: &back, out: after, coming: before, before }.clear(images);
        Swap { root, place: &path, beside, out: before, coming: after, before }.clear(images)
    });
    let seen = match snapshot::look(root, &path) {
        // Beneath a link nothing is that a step could have left.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => Ok(PlaceSnapshot::nothing()),
        seen => seen,
    };
    match (seen, left) {
        // Only the mode was to change, so only the mode tells.
        (Ok(seen), _) if before.is_same_content(after) && seen.state.is_same_content(after) => {
            match seen.state.mode() {
                mode if mode == after.mode() && mode == before.mode() => StepProgress::Either,
                mode if mode == after.mode() => StepProgress::Through,
                mode if mode == before.mode() => StepProgress::Nowhere,
                _ => StepProgress::Unknown,
            }
        }
        (Ok(seen), _) if seen.state.is_same_content(after) => StepProgress::Through,
        (Ok(seen), _) if seen.state.is_same_content(before) => StepProgress::Nowhere,
        // Another program has changed it since; the file left beside it may still tell.
        (_, LeftoverKind::Old | LeftoverKind::Foreign) => StepProgress::Through,
        (_, LeftoverKind::New) => StepProgress::Nowhere,
        (_, LeftoverKind::Nothing) => StepProgress::Unknown,
    }
}

/// Reverts the exchange of a tree that was cut off; a whole one counts as done.
fn settle_tree(root: &WorkspaceRoot, (place, record): (&Path, &TreeRecord), stores: &TreeStores) -> StepProgress {
    match tree::progress(root, stores, (place, record)) {
        ExchangeProgress::All => {
            tree::finish(root, stores, (place, record));
            StepProgress::Through
        }
        ExchangeProgress::None | ExchangeProgress::Some => match tree::revert(root, stores, (place, record)) {
            Ok(()) => StepProgress::Nowhere,
            Err(_) => StepProgress::Unknown,
        },
    }
}

fn is_absent(root: &WorkspaceRoot, path: &PathText) -> Option<bool> {
    snapshot::glance(root, &path.path()).ok().map(|seen| seen.state == PathState::Absent)
}

/// The kind of leftover that lay beside a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftoverKind {
    /// Nothing, or nothing that can be looked at.
    Nothing,
    /// What was to come into the place, whole or in part.
    New,
    /// What was in the place; it lies beside only after the swap.
    Old,
    /// What another program had put into the place right before the swap.
    Foreign,
}

/// Two contents that were about to change places when their process was killed.
struct Swap<'a> {
    root: &'a WorkspaceRoot,
    place: &'a Path,
    beside: &'a str,
    /// What was in the place.
    out: &'a PathState,
    /// What was to come into it.
    coming: &'a PathState,
    /// What both are described by.
    before: &'a PathState,
}

impl Swap<'_> {
    /// Removes what was left beside the place. Another program's content gets a visible name instead.
    fn clear(&self, images: &Images<'_>) -> LeftoverKind {
        let Ok((folder, name)) = self.root.open_parent(self.place) else { return LeftoverKind::Nothing };
        let Ok(left) = snapshot::look(self.root, &self.place.with_file_name(self.beside)) else {
            return LeftoverKind::Nothing;
        };
        if left.state == PathState::Absent {
            return LeftoverKind::Nothing;
        }
        let found = self.judge(&left.state, images);
        if found == LeftoverKind::Foreign {
            set_aside(&folder, self.beside, name);
            return found;
        }
        let is_folder = matches!(left.state, PathState::Folder { .. });
        let how = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        if rustix::fs::unlinkat(&folder, self.beside, how).is_err() && is_folder {
            // Another program has put something into it.
            set_aside(&folder, self.beside, name);
        }
        found
    }

    fn judge(&self, left: &PathState, images: &Images<'_>) -> LeftoverKind {
        if left.is_same_content(self.out) {
            return LeftoverKind::Old;
        }
        let now = snapshot::look(self.root, self.place).map(|seen| seen.state);
        let is = |state: &PathState| now.as_ref().is_ok_and(|now| now.is_same_content(state));
        // Once the new content is in its place, what lies beside came out of it.
        if is(self.coming) && !self.out.is_same_content(self.coming) {
            return LeftoverKind::Foreign;
        }
        match images.is_beginning(left, self.coming, self.before) {
            Some(true) => LeftoverKind::New,
            Some(false) => LeftoverKind::Foreign,
            // Not everything is kept of a large new content; as long as the old one is in its place it is ours.
            None if is(self.out) => LeftoverKind::New,
            None => LeftoverKind::Foreign,
        }
    }
}
