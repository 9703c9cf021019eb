//! Keeps contents too large for the journal: files named by their hash, written once, never changed.
//!
//! Not here: contents that are kept by what they have in common with others (`delta`).

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD};

use super::delta::KeptContent;
use super::record::ContentHash;
use crate::eager::Eager;
use crate::state::own_files::private;

/// How the name of a content ends that is kept by what it has in common with others.
const DELTA: &str = ".delta";
/// How many bytes are copied in one step.
const STEP: usize = 1024 * 1024;

/// The contents that are kept as files of their own.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    folder: PathBuf,
    /// How much room was taken since, by this value and its clones.
    added: Arc<AtomicU64>,
}

/// Whether a content must outlive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    /// It must, and the caller syncs all of them together.
    Later,
    /// It is only needed to do better than to refuse.
    No,
}

/// Says that it was the keeping that failed, not the reading of what was to be kept.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct NotKept(io::Error);

pub(crate) fn not_kept(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), NotKept(error))
}

/// Returns whether an error comes from the keeping.
pub(crate) fn is_not_kept(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotKept>())
}

impl Objects {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, added: Arc::default() }
    }

    /// Keeps everything that can be read, and returns its hash. `stopped` is asked between pieces.
    pub(crate) fn keep(
        &self,
        source: &mut dyn Read,
        durable: Durable,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<ContentHash> {
        private::create_folder(&self.folder).map_err(not_kept)?;
        let temporary = self.temporary();
        let kept = self.keep_as(&temporary, source, durable, stopped);
        if kept.is_err() {
            // Nothing refers to it.
            let _ = std::fs::remove_file(&temporary);
        }
        kept
    }

    fn keep_as(
        &self,
        temporary: &Path,
        source: &mut dyn Read,
        durable: Durable,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<ContentHash> {
        let file = private::create_file(temporary).map_err(not_kept)?;
        let mut eager = Eager::new(&file);
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; STEP];
        loop {
            let read = source.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            let piece = &buffer[..read];
            hasher.update(piece);
            eager.write_all(piece).map_err(not_kept)?;
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        let hash = ContentHash(*hasher.finalize().as_bytes());
        self.place(&file, (temporary, hash), durable).map_err(not_kept)?;
        Ok(hash)
    }

    fn place(&self, file: &File, (temporary, hash): (&Path, ContentHash), durable: Durable) -> io::Result<()> {
        let path = &self.path(hash);
        let is_new = path.symlink_metadata().is_err();
        if is_new {
            self.note_added(file);
        }
        match durable {
            // An older copy may be durable, and changes that rely on it must not lose it.
            Durable::Later if self.has_copy(hash) => std::fs::remove_file(temporary),
            Durable::No if self.size_at(path) == Some(file.metadata()?.len()) => std::fs::remove_file(temporary),
            Durable::Later if is_new => std::fs::rename(temporary, path),
            Durable::No => std::fs::rename(temporary, path),
            Durable::Yes | Durable::Later => {
                file.sync_data()?;
                // Also over an older one of that name: it may be damaged, or not durable.
                std::fs::rename(temporary, path)?;
                self.sync_folder()
            }
        }
    }

    /// Returns whether a content is kept already, and makes it outlive a power cut if it has to.
    pub(crate) fn has(&self, hash: ContentHash, durable: Durable) -> io::Result<bool> {
        Ok(self.has_whole(hash, durable)? || self.has_delta(hash, durable)?)
    }

    /// The same of a content that is a file of its own.
    pub(super) fn has_whole(&self, hash: ContentHash, durable: Durable) -> io::Result<bool> {
        if !self.has_copy(hash) {
            return Ok(false);
        }
        if durable == Durable::Yes {
            private::read_content(&self.path(hash)).and_then(|kept| kept.sync_data()).map_err(not_kept)?;
            self.sync_folder().map_err(not_kept)?;
        }
        Ok(true)
    }

    /// Returns whether there is a sound copy of a content that is only ours.
    fn has_copy(&self, hash: ContentHash) -> bool {
        let is_ours = |facts: Metadata| facts.is_file() && facts.nlink() == 1;
        // It may have been linked too, when its file was removed; then another program may have written into it.
        self.path(hash).symlink_metadata().is_ok_and(is_ours)
            && private::read_content(&self.path(hash)).is_ok_and(|kept| is_sound(&kept, hash))
    }

    /// Keeps an open file under a second name, when the system lets us; what was kept as a copy of our own stays.
    pub(crate) fn link(&self, file: &File, hash: ContentHash, durable: Durable) -> io::Result<()> {
        private::create_folder(&self.folder)?;
        if self.has_copy(hash) {
            return Ok(());
        }
        let temporary = self.temporary();
        // The name of the file may lead elsewhere by now; its name among our descriptors does not.
        let name = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, name, CWD, &temporary, AtFlags::SYMLINK_FOLLOW)?;
        let placed = self.place(file, (&temporary, hash), durable);
        // Two names of one file are not renamed onto each other: both stay.
        let _ = std::fs::remove_file(&temporary);
        placed
    }

    /// Makes everything that was kept outlive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(&self.folder)?)?)
    }

    /// Returns the device that contents are kept on.
    pub(crate) fn device(&self) -> Option<u64> {
        self.folder.metadata().ok().map(|facts| facts.dev())
    }

    /// Returns how much room the files of a content take, without what it is made of.
    pub(super) fn room_of(&self, hash: ContentHash) -> u64 {
        let files = [self.path(hash), self.path_of_delta(hash)];
        let facts = files.iter().filter_map(|path| path.symlink_metadata().ok()).filter(Metadata::is_file);
        facts.map(|facts| taken(&facts)).sum()
    }

    /// Returns a content and what it is made of.
    pub(super) fn with_sources(&self, hash: ContentHash) -> impl Iterator<Item = ContentHash> {
        let sources: Vec<ContentHash> = self.delta(hash).iter().flat_map(|delta| delta.sources()).collect();
        std::iter::once(hash).chain(sources)
    }

    fn size_at(&self, path: &Path) -> Option<u64> {
        path.symlink_metadata().ok().filter(Metadata::is_file).map(|facts| facts.len())
    }

    pub(crate) fn open(&self, hash: ContentHash) -> io::Result<KeptContent> {
        match private::read_content(&self.path(hash)) {
            Ok(file) => Ok(KeptContent::Whole(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Else the words would be about the file that is to be restored.
                let missing = || io::Error::new(io::ErrorKind::InvalidData, "its kept content is missing");
                self.open_delta(hash)?.map(KeptContent::Parts).ok_or_else(missing)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes the room that a new file takes.
    pub(super) fn note_added(&self, file: &File) {
        self.added.fetch_add(file.metadata().map_or(0, |facts| taken(&facts)), Ordering::Relaxed);
    }

    /// Returns how much room was taken since this value was made.
    pub(super) fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    /// Returns when the last content came or went.
    pub(super) fn changed(&self) -> Option<(i64, i64)> {
        self.folder.metadata().ok().map(|facts| (facts.mtime(), facts.mtime_nsec()))
    }

    /// Returns how much room everything takes that is kept.
    pub(super) fn room(&self) -> u64 {
        self.files().map(|(_, facts)| taken(&facts)).sum()
    }

    /// Removes what nothing refers to.
    pub(super) fn retain(&self, is_needed: impl Fn(ContentHash) -> bool) {
        for (path, _) in self.files() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = name.strip_suffix(DELTA).unwrap_or(&name).to_owned();
            // A name that is no hash was left by a process that was killed.
            if !ContentHash::try_from(name).is_ok_and(&is_needed) {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, Metadata)> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
    }

    pub(super) fn path(&self, hash: ContentHash) -> PathBuf {
        self.folder.join(String::from(hash))
    }

    pub(super) fn path_of_delta(&self, hash: ContentHash) -> PathBuf {
        self.folder.join(format!("{}{DELTA}", String::from(hash)))
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.join(format!("{}.tmp", uuid::Uuid::now_v7().simple()))
    }

    pub(super) fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// Returns how much of the disk a file takes: what it has never written in it takes nothing.
fn taken(facts: &Metadata) -> u64 {
    facts.len().min(facts.blocks().saturating_mul(512))
}

fn is_sound(kept: impl Read, hash: ContentHash) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(kept).is_ok_and(|hasher| *hasher.finalize().as_bytes() == hash.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durable_content_is_not_replaced_by_one_that_is_not() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let objects = Objects::new(folder.path().join("objects"));
        let keep = |durable| {
            let hash = objects.keep(&mut &b"content"[..], durable, &|| false).expect("it can be kept");
            objects.path(hash).metadata().expect("it is there").ino()
        };
        let durable = keep(Durable::Yes);
        assert_eq!(keep(Durable::No), durable);
        assert_eq!(keep(Durable::Later), durable);
        assert_eq!(objects.files().count(), 1);
        // A damaged one is replaced by either.
        let (path, _) = objects.files().next().expect("there is one");
        std::fs::write(&path, "cont").expect("it can be written");
        keep(Durable::No);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"content");
        std::fs::write(&path, "CONTENT").expect("it can be written");
        keep(Durable::Later);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"content");
    }

    #[test]
    fn a_linked_content_is_found_whoever_may_write_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("shared");
        std::fs::write(&path, "content").expect("it can be written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("it is ours");
        let objects = Objects::new(folder.path().join("objects"));
        let hash = ContentHash::of(b"content");
        let file = File::open(&path).expect("it is there");
        objects.link(&file, hash, Durable::Yes).expect("it lies on the same disk");
        std::fs::remove_file(&path).expect("it is there");
        assert!(objects.open(hash).is_ok_and(|kept| is_sound(kept, hash)));
    }
}
