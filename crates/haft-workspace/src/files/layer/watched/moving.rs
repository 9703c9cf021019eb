//! Moves files and folders between a workspace and the contents that haft keeps.
//!
//! A move is a rename, or a copy between different file systems. An entry that has its new name is complete.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::super::copied_layer::{like, link};
use super::super::folder::{open_anyway, remove_name};
use super::super::read::{ALL_BITS, open_file};
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::{open_beneath, open_name};
use crate::files::read::owner;

/// Prefix of the name of an unfinished copy.
const UNFINISHED: &str = ".haft-unfinished-";

/// An open folder, and the name of an entry in it.
pub(super) struct EntryHandle<'a> {
    pub(super) folder: OwnedFd,
    pub(super) name: &'a OsStr,
}

impl<'a> EntryHandle<'a> {
    /// Opens the folder that holds a path.
    pub(super) fn new(root: &OwnedFd, path: &'a Path) -> Result<Self, Errno> {
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        Ok(Self { folder: parent_of(root, path, OFlags::RDONLY)?, name })
    }

    fn bytes(&self) -> &'a [u8] {
        self.name.as_encoded_bytes()
    }
}

/// Opens the folder that holds a path, even if folders on the path do not let their owner in.
pub(super) fn parent_of(root: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match open_beneath(root.as_fd(), parent, OFlags::DIRECTORY | flags) {
        Err(Errno::ACCESS) => {}
        opened => return opened,
    }
    let mut folder = root.as_fd().try_clone_to_owned().map_err(|_| Errno::MFILE)?;
    for part in parent.iter() {
        folder = open_anyway(folder.as_fd(), part.as_encoded_bytes())?;
    }
    Ok(folder)
}

/// Opens a folder to work in it.
pub(super) fn open_folder(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    open_anyway(folder.as_fd(), name.as_encoded_bytes())
}

/// Makes a folder like the one at the same path of another root. Returns its mode, which the caller sets last.
pub(super) fn make_folder(root: &OwnedFd, path: &Path, like_in: &OwnedFd) -> io::Result<u32> {
    let above = parent_of(like_in, path, OFlags::PATH)?;
    let EntryHandle { folder, name } = EntryHandle::new(root, path)?;
    let stat = rustix::fs::statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match rustix::fs::mkdirat(&folder, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let made = open_anyway(folder.as_fd(), name.as_encoded_bytes())?;
    let _ = owner::give(&made, owner::of(&stat));
    Ok(stat.st_mode & ALL_BITS)
}

/// Moves an entry, with everything in it. It replaces a file at the new place.
pub(super) fn move_entry(from: EntryHandle<'_>, to: EntryHandle<'_>) -> io::Result<()> {
    let try_it = || rustix::fs::renameat(&from.folder, from.name, &to.folder, to.name);
    match try_it() {
        Err(Errno::XDEV) => return move_by_copy(&from, &to),
        Err(Errno::ACCESS | Errno::PERM) => {}
        moved => return Ok(moved?),
    }
    let mode = widened(&from)?;
    let around = [widen(&from.folder)?, widen(&to.folder)?];
    let moved = try_it();
    for (folder, mode) in [&from.folder, &to.folder].into_iter().zip(around) {
        if let Some(mode) = mode {
            rustix::fs::fchmod(folder, Mode::from_raw_mode(mode))?;
        }
    }
    moved?;
    if let Some(mode) = mode {
        rustix::fs::chmodat(&to.folder, to.name, Mode::from_raw_mode(mode), AtFlags::empty())?;
    }
    Ok(())
}

/// Lets the owner of a folder work in it; returns the mode that it had.
fn widen(folder: &OwnedFd) -> Result<Option<u32>, Errno> {
    let mode = rustix::fs::fstat(folder)?.st_mode & ALL_BITS;
    if mode & 0o700 == 0o700 {
        return Ok(None);
    }
    rustix::fs::fchmod(folder, Mode::from_raw_mode(mode | 0o700))?;
    Ok(Some(mode))
}

/// The same for a folder that is moved; returns the mode that it had.
fn widened(entry: &EntryHandle<'_>) -> Result<Option<u32>, Errno> {
    let stat = stat_name(&entry.folder, entry.bytes())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory || stat.st_mode & 0o700 == 0o700 {
        return Ok(None);
    }
    let mode = stat.st_mode & ALL_BITS;
    rustix::fs::chmodat(&entry.folder, entry.name, Mode::from_raw_mode(mode | 0o700), AtFlags::empty())?;
    Ok(Some(mode))
}

fn move_by_copy(from: &EntryHandle<'_>, to: &EntryHandle<'_>) -> io::Result<()> {
    copy_whole(from, to)?;
    Ok(remove_name(from.folder.as_fd(), from.bytes(), 0)?)
}

/// Copies a file.
pub(super) fn copy_file(from: EntryHandle<'_>, to: EntryHandle<'_>) -> io::Result<()> {
    copy_whole(&from, &to)
}

/// Copies an entry under another name first. A process that is killed meanwhile leaves that copy behind. The next
/// process repeats the step: it removes the copy and makes another. So the name depends only on the place.
fn copy_whole(from: &EntryHandle<'_>, to: &EntryHandle<'_>) -> io::Result<()> {
    let unfinished = format!("{UNFINISHED}{}", blake3::hash(to.bytes()).to_hex());
    match remove_name(to.folder.as_fd(), unfinished.as_bytes(), 0) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    copy_entry((&from.folder, from.bytes()), (&to.folder, unfinished.as_bytes()))?;
    #[cfg(test)]
    crate::files::change::crash_points::point();
    Ok(rustix::fs::renameat(&to.folder, &*unfinished, &to.folder, to.name)?)
}

/// An open folder, and the name of an entry in it that is copied or made.
type CopyEndpoint<'a> = (&'a OwnedFd, &'a [u8]);

fn copy_entry(from: CopyEndpoint<'_>, to: CopyEndpoint<'_>) -> io::Result<()> {
    let stat: Stat = stat_name(from.0, from.1)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            rustix::fs::mkdirat(to.0, to.1, Mode::RWXU)?;
            let made = open_name(to.0, to.1, OFlags::DIRECTORY | OFlags::RDONLY)?;
            let source = open_anyway(from.0.as_fd(), from.1)?;
            let mut names = FolderNameList::default();
            names.read(&source)?;
            let mut index = 0;
            while let Some((name, _)) = names.at(index) {
                index += 1;
                copy_entry((&source, name), (&made, name))?;
            }
            let _ = owner::give(&made, owner::of(&stat));
            Ok(rustix::fs::fchmod(&made, Mode::from_raw_mode(stat.st_mode & ALL_BITS))?)
        }
        FileType::Symlink => link(from, to),
        FileType::RegularFile => {
            let mut source = open_file(from.0.as_fd(), from.1)?;
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut made = File::from(rustix::fs::openat(to.0, to.1, flags, Mode::from_raw_mode(0o600))?);
            io::copy(&mut source, &mut made)?;
            like(&source, &made)
        }
        kind => Ok(rustix::fs::mknodat(to.0, to.1, kind, Mode::from_raw_mode(stat.st_mode & ALL_BITS), stat.st_rdev)?),
    }
}

/// Counts the files and links in a folder and below it.
pub(super) fn count_files(folder: &OwnedFd) -> Result<usize, Errno> {
    let mut names = FolderNameList::default();
    names.read(&open_name(folder, b".", OFlags::DIRECTORY | OFlags::RDONLY)?)?;
    let (mut count, mut index) = (0, 0);
    while let Some((name, kind)) = names.at(index) {
        index += 1;
        count += match kind {
            // A folder that cannot be read counts as nothing, before and after.
            FileType::Directory => open_name(folder, name, OFlags::DIRECTORY | OFlags::RDONLY)
                .and_then(|inner| count_files(&inner))
                .unwrap_or_default(),
            FileType::RegularFile | FileType::Symlink => 1,
            _ => 0,
        };
    }
    Ok(count)
}

/// Restores the kept content of a file, without replacing the file.
pub(super) fn put_content(from: EntryHandle<'_>, to: EntryHandle<'_>, mode: u32) -> io::Result<()> {
    let mut source = open_file(from.folder.as_fd(), from.bytes())?;
    let is_shut = stat_name(&to.folder, to.bytes())?.st_mode & 0o200 == 0;
    if is_shut {
        rustix::fs::chmodat(&to.folder, to.name, Mode::from_raw_mode(0o600), AtFlags::empty())?;
    }
    let mut file = File::from(open_name(&to.folder, to.bytes(), OFlags::WRONLY)?);
    let length = io::copy(&mut source, &mut file)?;
    file.set_len(length)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & ALL_BITS))?;
    let stat = rustix::fs::fstat(&source)?;
    let time = |seconds, rest: u64| rustix::fs::Timespec { tv_sec: seconds, tv_nsec: i64::try_from(rest).unwrap_or(0) };
    let times = rustix::fs::Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    Ok(rustix::fs::futimens(&file, &times)?)
}
