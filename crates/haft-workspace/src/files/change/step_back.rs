//! Reverts steps without writing to the journal: they belong to an intent that failed or was interrupted.
//!
//! Not here: undo, which is a change of its own (`history`).

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::bring::LayerEntry;
use super::durable::{sync_contents, sync_folders};
use super::replace::{self, ReplaceTarget, StagedEntry, Syncing, Travel, Trouble};
use super::snapshot;
use super::snapshot::PlaceSnapshot;
use super::transaction::{NewContent, new};
use crate::files::read::open::WorkspaceRoot;
use crate::files::searching::order::{WORKABLE, is_workable};
use crate::files::structure;
use crate::files::tree;
use crate::files::tree::{ExchangeProgress, TreeChange, TreeStores};
use crate::state::journal::{ContentLocation, IntentStep, Objects, PathState};

/// Where the contents of an intent can be found again.
pub(crate) struct Images<'a> {
    pub(crate) inline: &'a dyn Fn(u32, u32) -> io::Result<Vec<u8>>,
    pub(crate) objects: Objects,
    pub(crate) stores: TreeStores,
}

impl Images<'_> {
    /// Returns whether a content is another one or its beginning; nothing where the other one is not kept.
    pub(in crate::files) fn is_beginning(
        &self,
        part: &PathState,
        whole: &PathState,
        before: &PathState,
    ) -> Option<bool> {
        let (PathState::File { size, hash, .. }, PathState::File { content, .. }) = (part, whole) else {
            return Some(part.is_same_content(whole));
        };
        if part.is_same_content(whole) {
            return Some(true);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(self.content(content, before).ok()?.take(*size)).ok()?;
        Some(hasher.count() == *size && *hasher.finalize().as_bytes() == hash.0)
    }

    fn content(&self, kept: &ContentLocation, before: &PathState) -> io::Result<Box<dyn Read>> {
        Ok(match kept {
            ContentLocation::Inline { at, length } => Box::new(io::Cursor::new((self.inline)(*at, *length)?)),
            ContentLocation::Object { hash } => Box::new(self.objects.open(*hash)?),
            ContentLocation::Splice { begin, middle, end } => {
                let PathState::File { content, size, .. } = before else {
                    return Err(io::ErrorKind::InvalidData.into());
                };
                let old = || self.content(content, &PathState::Absent);
                let mut tail = old()?;
                io::copy(&mut tail.by_ref().take(size.saturating_sub(*end)), &mut io::sink())?;
                Box::new(old()?.take(*begin).chain(self.content(middle, before)?).chain(tail))
            }
            ContentLocation::No => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

/// Returns the name under which the old content lies on its way back, so that it is not taken for what was swapped out.
pub(in crate::files) fn name_for_the_way_back(beside: &str) -> String {
    format!("{beside}.back")
}

/// A step to be taken back.
pub(in crate::files) struct Back<'a> {
    pub(in crate::files) step: &'a IntentStep,
    /// Where what it put in place came from, and goes back to.
    pub(in crate::files) brought: Option<&'a LayerEntry>,
    /// The exchange of a tree, where it may be tried again.
    pub(in crate::files) tree: Option<&'a TreeChange>,
}

/// So many steps are taken back one by one; of more, old contents are written first and synced together.
const FEW: usize = 16;
/// The most old contents that wait ready together.
const MOST_WAITING: usize = 512;

/// Takes the first steps of an intent back, the last of them first; returns which of them stand all the same.
///
/// If another program has put something in a place since, it stays, and so does the step beneath it.
pub(in crate::files) fn take_back(root: &WorkspaceRoot, steps: &[Back<'_>], images: &Images<'_>) -> Vec<usize> {
    let syncing = if steps.len() <= FEW { Syncing::Each } else { Syncing::Together };
    let mut way_back = WayBack { root, images, syncing, waiting: Vec::new(), failed: Vec::new() };
    for (index, back) in steps.iter().enumerate().rev() {
        #[cfg(test)]
        super::crash_points::point();
        match way_back.step(back) {
            Ok(Some(old)) => way_back.waiting.push((index, old)),
            Ok(None) => {}
            Err(_) => way_back.failed.push(index),
        }
        if way_back.waiting.len() == MOST_WAITING {
            way_back.place_waiting(steps);
        }
    }
    way_back.place_waiting(steps);
    narrow_folders(root, steps);
    let mut failed = way_back.failed;
    if syncing == Syncing::Together {
        let folders = steps.iter().flat_map(|back| folders_of(back.step)).collect();
        // What does not outlive a power cut is found by looking, like all that was cut off.
        let _ = sync_folders(root, &folders);
    }
    failed.retain(|index| !is_as_before(root, &images.stores, steps[*index].step));
    failed.sort_unstable();
    failed
}

/// Returns the folders whose names a step changes.
pub(in crate::files) fn folders_of(step: &IntentStep) -> impl Iterator<Item = PathBuf> {
    step.paths().filter_map(|path| path.path().parent().map(Path::to_owned)).collect::<Vec<_>>().into_iter()
}

fn narrow_folders(root: &WorkspaceRoot, steps: &[Back<'_>]) {
    for Back { step, .. } in steps {
        if let IntentStep::Change { path, before: PathState::Folder { mode }, .. } = step
            && !is_workable(*mode)
        {
            // What was in it is back, or stands.
            let _ = structure::narrow(root, &path.path(), *mode);
        }
    }
}

/// Steps that are being taken back.
struct WayBack<'a> {
    root: &'a WorkspaceRoot,
    images: &'a Images<'a>,
    syncing: Syncing,
    /// Old contents that lie ready, by the place of their steps.
    waiting: Vec<(usize, Old)>,
    /// The steps that could not be taken back.
    failed: Vec<usize>,
}

/// An old content that lies ready.
struct Old {
    path: PathBuf,
    beside: String,
    seen: Option<Stat>,
    staged: StagedEntry,
}

/// A step may be back although not everything went well: a failed sync comes last.
fn is_as_before(root: &WorkspaceRoot, stores: &TreeStores, step: &IntentStep) -> bool {
    match step {
        // What an undo moved only in part is found by the next one, entry by entry; of a commit the store must be kept.
        IntentStep::Tree { path, tree } => match tree::progress(root, stores, (&path.path(), tree)) {
            ExchangeProgress::None => true,
            ExchangeProgress::Some => tree.exchange > 0,
            ExchangeProgress::All => false,
        },
        IntentStep::Move { from, to } => {
            let is_absent = |seen: io::Result<PlaceSnapshot>| seen.is_ok_and(|seen| seen.state == PathState::Absent);
            is_absent(snapshot::glance(root, &to.path())) && !is_absent(snapshot::glance(root, &from.path()))
        }
        IntentStep::Change { path, before, .. } => snapshot::look(root, &path.path())
            .is_ok_and(|seen| seen.state.is_same_content(before) && seen.state.mode() == before.mode()),
    }
}

impl WayBack<'_> {
    /// Takes a step back; returns what lies ready for that where contents are synced together.
    fn step(&self, back: &Back<'_>) -> Result<Option<Old>, Trouble> {
        let (root, syncing) = (self.root, self.syncing);
        let travel = travel_of(back);
        let (path, before, after, beside) = match back.step {
            IntentStep::Tree { path, tree } => {
                let reverted = match back.tree {
                    Some(change) => change.revert(root, &self.images.stores, &path.path()),
                    None => tree::revert(root, &self.images.stores, (&path.path(), tree)),
                };
                return Ok(reverted.map(|()| None)?);
            }
            IntentStep::Move { from, to } => {
                let place = to.path();
                let spot = ReplaceTarget { root, place: &place, beside: "", seen: None, travel, syncing };
                return structure::rename(&spot, &from.path()).map(|()| None);
            }
            IntentStep::Change { path, before, after, beside } => {
                (path.path(), before, after, name_for_the_way_back(beside.as_deref().unwrap_or_default()))
            }
        };
        let PlaceSnapshot { state: now, stat, .. } = snapshot::look(root, &path)?;
        if !now.is_same_content(after) {
            return if now.is_same_content(before) { Ok(None) } else { Err(Trouble::Overtaken) };
        }
        let spot = ReplaceTarget { root, place: &path, beside: &beside, seen: stat.as_ref(), travel, syncing };
        match (before, &now) {
            (PathState::File { mode, .. }, PathState::File { .. })
            | (PathState::Folder { mode }, PathState::Folder { .. })
                if before.is_same_content(after) =>
            {
                // A mode that another program has set since stays.
                if now.mode() == after.mode() {
                    // What goes back into a folder comes before its mode.
                    let is_folder = matches!(now, PathState::Folder { .. });
                    structure::set_mode(&spot, if is_folder { mode | WORKABLE } else { *mode })?
                }
            }
            (PathState::Absent, PathState::Folder { .. }) => structure::remove_folder(&spot)?,
            (PathState::Absent, _) => replace::take_away(&spot)?,
            (PathState::File { .. }, _) => {
                let staged = self.stage(&spot, before)?;
                if syncing == Syncing::Together {
                    return Ok(Some(Old { path, beside, seen: stat, staged }));
                }
                replace::place(&spot, &staged)?;
            }
            (PathState::Link { to }, _) => structure::make_link(&spot, &to.path())?,
            (PathState::Folder { mode }, _) => structure::make_folder(&spot, Some(*mode | WORKABLE))?,
        }
        Ok(None)
    }

    fn stage(&self, spot: &ReplaceTarget<'_>, before: &PathState) -> Result<StagedEntry, Trouble> {
        let damaged = || Trouble::System(io::ErrorKind::InvalidData.into());
        let PathState::File { content, .. } = before else { return Err(damaged()) };
        let old = match content {
            ContentLocation::Inline { at, length } => NewContent::Bytes((self.images.inline)(*at, *length)?.into()),
            ContentLocation::Object { hash } => NewContent::Object(*hash, 0),
            ContentLocation::Splice { .. } | ContentLocation::No => return Err(damaged()),
        };
        let mut staged = replace::stage(spot, new(&old, &self.images.objects)?, before.rights())?;
        if self.syncing == Syncing::Together {
            staged.let_go();
        }
        Ok(staged)
    }

    /// Puts the old contents that lie ready in their places, once they outlive a power cut.
    fn place_waiting(&mut self, steps: &[Back<'_>]) {
        let waiting = std::mem::take(&mut self.waiting);
        let ready = waiting.iter().map(|(_, old)| (old.path.as_path(), &old.staged));
        let synced = sync_contents(self.root, ready);
        for (index, Old { path, beside, seen, staged }) in &waiting {
            let travel = travel_of(&steps[*index]);
            let (root, seen, syncing) = (self.root, seen.as_ref(), self.syncing);
            let spot = ReplaceTarget { root, place: path, beside, seen, travel, syncing };
            #[cfg(test)]
            super::crash_points::point();
            if synced.is_err() {
                replace::unstage(&spot, staged);
                self.failed.push(*index);
            } else if replace::place(&spot, staged).is_err() {
                self.failed.push(*index);
            }
        }
    }
}

fn travel_of<'a>(back: &Back<'a>) -> Travel<'a> {
    back.brought.map_or(Travel::Nothing, Travel::Leaves)
}
