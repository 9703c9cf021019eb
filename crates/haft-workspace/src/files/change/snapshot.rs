//! Describes what is at a place, and keeps it before it is replaced.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::ancestors::OpenWay;
use super::bring::{LayerEntry, OpenLayerEntry};
use crate::files::compare::{IncomingContent, RevisionComparison, shared_beginning, shared_end};
use crate::files::read::open::WorkspaceRoot;
use crate::files::read::owner;
use crate::state::journal::{
    ContentHash, ContentLocation, ContentPiece, ContentRevision, Durable, INLINE, InlineContents, Objects, PathState,
    PathText, not_kept,
};

/// Changed parts up to this size are kept, so that an undo can be merged with later work.
pub(in crate::files) const LARGEST_MIDDLE: usize = 16 * 1024 * 1024;
/// The largest content that is kept for undo; what is larger is not replaced.
pub(in crate::files) const LARGEST_KEPT: u64 = 4 * 1024 * 1024 * 1024;
/// The state of a place, and its description by the kernel.
pub(crate) struct PlaceSnapshot {
    pub(crate) state: PathState,
    pub(in crate::files) stat: Option<Stat>,
    /// What of a large content stays in the one that comes.
    pub(in crate::files) pieces: Option<Vec<ContentPiece>>,
}

impl PlaceSnapshot {
    pub(in crate::files) fn nothing() -> Self {
        Self { state: PathState::Absent, stat: None, pieces: None }
    }
}

/// Where contents of one intent are put: small ones together, large ones as objects.
pub(in crate::files) struct Keep<'a> {
    inline: &'a mut InlineContents,
    objects: Objects,
    /// Whether an object was needed.
    pub(in crate::files) has_kept: bool,
    /// How objects that an undo relies on are kept.
    pub(in crate::files) durable: Durable,
    pub(in crate::files) large: Large,
    /// Asked between pieces of a large content.
    stopped: &'a dyn Fn() -> bool,
    /// Names of this intent begin so.
    mark: String,
    /// How many names were made up.
    names: usize,
}

/// How a very large content is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum Large {
    Copied,
    /// By another name of the same file, where that is possible. A program that has the file open may still write into it;
    /// then its hash is not the recorded one, and nothing is restored from it.
    Linked,
}

/// Contents of this size on are linked where that is allowed: copying one takes longer than a person waits.
const LINKED: u64 = 64 * 1024 * 1024;
/// Most bytes of contents behind one record; what is beyond is kept beside, or not where that does no harm.
const MOST_INLINE: usize = 64 * 1024 * 1024;

impl<'a> Keep<'a> {
    pub(in crate::files) fn new(
        inline: &'a mut InlineContents,
        objects: Objects,
        stopped: &'a dyn Fn() -> bool,
    ) -> Self {
        let mark = format!(".haft-{}", uuid::Uuid::now_v7().simple());
        let (durable, large) = (Durable::Yes, Large::Copied);
        Self { inline, objects, has_kept: false, durable, large, stopped, mark, names: 0 }
    }

    /// Makes up a unique name for a file beside a place.
    pub(in crate::files) fn name_beside(&mut self) -> Box<str> {
        self.names += 1;
        format!("{}-{}.tmp", self.mark, self.names).into()
    }

    fn is_small(&self, size: u64) -> bool {
        size <= INLINE && self.inline.len() < MOST_INLINE
    }

    fn small(&mut self, bytes: &[u8]) -> io::Result<ContentLocation> {
        let at = self.inline.push(bytes).map_err(not_kept)?;
        Ok(ContentLocation::Inline { at, length: u32::try_from(bytes.len()).unwrap_or(u32::MAX) })
    }

    /// Keeps what an undo would be better with, and can do without.
    fn if_worth_it(&mut self, bytes: &[u8]) -> ContentLocation {
        match bytes.len() {
            size if self.is_small(size as u64) => self.small(bytes).unwrap_or(ContentLocation::No),
            // Of thousands of files, that would be as much to write as the files themselves.
            size if size <= LARGEST_MIDDLE && self.durable == Durable::Yes => {
                self.has_kept = true;
                let kept = self.objects.keep(&mut &*bytes, Durable::No, self.stopped);
                kept.map_or(ContentLocation::No, |hash| ContentLocation::Object { hash })
            }
            _ => ContentLocation::No,
        }
    }

    fn object(
        &mut self,
        file: File,
        size: u64,
        coming: Option<IncomingContent<'_>>,
    ) -> io::Result<(ContentHash, Option<Vec<ContentPiece>>)> {
        self.has_kept = true;
        let (hash, pieces) = RevisionComparison::of(&file, size, coming).run(self.stopped)?;
        if self.objects.has(hash, self.durable)? {
            return Ok((hash, pieces));
        }
        if self.large == Large::Linked
            && size >= LINKED
            && can_be_linked(&file)?
            && self.objects.link(&file, hash, self.durable).is_ok()
        {
            return Ok((hash, pieces));
        }
        (&file).rewind()?;
        let kept = self.objects.keep(&mut &file, self.durable, self.stopped)?;
        // Another program may have written into it meanwhile; the code that replaces it notices.
        Ok((kept, pieces.filter(|_| kept == hash)))
    }

    /// Keeps a new content by what it has in common with the one that it replaces; nothing where that is not worth it.
    fn changed(
        &mut self,
        old: ContentHash,
        (hash, coming): (ContentHash, IncomingContent<'_>),
        pieces: &[ContentPiece],
    ) -> ContentLocation {
        let new: u64 =
            pieces.iter().map(|piece| if let ContentPiece::New { length, .. } = piece { *length } else { 0 }).sum();
        let read = |at, bytes: &mut [u8]| coming.read_at(at, bytes);
        let kept = match coming {
            _ if new > LARGEST_MIDDLE as u64 => Ok(false),
            _ if new <= coming.size() / 2 => {
                self.objects.keep_changed(&ContentRevision { hash, old, pieces, read: &read }, self.durable)
            }
            // Of thousands of files, that would be as much to write as the files themselves.
            IncomingContent::Bytes(bytes) if self.durable == Durable::Yes => {
                let is_kept = self.objects.has(hash, Durable::No);
                is_kept.map(|is_kept| is_kept || self.objects.keep(&mut &*bytes, Durable::No, self.stopped).is_ok())
            }
            IncomingContent::Bytes(_) | IncomingContent::File(..) => Ok(false),
        };
        // An undo would be better with it, and can do without.
        if kept.is_ok_and(|kept| kept) { ContentLocation::Object { hash } } else { ContentLocation::No }
    }
}

/// Returns whether a file can be kept by a second name: it has no third name to write through, and it can be opened again,
/// even if it was opened with another mode.
fn can_be_linked(file: &File) -> io::Result<bool> {
    let (stat, user) = (rustix::fs::fstat(file)?, rustix::process::geteuid());
    Ok(stat.st_nlink == 1 && (user.is_root() || stat.st_uid == user.as_raw() && stat.st_mode & 0o400 != 0))
}

fn hash_of(file: &File) -> io::Result<ContentHash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(ContentHash(*hasher.finalize().as_bytes()))
}

/// Looks at a place without keeping anything: contents are only recognised.
pub(crate) fn look(root: &WorkspaceRoot, place: &Path) -> io::Result<PlaceSnapshot> {
    seen(root, place, &mut |file, _| Ok((hash_of(&file)?, ContentLocation::No)))
}

/// Looks at a place without a look into it: contents are not even recognised.
pub(in crate::files) fn glance(root: &WorkspaceRoot, place: &Path) -> io::Result<PlaceSnapshot> {
    seen(root, place, &mut |_, _| Ok((ContentHash([0; 32]), ContentLocation::No)))
}

/// Looks at a place and keeps what is there; what comes in its place is compared with it on the way.
pub(in crate::files) fn keep(
    root: &WorkspaceRoot,
    place: &Path,
    coming: Option<IncomingContent<'_>>,
    keep: &mut Keep<'_>,
) -> io::Result<PlaceSnapshot> {
    let mut pieces = None;
    let mut seen = seen(root, place, &mut |file, size| {
        if size > LARGEST_KEPT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if !keep.is_small(size) {
            let (hash, found) = keep.object(file, size, coming)?;
            pieces = found;
            return Ok((hash, ContentLocation::Object { hash }));
        }
        // It may have grown since; the code that replaces it notices.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(INLINE).read_to_end(&mut bytes)?;
        Ok((ContentHash::of(&bytes), keep.small(&bytes)?))
    })?;
    seen.pieces = pieces;
    Ok(seen)
}

/// Returns the hash of an opened file of a given size, and the location where its content is kept.
type ContentRecorder<'a> = dyn FnMut(File, u64) -> io::Result<(ContentHash, ContentLocation)> + 'a;

fn seen(root: &WorkspaceRoot, place: &Path, content: &mut ContentRecorder<'_>) -> io::Result<PlaceSnapshot> {
    match seen_from_here(root, place, content) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::ACCESS) => {
            let _way = OpenWay::to(root, place)?;
            seen_from_here(root, place, content)
        }
        seen => seen,
    }
}

fn seen_from_here(root: &WorkspaceRoot, place: &Path, content: &mut ContentRecorder<'_>) -> io::Result<PlaceSnapshot> {
    let (folder, name) = match root.open_parent(place) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(PlaceSnapshot::nothing()),
        parent => parent?,
    };
    let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(PlaceSnapshot::nothing()),
        stat => stat?,
    };
    let mode = stat.st_mode & 0o7777;
    let state = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let file = File::from(root.open_own(place)?);
            let opened = rustix::fs::fstat(&file)?;
            if !is_same(&opened, &stat) {
                return Err(Errno::AGAIN.into());
            }
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let (hash, content) = content(file, size)?;
            PathState::File { mode, size, hash, content, owner: Some(owner::of(&stat)) }
        }
        FileType::Directory => PathState::Folder { mode },
        FileType::Symlink => {
            let to = rustix::fs::readlinkat(&folder, name, Vec::new())?;
            PathState::Link { to: PathText::from(Path::new(OsStr::from_bytes(to.as_bytes()))) }
        }
        _ => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    Ok(PlaceSnapshot { state, stat: Some(stat), pieces: None })
}

/// Returns whether both describe the same file with the same content, mode and owner. A rename alone changes the
/// third time, so it does not count.
pub(in crate::files) fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_mode, one.st_uid, one.st_gid) == (other.st_mode, other.st_uid, other.st_gid)
        && (one.st_ino, one.st_dev, one.st_size) == (other.st_ino, other.st_dev, other.st_size)
        && (one.st_mtime, one.st_mtime_nsec) == (other.st_mtime, other.st_mtime_nsec)
}

/// Describes new content by what it shares with the content before.
pub(in crate::files) fn after(
    before: &PlaceSnapshot,
    hash: ContentHash,
    new: IncomingContent<'_>,
    keep: &mut Keep<'_>,
) -> ContentLocation {
    match (&before.state, &before.pieces, new) {
        // The next one to replace it would keep it in the record as well.
        (_, Some(_), IncomingContent::Bytes(new)) if keep.is_small(new.len() as u64) => {
            keep.small(new).unwrap_or(ContentLocation::No)
        }
        (PathState::File { hash: old, .. }, Some(pieces), new) => keep.changed(*old, (hash, new), pieces),
        (
            PathState::File { content: ContentLocation::Inline { at, length }, .. },
            None,
            IncomingContent::Bytes(new),
        ) => {
            let Ok(old) = keep.inline.read(*at, *length) else { return ContentLocation::No };
            let begin = shared_beginning(&old, new);
            let room = old.len().min(new.len()) - begin;
            let end = shared_end(&old[old.len() - room..], &new[new.len() - room..]);
            let middle = keep.if_worth_it(&new[begin..new.len() - end]);
            ContentLocation::Splice { begin: begin as u64, middle: Box::new(middle), end: end as u64 }
        }
        (_, _, IncomingContent::Bytes(new)) if keep.is_small(new.len() as u64) => {
            keep.small(new).unwrap_or(ContentLocation::No)
        }
        _ => ContentLocation::No,
    }
}

/// Keeps a new object of git, whatever its size: git never changes one, so a second name of the file will do.
pub(in crate::files) fn object_of_git(
    brought: &LayerEntry,
    size: u64,
    coming: Option<IncomingContent<'_>>,
    keep: &mut Keep<'_>,
) -> ContentLocation {
    let kept = match coming {
        Some(IncomingContent::Bytes(bytes)) if keep.is_small(size) => {
            return keep.small(bytes).unwrap_or(ContentLocation::No);
        }
        Some(IncomingContent::Bytes(bytes)) => {
            keep.has_kept = true;
            keep.objects.keep(&mut &*bytes, keep.durable, keep.stopped)
        }
        Some(IncomingContent::File(..)) | None => match brought.open() {
            Ok(OpenLayerEntry::File(file)) => keep.object(file, size, None).map(|(hash, _)| hash),
            Ok(OpenLayerEntry::Link(_)) | Err(_) => return ContentLocation::No,
        },
    };
    // Without it a redo may have to refuse; the command itself must not fail for that.
    kept.map_or(ContentLocation::No, |hash| ContentLocation::Object { hash })
}

/// Makes a file beside the one it shall replace as much like it as possible; returns what could not be kept.
pub(in crate::files) fn copy_metadata(old: impl AsFd, old_stat: &Stat, new: impl AsFd) -> io::Result<Vec<String>> {
    let wanted = owner::of(old_stat);
    let mut notes: Vec<String> = owner::give(&new, wanted)?.into_iter().collect();
    for name in attributes_of(&old) {
        let mut value = vec![0; 64 * 1024];
        let read = rustix::fs::fgetxattr(&old, &*name, &mut value);
        let kept =
            read.and_then(|size| rustix::fs::fsetxattr(&new, &*name, &value[..size], rustix::fs::XattrFlags::empty()));
        // What the system itself keeps in attributes it sets again, or does not let us.
        if kept.is_err() && name.starts_with("user.") {
            notes.push(format!("Its attribute {name} could not be kept."));
        }
    }
    let mode = owner::fitting(old_stat.st_mode & 0o7777, wanted, owner::of(&rustix::fs::fstat(&new)?));
    owner::set_mode(&new, mode)?;
    Ok(notes)
}

pub(in crate::files) fn attributes_of(file: impl AsFd) -> Vec<String> {
    let mut few = [0; 512];
    let mut many = Vec::new();
    let names = match rustix::fs::flistxattr(&file, &mut few) {
        Err(Errno::RANGE) => {
            many.resize(64 * 1024, 0);
            let size = rustix::fs::flistxattr(&file, &mut many).unwrap_or(0);
            &many[..size]
        }
        size => &few[..size.unwrap_or(0)],
    };
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
