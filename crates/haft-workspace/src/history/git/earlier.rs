//! Tells what a repository had before change sets: their own objects, and those that they only stored in another form.
//!
//! Git packs loose objects, and unpacks and rewrites packs. If a commit existed before, in any form, a change set did not
//! make it. The journal has the objects that the sets removed; all others are older than the sets.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::object_store::{PackIndex, from_hex};
use super::refs::GitStep;
use super::{GitPathRole, loose_oid};
use crate::history::contents::Contents;
use crate::state::journal::PathState;

/// The objects of a repository that steps added, and those that were there before.
pub(super) struct Objects {
    new_loose: BTreeSet<String>,
    new_packs: Vec<PackIndex>,
    old_loose: BTreeSet<String>,
    old_packs: Vec<PackIndex>,
    /// The indexes of packs that the steps removed.
    removed_packs: Vec<Vec<u8>>,
    /// Whether there was a pack whose content is not known.
    has_unknown: bool,
}

impl Objects {
    /// Looks at the steps of one repository, the newest first.
    pub(super) fn of(contents: &Contents<'_>, dir: &Path, steps: &[&GitStep<'_>]) -> Self {
        // Of several steps at one path the oldest says what was there before all of them.
        let of_objects = steps.iter().filter(|step| step.at.role == GitPathRole::Object);
        let oldest: BTreeMap<&PathBuf, &GitStep<'_>> = of_objects.map(|step| (&step.path, *step)).collect();
        let (new, old): (Vec<&GitStep<'_>>, Vec<&GitStep<'_>>) =
            oldest.values().copied().partition(|step| *step.before == PathState::Absent);
        let loose = |steps: &[&GitStep<'_>]| steps.iter().filter_map(|step| loose_oid(&step.path)).collect();
        let opened = |path: &PathBuf| PackIndex::open(&contents.root.path().join(path)).ok();
        let removed: Vec<Option<Vec<u8>>> =
            old.iter().filter(|step| is_index(&step.path)).map(|step| step.old(contents)).collect();
        let began = began_at(contents, steps.iter().map(|step| step.number));
        let is_older = |path: &PathBuf| changed_at(contents, path).zip(began).is_some_and(|(at, began)| at < began);
        let packs = contents.paths_in(&dir.join("objects/pack"));
        let left_alone = packs.iter().filter(|path| is_index(path) && !oldest.contains_key(path) && is_older(path));
        Self {
            new_loose: loose(&new),
            new_packs: new.iter().filter(|step| is_index(&step.path)).filter_map(|step| opened(&step.path)).collect(),
            old_loose: loose(&old),
            old_packs: left_alone.filter_map(opened).collect(),
            has_unknown: removed.iter().any(Option::is_none),
            removed_packs: removed.into_iter().flatten().collect(),
        }
    }

    /// Returns whether an object is there because of the steps alone.
    pub(super) fn is_made(&self, oid: &str) -> bool {
        let Some(bytes) = from_hex(oid) else { return false };
        let is_in = |packs: &[PackIndex]| packs.iter().any(|pack| pack.has(&bytes));
        let is_new = self.new_loose.contains(oid) || is_in(&self.new_packs) && !self.has_unknown;
        // The names are sorted, yet whole; a search by bytes finds the aligned one.
        let was_packed = || self.removed_packs.iter().any(|pack| memchr::memmem::find(pack, &bytes).is_some());
        is_new && !self.old_loose.contains(oid) && !is_in(&self.old_packs) && !was_packed()
    }
}

fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "idx")
}

/// Returns when the first of some change sets began, in milliseconds since the epoch.
pub(super) fn began_at(contents: &Contents<'_>, numbers: impl IntoIterator<Item = u64>) -> Option<u64> {
    let oldest = numbers.into_iter().min()?;
    contents.sets.intents_of(oldest).map(|(intent, _)| intent.at).min()
}

/// Returns when a file was last changed in any way, in milliseconds since the epoch; nothing where it is not there.
pub(super) fn changed_at(contents: &Contents<'_>, path: &Path) -> Option<u64> {
    let facts = std::fs::symlink_metadata(contents.root.path().join(path)).ok()?;
    let at = facts.ctime().checked_mul(1_000)?.checked_add(facts.ctime_nsec() / 1_000_000)?;
    u64::try_from(at).ok()
}
