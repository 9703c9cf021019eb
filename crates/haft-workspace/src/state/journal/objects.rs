//! Contents too large for the journal itself: files named by their hash, written once, never changed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::record::ContentHash;
use crate::state::private;

/// How much is copied at once.
const STEP: usize = 1024 * 1024;

/// The contents that are kept as files of their own.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    folder: PathBuf,
}

/// Whether a content must outlive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    /// It is only needed to do better than to refuse.
    No,
}

impl Objects {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps everything that can be read, and returns its hash and size.
    pub(crate) fn keep(&self, source: &mut dyn Read, durable: Durable) -> io::Result<(ContentHash, u64)> {
        private::create_folder(&self.folder)?;
        let temporary = self.folder.join(format!("{}.tmp", uuid::Uuid::now_v7().simple()));
        let kept = self.keep_as(&temporary, source, durable);
        if kept.is_err() {
            // Nothing refers to it.
            let _ = std::fs::remove_file(&temporary);
        }
        kept
    }

    fn keep_as(&self, temporary: &Path, source: &mut dyn Read, durable: Durable) -> io::Result<(ContentHash, u64)> {
        let mut file = private::create_file(temporary)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; STEP];
        let mut size = 0;
        loop {
            let read = source.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            let piece = &buffer[..read];
            hasher.update(piece);
            file.write_all(piece)?;
            size += read as u64;
        }
        let hash = ContentHash(*hasher.finalize().as_bytes());
        let path = self.path(hash);
        // Also over an older one of that name: it may be damaged, or not durable.
        if durable == Durable::Yes {
            file.sync_data()?;
        }
        std::fs::rename(temporary, path)?;
        if durable == Durable::Yes {
            File::open(&self.folder)?.sync_all()?;
        }
        Ok((hash, size))
    }

    pub(crate) fn open(&self, hash: ContentHash) -> io::Result<File> {
        private::read_file(&self.path(hash))
    }

    /// Returns how many bytes are kept.
    pub(super) fn size(&self) -> u64 {
        self.files().map(|(_, size)| size).sum()
    }

    /// Removes what nothing refers to.
    pub(super) fn retain(&self, is_needed: impl Fn(ContentHash) -> bool) {
        for (path, _) in self.files() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            // What is no hash was left by somebody who was killed.
            if !ContentHash::try_from(name).is_ok_and(&is_needed) {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, u64)> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.len())))
    }

    fn path(&self, hash: ContentHash) -> PathBuf {
        self.folder.join(String::from(hash))
    }
}
