//! What a command works on: a layer over each folder that it may write, and what becomes of it.
//!
//! The real folders lie beneath and are not changed while the command runs. When it has ended, the layer is read side
//! by side with them, and what may come in is one transaction with everything else that haft changes (decision 0007).
//! Where no layer is possible the command works on the real folders, and that is said.
//!
//! Not here: mounting it and running anything (`haft-sandbox`).

mod apart;
mod clock;
mod difference;
mod folder;
mod harmless;
mod index;
mod judge;
mod keeping;
mod layerless;
mod memory;
mod mounts;
mod read;
mod remembered;
mod removing;
mod settle;
mod show;
mod sift;
mod through;
mod told;
mod touched;
mod trees;
mod well_known;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::BoxFuture;
use haft::door::{FileKind, Permit, Receipt, Receipts};
use haft::effect::Change;
use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use haft::path::{Extent, Place, Target};
use haft::process::{Ground, GroundRoot, Keeps, Layer, Settle, Settled, Wanted};
use rustix::fs::{AtFlags, OFlags};

use super::blocking;
use super::facts::kind_of;
use super::folder::Names;
use super::open::{Root, open_name};
use crate::state::WorkspaceState;
use crate::state::journal::Journal;
use crate::state::private;
use clock::{Clock, Moment};
use difference::Caps;
use folder::LayerFolder;
use keeping::Kept;
use layerless::Layerless;
use mounts::Mounts;
use remembered::Remembered;
use removing::Removing;
use settle::{OpenRoot, Settling};
use well_known::WellKnown;

/// Makes the layers of a workspace, and removes them.
pub(super) struct Layers {
    root: Arc<Root>,
    journal: Arc<Journal>,
    /// Where layers on disk lie.
    on_disk: PathBuf,
    remembered: Remembered,
    layerless: Layerless,
    caps: Caps,
    mounts: Mounts,
    /// The clock of each root.
    clocks: Vec<Clock>,
    known: Mutex<Known>,
    removing: Removing,
}

/// What is known since the first change.
#[derive(Default)]
struct Known {
    /// The folders that lie outside the layers, for each root.
    apart: Option<Vec<BTreeSet<PathBuf>>>,
    /// Why layers on disk were refused.
    not_on_disk: Option<String>,
    /// Whether layers in memory can be used.
    takes_quick: Option<bool>,
    /// The names that cannot be changed, for each root.
    well_known: Vec<WellKnown>,
}

impl Layers {
    pub(super) fn new(root: Arc<Root>, journal: Arc<Journal>, state: &WorkspaceState) -> Self {
        let clocks = root.folders().iter().map(|_| Clock::default()).collect();
        let well_known = root.folders().iter().map(|_| WellKnown::default()).collect();
        let known = Mutex::new(Known { well_known, ..Known::default() });
        let (on_disk, remembered) = (state.layers(), Remembered::new(state.apart()));
        let layerless = Layerless::new(state.layerless());
        let (caps, mounts, removing) = Default::default();
        Self { root, journal, on_disk, remembered, layerless, caps, mounts, clocks, known, removing }
    }

    /// Says why there would be no layer, as far as that is known before a command runs.
    pub(super) fn uncovered(&self) -> Option<String> {
        self.mount_below().map(|mount| mounts::reason(&mount)).or_else(|| self.layerless.reason())
    }

    /// Names the ignored folders that lie outside the layers, as trees.
    pub(super) fn ignored(&self) -> Vec<Target> {
        through::targets(&self.root, &self.apart())
    }

    fn mount_below(&self) -> Option<PathBuf> {
        self.root.folders().into_iter().find_map(|(path, _)| self.mounts.below(path))
    }

    /// Prepares what a command works on.
    pub(super) fn prepare(self: &Arc<Self>, wanted: Wanted, how: Settle) -> Result<LayeredGround, ToolError> {
        self.look_before_changes();
        let (beneath, in_memory) = match self.as_known(wanted) {
            Wanted::Layered => (self.on_disk.clone(), None),
            Wanted::Quick => (memory::folder(), None),
            Wanted::LayeredInMemory(reason) => (memory::folder(), Some(reason)),
            Wanted::Open(reason) => {
                self.layerless.remember(&reason);
                return self.open_ground(&reason);
            }
        };
        if let Some(mount) = self.mount_below() {
            return self.open_ground(&mounts::reason(&mount));
        }
        match (self.layered(&beneath, how), in_memory) {
            (Err(error), Some(reason)) => {
                let reason = format!("{reason}; in memory neither: {error}");
                self.layerless.remember(&reason);
                self.open_ground(&reason)
            }
            (Err(error), None) => Err(not_prepared(error)),
            (Ok(ground), _) => Ok(ground),
        }
    }

    /// What was refused once is not tried again.
    fn as_known(&self, wanted: Wanted) -> Wanted {
        let wanted = if wanted == Wanted::Quick && !self.is_quick() { Wanted::Layered } else { wanted };
        let mut known = self.known();
        match (wanted, &known.not_on_disk) {
            (Wanted::Layered, Some(reason)) => Wanted::LayeredInMemory(reason.clone()),
            (Wanted::LayeredInMemory(reason), _) => {
                known.not_on_disk = Some(reason.clone());
                Wanted::LayeredInMemory(reason)
            }
            (wanted, _) => wanted,
        }
    }

    /// Returns whether layers can lie in memory just now.
    fn is_quick(&self) -> bool {
        let takes_quick = *self.known().takes_quick.get_or_insert_with(|| {
            // A worker sees layers only where they could lie when it was started.
            private_folder(&self.on_disk).is_ok()
                && private_folder(&memory::folder()).is_ok()
                && memory::takes_marks(&memory::folder())
        });
        takes_quick && memory::has_room()
    }

    fn layered(self: &Arc<Self>, beneath: &Path, how: Settle) -> io::Result<LayeredGround> {
        private_folder(beneath)?;
        let folder = LayerFolder::make(beneath)?;
        if folder::has_other(beneath, &folder) {
            self.removing.sweep(beneath);
        }
        self.over(folder, how, &[])
    }

    /// Prepares a ground in memory, for somebody who shall not wait: where that takes no time and there is room.
    pub(super) fn at_hand(self: &Arc<Self>, wanted: &Wanted, how: Settle) -> Option<LayeredGround> {
        let is_known = |known: &Known| known.apart.is_some() && known.takes_quick == Some(true);
        if *wanted != Wanted::Quick || !is_known(&self.known()) || !memory::has_room() || self.mount_below().is_some() {
            return None;
        }
        let moments: Option<Vec<Moment>> = self.clocks.iter().map(Clock::at_once).collect();
        let moments = moments?;
        self.over(LayerFolder::make(&memory::folder()).ok()?, how, &moments).ok()
    }

    /// Makes a ground of a layer. The moment before the command is taken where it was not.
    fn over(self: &Arc<Self>, folder: LayerFolder, how: Settle, moments: &[Moment]) -> io::Result<LayeredGround> {
        let mut ground = self.bare(Some(folder))?;
        let apart = match how {
            Settle::Keep => self.apart(),
            // What is only shown must not be written anywhere.
            Settle::Show => Vec::new(),
        };
        for (number, root) in ground.roots.iter_mut().enumerate() {
            let stat = rustix::fs::fstat(&root.folder)?;
            let Some(folder) = &ground.folder else { break };
            let pair = folder.add(number, &stat)?;
            root.through = through::existing(root.folder.as_fd(), apart.get(number));
            let taken = moments.get(number).copied();
            let take = || self.clocks[number].now(root.folder.as_fd(), pair.upper.as_fd());
            ground.since.push(taken.map_or_else(take, Ok)?);
            root.layer = Some(Layer { upper: pair.upper, work: pair.work });
        }
        Ok(ground)
    }

    fn open_ground(self: &Arc<Self>, reason: &str) -> Result<LayeredGround, ToolError> {
        let mut ground = self.bare(None).map_err(not_prepared)?;
        ground.uncovered = Some(format!("there is no layer over the workspace: {reason}"));
        Ok(ground)
    }

    /// Returns a ground without layers.
    fn bare(self: &Arc<Self>, folder: Option<LayerFolder>) -> io::Result<LayeredGround> {
        let mut roots = Vec::new();
        for (number, (path, opened)) in self.root.folders().into_iter().enumerate() {
            let stat = rustix::fs::fstat(opened)?;
            let read_only = self.known().well_known[number].existing(opened.as_fd(), &stat);
            let (path, folder) = (path.to_owned(), opened.try_clone()?);
            roots.push(GroundRoot { path, folder, layer: None, through: Vec::new(), read_only });
        }
        let mut hidden = self.root.off_limits().to_vec();
        hidden.push(self.on_disk.clone());
        hidden.extend(folder.as_ref().map(|folder| folder.path().to_owned()));
        let layers = self.clone();
        Ok(LayeredGround { layers, roots, hidden, uncovered: None, folder, since: Vec::new(), keeps: Keeps::All })
    }

    /// Notes which folders lie outside the layers, once. Whoever changes anything in the workspace calls it before.
    pub(super) fn look_before_changes(&self) {
        self.apart();
    }

    /// Notes that a folder got this path: what is in it was protected before and stays so, whatever it is called now.
    pub(super) fn note_moved(&self, to: &Path) {
        for (path, folder) in self.root.folders() {
            let Ok(moved) = to.strip_prefix(path) else { continue };
            let seen = apart::find(folder.as_fd(), path);
            let inside: Vec<_> = seen.outside.iter().filter(|place| place.starts_with(moved)).collect();
            if !inside.is_empty() {
                // Where it is not remembered, nothing else is: then nothing lies outside.
                let _ = self.remembered.stays_inside(path, &inside);
            }
        }
    }

    /// Returns the folders that lie outside the layers.
    fn apart(&self) -> Vec<BTreeSet<PathBuf>> {
        let mut known = self.known();
        let found = known.apart.get_or_insert_with(|| {
            // Everything is protected where it cannot be known what was so before.
            self.remembered.agree(&through::seen(&self.root)).unwrap_or_default()
        });
        found.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A ground with layers, or without.
pub(super) struct LayeredGround {
    layers: Arc<Layers>,
    roots: Vec<GroundRoot>,
    hidden: Vec<PathBuf>,
    uncovered: Option<String>,
    folder: Option<LayerFolder>,
    /// The moment before the command, for each root.
    since: Vec<Moment>,
    /// What of the changes comes in.
    keeps: Keeps,
}

impl Ground for LayeredGround {
    fn roots(&self) -> &[GroundRoot] {
        &self.roots
    }

    fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    fn uncovered(&self) -> Option<&str> {
        self.uncovered.as_deref()
    }

    fn keep_only(&mut self, targets: Arc<[Target]>) {
        let keeps = Keeps::Only(targets);
        for root in &mut self.roots {
            let tree = |place: &Path| self.layers.root.place_of(&root.path.join(place)).map(|place| place.to_owned());
            // What goes through was changed by the time anybody looks, so it lies in the layer unless it may be changed.
            root.through.retain(|place| tree(place).is_some_and(|tree| keeps.all_of(&tree)));
        }
        self.keeps = keeps;
    }

    fn layers(&self) -> Vec<PathBuf> {
        vec![self.layers.on_disk.clone(), memory::folder()]
    }

    fn written_at_once(&self, receipts: &Receipts) -> Option<String> {
        let mut left = touched::MOST_LOOKS;
        let mut names = Vec::new();
        for (root, since) in self.roots.iter().zip(&self.since) {
            let touched = root.through.iter().filter(|place| touched::is_touched(root, place, *since, &mut left));
            names.extend(touched.map(|place| root.path.join(place)));
        }
        for place in names.iter().filter_map(|name| self.layers.root.place_of(name)) {
            let folder = Target::Inside(Place::new(place, Extent::Tree));
            receipts.note(Receipt::Changed(folder, Change::Replace));
        }
        told::of_written_at_once(&self.layers.root, &names)
    }

    fn settle<'a>(self: Box<Self>, permit: &'a Permit, how: Settle) -> BoxFuture<'a, Result<Settled, ToolError>> {
        let (errand, receipts, stop) = (permit.errand().clone(), permit.receipts().clone(), permit.stop().clone());
        Box::pin(async move {
            if self.folder.is_none() {
                return Ok(Settled::default());
            }
            let is_untouched = self.is_untouched();
            let whole = move || {
                // A command has worked on a layer: there is one here.
                self.layers.layerless.forget();
                let settling = self.settling(errand, receipts.clone(), stop);
                self.finish(settling, how, &receipts)
            };
            // Where there is nothing to bring in, it takes longer to hand it to somebody.
            if is_untouched { whole() } else { blocking(whole).await }
        })
    }
}

impl LayeredGround {
    /// Returns whether nothing was written, neither into a layer nor outside.
    fn is_untouched(&self) -> bool {
        let is_empty = |layer: &Layer| {
            let mut names = Names::default();
            let opened = open_name(&layer.upper, b".", OFlags::DIRECTORY | OFlags::RDONLY);
            opened.and_then(|upper| names.read(&upper)).is_ok() && names.at(0).is_none()
        };
        self.roots.iter().all(|root| root.through.is_empty() && root.layer.as_ref().is_some_and(is_empty))
    }

    /// Settles, and says what was written outside the layers, also where it fails.
    fn finish(
        &self,
        settling: Result<Settling<'_>, ToolError>,
        how: Settle,
        receipts: &Receipts,
    ) -> Result<Settled, ToolError> {
        let settled = settling.and_then(|settling| match how {
            Settle::Keep => settling.keep(),
            Settle::Show => settling.show(),
        });
        let note = self.written_at_once(receipts);
        match settled {
            Ok(mut settled) => {
                // The last ones are cut where there are many.
                settled.notes.splice(0..0, note);
                Ok(settled)
            }
            Err(mut error) => {
                error.what.extend(note.map(|note| format!(" {note}")));
                Err(error)
            }
        }
    }

    fn settling(
        &self,
        errand: haft::door::Errand,
        receipts: haft::door::Receipts,
        stop: tokio_util::sync::CancellationToken,
    ) -> Result<Settling<'_>, ToolError> {
        let mut roots = Vec::new();
        for (root, since) in self.roots.iter().zip(&self.since) {
            roots.push(OpenRoot::new(self.layers.root.clone(), root, *since).map_err(not_prepared)?);
        }
        Ok(Settling { layers: &self.layers, roots, keeps: self.keeps.clone(), errand, receipts, stop })
    }
}

impl Drop for LayeredGround {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            self.layers.removing.remove(folder);
        }
    }
}

/// Names the ignored folders that would lie outside the layers. Nothing is remembered.
pub(super) fn ignored(root: &Root, state: &WorkspaceState) -> Vec<Target> {
    let agreed = Remembered::new(state.apart()).would_agree(&through::seen(root));
    through::targets(root, &agreed.unwrap_or_default())
}

/// Removes the layers in a folder that were left behind by a haft that was killed.
pub(super) fn remove_left_behind(layers: &Path) {
    folder::sweep(layers);
}

/// Makes a private folder; one that somebody else has put there is refused.
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
    let what = format!("What the command would work on could not be prepared: {error}. It was not run.");
    let next = match error.kind() {
        io::ErrorKind::StorageFull => "ask the user to free some space",
        _ => "ask the user to look at haft's state folder: \"haft doctor\" names it",
    };
    ToolError::new(ErrorKind::Io, what, Next::AskUser(next.into())).caused_by(error)
}
