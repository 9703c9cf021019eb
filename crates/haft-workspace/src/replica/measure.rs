//! Finds out what there is to copy, before anything is.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Original, ReplicaError};

/// What there is to copy.
#[derive(Default)]
pub(super) struct Measured {
    /// Everything below the folder by its path from there, folders before what is in them.
    pub(super) names: Vec<PathBuf>,
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) not_copied: Vec<(PathBuf, String)>,
}

impl Measured {
    pub(super) fn of(original: &Original, stopped: &dyn Fn() -> bool) -> Result<Self, ReplicaError> {
        let mut measured = Self::default();
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
        if original.left_out.contains(&path) {
            self.not_copied.push((name.to_owned(), "it belongs to haft".to_owned()));
            return Ok(false);
        }
        let facts = match path.symlink_metadata() {
            Ok(facts) => facts,
            Err(error) => {
                self.not_copied.push((name.to_owned(), error.to_string()));
                return Ok(false);
            }
        };
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
