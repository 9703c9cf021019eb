//! Rewinds the changes of a command in a folder: moves the new state into a layer, and restores the old state.
//!
//! There are two passes over the records. Each may be interrupted at any point and repeated. The first pass moves the
//! new state, and skips entries that are in the layer. The second restores contents, and skips those no longer kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use haft_contract::doors::before_image::{BeforeImage, FileImage, TouchRecord};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::super::read::ALL_BITS;
use super::moving::{EntryHandle, copy_file, make_folder, move_entry, open_folder, parent_of, put_content};
use crate::files::change::removal_mark::{is_removal_mark, mark_removed};

/// A path whose state before the command was not kept.
#[derive(Clone, Debug)]
pub(in crate::files::layer) struct LostPath {
    pub(super) path: PathBuf,
    pub(super) why: String,
}

/// The folder of a root, its layer, and the kept contents, with the records.
pub(super) struct Rewind<'a> {
    folder: &'a OwnedFd,
    upper: &'a OwnedFd,
    images: &'a OwnedFd,
    /// The old state of each path, outer paths first.
    before: BTreeMap<PathBuf, BeforeImage>,
    whole: HashSet<PathBuf>,
    /// Folders of the layer, with the modes that they get at the end.
    made: RefCell<BTreeMap<PathBuf, u32>>,
}

/// The outcome of capturing a path in the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaptureOutcome {
    Kept,
    /// The layer marks the path as removed.
    Removed,
}

impl<'a> Rewind<'a> {
    /// Prepares the rewind; also returns the paths that cannot be restored.
    pub(super) fn new(
        (folder, upper, images): (&'a OwnedFd, &'a OwnedFd, &'a OwnedFd),
        records: &[TouchRecord],
    ) -> (Self, Vec<LostPath>) {
        let (mut before, mut whole, mut lost) = (BTreeMap::new(), HashSet::new(), Vec::new());
        for TouchRecord { path, before: image, is_whole } in records {
            if let BeforeImage::Lost(why) = image {
                lost.push(LostPath { path: path.clone(), why: why.clone() });
            }
            // A path that leads outside the root is not restored.
            if !path.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
                continue;
            }
            if *is_whole {
                whole.insert(path.clone());
            }
            // The first record of a path counts.
            before.entry(path.clone()).or_insert_with(|| image.clone());
        }
        (Self { folder, upper, images, before, whole, made: RefCell::default() }, lost)
    }

    /// Moves the new state into the layer.
    pub(super) fn capture(&self) -> io::Result<()> {
        let mut inside_whole = Vec::new();
        let mut removed: Option<&Path> = None;
        for (path, before) in &self.before {
            // Below a removed folder there is nothing to move, and its mark covers what was there.
            let is_below_removed = removed.is_some_and(|removed| path.starts_with(removed));
            if is_below_removed || matches!(before, BeforeImage::Lost(_)) {
                continue;
            }
            if path.ancestors().skip(1).any(|above| self.whole.contains(above)) {
                inside_whole.push((path, before));
                continue;
            }
            #[cfg(test)]
            crate::files::change::crash_points::point();
            if self.capture_one(path, before).map_err(|error| at(path, error))? == CaptureOutcome::Removed {
                removed = Some(path);
            }
        }
        for (path, before) in inside_whole {
            if *before != BeforeImage::Absent {
                self.mark_removed(path).map_err(|error| at(path, error))?;
            }
        }
        // Modes come last, because a mode may lock the owner out of a folder.
        for (path, mode) in self.made.borrow().iter().rev() {
            let EntryHandle { folder, name } = EntryHandle::new(self.upper, path)?;
            rustix::fs::chmodat(&folder, name, Mode::from_raw_mode(*mode), AtFlags::empty())?;
        }
        Ok(())
    }

    fn capture_one(&self, path: &Path, before: &BeforeImage) -> io::Result<CaptureOutcome> {
        match stat_at(self.folder, path)? {
            Some(now) => self.capture_entry(path, before, &now).map(|()| CaptureOutcome::Kept),
            None if *before == BeforeImage::Absent => Ok(CaptureOutcome::Kept),
            None => self.mark_removed(path),
        }
    }

    fn capture_entry(&self, path: &Path, before: &BeforeImage, now: &Stat) -> io::Result<()> {
        let is_folder = FileType::from_raw_mode(now.st_mode) == FileType::Directory;
        match before {
            BeforeImage::Folder { .. } if is_folder && !self.whole.contains(path) => {
                if self.has_holder(path)? {
                    self.make_folder(path)?;
                }
                return Ok(());
            }
            BeforeImage::File(file) if is_as_before(file, now) => return Ok(()),
            _ if stat_at(self.upper, path)?.is_some() => return Ok(()),
            _ => {}
        }
        if !self.has_holder(path)? {
            return Ok(());
        }
        match before {
            // The file has other names: it stays the same file, and gets its old content back.
            BeforeImage::File(file) if file.is_shared && file.inode == now.st_ino => {
                copy_file(EntryHandle::new(self.folder, path)?, EntryHandle::new(self.upper, path)?)
            }
            _ => move_entry(EntryHandle::new(self.folder, path)?, EntryHandle::new(self.upper, path)?),
        }
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mode = make_folder(self.upper, path, self.folder)?;
        self.made.borrow_mut().entry(path.to_owned()).or_insert(mode);
        Ok(())
    }

    /// Marks a path as removed in the layer.
    fn mark_removed(&self, path: &Path) -> io::Result<CaptureOutcome> {
        match stat_at(self.upper, path)? {
            Some(stat) if is_removal_mark(&stat) => return Ok(CaptureOutcome::Removed),
            // A process that was killed has moved the new state there.
            Some(_) => return Ok(CaptureOutcome::Kept),
            None if !self.has_holder(path)? => return Ok(CaptureOutcome::Removed),
            None => {}
        }
        let EntryHandle { folder, name } = EntryHandle::new(self.upper, path)?;
        match mark_removed(&folder, name) {
            Ok(()) | Err(Errno::EXIST) => Ok(CaptureOutcome::Removed),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes the folders of the layer that hold a path; returns `false` if one of them, and so the path, is removed.
    fn has_holder(&self, path: &Path) -> io::Result<bool> {
        let above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        for above in above.into_iter().rev() {
            match stat_at(self.upper, above)? {
                Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {}
                Some(_) => return Ok(false),
                None => self.make_folder(above)?,
            }
        }
        Ok(true)
    }

    /// Restores the old state.
    pub(super) fn restore(&self) -> io::Result<()> {
        let mut folders = Vec::new();
        for (path, before) in &self.before {
            #[cfg(test)]
            crate::files::change::crash_points::point();
            let restored = match before {
                BeforeImage::Absent | BeforeImage::Lost(_) => Ok(()),
                BeforeImage::Folder { mode, owner } => {
                    folders.push((path, *mode));
                    self.restore_folder(path, *owner)
                }
                BeforeImage::Link(to) => self.restore_link(path, to.as_ref()),
                BeforeImage::File(file) => self.restore_file(path, file),
            };
            restored.map_err(|error| at(path, error))?;
        }
        // Modes come last, because a mode may lock the owner out of a folder.
        for (path, mode) in folders.into_iter().rev() {
            let Some(stat) = stat_at(self.folder, path)? else { continue };
            if stat.st_mode & ALL_BITS != mode {
                let EntryHandle { folder, name } = EntryHandle::new(self.folder, path)?;
                rustix::fs::chmodat(&folder, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
            }
        }
        Ok(())
    }

    fn restore_folder(&self, path: &Path, owner: (u32, u32)) -> io::Result<()> {
        let EntryHandle { folder, name } = EntryHandle::new(self.folder, path)?;
        match rustix::fs::mkdirat(&folder, name, Mode::RWXU) {
            Ok(()) => give(&folder, name, owner),
            Err(Errno::EXIST) => {
                // Opening makes the folder accessible, so that its entries can be restored.
                let opened = open_folder(&folder, name)?;
                drop(opened);
            }
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn restore_link(&self, path: &Path, to: &Path) -> io::Result<()> {
        let EntryHandle { folder, name } = EntryHandle::new(self.folder, path)?;
        match rustix::fs::symlinkat(to, &folder, name) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn restore_file(&self, path: &Path, file: &FileImage) -> io::Result<()> {
        let number = file.number.to_string();
        let now = stat_at(self.folder, path)?;
        if now.as_ref().is_some_and(|now| is_as_before(file, now)) {
            return Ok(());
        }
        let image = match rustix::fs::statat(self.images, &*number, AtFlags::SYMLINK_NOFOLLOW) {
            // The file is already restored.
            Err(Errno::NOENT) => return Ok(()),
            image => image?,
        };
        let from = EntryHandle { folder: self.images.try_clone()?, name: number.as_ref() };
        let to = EntryHandle::new(self.folder, path)?;
        let is_special = FileType::from_raw_mode(file.mode) != FileType::RegularFile;
        if file.is_shared && now.is_some_and(|now| now.st_ino == file.inode) {
            return if is_special { put_mode(to, file) } else { put_content(from, to, file.mode) };
        }
        let (folder, name) = (to.folder.try_clone()?, to.name);
        if (image.st_uid, image.st_gid) != file.owner {
            give(self.images, &number, file.owner);
        }
        // A layer takes no pipe, socket or device into the workspace, so this one may be the moved one itself.
        if image.st_nlink > 1 && !is_special {
            // The command moved the file, so the layer has it too: a later change there must not change this one.
            copy_file(EntryHandle { folder: self.images.try_clone()?, name: number.as_ref() }, to)?;
            rustix::fs::unlinkat(self.images, &*number, AtFlags::empty())?;
        } else {
            move_entry(from, to)?;
        }
        if image.st_mode & ALL_BITS != file.mode & ALL_BITS {
            rustix::fs::chmodat(&folder, name, Mode::from_raw_mode(file.mode & ALL_BITS), AtFlags::empty())?;
        }
        Ok(())
    }
}

/// Restores the mode and the owner of what stayed and has no content.
fn put_mode(EntryHandle { folder, name }: EntryHandle<'_>, file: &FileImage) -> io::Result<()> {
    give(&folder, name, file.owner);
    Ok(rustix::fs::chmodat(&folder, name, Mode::from_raw_mode(file.mode & ALL_BITS), AtFlags::empty())?)
}

/// Returns whether a file is the same file that was kept, unchanged since.
fn is_as_before(file: &FileImage, now: &Stat) -> bool {
    let changed = (now.st_ctime, i64::try_from(now.st_ctime_nsec).unwrap_or_default());
    file.inode == now.st_ino && file.changed == changed
}

/// Restores the owner of an entry, if the system permits it.
fn give(folder: &OwnedFd, name: impl rustix::path::Arg, (uid, gid): (u32, u32)) {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    let _ = rustix::fs::chownat(folder, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
}

/// Returns the metadata of a path; `None` if the path or its folder does not exist.
fn stat_at(root: &OwnedFd, path: &Path) -> io::Result<Option<Stat>> {
    let opened = match parent_of(root, path, OFlags::PATH) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        opened => opened?,
    };
    match rustix::fs::statat(opened.as_fd(), path.file_name().unwrap_or_default(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", haft_contract::files::path::one_line(&path.to_string_lossy())))
}
