//! Moves new files of a cache from the layer of a session to haft's own folder for the cache.
//!
//! No process of the session is left, and no other user can enter the two folders. haft still does not trust what the
//! commands put there: every step goes by descriptor and follows no link.
//!
//! A file that the user or haft already has stays unchanged, because other processes may be reading it. So each new file
//! moves by one rename, and a kill in the middle leaves whole files.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW, Uid,
};
use rustix::io::Errno;

use super::{ToolCache, locked};

/// How the kernel's own attributes of a layer begin, and the one of a folder that replaces another.
const OF_LAYERS: &[u8] = b"user.overlay.";
const OPAQUE: &str = "user.overlay.opaque";

/// What is moved, and to whom it belongs.
pub(super) struct Carrying<'a> {
    pub(super) cache: &'a ToolCache,
    pub(super) owner: Option<(u32, u32)>,
}

/// One folder of a cache: the new one in the layer, the user's, and haft's own.
struct CacheFolders {
    new: OwnedFd,
    users: Option<OwnedFd>,
    own: OwnedFd,
}

impl Carrying<'_> {
    /// Moves the new files, and returns whether there were any.
    pub(super) fn carry(&self, from: &Path, own: &Path) -> io::Result<bool> {
        let new = match open_folder(CWD, from.as_os_str()) {
            Ok(new) => new,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if names(new.as_fd())?.is_empty() {
            return Ok(false);
        }
        let is_used = own.exists();
        let mut is_more = false;
        for part in &self.cache.carried {
            let path = if part == "." { Path::new("") } else { Path::new(part) };
            // Make no folder if no command wrote there.
            let Some(new) = find(new.as_fd(), path) else { continue };
            let own = self.own_folder(own)?;
            let users = rustix::fs::open(&self.cache.folder, folder_flags() & !OFlags::NOFOLLOW, Mode::empty()).ok();
            let users = users.and_then(|users| find(users.as_fd(), path));
            let own = path.iter().try_fold(own, |folder, name| self.made(folder.as_fd(), name))?;
            is_more |= self.carry_folder(&CacheFolders { new, users, own }, path)?;
        }
        if is_used {
            // The tool was used just now.
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            let times = Timestamps { last_access: now, last_modification: now };
            rustix::fs::utimensat(CWD, own, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(is_more)
    }

    /// Opens haft's own folder for the tool, and keeps other processes from removing it meanwhile.
    fn own_folder(&self, own: &Path) -> io::Result<OwnedFd> {
        drop(self.made(CWD, own.as_os_str())?);
        locked(own, FlockOperation::NonBlockingLockShared).ok_or_else(|| Errno::AGAIN.into())
    }

    fn carry_folder(&self, folders: &CacheFolders, path: &Path) -> io::Result<bool> {
        let mut is_more = false;
        for name in names(folders.new.as_fd())? {
            let path = path.join(&name);
            let Ok(found) = rustix::fs::statat(&folders.new, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let is_lock = found.st_size == 0 && path.extension().is_some_and(|end| end == "lock");
            if is_lock || self.is_left_out(&path) {
                continue;
            }
            let mode = Mode::from_raw_mode(found.st_mode);
            is_more |= match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => self.carry_below(folders, &name, &path)?,
                FileType::RegularFile if folders.is_new(&name) => folders.clean(&name, mode) && folders.take(&name),
                FileType::Symlink if folders.is_new(&name) => folders.stays_inside(&name, &path) && folders.take(&name),
                // Files that were removed are devices here; pipes and sockets belong to processes.
                _ => false,
            };
        }
        Ok(is_more)
    }

    fn carry_below(&self, folders: &CacheFolders, name: &OsStr, path: &Path) -> io::Result<bool> {
        // Some tools take the right to write from their folders.
        let _ = rustix::fs::chmodat(&folders.new, name, Mode::RWXU, AtFlags::empty());
        let Ok(new) = open_folder(folders.new.as_fd(), name) else { return Ok(false) };
        let has = |folder: BorrowedFd<'_>| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let is_kept = has(folders.own.as_fd()) || folders.users.as_ref().is_some_and(|users| has(users.as_fd()));
        // The tool has replaced the folder as a whole; its files do not go with those of the earlier one.
        if is_kept && rustix::fs::fgetxattr(&new, OPAQUE, &mut [0_u8; 8]).is_ok() {
            return Ok(false);
        }
        let users = folders.users.as_ref().and_then(|users| open_folder(users.as_fd(), name).ok());
        let Ok(own) = self.made(folders.own.as_fd(), name) else { return Ok(false) };
        self.carry_folder(&CacheFolders { new, users, own }, path)
    }

    /// Opens a folder of haft's own, which is made if there is none.
    fn made(&self, above: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        let is_new = match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        let made = open_folder(above, name)?;
        if let Some((user, group)) = self.owner.filter(|_| is_new) {
            rustix::fs::fchown(&made, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
        }
        Ok(made)
    }

    fn is_left_out(&self, path: &Path) -> bool {
        let words: Vec<&[u8]> = path.iter().map(OsStr::as_bytes).collect();
        self.cache.left_out.iter().any(|pattern| fits(&pattern.split('/').collect::<Vec<_>>(), &words))
    }
}

impl CacheFolders {
    /// Returns whether neither the user nor haft has something of this name.
    fn is_new(&self, name: &OsStr) -> bool {
        let has = |folder: &OwnedFd| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        !has(&self.own) && !self.users.as_ref().is_some_and(has)
    }

    /// Takes away what a file of a layer has and others have not; returns whether that was possible.
    fn clean(&self, name: &OsStr, mode: Mode) -> bool {
        let set_id = Mode::SUID | Mode::SGID | Mode::SVTX;
        let wanted = (mode & !set_id) | Mode::RUSR;
        if wanted != mode & Mode::from_raw_mode(0o7777)
            && rustix::fs::chmodat(&self.new, name, wanted, AtFlags::empty()).is_err()
        {
            return false;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&self.new, name, flags, Mode::empty()) else { return false };
        let mut room = vec![0_u8; 65_536];
        let listed = match rustix::fs::flistxattr(&file, &mut room) {
            Ok(length) => &room[..length],
            Err(Errno::OPNOTSUPP) => &[],
            Err(_) => return false,
        };
        let of_layers = listed.split(|byte| *byte == 0).filter(|name| name.starts_with(OF_LAYERS));
        of_layers.into_iter().all(|name| rustix::fs::fremovexattr(&file, name).is_ok())
    }

    /// Returns whether a link leads to something in the cache, also where other links are on the way.
    fn stays_inside(&self, name: &OsStr, path: &Path) -> bool {
        let Ok(target) = rustix::fs::readlinkat(&self.new, name, Vec::new()) else { return false };
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        leads_inside(&target, path)
    }

    fn take(&self, name: &OsStr) -> bool {
        rustix::fs::renameat_with(&self.new, name, &self.own, name, RenameFlags::NOREPLACE).is_ok()
    }
}

/// Returns whether a link at a path of a folder leads to something in that folder.
fn leads_inside(target: &Path, path: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut is_down = false;
    for part in target.components() {
        match part {
            Component::Normal(_) => is_down = true,
            Component::CurDir => {}
            // Behind a name it would lead wherever that leads.
            Component::ParentDir if is_down || depth == 0 => return false,
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Returns whether a pattern fits the names of a path, or those of a folder above it.
fn fits(pattern: &[&str], path: &[&[u8]]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skipped| !rest.is_empty() && fits(rest, &path[skipped..])),
        (_, []) => false,
        ([first, rest @ ..], [name, below @ ..]) => is_name(first.as_bytes(), name) && fits(rest, below),
    }
}

fn is_name(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|skipped| is_name(rest, &name[skipped..])),
        [first, rest @ ..] => name.split_first().is_some_and(|(byte, behind)| byte == first && is_name(rest, behind)),
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn open_folder(above: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(above, name, folder_flags(), Mode::empty())
}

/// Opens a folder below another one without following links.
fn find(above: BorrowedFd<'_>, path: &Path) -> Option<OwnedFd> {
    let start = open_folder(above, OsStr::new(".")).ok()?;
    path.iter().try_fold(start, |folder, name| open_folder(folder.as_fd(), name)).ok()
}

fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
