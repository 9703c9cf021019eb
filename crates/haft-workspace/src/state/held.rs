//! Private folders that another process removes if their owner could not.
//!
//! A killed process removes nothing. While it lives it holds a lock on its folder, so the next process knows which folders
//! are abandoned.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use super::own_files::private::ScratchFolder;

/// A fresh folder for as long as this process lives, at most; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldFolder {
    folder: ScratchFolder,
    /// Nothing if the disk knows no locks: then haft cannot know whether the folder is abandoned, and does not remove it.
    _lock: Option<File>,
}

impl HeldFolder {
    /// Makes a private folder beneath `parent`, whose name begins with `haft-` and these words.
    pub(crate) fn beneath(parent: &Path, words: &str) -> io::Result<Self> {
        let mut folder = ScratchFolder::beneath(parent)?;
        let lock = locked(folder.path())?;
        if lock.is_some() {
            // It gets its name only now: a process that finds it by that name finds it locked.
            folder.rename(&format!("haft-{words}-{}", uuid::Uuid::now_v7().simple()))?;
        }
        Ok(Self { folder, _lock: lock })
    }

    /// Removes such abandoned folders of ours beneath `parent`; returns how many.
    pub(crate) fn remove_abandoned(parent: &Path, words: &str) -> usize {
        let beginning = format!("haft-{words}-");
        let Ok(entries) = std::fs::read_dir(parent) else { return 0 };
        let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&beginning));
        named.filter(|entry| remove_if_abandoned(&entry.path())).count()
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn remove_if_abandoned(folder: &Path) -> bool {
    // The lock is held until it is gone: another may look for the same at the same time.
    let Ok(Some(_lock)) = locked(folder) else { return false };
    drop(ScratchFolder::taken_over(folder));
    folder.symlink_metadata().is_err()
}

/// Locks a folder of ours; returns nothing if another process has it, or if there are no locks.
fn locked(folder: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(folder)?;
    let is_ours = opened.metadata()?.uid() == geteuid().as_raw();
    let is_locked = is_ours && flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok();
    Ok(is_locked.then_some(opened))
}
