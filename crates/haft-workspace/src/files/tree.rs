//! Commits and undoes changes of ignored build trees (`target`, `node_modules`) by rename.
//!
//! A build writes thousands of files that no person reads one by one. Copying each into the journal would take longer than
//! the build. So haft swaps entries of such a tree with entries of a *store* on the same file system. A commit takes in what
//! a command left, and puts replaced or removed entries into the store. An undo is the reverse exchange. Before each
//! exchange haft writes a list of its operations, so that it can revert an interrupted exchange.
//!
//! A program that has a replaced file open may still write into the store (decision 0021). If another program changed an
//! entry meanwhile, its version stays.
//!
//! Not here: which trees are ignored (`layer::judging::generated`), the order of a transaction (`change::apply`).

mod back;
mod clean;
mod exchange;
mod manifest;
mod plan;
mod store;

pub(super) use plan::{CommitPlan, Hides, Planner};
pub(crate) use store::{TreeStores, bytes_of, folders_in, remove_from_folder};
pub(super) use store::{hidden_places, hide_stores};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::change::bring::LayerEntry;
use super::change::replace::{StagingMove, Trouble};
use super::clock::FilesystemTime;
use super::read::open::WorkspaceRoot;
use crate::state::journal::{StoreName, TreeRecord};
use back::PutBack;
use exchange::Exchange;
use manifest::{ExchangeOperation, Manifest};
use store::TreeStore;

/// A change of an ignored tree, to be done by a transaction.
#[derive(Clone, Debug)]
pub(crate) struct TreeChange {
    pub(crate) record: TreeRecord,
    kind: Arc<TreeChangeKind>,
}

/// The kind of a change of an ignored tree.
#[derive(Debug)]
enum TreeChangeKind {
    /// Commits what a command left in its layer.
    Commit(Commit),
    /// Reverts the exchange before. Undos of later changes have written these places again, through the journal.
    Back(Vec<PathBuf>),
}

#[derive(Debug)]
struct Commit {
    /// What lies in the layer; nothing when the command removed the tree.
    source: Option<LayerEntry>,
    operations: Vec<ExchangeOperation>,
    /// How many entries stay because another program changed them while the command ran.
    kept: usize,
    stage: Mutex<CommitStage>,
    stores: TreeStores,
    root: PathBuf,
}

/// The location of the entries that a command left: the layer, the store or the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitStage {
    Layer,
    Store,
    /// In the workspace, or on the way there.
    Workspace,
}

impl TreeChange {
    /// Prepares the commit of a plan.
    pub(super) fn commit(
        plan: CommitPlan,
        source: Option<LayerEntry>,
        (root, stores): (&WorkspaceRoot, &TreeStores),
    ) -> Self {
        let name = stores.new_name(plan.base, plan.bytes);
        let record = TreeRecord { store: name, exchange: 0, counts: plan.counts };
        let (stores, root) = (stores.clone(), root.path().to_owned());
        let stage = Mutex::new(CommitStage::Layer);
        let commit = Commit { source, operations: plan.operations, kept: plan.kept, stage, stores, root };
        Self { record, kind: Arc::new(TreeChangeKind::Commit(commit)) }
    }

    /// Prepares to take an exchange back. At the restored places is what it left, though not the same file any more.
    pub(crate) fn back(record: &TreeRecord, restored: Vec<PathBuf>) -> Self {
        let [created, replaced, removed] = record.counts;
        let counts = [removed, replaced, created];
        let record = TreeRecord { store: record.store.clone(), exchange: record.exchange + 1, counts };
        Self { record, kind: Arc::new(TreeChangeKind::Back(restored)) }
    }

    /// Returns the places that it would fill or replace.
    pub(crate) fn coming(&self, root: &WorkspaceRoot, stores: &TreeStores, place: &Path) -> io::Result<Vec<PathBuf>> {
        let comes = |operation: &&ExchangeOperation| {
            operation.comes().is_some() || matches!(operation, ExchangeOperation::Make { .. })
        };
        let places = |operations: &[ExchangeOperation]| {
            operations.iter().filter(comes).map(|operation| place.join(operation.path().path())).collect()
        };
        match &*self.kind {
            TreeChangeKind::Commit(commit) => Ok(places(&commit.operations)),
            TreeChangeKind::Back(restored) => {
                let store = stores.open(root.path(), &self.record.store)?;
                let before = store.read(self.record.exchange.saturating_sub(1))?;
                let exchange = Exchange::open(root, &store, place)?;
                let tree = StoredTree { root, stores, place, record: &self.record };
                let found = tree.put_back(&exchange, restored);
                let (operations, _) = back::back(&exchange, &before, &found)?;
                Ok(places(&operations))
            }
        }
    }

    /// Removes the store of a commit that was given up.
    pub(super) fn discard(&self) {
        if let TreeChangeKind::Commit(commit) = &*self.kind
            && commit.stage() == CommitStage::Store
        {
            commit.stores.remove(&commit.root, &self.record.store);
        }
    }

    /// Reverts what was done, so that it can be tried again.
    pub(super) fn revert(&self, root: &WorkspaceRoot, stores: &TreeStores, place: &Path) -> io::Result<()> {
        match &*self.kind {
            TreeChangeKind::Commit(commit) if commit.stage() == CommitStage::Workspace => {
                let (exchange, manifest) = opened(root, stores, (place, &self.record))?;
                exchange.revert(&manifest.operations)?;
                commit.set(CommitStage::Store);
                Ok(())
            }
            TreeChangeKind::Commit(_) => Ok(()),
            TreeChangeKind::Back(_) => revert(root, stores, (place, &self.record)),
        }
    }

    /// Does all operations or none; returns what the user should know.
    pub(super) fn perform(
        &self,
        root: &WorkspaceRoot,
        stores: &TreeStores,
        place: &Path,
    ) -> Result<Vec<String>, Trouble> {
        match &*self.kind {
            TreeChangeKind::Commit(commit) => commit.perform(root, (stores, &self.record.store), place),
            TreeChangeKind::Back(restored) => {
                StoredTree { root, stores, place, record: &self.record }.take_back(restored)
            }
        }
    }
}

impl Commit {
    fn perform(
        &self,
        root: &WorkspaceRoot,
        (stores, name): (&TreeStores, &StoreName),
        place: &Path,
    ) -> Result<Vec<String>, Trouble> {
        if self.stage() == CommitStage::Layer {
            let staged = self.stage_in_store(root, (stores, name));
            if staged.is_err() {
                stores.remove(root.path(), name);
            }
            staged?;
            self.set(CommitStage::Store);
        }
        let store = stores.open(root.path(), name)?;
        let operations = store.read(0)?.operations;
        let exchange = Exchange::open(root, &store, place)?;
        self.set(CommitStage::Workspace);
        let applied = exchange.apply(&operations);
        if applied.is_err() && !operations.iter().any(|operation| exchange.is_done(operation)) {
            self.set(CommitStage::Store);
        }
        let overtaken = applied?;
        store.note_end(0)?;
        Ok(kept_note(self.kept + overtaken, "by another call or program meanwhile; haft kept that version"))
    }

    fn stage_in_store(&self, root: &WorkspaceRoot, (stores, name): (&TreeStores, &StoreName)) -> io::Result<()> {
        let store = stores.make(root.path(), name)?;
        #[cfg(test)]
        super::change::crash_points::point();
        #[cfg(test)]
        super::change::crash_points::fault()?;
        let moved = match &self.source {
            Some(source) => store.take_in(source)?,
            None => StagingMove::Yes,
        };
        #[cfg(test)]
        super::change::crash_points::point();
        #[cfg(test)]
        super::change::crash_points::fault()?;
        match moved {
            StagingMove::Yes => store.write(0, &self.operations),
            StagingMove::No => store.write(0, &store.recognised(&self.operations)),
        }
    }

    fn stage(&self) -> CommitStage {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, stage: CommitStage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }
}

/// Says how many entries stay as they are.
fn kept_note(kept: usize, why: &str) -> Vec<String> {
    match kept {
        0 => Vec::new(),
        1 => vec![format!("1 entry was changed {why}.")],
        kept => vec![format!("{kept} entries were changed {why}.")],
    }
}

/// A tree with stored entries, and its record.
pub(crate) struct StoredTree<'a> {
    pub(crate) root: &'a WorkspaceRoot,
    pub(crate) stores: &'a TreeStores,
    pub(crate) place: &'a Path,
    pub(crate) record: &'a TreeRecord,
}

impl<'a> StoredTree<'a> {
    /// Takes the exchange before this one back, as far as nothing was changed since; returns what stays.
    fn take_back(&self, restored: &[PathBuf]) -> Result<Vec<String>, Trouble> {
        let Self { root, stores, place, record } = *self;
        let store = stores.open(root.path(), &record.store)?;
        let before = store.read(record.exchange.saturating_sub(1))?;
        let exchange = Exchange::open(root, &store, place)?;
        let found = self.put_back(&exchange, restored);
        let (operations, kept) = back::back(&exchange, &before, &found)?;
        store.write(record.exchange, &operations)?;
        let overtaken = exchange.apply(&operations)?;
        store.note_end(record.exchange)?;
        Ok(kept_note(kept + overtaken, "since; haft kept the newest version"))
    }

    /// Returns how many entries of the tree would stay if an exchange were taken back now.
    pub(crate) fn would_keep(&self, restored: &[PathBuf]) -> io::Result<usize> {
        let (exchange, manifest) = opened(self.root, self.stores, (self.place, self.record))?;
        let found = self.put_back(&exchange, restored);
        back::back(&exchange, &manifest, &found).map(|(_, kept)| kept)
    }

    /// Finds the entries that undos of later changes put back, through stores and through the journal.
    fn put_back(&self, exchange: &Exchange, restored: &[PathBuf]) -> PutBack<'a> {
        let Self { root, stores, place, record } = *self;
        let below = restored.iter().filter_map(|path| path.strip_prefix(place).ok());
        let restored = below.filter_map(|path| exchange.in_workspace(path)).collect();
        PutBack { restored, by_stores: Box::new(|| stores.put_back_after(root.path(), &record.store)) }
    }
}

/// How far an interrupted exchange came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeProgress {
    None,
    Some,
    All,
}

/// Says how far an exchange came.
pub(super) fn progress(
    root: &WorkspaceRoot,
    stores: &TreeStores,
    (place, record): (&Path, &TreeRecord),
) -> ExchangeProgress {
    let looked = opened(root, stores, (place, record)).map(|(exchange, manifest)| {
        let done = manifest.operations.iter().filter(|operation| exchange.is_done(operation)).count();
        (done, manifest.operations.iter().filter(|operation| operation.moves()).count())
    });
    match looked {
        Ok((0, _)) | Err(_) => ExchangeProgress::None,
        Ok((done, all)) if done == all => ExchangeProgress::All,
        Ok(_) => ExchangeProgress::Some,
    }
}

/// Finishes an exchange of which every entry was moved.
pub(super) fn finish(root: &WorkspaceRoot, stores: &TreeStores, (place, record): (&Path, &TreeRecord)) {
    if let Ok((exchange, manifest)) = opened(root, stores, (place, record)) {
        exchange.finish(&manifest.operations);
        if manifest.end.is_none()
            && let Ok(store) = stores.open(root.path(), &record.store)
        {
            // Without it a later undo takes every entry for changed.
            let _ = store.note_end(record.exchange);
        }
    }
}

/// Reverts what was done of an exchange. A store that the exchange had made goes.
pub(super) fn revert(
    root: &WorkspaceRoot,
    stores: &TreeStores,
    (place, record): (&Path, &TreeRecord),
) -> io::Result<()> {
    match opened(root, stores, (place, record)) {
        Ok((exchange, manifest)) => {
            exchange.revert(&manifest.operations)?;
            if manifest.operations.iter().any(|operation| exchange.is_done(operation)) {
                return Err(io::Error::other("some entries could not be moved back"));
            }
        }
        // Without the list nothing was done.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if record.exchange == 0 {
        stores.remove(root.path(), &record.store);
    }
    Ok(())
}

fn opened(
    root: &WorkspaceRoot,
    stores: &TreeStores,
    (place, record): (&Path, &TreeRecord),
) -> io::Result<(Exchange, Manifest)> {
    let store: TreeStore = stores.open(root.path(), &record.store)?;
    let manifest = store.read(record.exchange)?;
    Ok((Exchange::open(root, &store, place)?, manifest))
}

impl Manifest {
    /// Returns the moment from which on changes are those of others.
    fn since(&self) -> FilesystemTime {
        self.end.map_or(FilesystemTime::BEGINNING, FilesystemTime::at)
    }
}
