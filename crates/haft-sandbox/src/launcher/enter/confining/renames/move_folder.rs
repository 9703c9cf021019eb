//! Moves a folder of a layer piece by piece, because the kernel cannot rename it as a whole.
//!
//! Files are renamed one by one, so the kernel itself keeps their content, owner, times and attributes. At every moment
//! each file is in exactly one of the two places. If a step fails, the move is undone.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::judgement::Rename;

/// How deep folders may lie in each other. Each level needs descriptors.
const DEEPEST: usize = 2000;
/// The largest value that an attribute of a file may have.
const LARGEST_ATTRIBUTE: usize = 64 * 1024;

/// Moves a folder. If that fails, everything is back in its place, and programs get an error that makes them copy it.
pub(super) fn all(rename: &Rename) -> Result<(), Errno> {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    let (from, from_name) = rename.from.parent()?;
    let (to, to_name) = rename.to.parent()?;
    let replaced = make_room(&to, &to_name)?;
    let mut links = Links { top: rustix::io::fcntl_dupfd_cloexec(&to, 0)?, place: Vec::new(), first: HashMap::new() };
    let whole = MoveStep { from: (&from, &from_name), to: (&to, &to_name), depth: 0 };
    match whole.folder(&mut links) {
        Ok(()) => Ok(()),
        Err(error) => {
            if replaced == ReplacedEntry::Folder {
                let _ = rustix::fs::mkdirat(&to, &to_name, Mode::from_raw_mode(0o755));
            }
            // A mount inside is in the way of every program; all other reasons are better told by who copies.
            Err(if error == Errno::BUSY { Errno::BUSY } else { Errno::XDEV })
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplacedEntry {
    Nothing,
    Folder,
}

/// A rename replaces an empty folder, and no other.
fn make_room(folder: &OwnedFd, name: &CStr) -> Result<ReplacedEntry, Errno> {
    match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(ReplacedEntry::Folder),
        Err(Errno::NOENT) => Ok(ReplacedEntry::Nothing),
        Err(error) => Err(error),
    }
}

/// Keeps the names of one file together: the kernel would make a file of its own for each.
struct Links {
    /// Where the new folder lies.
    top: OwnedFd,
    /// The folder that is being filled, seen from there.
    place: Vec<u8>,
    /// The first new name of each file that had several, seen from there.
    first: HashMap<(u64, u64), CString>,
}

impl Links {
    fn seen_from_top(&self, name: &CStr) -> Result<CString, Errno> {
        CString::new([&self.place, name.to_bytes()].concat()).map_err(|_| Errno::INVAL)
    }
}

/// An open folder, and the name of an entry in it.
type EntryLocation<'a> = (&'a OwnedFd, &'a CStr);

#[derive(Clone, Copy)]
struct MoveStep<'a> {
    from: EntryLocation<'a>,
    to: EntryLocation<'a>,
    depth: usize,
}

impl MoveStep<'_> {
    fn one(&self, links: &mut Links) -> Result<(), Errno> {
        let found = rustix::fs::statat(self.from.0, self.from.1, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            return match self.rename() {
                // A folder that may not be written cannot get another parent; in its own it would have moved along.
                Err(Errno::XDEV | Errno::ACCESS) => self.folder(links),
                answer => answer,
            };
        }
        if found.st_nlink < 2 {
            return self.rename();
        }
        let file = (found.st_dev, found.st_ino);
        if let Some(first) = links.first.get(&file) {
            rustix::fs::linkat(&links.top, first, self.to.0, self.to.1, AtFlags::empty())?;
            return rustix::fs::unlinkat(self.from.0, self.from.1, AtFlags::empty());
        }
        let place = links.seen_from_top(self.to.1)?;
        self.rename()?;
        links.first.insert(file, place);
        Ok(())
    }

    fn rename(&self) -> Result<(), Errno> {
        rustix::fs::renameat(self.from.0, self.from.1, self.to.0, self.to.1)
    }

    fn back(&self) {
        let back = || rustix::fs::renameat(self.to.0, self.to.1, self.from.0, self.from.1);
        if back() != Err(Errno::ACCESS) {
            return;
        }
        let Ok(found) = rustix::fs::statat(self.to.0, self.to.1, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let mode = Mode::from_raw_mode(found.st_mode);
        let _ = rustix::fs::chmodat(self.to.0, self.to.1, mode | Mode::RWXU, AtFlags::empty());
        let place = if back().is_ok() { self.from } else { self.to };
        let _ = rustix::fs::chmodat(place.0, place.1, mode, AtFlags::empty());
    }

    fn folder(&self, links: &mut Links) -> Result<(), Errno> {
        if self.depth > DEEPEST {
            return Err(Errno::NAMETOOLONG);
        }
        let from = open_folder(self.from)?;
        let before = rustix::fs::fstat(&from)?;
        rustix::fs::mkdirat(self.to.0, self.to.1, Mode::RWXU)?;
        let above = links.place.len();
        links.place.extend(self.to.1.to_bytes());
        links.place.push(b'/');
        let moved = self.fill(&from, &before, links);
        links.place.truncate(above);
        if moved.is_err() {
            let _ = rustix::fs::fchmod(&from, Mode::from_raw_mode(before.st_mode));
            let _ = rustix::fs::unlinkat(self.to.0, self.to.1, AtFlags::REMOVEDIR);
        }
        moved
    }

    fn fill(&self, from: &OwnedFd, before: &Stat, links: &mut Links) -> Result<(), Errno> {
        let to = open_folder(self.to)?;
        let mode = Mode::from_raw_mode(before.st_mode);
        if !mode.contains(Mode::RWXU) {
            // Renaming the folder as a whole would not ask for these rights.
            rustix::fs::fchmod(from, mode | Mode::RWXU)?;
        }
        let names = names_in(from)?;
        let step = |name| MoveStep { from: (from, name), to: (&to, name), depth: self.depth + 1 };
        for (index, name) in names.iter().enumerate() {
            if let Err(error) = step(name).one(links) {
                names[..index].iter().rev().for_each(|moved| step(moved).back());
                return Err(error);
            }
        }
        keep_attributes(from, &to);
        let times = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
        let last_access = times(before.st_atime as _, before.st_atime_nsec);
        let last_modification = times(before.st_mtime as _, before.st_mtime_nsec);
        let finished = rustix::fs::fchmod(&to, mode)
            .and_then(|()| rustix::fs::futimens(&to, &Timestamps { last_access, last_modification }))
            .and_then(|()| rustix::fs::unlinkat(self.from.0, self.from.1, AtFlags::REMOVEDIR));
        if finished.is_err() {
            let _ = rustix::fs::fchmod(&to, Mode::RWXU);
            names.iter().rev().for_each(|moved| step(moved).back());
        }
        finished
    }
}

fn open_folder((folder, name): EntryLocation<'_>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                return Err(Errno::NOTDIR);
            }
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(found.st_mode) | Mode::RWXU, AtFlags::empty())?;
            let opened = rustix::fs::openat(folder, name, flags, Mode::empty());
            // The next process that looks must find the original mode.
            let _ = rustix::fs::chmodat(folder, name, Mode::from_raw_mode(found.st_mode), AtFlags::empty());
            opened
        }
        answer => answer,
    }
}

fn names_in(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Gives the new folder the attributes of the old one, as far as the system lets us.
fn keep_attributes(from: &OwnedFd, to: &OwnedFd) {
    let mut list = vec![0; LARGEST_ATTRIBUTE];
    let Ok(length) = rustix::fs::flistxattr(from, &mut list) else { return };
    let mut value = vec![0; LARGEST_ATTRIBUTE];
    for name in list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = CString::new(name) else { continue };
        if let Ok(length) = rustix::fs::fgetxattr(from, &name, &mut value) {
            let _ = rustix::fs::fsetxattr(to, &name, &value[..length], XattrFlags::empty());
        }
    }
}
