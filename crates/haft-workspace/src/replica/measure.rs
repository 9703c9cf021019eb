//! Measures what there is to copy, before the copy starts.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Original, ReplicaError};
use crate::files::read::locate::resolve;

/// The files and folders to copy, their number and their size.
#[derive(Default)]
pub(super) struct CopyInventory {
    /// Everything below the folder by its path from there, folders before what is in them.
    pub(super) names: Vec<PathBuf>,
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) not_copied: Vec<(PathBuf, String)>,
    left_out: ExcludedFolders,
}

/// Folders that are not copied. A name may lead to one through links, or because the folder has two places.
#[derive(Default)]
struct ExcludedFolders {
    real: Vec<PathBuf>,
    /// Which they are for the system, where they exist.
    numbers: Vec<(u64, u64)>,
}

impl ExcludedFolders {
    fn of(folders: &[PathBuf]) -> Self {
        let number = |folder: &PathBuf| folder.metadata().ok().map(|facts| (facts.dev(), facts.ino()));
        let real = folders.iter().map(|folder| resolve(folder).unwrap_or_else(|_| folder.clone())).collect();
        Self { real, numbers: folders.iter().filter_map(number).collect() }
    }

    fn has(&self, facts: &Metadata) -> bool {
        facts.is_dir() && self.numbers.contains(&(facts.dev(), facts.ino()))
    }

    /// Returns whether a folder is one of them, or lies in one.
    fn holds(&self, folder: &Path) -> bool {
        let real = resolve(folder).unwrap_or_else(|_| folder.to_owned());
        self.real.iter().any(|own| real.starts_with(own)) || real.metadata().is_ok_and(|facts| self.has(&facts))
    }
}

impl CopyInventory {
    pub(super) fn of(original: &Original, stopped: &dyn Fn() -> bool) -> Result<Self, ReplicaError> {
        let mut measured = Self { left_out: ExcludedFolders::of(&original.left_out), ..Self::default() };
        if measured.left_out.holds(&original.folder) {
            return Err(ReplicaError::Own(original.folder.clone()));
        }
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let path = original.folder.join(&folder);
            let entries = match std::fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) if folder.as_os_str().is_empty() => return Err(ReplicaError::Io(error, path)),
                Err(error) => {
                    measured.not_copied.push((folder, format!("what is in it: {error}")));
                    continue;
                }
            };
            for entry in entries {
                if stopped() {
                    return Err(ReplicaError::Stopped);
                }
                let entry = entry.map_err(|error| ReplicaError::Io(error, path.clone()))?;
                let name = folder.join(entry.file_name());
                if measured.is_a_folder(original, &name)? {
                    folders.push(name);
                }
            }
        }
        Ok(measured)
    }

    /// Counts one entry; returns whether there is more below it.
    fn is_a_folder(&mut self, original: &Original, name: &Path) -> Result<bool, ReplicaError> {
        let path = original.folder.join(name);
        let facts = match path.symlink_metadata() {
            Ok(facts) => facts,
            Err(error) => {
                self.not_copied.push((name.to_owned(), error.to_string()));
                return Ok(false);
            }
        };
        if self.left_out.has(&facts) {
            self.not_copied.push((name.to_owned(), "it belongs to haft".to_owned()));
            return Ok(false);
        }
        let kind = facts.file_type();
        let other = match () {
            () if kind.is_fifo() => Some("a pipe"),
            () if kind.is_socket() => Some("a socket"),
            () if kind.is_block_device() || kind.is_char_device() => Some("a device"),
            () => None,
        };
        if let Some(other) = other {
            self.not_copied.push((name.to_owned(), format!("it is {other}")));
            return Ok(false);
        }
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(if kind.is_file() { facts.size() } else { 0 });
        if self.entries > original.limits.entries || self.bytes > original.limits.bytes {
            return Err(ReplicaError::TooMuch(original.folder.clone(), original.limits));
        }
        self.names.push(name.to_owned());
        Ok(kind.is_dir())
    }
}
