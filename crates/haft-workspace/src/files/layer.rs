//! The layers that a command works on: one over each folder that it may write, and what becomes of them.
//!
//! The real folders lie beneath and do not change while the command runs. After it ends, haft compares the layer with them.
//! What may be committed is one transaction with everything else that haft changes (decision 0007). Where no layer is
//! possible, the command works on the real folders, and haft says so.
//!
//! Not here: mounting it and running anything (`haft-sandbox`).

mod capabilities;
mod copied_layer;
mod difference;
mod folder;
mod judging;
mod layerless;
mod memory;
mod mounts;
mod read;
mod settling;
mod touched;
mod trees;
mod watched;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use haft_contract::BoxFuture;
use haft_contract::doors::door::{FileKind, Permit, Provenance, Receipts};
use haft_contract::doors::process::{CommitReport, Disposition, GroundRoot, Keeps, OverlayDirs, Staging, StagingMode};
use haft_contract::files::path::Target;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::{AtFlags, OFlags};
use tokio_util::sync::CancellationToken;

use super::blocking;
use super::clock::{Clock, FilesystemTime};
use super::guarding::secrets::SecretFiles;
use super::read::facts::kind_of;
use super::read::folder::FolderNameList;
use super::read::open::{WorkspaceRoot, open_name};
use super::tree::{TreeStores, hide_stores};
use crate::state::WorkspaceState;
use crate::state::journal::{Journal, Mark, StoreBase};
use crate::state::own_files::private;
use capabilities::LayerCapabilities;
use difference::Caps;
use folder::LayerFolder;
use judging::covers::Cover;
use judging::well_known::WellKnown;
use layerless::Layerless;
use mounts::Mounts;
use settling::removing::Removing;
use settling::settle::{OpenRoot, Settling};
use settling::sync::OwnCommits;
use watched::WatchedLayers;

pub(super) use folder::{open_anyway, remove_name};
pub(super) use read::{
    ComparedEntry, FOLDER_MODE, MODE, has_origin, is_opaque, is_same_file, open_file as open_layer_file,
};

/// Makes the layers of a workspace, and removes them.
pub(super) struct Layers {
    root: Arc<WorkspaceRoot>,
    journal: Arc<Journal>,
    /// Where layers on disk lie.
    on_disk: PathBuf,
    /// Where what commands touch is kept, if there is no layer.
    watched: PathBuf,
    layerless: Layerless,
    caps: Caps,
    mounts: Mounts,
    /// The clock of each root.
    clocks: Vec<Clock>,
    known: Mutex<LayerCapabilities>,
    removing: Removing,
    /// Where the before-images of ignored trees are, and which folder that is for each root.
    stores: TreeStores,
    bases: Vec<OnceLock<Option<StoreBase>>>,
    /// The secrets that commands do not see, where the user wants it so.
    pub(super) covered: Option<Arc<SecretFiles>>,
}

impl Layers {
    pub(super) fn new(root: Arc<WorkspaceRoot>, journal: Arc<Journal>, state: &WorkspaceState) -> Self {
        let clocks = root.folders().iter().map(|_| Clock::default()).collect();
        let well_known = root.folders().iter().map(|_| WellKnown::default()).collect();
        let known = Mutex::new(LayerCapabilities { well_known, ..LayerCapabilities::default() });
        let (on_disk, layerless) = (state.layers(), Layerless::new(state.layerless()));
        let watched = state.watched();
        let (caps, mounts, removing) = Default::default();
        let (stores, bases) = (TreeStores::of(&journal), root.folders().iter().map(|_| OnceLock::new()).collect());
        let covered = None;
        Self {
            root,
            journal,
            on_disk,
            watched,
            layerless,
            caps,
            mounts,
            clocks,
            known,
            removing,
            stores,
            bases,
            covered,
        }
    }

    /// Says why what commands change could not be undone, as far as that is known before one runs.
    pub(super) fn uncovered(&self) -> Option<String> {
        self.layerless.reason()
    }

    /// Returns where the before-images of ignored trees beneath a root are; nothing where the file system allows none.
    fn store_base(&self, root: usize) -> Option<StoreBase> {
        let choose = || {
            let (path, folder) = *self.root.folders().get(root)?;
            let place = self.root.place_of(path)?;
            self.stores.choose(path, place, folder)
        };
        self.bases.get(root)?.get_or_init(choose).clone()
    }

    /// Keeps the before-images of ignored trees within their room.
    fn trim_stores(&self) {
        let mut bases: Vec<&StoreBase> = self.bases.iter().filter_map(|base| base.get()?.as_ref()).collect();
        bases.dedup();
        for base in bases {
            // What a person removes to get room must not fill the disk for long.
            let room = self.stores.free_room(self.root.path(), base).map_or(u64::MAX, |free| free / 2);
            self.stores.trim(self.root.path(), base, room.min(self.journal.limits().trees));
        }
    }

    /// Prepares what a command works on.
    pub(super) fn prepare(
        self: &Arc<Self>,
        wanted: StagingMode,
        errand: Option<&Provenance>,
    ) -> Result<LayeredGround, ToolError> {
        let (beneath, in_memory) = match self.as_known(wanted) {
            StagingMode::Layered => (self.on_disk.clone(), None),
            StagingMode::Quick => (memory::folder(), None),
            StagingMode::LayeredInMemory(reason) => (memory::folder(), Some(reason)),
            StagingMode::Watched(reason) => return self.watched_or_open(&reason, errand),
            StagingMode::Open(reason) => return self.open_ground(&reason),
            StagingMode::Unwatched(reason) => {
                self.layerless.remember(&reason);
                self.known().not_watched = Some(reason.clone());
                return self.open_ground(&reason);
            }
        };
        if let Some(mount) = self.mount_below() {
            return self.watched_or_open(&mounts::reason(&mount), errand);
        }
        match (self.layered(&beneath), in_memory) {
            (Err(error), Some(reason)) => {
                let reason = format!("{reason}; in memory neither: {error}");
                self.watched_or_open(&reason, errand)
            }
            (Err(error), None) => Err(not_prepared(error)),
            (Ok(ground), _) => Ok(ground),
        }
    }

    fn layered(self: &Arc<Self>, beneath: &Path) -> io::Result<LayeredGround> {
        let mark = self.journal.mark();
        private_folder(beneath)?;
        let folder = LayerFolder::make(beneath)?;
        if self.removing.is_sweep_due(beneath) && folder::has_other(beneath, &folder) {
            self.removing.sweep(beneath);
        }
        self.over(folder, (mark, &[]))
    }

    /// Prepares a ground in memory, for a caller that must not wait: if that takes no time and there is room.
    pub(super) fn at_hand(self: &Arc<Self>, wanted: &StagingMode) -> Option<LayeredGround> {
        let is_known = |known: &LayerCapabilities| known.takes_quick == Some(true);
        if *wanted != StagingMode::Quick
            || !is_known(&self.known())
            || !memory::has_room()
            || self.mount_below().is_some()
        {
            return None;
        }
        let mark = self.journal.mark();
        let moments: Option<Vec<FilesystemTime>> = self.clocks.iter().map(Clock::at_once).collect();
        let moments = moments?;
        self.over(LayerFolder::make(&memory::folder()).ok()?, (mark, &moments)).ok()
    }

    /// Makes a ground of a layer. The moment before the command is taken where it was not; the mark of the journal is older,
    /// so that nothing that was committed after the moment lies before the mark.
    fn over(
        self: &Arc<Self>,
        folder: LayerFolder,
        (mark, moments): (Mark, &[FilesystemTime]),
    ) -> io::Result<LayeredGround> {
        let mut ground = self.bare(Some(folder))?;
        ground.mark = mark;
        for (number, root) in ground.roots.iter_mut().enumerate() {
            let stat = rustix::fs::fstat(&root.folder)?;
            let Some(folder) = &ground.folder else { break };
            let pair = folder.add(number, &stat)?;
            for place in hide_stores(&root.folder, &pair.upper) {
                let hidden = root.path.join(place);
                ground.hidden.retain(|path| *path != hidden);
            }
            ground.covers.push(self.cover(&root.path, &root.folder, &pair.upper)?);
            let taken = moments.get(number).copied();
            let take = || self.clocks[number].now(root.folder.as_fd(), pair.upper.as_fd());
            ground.since.push(taken.map_or_else(take, Ok)?);
            root.layer = Some(OverlayDirs { upper: pair.upper, work: pair.work });
        }
        Ok(ground)
    }

    fn open_ground(self: &Arc<Self>, reason: &str) -> Result<LayeredGround, ToolError> {
        let mut ground = self.bare(None).map_err(not_prepared)?;
        ground.layerless = Some(reason.to_owned());
        ground.uncovered = Some(format!("there is no layer over the workspace: {reason}"));
        self.hide_secrets(&mut ground);
        Ok(ground)
    }

    /// Hides secrets where no layer can cover them.
    fn hide_secrets(&self, ground: &mut LayeredGround) {
        if let Some(secrets) = &self.covered {
            let places = secrets.places(&self.root);
            ground.hidden.extend(places.into_iter().map(|place| self.root.path().join(place)));
        }
    }

    /// Returns a ground without layers.
    fn bare(self: &Arc<Self>, folder: Option<LayerFolder>) -> io::Result<LayeredGround> {
        let mut roots = Vec::new();
        for (number, (path, opened)) in self.root.folders().into_iter().enumerate() {
            let stat = rustix::fs::fstat(opened)?;
            let read_only = self.known().well_known[number].existing(opened.as_fd(), &stat);
            let (path, folder) = (path.to_owned(), opened.try_clone()?);
            let (layer, images, shown, own) = Default::default();
            roots.push(GroundRoot { path, folder, layer, images, own, read_only, shown });
        }
        let mut hidden = self.root.off_limits().to_vec();
        // Also the layers of others. A list that is the same for all commands lets them share what they see of the system.
        hidden.extend([self.on_disk.clone(), memory::folder()]);
        let layers = self.clone();
        let (mark, since, covers, own) = Default::default();
        let (uncovered, layerless, watched, keeps) = (None, None, None, Keeps::All);
        Ok(LayeredGround {
            layers,
            roots,
            hidden,
            uncovered,
            layerless,
            folder,
            watched,
            mark,
            since,
            covers,
            keeps,
            own,
        })
    }
}

/// A ground with layers, or without.
pub(super) struct LayeredGround {
    layers: Arc<Layers>,
    roots: Vec<GroundRoot>,
    hidden: Vec<PathBuf>,
    uncovered: Option<String>,
    /// Why the command works on the real folders.
    layerless: Option<String>,
    folder: Option<LayerFolder>,
    /// Where what the command touches is kept, if it works on the real folders.
    watched: Option<WatchedLayers>,
    /// How far the journal went before the command.
    mark: Mark,
    /// The moment before the command, for each root.
    since: Vec<FilesystemTime>,
    /// The secrets that are covered, for each root.
    covers: Vec<Vec<Cover>>,
    /// What of the changes comes in.
    keeps: Keeps,
    /// What was committed while the command ran.
    own: Arc<Mutex<OwnCommits>>,
}

impl Staging for LayeredGround {
    fn roots(&self) -> &[GroundRoot] {
        &self.roots
    }

    fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    fn uncovered(&self) -> Option<&str> {
        self.uncovered.as_deref()
    }

    fn layerless(&self) -> Option<&str> {
        self.layerless.as_deref()
    }

    fn keep_only(&mut self, targets: Arc<[Target]>) {
        self.keeps = Keeps::Only(targets);
    }

    fn show_only(&mut self, paths: &[PathBuf]) {
        for root in &mut self.roots {
            let place = |path: &PathBuf| path.strip_prefix(&root.path).ok().map(Path::to_owned);
            root.shown = Some(paths.iter().filter_map(place).collect());
        }
    }

    fn layers(&self) -> Vec<PathBuf> {
        vec![self.layers.on_disk.clone(), memory::folder()]
    }

    fn place(&self) -> Option<PathBuf> {
        let place = self.layers.on_disk.with_file_name("places");
        private_folder(&place).ok().map(|()| place)
    }

    fn is_changed(&self) -> bool {
        match &self.watched {
            Some(_) => !self.has_touched_nothing(),
            None => self.folder.is_some() && !self.is_untouched(),
        }
    }

    fn sync<'a>(&'a self, permit: &'a Permit) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        let (errand, receipts) = (permit.errand().clone(), permit.receipts().clone());
        Box::pin(async move {
            match self.to_sync().map_err(not_prepared)? {
                Some(sync) => blocking(move || sync.run(errand, receipts)).await,
                None => Err(ToolError::of(ErrorKind::Unavailable, "There is no layer: what it changed is committed.")),
            }
        })
    }

    fn settle<'a>(
        mut self: Box<Self>,
        permit: &'a Permit,
        how: Disposition,
    ) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        let (errand, receipts, stop) = (permit.errand().clone(), permit.receipts().clone(), permit.stop().clone());
        Box::pin(async move {
            if self.watched.is_some() {
                self.layers.layerless.forget();
            }
            if self.watched.is_some() && !self.has_touched_nothing() {
                return blocking(move || self.settle_watched((errand, receipts, stop), how)).await;
            }
            if self.folder.is_none() {
                return Ok(CommitReport::default());
            }
            let is_untouched = self.is_untouched();
            let whole = move || {
                // A command has worked on a layer: there is one here.
                self.layers.layerless.forget();
                let settling = self.settling((errand, receipts, stop), self.end_of_syncs())?;
                match how {
                    Disposition::Commit => settling.keep(),
                    Disposition::Discard => settling.show(),
                }
            };
            // If there is nothing to commit, handing it to another thread takes longer.
            if is_untouched { whole() } else { blocking(whole).await }
        })
    }
}

impl LayeredGround {
    /// Returns whether nothing was written.
    fn is_untouched(&self) -> bool {
        let is_empty = |layer: &OverlayDirs| {
            let mut names = FolderNameList::default();
            let opened = open_name(&layer.upper, b".", OFlags::DIRECTORY | OFlags::RDONLY);
            opened.and_then(|upper| names.read(&upper)).is_ok() && names.at(0).is_none()
        };
        self.roots.iter().all(|root| root.layer.as_ref().is_some_and(is_empty))
    }

    fn settling(
        &self,
        (errand, receipts, stop): (Provenance, Receipts, CancellationToken),
        own: OwnCommits,
    ) -> Result<Settling<'_>, ToolError> {
        let roots = self.open_roots().map_err(not_prepared)?;
        let (layers, mark, keeps) = (&*self.layers, self.mark, self.keeps.clone());
        let (own, is_sync) = (RefCell::new(own), false);
        let layer_folder = self.folder.as_ref().map(|folder| folder.beneath().to_owned());
        Ok(Settling { layers, mark, roots, keeps, errand, receipts, stop, own, is_sync, layer_folder })
    }

    fn open_roots(&self) -> io::Result<Vec<OpenRoot>> {
        let layered = self.roots.iter().zip(&self.since).zip(&self.covers);
        let open = |((root, since), covers): ((&GroundRoot, &FilesystemTime), &Vec<Cover>)| {
            OpenRoot::new(self.layers.root.clone(), root, (*since, covers.clone()))
        };
        layered.map(open).collect()
    }
}

impl Drop for LayeredGround {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            self.layers.removing.remove(folder);
        }
        self.end_watching();
    }
}

/// Removes the layers in a folder that were left behind by a haft that was killed.
pub(super) fn remove_left_behind(layers: &Path) {
    folder::sweep(layers);
}

/// Makes a private folder; refuses one that another user or program has put there.
fn private_folder(folder: &Path) -> io::Result<()> {
    private::create_folder(folder)?;
    let facts = folder.symlink_metadata()?;
    let is_ours = facts.is_dir() && facts.uid() == rustix::process::geteuid().as_raw() && facts.mode() & 0o066 == 0;
    if is_ours {
        return Ok(());
    }
    let shown = folder.display();
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{shown} is not a private folder of this user")))
}

/// Says what is at a path beneath a folder; nothing where a link is on the way.
fn kind_at(root: BorrowedFd<'_>, path: &Path) -> Option<FileKind> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    let parent: Option<OwnedFd> = match parent.as_os_str().as_encoded_bytes() {
        b"" => None,
        parent => Some(open_name(root, parent, OFlags::DIRECTORY | OFlags::PATH).ok()?),
    };
    let folder = parent.as_ref().map_or(root, AsFd::as_fd);
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| kind_of(&stat))
}

fn not_prepared(error: io::Error) -> ToolError {
    let what = format!("haft could not prepare the workspace for the command: {error}. The command was not run.");
    let next = match error.kind() {
        io::ErrorKind::StorageFull => "ask the user to free some space",
        _ => "ask the user to look at haft's state folder: \"haft doctor\" names it",
    };
    ToolError::new(ErrorKind::Io, what, Next::AskUser(next.into())).caused_by(error)
}
