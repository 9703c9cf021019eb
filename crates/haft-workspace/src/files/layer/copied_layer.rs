//! Copies a layer while a command works on it.
//!
//! It changes the layer only by one mark: a folder that the command made now hides what lies beneath it. Without the mark,
//! the kernel would show a file again that was committed and that the command then removes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;

use super::read::{ALL_BITS, OPAQUE, ORIGIN};
use crate::files::change::removal_mark::{is_removal_mark, mark_removed};
use crate::files::read::folder::{FolderNameList, stat_name};
use crate::files::read::open::open_name;
use crate::files::read::owner;

/// Deepest folder that is entered.
const DEEPEST: usize = 200;
/// Longest mark that is copied.
const LONGEST_MARK: usize = 256;

/// A copy of one layer.
pub(super) struct LayerCopy<'a> {
    to: &'a OwnedFd,
    is_left_out: &'a dyn Fn(&Path) -> bool,
    /// Whether anything was left out.
    pub(super) leaves_out: bool,
    /// The folders that the command made and that hide what lies beneath them from now on.
    pub(super) closed: Vec<PathBuf>,
    /// The first name of each file that has several.
    links: HashMap<u64, PathBuf>,
    path: PathBuf,
}

/// A folder of the layer, its copy, and what lies beneath it in the workspace.
#[derive(Clone, Copy)]
struct CopiedFolder<'a> {
    from: &'a OwnedFd,
    to: &'a OwnedFd,
    lower: Option<&'a OwnedFd>,
    depth: usize,
}

/// Why a layer was not copied, and where.
type NotCopied = (PathBuf, io::Error);

impl<'a> LayerCopy<'a> {
    /// Makes a copy into an empty folder, without the folders of which this is true.
    pub(super) fn new(to: &'a OwnedFd, is_left_out: &'a dyn Fn(&Path) -> bool) -> Self {
        let (closed, links, path) = Default::default();
        Self { to, is_left_out, leaves_out: false, closed, links, path }
    }

    /// Copies a layer that lies over a folder.
    pub(super) fn copy(&mut self, upper: &OwnedFd, lower: &OwnedFd) -> Result<(), NotCopied> {
        self.folder(CopiedFolder { from: upper, to: self.to, lower: Some(lower), depth: 0 })
    }

    fn folder(&mut self, folder: CopiedFolder<'_>) -> Result<(), NotCopied> {
        let reopened = open_name(folder.from, b".", OFlags::DIRECTORY | OFlags::RDONLY);
        let mut names = FolderNameList::default();
        reopened.and_then(|from| names.read(&from)).map_err(|errno| (self.path.clone(), errno.into()))?;
        let mut index = 0;
        while let Some((name, _)) = names.at(index) {
            index += 1;
            self.path.push(OsStr::from_bytes(name));
            let copied = self.entry(folder, name);
            self.path.pop();
            copied?;
        }
        Ok(())
    }

    fn entry(&mut self, folder: CopiedFolder<'_>, name: &[u8]) -> Result<(), NotCopied> {
        let CopiedFolder { from, to, depth, .. } = folder;
        let broken = |path: &Path, errno: Errno| (path.to_owned(), io::Error::from(errno));
        let stat = match stat_name(from, name) {
            // The command removed it meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            stat => stat.map_err(|errno| broken(&self.path, errno))?,
        };
        if (self.is_left_out)(&self.path) || depth >= DEEPEST {
            self.leaves_out = true;
            return Ok(());
        }
        let copied = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return self.inner_folder(folder, name),
            FileType::RegularFile => self.file((from, to), name, &stat),
            FileType::Symlink => link((from, name), (to, name)),
            _ if is_removal_mark(&stat) => mark_removed(to, name).map_err(io::Error::from),
            // It would not come in.
            _ => Ok(()),
        };
        match copied {
            // What only the command itself may read, or what it has just removed, is left to its end.
            Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => Ok(()),
            copied => copied.map_err(|error| (self.path.clone(), error)),
        }
    }

    fn inner_folder(&mut self, folder: CopiedFolder<'_>, name: &[u8]) -> Result<(), NotCopied> {
        let CopiedFolder { from, to, lower, depth } = folder;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let inner = match open_name(from, name, flags) {
            Err(Errno::ACCESS | Errno::NOENT) => return Ok(()),
            inner => inner.map_err(|errno| (self.path.clone(), errno.into()))?,
        };
        let below = lower.and_then(|lower| open_name(lower, name, flags).ok());
        let path = self.path.clone();
        let broken = move |errno: Errno| (path.clone(), io::Error::from(errno));
        rustix::fs::mkdirat(to, name, Mode::RWXU).map_err(&broken)?;
        let made = open_name(to, name, flags).map_err(&broken)?;
        self.folder(CopiedFolder { from: &inner, to: &made, lower: below.as_ref(), depth: depth + 1 })?;
        if lower.is_some() && below.is_none() {
            rustix::fs::fsetxattr(&inner, OPAQUE, b"y", XattrFlags::empty()).map_err(&broken)?;
            self.closed.push(self.path.clone());
        }
        like(&inner, &made).map_err(|error| (self.path.clone(), error))
    }

    fn file(&mut self, (from, to): (&OwnedFd, &OwnedFd), name: &[u8], stat: &Stat) -> io::Result<()> {
        if stat.st_nlink > 1 {
            if let Some(first) = self.links.get(&stat.st_ino) {
                return Ok(rustix::fs::linkat(self.to, first, to, name, AtFlags::empty())?);
            }
            self.links.insert(stat.st_ino, self.path.clone());
        }
        let mut source = File::from(open_name(from, name, OFlags::RDONLY)?);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut made = File::from(rustix::fs::openat(to, name, flags, Mode::from_raw_mode(0o600))?);
        io::copy(&mut source, &mut made)?;
        like(&source, &made)
    }
}

/// Copies a link, from a name in a folder to another.
pub(super) fn link((from, name): (&OwnedFd, &[u8]), (to, new): (&OwnedFd, &[u8])) -> io::Result<()> {
    let target = rustix::fs::readlinkat(from, name, Vec::new())?;
    rustix::fs::symlinkat(&*target, to, new)?;
    let stat = stat_name(from, name)?;
    let (uid, gid) = (rustix::fs::Uid::from_raw(stat.st_uid), rustix::fs::Gid::from_raw(stat.st_gid));
    // A user that may not give it away keeps it.
    let _ = rustix::fs::chownat(to, new, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
    Ok(())
}

/// Gives a copy the owner, the mode, the time and the marks of the kernel that the original has.
pub(super) fn like(from: impl AsFd, made: impl AsFd) -> io::Result<()> {
    let stat = rustix::fs::fstat(&from)?;
    owner::give(&made, owner::of(&stat))?;
    for mark in [OPAQUE, ORIGIN] {
        let mut value = [0; LONGEST_MARK];
        if let Ok(length) = rustix::fs::fgetxattr(&from, mark, &mut value) {
            rustix::fs::fsetxattr(&made, mark, &value[..length], XattrFlags::empty())?;
        }
    }
    rustix::fs::fchmod(&made, Mode::from_raw_mode(stat.st_mode & ALL_BITS))?;
    let time = |seconds, nanoseconds: u64| Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec as u64),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec as u64),
    };
    Ok(rustix::fs::futimens(&made, &times)?)
}
