//! Makes a private copy of a workspace, to try something that must leave the workspace alone.
//!
//! It copies everything: links as links, with the same modes and times. It names everything that cannot be copied. It first
//! measures how much there is to copy: too much is an error before anything is written.
//!
//! Not here: where such a folder may lie, and what the caller tries in it.

mod back;
mod content;
mod measure;
#[cfg(test)]
mod tests;

pub use back::{Back, SessionBeginning};

use std::fs::{DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::files::read::locate::resolve;
use crate::state::held::HeldFolder;
use content::ContentCopyOutcome;
use measure::CopyInventory;

/// What the folders of copies are called.
const NAME: &str = "replay";

/// How much is copied at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// Most files, folders and links.
    pub entries: u64,
    /// Most bytes.
    pub bytes: u64,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { entries: 1_000_000, bytes: 8 * 1024 * 1024 * 1024 }
    }
}

/// What is copied, and how.
#[derive(Clone, Debug)]
pub struct Original {
    /// The folder.
    pub folder: PathBuf,
    /// Folders that are not copied, wherever they lie: haft's own.
    pub left_out: Vec<PathBuf>,
    /// How much at most.
    pub limits: CopyLimits,
}

/// A copy of a workspace in a private folder; it goes when this is dropped.
#[derive(Debug)]
pub struct Replica {
    scratch: HeldFolder,
    /// How many files, folders and links there are.
    pub entries: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What could not be copied, and why.
    pub not_copied: Vec<(PathBuf, String)>,
    /// How many abandoned copies of other processes were removed.
    pub abandoned: usize,
    /// When each file was last changed in the original, in milliseconds since 1970.
    changed: Vec<(PathBuf, u64)>,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    /// There is more than is copied.
    #[error(
        "{} has more than {} files or {} MiB, which is too much to copy; move files that can be rebuilt (build \
         output, packages) out of it, or name a smaller folder",
        .0.display(), .1.entries, .1.bytes / (1024 * 1024)
    )]
    TooMuch(PathBuf, CopyLimits),
    /// It is what is never copied.
    #[error("{} belongs to haft itself, so it is not copied; name another folder", .0.display())]
    Own(PathBuf),
    /// The disk has not enough room.
    #[error(
        "a copy of the workspace needs {} MiB, and {} has room for {} MiB; set TMPDIR to a folder with more room",
        .needed / (1024 * 1024), .folder.display(), .free / (1024 * 1024)
    )]
    NoRoom {
        /// Where the copy would be.
        folder: PathBuf,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        free: u64,
    },
    /// The caller stopped it.
    #[error("the copying was stopped")]
    Stopped,
    /// The system says no.
    #[error("{} cannot be copied", .1.display())]
    Io(#[source] io::Error, PathBuf),
}

impl Replica {
    /// Copies a folder into a new private folder beneath `parent`. `stopped` is asked again and again, also inside large
    /// files. Copies there whose owners were killed are removed first.
    pub fn of(original: &Original, parent: &Path, stopped: &dyn Fn() -> bool) -> Result<Self, ReplicaError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| ReplicaError::Io(error, path)
        };
        let abandoned = HeldFolder::remove_abandoned(parent, NAME);
        let measured = CopyInventory::of(original, stopped)?;
        let room = rustix::fs::statvfs(parent).map_err(|errno| failed(parent)(errno.into()))?;
        let (needed, free) = (measured.bytes, room.f_bavail.saturating_mul(room.f_frsize));
        if needed > free {
            return Err(ReplicaError::NoRoom { folder: parent.to_owned(), needed, free });
        }
        let scratch = HeldFolder::beneath(parent, NAME).map_err(failed(parent))?;
        let CopyInventory { entries, bytes, not_copied, .. } = measured;
        let mut replica = Self { scratch, entries, bytes, not_copied, abandoned, changed: Vec::new() };
        replica.fill(original, &measured.names, stopped)?;
        Ok(replica)
    }

    /// Returns where the copy is.
    pub fn workspace(&self) -> PathBuf {
        self.scratch.path().join("workspace")
    }

    /// Returns where in the copy a path of the original lies, whether there is anything or not; nothing for what lies
    /// elsewhere.
    pub fn counterpart(&self, original: &Path, path: &Path) -> Option<PathBuf> {
        let (original, real) = (resolve(original).ok()?, resolve(path).ok()?);
        Some(self.workspace().join(real.strip_prefix(original).ok()?))
    }

    /// Returns where the state of a session on the copy may be.
    pub fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    /// Returns the folder that holds both.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    fn fill(&mut self, original: &Original, names: &[PathBuf], stopped: &dyn Fn() -> bool) -> Result<(), ReplicaError> {
        let root = self.workspace();
        let mut folders = vec![PathBuf::new()];
        DirBuilder::new().mode(0o700).create(&root).map_err(|error| ReplicaError::Io(error, root.clone()))?;
        for name in names {
            if stopped() {
                return Err(ReplicaError::Stopped);
            }
            match copy(&original.folder.join(name), &root.join(name), stopped) {
                Ok(EntryCopyOutcome::Stopped) => return Err(ReplicaError::Stopped),
                Ok(EntryCopyOutcome::File { changed_ms }) => self.changed.push((name.clone(), changed_ms)),
                Ok(EntryCopyOutcome::Folder) => folders.push(name.clone()),
                Ok(EntryCopyOutcome::Link) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    return Err(ReplicaError::Io(error, name.clone()));
                }
                // It may be gone since it was counted, or this user may not read it.
                Err(error) => self.not_copied.push((name.clone(), error.to_string())),
            }
        }
        // Modes and times last: whatever is put into a folder changes its time, and may not be allowed any more.
        for name in folders.iter().rev() {
            if let Err(error) = dress(&original.folder.join(name), &root.join(name)) {
                self.not_copied.push((name.clone(), format!("its mode and time: {error}")));
            }
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path, stopped: &dyn Fn() -> bool) -> io::Result<EntryCopyOutcome> {
    let facts = from.symlink_metadata()?;
    match facts.file_type() {
        kind if kind.is_dir() => {
            DirBuilder::new().mode(0o700).create(to)?;
            Ok(EntryCopyOutcome::Folder)
        }
        kind if kind.is_symlink() => {
            symlink(std::fs::read_link(from)?, to)?;
            Ok(EntryCopyOutcome::Link)
        }
        _ => copy_file(from, to, stopped),
    }
}

/// The outcome of copying one entry.
enum EntryCopyOutcome {
    File {
        changed_ms: u64,
    },
    Folder,
    Link,
    /// Nothing, or not all of it.
    Stopped,
}

fn copy_file(from: &Path, to: &Path, stopped: &dyn Fn() -> bool) -> io::Result<EntryCopyOutcome> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut source = OpenOptions::new().read(true).custom_flags(flags).open(from)?;
    let facts = source.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a folder nor a link"));
    }
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    if content::copy(&mut source, &mut target, stopped)? == ContentCopyOutcome::Stopped {
        return Ok(EntryCopyOutcome::Stopped);
    }
    target.set_times(FileTimes::new().set_modified(facts.modified()?).set_accessed(facts.accessed()?))?;
    target.set_permissions(Permissions::from_mode(facts.mode() & 0o7777))?;
    // The time that no program can set: a file with an old date counts as new if it was put there recently.
    let seconds = u64::try_from(facts.ctime()).unwrap_or(0);
    let thousandths = u64::try_from(facts.ctime_nsec()).unwrap_or(0) / 1_000_000;
    Ok(EntryCopyOutcome::File { changed_ms: seconds.saturating_mul(1_000).saturating_add(thousandths) })
}

/// Gives a folder the mode and the time of another.
fn dress(from: &Path, to: &Path) -> io::Result<()> {
    let facts = from.symlink_metadata()?;
    let folder = File::open(to)?;
    folder.set_times(FileTimes::new().set_modified(facts.modified()?))?;
    folder.set_permissions(Permissions::from_mode(facts.mode() & 0o7777))
}
