//! The folders through which commands write at once, as a command meets them and as they are named.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use haft::door::FileKind;
use haft::path::{Extent, Place, Target};

use super::super::open::Root;
use super::apart::{self, Seen};
use super::kind_at;

/// Looks at every root.
pub(super) fn seen(root: &Root) -> Vec<(&Path, Seen)> {
    root.folders().into_iter().map(|(path, folder)| (path, apart::find(folder.as_fd(), path))).collect()
}

/// Returns those folders of a root that are there.
pub(super) fn existing(root: BorrowedFd<'_>, apart: Option<&BTreeSet<PathBuf>>) -> Vec<PathBuf> {
    let is_there = |place: &&PathBuf| kind_at(root, place) == Some(FileKind::Folder);
    apart.into_iter().flatten().filter(is_there).cloned().collect()
}

/// Names those folders that are there, by their places in the workspace.
pub(super) fn targets(root: &Root, apart: &[BTreeSet<PathBuf>]) -> Vec<Target> {
    let mut targets = Vec::new();
    for ((path, folder), apart) in root.folders().into_iter().zip(apart) {
        let names = existing(folder.as_fd(), Some(apart)).into_iter().map(|place| path.join(place));
        let target = |name: PathBuf| Some(Target::Inside(Place::new(root.place_of(&name)?, Extent::Tree)));
        targets.extend(names.filter_map(target));
    }
    targets
}
