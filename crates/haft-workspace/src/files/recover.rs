//! Cleans up after somebody who was killed in the middle of a change.
//!
//! The journal says what was about to be done; a look at the files says how far it came. What was
//! done wholly stays, what was done in part is taken back. Where the user has worked on a file
//! since, nobody can tell whether it was done: then the rest stays too, and undo decides path by path.

use std::io;

use rustix::fs::AtFlags;

use super::image;
use super::open::Root;
use super::replace::set_aside;
use super::step_back::{Images, take_back};
use crate::state::journal::{Intent, Outcome, PathText, State, Step, Writing};

/// Finds out what became of the last intent when it has no outcome, and writes it down.
pub(super) fn recover(root: &Root, writing: &mut Writing<'_>) -> io::Result<()> {
    if !writing.is_unfinished() {
        return Ok(());
    }
    let reading = writing.reading()?;
    let Some((intent, inline)) = reading.intents.last() else { return Ok(()) };
    let of_this = |at, length| reading.inline(*inline, at, length);
    let images = Images { inline: &of_this, objects: writing.objects() };
    let outcome = settle(root, intent, &images);
    writing.conclude(outcome)
}

/// How far a step came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    /// Its path is as it was before.
    Nowhere,
    /// Its path is as it should be.
    Through,
    /// Its path is as somebody else has made it, or cannot be looked at.
    Unknown,
}

/// Takes an intent back that was done in part; returns what counts as done.
fn settle(root: &Root, intent: &Intent, images: &Images<'_>) -> Outcome {
    let came: Vec<Came> = intent.steps.iter().map(|step| settle_step(root, step)).collect();
    // Steps are done in order, so all before the last one that came through were done once.
    let done = came.iter().rposition(|came| *came == Came::Through).map_or(0, |last| last + 1);
    if done == came.len() || came[done..].contains(&Came::Unknown) {
        return intent.happened();
    }
    let steps: Vec<&Step> = intent.steps[..done].iter().collect();
    intent.failed(take_back(root, &steps, images))
}

/// Removes what a step left beside its path; returns how far it came.
fn settle_step(root: &Root, step: &Step) -> Came {
    match step {
        Step::Move { from, to } => match (is_absent(root, from), is_absent(root, to)) {
            (Some(true), Some(false)) => Came::Through,
            (Some(false), _) => Came::Nowhere,
            _ => Came::Unknown,
        },
        Step::Change { path, before, after, beside } => {
            let clear = |beside| clear_beside(root, (path, beside), (before, after));
            let left = beside.as_deref().map_or(Came::Unknown, clear);
            match image::look(root, &path.path()) {
                Ok(seen) if seen.state.is_same_content(after) => Came::Through,
                Ok(seen) if seen.state.is_same_content(before) => Came::Nowhere,
                // Somebody has worked on it since; what lay beside it may still tell.
                _ => left,
            }
        }
    }
}

fn is_absent(root: &Root, path: &PathText) -> Option<bool> {
    image::glance(root, &path.path()).ok().map(|seen| seen.state == State::Absent)
}

/// Removes what was left beside a path: our new content, whole or in part, or the old one, which the journal has.
///
/// When somebody else was faster in that very moment, it may be theirs; then it gets a name that can be seen.
/// Returns how far the step came by what lay there: the old content lies there only after the swap.
fn clear_beside(root: &Root, (path, beside): (&PathText, &str), (before, after): (&State, &State)) -> Came {
    let place = path.path();
    let Ok((folder, name)) = root.open_parent(&place) else { return Came::Unknown };
    let Ok(left) = image::look(root, &place.with_file_name(beside)) else { return Came::Unknown };
    if left.state == State::Absent {
        return Came::Unknown;
    }
    let is_after = image::look(root, &place).is_ok_and(|seen| seen.state.is_same_content(after));
    let is_foreign = is_after && !before.is_same_content(after) && !left.state.is_same_content(before);
    if is_foreign {
        set_aside(&folder, beside, name);
        return Came::Through;
    }
    let how = if matches!(left.state, State::Folder { .. }) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    let _ = rustix::fs::unlinkat(&folder, beside, how);
    if left.state.is_same_content(before) { Came::Through } else { Came::Nowhere }
}
