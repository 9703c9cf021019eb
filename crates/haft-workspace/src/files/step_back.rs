//! Takes steps back without a word in the journal: they belong to an intent that failed or was cut off.
//!
//! Not here: undo, which is a change of its own (`history`).

use std::io::{self, Read};

use super::bring::Brought;
use super::image::{self, Seen};
use super::open::Root;
use super::order::{WORKABLE, is_workable};
use super::replace::{self, Spot, Syncing, Travel, Trouble};
use super::structure;
use super::transaction::{Content, new};
use crate::state::journal::{Kept, Objects, State, Step};

/// Where the contents of an intent can be found again.
pub(crate) struct Images<'a> {
    pub(crate) inline: &'a dyn Fn(u32, u32) -> io::Result<Vec<u8>>,
    pub(crate) objects: Objects,
}

impl Images<'_> {
    /// Returns whether a content is another one or its beginning; nothing where the other one is not kept.
    pub(super) fn is_beginning(&self, part: &State, whole: &State, before: &State) -> Option<bool> {
        let (State::File { size, hash, .. }, State::File { content, .. }) = (part, whole) else {
            return Some(part.is_same_content(whole));
        };
        if part.is_same_content(whole) {
            return Some(true);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(self.content(content, before).ok()?.take(*size)).ok()?;
        Some(hasher.count() == *size && *hasher.finalize().as_bytes() == hash.0)
    }

    fn content(&self, kept: &Kept, before: &State) -> io::Result<Box<dyn Read>> {
        Ok(match kept {
            Kept::Inline { at, length } => Box::new(io::Cursor::new((self.inline)(*at, *length)?)),
            Kept::Object { hash } => Box::new(self.objects.open(*hash)?),
            Kept::Splice { begin, middle, end } => {
                let State::File { content, size, .. } = before else { return Err(io::ErrorKind::InvalidData.into()) };
                let old = || self.content(content, &State::Absent);
                let mut tail = old()?;
                io::copy(&mut tail.by_ref().take(size.saturating_sub(*end)), &mut io::sink())?;
                Box::new(old()?.take(*begin).chain(self.content(middle, before)?).chain(tail))
            }
            Kept::No => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

/// Returns the name under which the old content lies on its way back, so that it is not taken for what was swapped out.
pub(super) fn name_for_the_way_back(beside: &str) -> String {
    format!("{beside}.back")
}

/// A step to be taken back.
pub(super) struct Back<'a> {
    pub(super) step: &'a Step,
    /// Where what it put in place came from, and goes back to.
    pub(super) brought: Option<&'a Brought>,
}

/// Takes the first steps of an intent back, the last of them first; returns which of them stand all the same.
///
/// What somebody else has put in a place since stays, and so does the step beneath it.
pub(super) fn take_back(root: &Root, steps: &[Back<'_>], images: &Images<'_>) -> Vec<usize> {
    let stands = |back: &Back<'_>| step_back(root, back, images).is_err() && !is_as_before(root, back.step);
    let mut standing: Vec<usize> =
        steps.iter().enumerate().rev().filter(|(_, back)| stands(back)).map(|(index, _)| index).collect();
    standing.reverse();
    for Back { step, .. } in steps {
        if let Step::Change { path, before: State::Folder { mode }, .. } = step
            && !is_workable(*mode)
        {
            // What was in it is back, or stands.
            let _ = structure::narrow(root, &path.path(), *mode);
        }
    }
    standing
}

/// A step may be back although not everything went well: a failed sync comes last.
fn is_as_before(root: &Root, step: &Step) -> bool {
    match step {
        Step::Move { from, to } => {
            let is_absent = |seen: io::Result<Seen>| seen.is_ok_and(|seen| seen.state == State::Absent);
            is_absent(image::glance(root, &to.path())) && !is_absent(image::glance(root, &from.path()))
        }
        Step::Change { path, before, .. } => image::look(root, &path.path())
            .is_ok_and(|seen| seen.state.is_same_content(before) && seen.state.mode() == before.mode()),
    }
}

fn step_back(root: &Root, back: &Back<'_>, images: &Images<'_>) -> Result<(), Trouble> {
    let travel = back.brought.map_or(Travel::Nothing, Travel::Leaves);
    let (path, before, after, beside) = match back.step {
        Step::Move { from, to } => {
            let (place, syncing) = (to.path(), Syncing::Each);
            let spot = Spot { root, place: &place, beside: "", seen: None, travel, syncing };
            return structure::rename(&spot, &from.path());
        }
        Step::Change { path, before, after, beside } => {
            (path.path(), before, after, name_for_the_way_back(beside.as_deref().unwrap_or_default()))
        }
    };
    let Seen { state: now, stat, .. } = image::look(root, &path)?;
    if !now.is_same_content(after) {
        return if now.is_same_content(before) { Ok(()) } else { Err(Trouble::Overtaken) };
    }
    let spot = Spot { root, place: &path, beside: &beside, seen: stat.as_ref(), travel, syncing: Syncing::Each };
    match (before, &now) {
        (State::File { mode, .. }, State::File { .. }) | (State::Folder { mode }, State::Folder { .. })
            if before.is_same_content(after) =>
        {
            // A mode that somebody has set since stays.
            if now.mode() == after.mode() { structure::set_mode(&spot, *mode) } else { Ok(()) }
        }
        (State::Absent, State::Folder { .. }) => structure::remove_folder(&spot),
        (State::Absent, _) => replace::take_away(&spot),
        (State::File { content, .. }, _) => {
            let old = match content {
                Kept::Inline { at, length } => Content::Bytes((images.inline)(*at, *length)?.into()),
                Kept::Object { hash } => Content::Object(*hash, 0),
                Kept::Splice { .. } | Kept::No => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
            };
            let staged = replace::stage(&spot, new(&old, &images.objects)?, before.rights())?;
            replace::place(&spot, &staged)
        }
        (State::Link { to }, _) => structure::make_link(&spot, &to.path()),
        (State::Folder { mode }, _) => structure::make_folder(&spot, Some(*mode | WORKABLE)),
    }
}
