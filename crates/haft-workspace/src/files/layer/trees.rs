//! Commits ignored trees with the rest of what a command changed.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::Receipt;
use haft_contract::doors::process::{ChangeCounts, CommitReport, Settlement};
use haft_contract::effect::Change;
use haft_contract::files::path::Extent;
use haft_contract::outcome::error::ToolError;
use rustix::fs::OFlags;

use super::super::tree::{Hides, Planner, TreeChange};
use super::AsFd;
use super::difference::RootedPath;
use super::read::is_opaque;
use super::settling::report;
use super::settling::settle::{OpenRoot, Settling};
use crate::files::change::bring::LayerEntry;
use crate::files::change::transaction::{FileAction, FileMutation, Precondition};
use crate::files::read::open::open_beneath;

/// So many bytes that are kept for undo are worth a word where the disk is full.
const MUCH: u64 = 100_000_000;

/// An ignored tree that a command changed, and what is to be done.
pub(super) struct PlannedTree {
    spot: RootedPath,
    kind: Change,
    counts: ChangeCounts,
    /// Nothing where every entry stays because another program changed it.
    pub(super) change: Option<TreeChange>,
    kept: usize,
    /// How many bytes of the disk what it replaced or removed takes.
    going: u64,
}

impl PlannedTree {
    /// Removes what was prepared and is not needed.
    pub(super) fn discard(&self) {
        self.change.iter().for_each(TreeChange::discard);
    }
}

impl Settling<'_> {
    /// Plans the commit of each tree that changed.
    pub(super) fn planned_trees(&self, spots: &[RootedPath]) -> Result<Vec<PlannedTree>, ToolError> {
        let mut planned = Vec::new();
        for spot in spots {
            let tree = self.planned_tree(spot).map_err(|error| match error.kind() {
                std::io::ErrorKind::Interrupted if self.stop.is_cancelled() => crate::files::change::write::stopped(),
                _ => report::unread(&self.roots[spot.root].place_of(&spot.path), error),
            })?;
            planned.extend(tree);
        }
        Ok(planned)
    }

    fn planned_tree(&self, spot: &RootedPath) -> std::io::Result<Option<PlannedTree>> {
        let root = &self.roots[spot.root];
        let Some(base) = self.layers.store_base(spot.root) else { return Ok(None) };
        let stopped = || self.stop.is_cancelled();
        let (layer, workspace) = (parent_in(&root.upper, &spot.path), parent_in(&root.folder, &spot.path));
        let (had, has) = (root.stat_below(&spot.path).is_some(), root.has_layered(&spot.path));
        let planner = Planner::of_layer(root.since, &stopped);
        let Some(plan) = planner.commit(base, layer, workspace, root.hides(&spot.path))? else {
            return Ok(None);
        };
        let [created, replaced, removed] = plan.counts;
        let kind = match (had, has) {
            (false, _) => Change::Create,
            (true, true) => Change::Replace,
            (true, false) if plan.kept == 0 => Change::Remove,
            (true, false) => Change::Replace,
        };
        let counts = ChangeCounts { created, replaced, removed };
        let (kept, going, is_empty) = (plan.kept, plan.going, plan.is_empty());
        let source = has.then(|| LayerEntry { from: root.layered.clone(), path: spot.path.clone() });
        let stores = &self.layers.stores;
        let change = (!is_empty).then(|| TreeChange::commit(plan, source, (&self.layers.root, stores)));
        Ok(Some(PlannedTree { spot: spot.clone(), kind, counts, change, kept, going }))
    }

    /// Returns what a transaction does with a tree.
    pub(super) fn tree_deed(&self, tree: &PlannedTree) -> Option<FileMutation> {
        let place: PathBuf = self.roots[tree.spot.root].place_of(&tree.spot.path);
        Some(FileMutation {
            place,
            action: FileAction::Tree(Box::new(tree.change.clone()?)),
            expected: Precondition::Anything,
        })
    }

    /// Notes which trees were changed, and keeps their stores within their room.
    pub(super) fn note_trees(&self, trees: &[PlannedTree], settled: &mut CommitReport) {
        for tree in trees {
            let target = self.target(&tree.spot, Extent::Tree);
            if tree.change.is_none() {
                settled.notes.extend(report::of_kept(&target, tree.kept));
                continue;
            }
            let base = self.layers.store_base(tree.spot.root);
            let free = base.and_then(|base| self.layers.stores.free_room(self.layers.root.path(), &base));
            if tree.going > MUCH && free.is_some_and(|free| tree.going > free / 2) {
                settled.notes.push(report::of_much_kept(&target, tree.going));
            }
            self.receipts.note(Receipt::Changed(target.clone(), tree.kind));
            settled.changes.push(Settlement {
                target,
                change: tree.kind,
                is_folder: true,
                is_replaced: false,
                diff: None,
                inside: Some(tree.counts),
                from: None,
            });
        }
        if trees.iter().any(|tree| tree.change.is_some()) {
            self.layers.trim_stores();
        }
    }

    /// Returns what would become of a tree, where a command is only tried.
    pub(super) fn shown_tree(&self, spot: &RootedPath) -> Settlement {
        let root = &self.roots[spot.root];
        let change = match (root.stat_below(&spot.path).is_some(), root.has_layered(&spot.path)) {
            (false, _) => Change::Create,
            (true, true) => Change::Replace,
            (true, false) => Change::Remove,
        };
        let target = self.target(spot, Extent::Tree);
        Settlement { target, change, is_folder: true, is_replaced: false, diff: None, inside: None, from: None }
    }
}

impl OpenRoot {
    /// Returns whether a folder above a path replaces the one in the workspace.
    fn hides(&self, path: &Path) -> Hides {
        let is_opaque = |folder: &Path| {
            let (Some(parent), Some(name)) = (parent_in(&self.upper, folder), folder.file_name()) else { return false };
            is_opaque(parent.0.as_fd(), name.as_bytes())
        };
        if path.ancestors().skip(1).any(is_opaque) { Hides::Yes } else { Hides::No }
    }

    /// Returns whether a layer has something at a path, and not only the mark that it was removed.
    pub(super) fn has_layered(&self, path: &Path) -> bool {
        self.stat_layered(path).is_some_and(|stat| !crate::files::change::removal_mark::is_removal_mark(&stat))
    }
}

/// Opens the folder that holds a path, where it is there.
pub(super) fn parent_in<'p>(root: &OwnedFd, path: &'p Path) -> Option<(OwnedFd, &'p std::ffi::OsStr)> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.map_or(&b"."[..], |parent| parent.as_os_str().as_bytes());
    let opened = open_beneath(root.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY).ok()?;
    Some((opened, path.file_name()?))
}
