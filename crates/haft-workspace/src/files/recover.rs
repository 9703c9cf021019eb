//! Cleans up after somebody who was killed in the middle of a change.
//!
//! The journal says what was about to be done; a look at the files says how far it came. What was
//! done wholly stays, what was done in part is taken back.

use std::io;

use rustix::fs::{AtFlags, RenameFlags};

use super::image;
use super::open::Root;
use super::transaction::{Images, take_back};
use crate::state::journal::{Intent, Outcome, PathText, State, Step, Writing};

/// Finds out what became of intents without outcome, and writes it down.
pub(super) fn recover(root: &Root, writing: &mut Writing<'_>) -> io::Result<()> {
    let unfinished = writing.unfinished()?;
    if unfinished.is_empty() {
        return Ok(());
    }
    let reading = writing.reading()?;
    let objects = writing.objects();
    for (intent, inline) in unfinished.into_iter().rev() {
        let of_this = |at, length| reading.inline(inline, at, length);
        let images = Images { inline: &of_this, objects: objects.clone() };
        let happened = settle(root, &intent, &images);
        writing.conclude(Outcome { set: intent.set, part: intent.part, happened })?;
    }
    Ok(())
}

fn settle(root: &Root, intent: &Intent, images: &Images<'_>) -> bool {
    let done: Vec<bool> = intent.steps.iter().map(|step| settle_step(root, step)).collect();
    if done.iter().all(|done| *done) {
        return true;
    }
    for (step, _) in intent.steps.iter().zip(&done).rev().filter(|(_, done)| **done) {
        // What cannot be taken back stays as it is; the user's files are never in danger from that.
        let _ = take_back(root, step, images);
    }
    false
}

/// Removes what a step left beside its path; returns whether it was done.
fn settle_step(root: &Root, step: &Step) -> bool {
    match step {
        Step::Move { from, to } => is_absent(root, from) && !is_absent(root, to),
        Step::Change { path, before, after, beside } => {
            if let Some(beside) = beside {
                clear_beside(root, (path, beside), (before, after));
            }
            image::look(root, &path.path()).is_ok_and(|seen| seen.state.is_same_content(after))
        }
    }
}

fn is_absent(root: &Root, path: &PathText) -> bool {
    image::glance(root, &path.path()).is_ok_and(|seen| seen.state == State::Absent)
}

/// Removes what was left beside a path: our new content, whole or in part, or the old one, which the journal has.
///
/// When somebody else was faster in that very moment, it may be theirs; then it gets a name that can be seen.
fn clear_beside(root: &Root, (path, beside): (&PathText, &str), (before, after): (&State, &State)) {
    let place = path.path();
    let Ok((folder, name)) = root.open_parent(&place) else { return };
    let Ok(left) = image::look(root, &place.with_file_name(beside)) else { return };
    let is_after = image::look(root, &place).is_ok_and(|seen| seen.state.is_same_content(after));
    let is_foreign = is_after && !before.is_same_content(after) && !left.state.is_same_content(before);
    if is_foreign && left.state != State::Absent {
        let mut kept = name.to_owned();
        kept.push(".kept-by-haft");
        let _ = rustix::fs::renameat_with(&folder, beside, &folder, &kept, RenameFlags::NOREPLACE);
        return;
    }
    let _ = rustix::fs::unlinkat(&folder, beside, AtFlags::empty());
}
