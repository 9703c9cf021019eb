//! Prepares the real folders for a command, and rewinds its changes into a layer afterwards.
//!
//! When the command has ended, haft moves the new state of each touched path into a layer, and restores the old state.
//! From then on everything is as if the command had worked on that layer from the start: one mechanism reads, judges,
//! commits or discards the layer, whatever collected the changes.
//!
//! Marks beside the layer record the progress, so that the next process can finish the work (`left_behind`).
//!
//! Not here: keeping contents while the command runs (`haft-sandbox`).

mod left_behind;
mod moving;
mod rewind;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::doors::before_image::{RECORDS, TouchRecord};
use haft_contract::doors::door::{Provenance, Receipt, Receipts};
use haft_contract::doors::process::{CommitReport, ConfinementLevel, Disposition, OverlayDirs};
use haft_contract::outcome::error::ToolError;
use rustix::fs::{FlockOperation, Mode, OFlags};
use tokio_util::sync::CancellationToken;

use self::moving::count_files;
use self::rewind::{LostPath, Rewind};
use super::super::tree::hidden_places;
use super::folder::{LayerFolder, LayerPair};
use super::settling::sync::OwnCommits;
use super::{LayeredGround, Layers, not_prepared, private_folder};
use crate::state::journal::ChangeAuthor;
use crate::state::own_files::private;

/// How many lost paths are named at most.
const MOST_NAMED: usize = 5;

/// The file that says which call the command belongs to.
const ABOUT: &str = "about";
/// The file beside a layer that names the folder below the layer.
const ROOT: &str = "root";

/// The steps of rewinding. Each finished step is a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    /// The new state is in the layer.
    Captured,
    /// The old state is restored.
    Restored,
    /// A commit of the layer has begun.
    Committing,
}

impl Done {
    fn name(self) -> &'static str {
        match self {
            Done::Captured => "captured",
            Done::Restored => "restored",
            Done::Committing => "committing",
        }
    }
}

/// The progress of an interrupted commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitProgress {
    /// The layers are unchanged.
    Nothing,
    /// Files have left the layers: they are in the workspace, or the journal has reverted that.
    Something,
}

/// The folder for the contents that a command touches, and the layers for its changes.
pub(super) struct WatchedLayers {
    folder: LayerFolder,
    /// For each root: the layer, and the folder with the kept contents.
    pairs: Vec<LayerPair>,
    state: WatchedState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchedState {
    /// The command may have changed the real folders.
    Running,
    /// The real folders have their state from before the command.
    Rewound,
    /// Rewinding failed; another process may try.
    Failed,
}

impl Layers {
    /// Prepares the real folders. If haft cannot keep contents either, the result says so.
    pub(super) fn watched_or_open(
        self: &Arc<Self>,
        reason: &str,
        errand: Option<&Provenance>,
    ) -> Result<LayeredGround, ToolError> {
        let known = self.known().not_watched.clone();
        let why = match known.map_or_else(|| self.watched_ground(errand), |known| Err(io::Error::other(known))) {
            Ok(mut ground) => {
                ground.layerless = Some(reason.to_owned());
                return Ok(ground);
            }
            Err(error) => format!("{reason}; nor can contents be kept: {error}"),
        };
        self.layerless.remember(&why);
        self.open_ground(&why)
    }

    /// Prepares the real folders, and folders for the contents that a command touches in them.
    pub(super) fn watched_ground(self: &Arc<Self>, errand: Option<&Provenance>) -> io::Result<LayeredGround> {
        private_folder(&self.watched)?;
        let folder = LayerFolder::make(&self.watched)?;
        let mut ground = self.bare(None)?;
        let mut pairs = Vec::new();
        for (number, root) in ground.roots.iter_mut().enumerate() {
            let stat = rustix::fs::fstat(&root.folder)?;
            let pair = folder.add(number, &stat)?;
            folder.put(&format!("{number}/{ROOT}"), root.path.as_os_str().as_bytes())?;
            root.images = Some(pair.work.try_clone()?);
            root.own = hidden_places().into_iter().map(PathBuf::from).collect();
            ground.hidden.retain(|hidden| !root.own.iter().any(|own| *hidden == root.path.join(own)));
            pairs.push(pair);
        }
        if let Some(errand) = errand {
            folder.put(ABOUT, &serde_json::to_vec(&ChangeAuthor::from(errand))?)?;
        }
        self.hide_secrets(&mut ground);
        ground.watched = Some(WatchedLayers { folder, pairs, state: WatchedState::Running });
        Ok(ground)
    }
}

impl LayeredGround {
    /// Rewinds the changes of the command into layers, and settles those.
    pub(super) fn settle_watched(
        &mut self,
        (errand, receipts, stop): (Provenance, Receipts, CancellationToken),
        how: Disposition,
    ) -> Result<CommitReport, ToolError> {
        let lost = self.rewind().inspect_err(|error| note_not_covered(&error.what, &receipts))?;
        let settling = self.settling((errand, receipts.clone(), stop), OwnCommits::default())?;
        let mut settled = match how {
            Disposition::Commit => {
                self.note_commit();
                settling.keep()?
            }
            Disposition::Discard => settling.show()?,
        };
        tell_lost(&lost, &receipts, &mut settled);
        Ok(settled)
    }

    /// Rewinds the changes of the command into layers, and makes this a ground with them.
    pub(super) fn rewind(&mut self) -> Result<Vec<LostPath>, ToolError> {
        let Some(watched) = &mut self.watched else { return Ok(Vec::new()) };
        let folders: Vec<&OwnedFd> = self.roots.iter().map(|root| &root.folder).collect();
        let lost = watched.rewind(&folders).map_err(not_rewound)?;
        self.mark = self.layers.journal.mark();
        for (number, (root, pair)) in self.roots.iter_mut().zip(&watched.pairs).enumerate() {
            let clone = |folder: &OwnedFd| folder.try_clone().map_err(not_prepared);
            let since = self.layers.clocks[number].now(root.folder.as_fd(), pair.upper.as_fd());
            self.since.push(since.map_err(not_prepared)?);
            self.covers.push(Vec::new());
            root.layer = Some(OverlayDirs { upper: clone(&pair.upper)?, work: clone(&pair.work)? });
        }
        Ok(lost)
    }

    /// Notes that a commit begins, which empties the layer. Without this note haft would read the rest after a kill.
    pub(super) fn note_commit(&self) {
        if let Some(watched) = &self.watched {
            let _ = watched.folder.put(Done::Committing.name(), watched.files_in_layers().to_string().as_bytes());
        }
    }

    /// Returns whether the command touched nothing.
    pub(super) fn has_touched_nothing(&self) -> bool {
        self.watched
            .as_ref()
            .is_some_and(|watched| watched.pairs.iter().all(|pair| records_size(&pair.work) == Some(0)))
    }

    /// Rewinds and discards changes that were not settled, and removes the folder.
    pub(super) fn end_watching(&mut self) {
        let Some(mut watched) = self.watched.take() else { return };
        if watched.state == WatchedState::Running {
            let folders: Vec<&OwnedFd> = self.roots.iter().map(|root| &root.folder).collect();
            // When it fails, the next process finds the folder and tries again.
            let _ = watched.rewind(&folders);
        }
        if watched.state == WatchedState::Rewound {
            self.layers.removing.remove(watched.folder);
        }
    }
}

impl WatchedLayers {
    fn rewind(&mut self, folders: &[&OwnedFd]) -> io::Result<Vec<LostPath>> {
        let all = self.try_rewind(folders);
        self.state = if all.is_ok() { WatchedState::Rewound } else { WatchedState::Failed };
        all
    }

    /// Returns how many files and links are in the layers.
    fn files_in_layers(&self) -> usize {
        self.pairs.iter().map(|pair| count_files(&pair.upper).unwrap_or_default()).sum()
    }

    /// Returns the progress of an interrupted commit; `None` if no commit has begun.
    fn commit_progress(&self) -> Option<CommitProgress> {
        let begun = self.folder.get(Done::Committing.name())?;
        let all: usize = String::from_utf8_lossy(&begun).parse().unwrap_or_default();
        Some(match self.files_in_layers() {
            left if left == all => CommitProgress::Nothing,
            _ => CommitProgress::Something,
        })
    }

    fn try_rewind(&self, folders: &[&OwnedFd]) -> io::Result<Vec<LostPath>> {
        let mut lost = Vec::new();
        let mut rewinds = Vec::new();
        for (pair, folder) in self.pairs.iter().zip(folders) {
            let (rewind, of_it) = Rewind::new((folder, &pair.upper, &pair.work), &read_records(&pair.work)?);
            rewinds.push(rewind);
            lost.extend(of_it);
        }
        if !self.folder.has(Done::Captured.name()) {
            rewinds.iter().try_for_each(Rewind::capture)?;
            #[cfg(test)]
            crate::files::change::crash_points::point();
            self.folder.put(Done::Captured.name(), b"")?;
        }
        if !self.folder.has(Done::Restored.name()) {
            rewinds.iter().try_for_each(Rewind::restore)?;
            #[cfg(test)]
            crate::files::change::crash_points::point();
            self.folder.put(Done::Restored.name(), b"")?;
        }
        Ok(lost)
    }
}

/// Reads the records after the watcher has ended.
fn read_records(images: &OwnedFd) -> io::Result<Vec<TouchRecord>> {
    let opened =
        rustix::fs::openat(images, RECORDS, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    let mut file = match opened {
        Ok(file) => File::from(file),
        // The command was never started.
        Err(rustix::io::Errno::NOENT) => return Ok(Vec::new()),
        Err(errno) => return Err(errno.into()),
    };
    // The watcher holds a lock until all processes of the command have ended, or until it is killed.
    while let Err(errno) = rustix::fs::flock(&file, FlockOperation::LockExclusive) {
        if errno != rustix::io::Errno::INTR {
            return Err(errno.into());
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(TouchRecord::read_all(&bytes))
}

fn records_size(images: &OwnedFd) -> Option<i64> {
    match rustix::fs::statat(images, RECORDS, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat.st_size),
        Err(rustix::io::Errno::NOENT) => Some(0),
        Err(_) => None,
    }
}

impl LayerFolder {
    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match private::create_file(&self.path.join(name)) {
            Ok(mut file) => file.write_all(content),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.path.join(name).symlink_metadata().is_ok()
    }

    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        private::read_file(&self.path.join(name)).ok()?.read_to_end(&mut content).ok()?;
        Some(content)
    }
}

/// Reports what undo does not restore, in the result and in the receipts.
pub(super) fn tell_lost(lost: &[LostPath], receipts: &Receipts, settled: &mut CommitReport) {
    let Some(reason) = lost_words(lost) else { return };
    note_not_covered(&reason, receipts);
    settled.notes.push(format!("undo does not restore everything: {reason}"));
}

/// Notes in the receipts that undo does not restore everything.
fn note_not_covered(reason: &str, receipts: &Receipts) {
    let level = receipts.so_far().iter().rev().find_map(|receipt| match receipt {
        Receipt::Ran { level, .. } => Some(*level),
        _ => None,
    });
    receipts.note(Receipt::Ran { level: level.unwrap_or(ConfinementLevel::None), uncovered: Some(reason.to_owned()) });
}

/// Names the lost paths, as the end of a sentence.
fn lost_words(lost: &[LostPath]) -> Option<String> {
    let named: Vec<String> = lost
        .iter()
        .take(MOST_NAMED)
        .map(|lost| format!("{} ({})", haft_contract::files::path::one_line(&lost.path.to_string_lossy()), lost.why))
        .collect();
    let more = lost.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("haft could not keep {}{more}", named.join(", ")))
}

fn not_rewound(error: io::Error) -> ToolError {
    let what = format!(
        "The command ran, and haft could not record what it changed: {error}. Some of its changes may be missing from \
         the workspace until haft starts the next time and tries again."
    );
    let next = "look at the reason, then run \"haft log\", which tries again and says what became of the changes";
    let next = haft_contract::outcome::error::Next::DoNotRetry(next.into());
    ToolError::new(haft_contract::outcome::kinds::ErrorKind::Io, what, next).caused_by(error)
}

/// Returns the path that a file of the state holds.
fn path_in(bytes: Vec<u8>) -> PathBuf {
    Path::new(std::ffi::OsStr::from_bytes(&bytes)).to_owned()
}
