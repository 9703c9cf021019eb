//! New folders that programs filled by themselves, as `node_modules`: they come in as a whole, by one rename.
//!
//! They are not in the journal, file by file or otherwise: what made them makes them again. On the way the bits are
//! taken away that let a program run as somebody else, and so are the layer's own
//! attributes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::super::bring::clear_attributes;
use super::super::folder::{Names, stat_name};
use super::super::open::open_beneath;
use super::difference::Spot;
use super::folder::{open_anyway, remove_name};
use super::read::{FOLDER_MODE, MODE, open_file};
use super::settle::OpenRoot;

/// Deepest folder that is entered.
const DEEPEST: usize = 200;

/// How much came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) entries: usize,
    pub(super) bytes: u64,
}

/// Brings new folders in as wholes; each for itself.
pub(super) fn bring(roots: &[OpenRoot], trees: &[Spot]) -> Vec<(Spot, io::Result<Tree>)> {
    trees.iter().map(|spot| (spot.clone(), roots[spot.root].bring_tree(spot))).collect()
}

impl OpenRoot {
    fn bring_tree(&self, spot: &Spot) -> io::Result<Tree> {
        let (Some(parent), Some(name)) = (spot.path.parent(), spot.path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parent = if parent.as_os_str().is_empty() { b"." } else { parent.as_os_str().as_bytes() };
        let open = |folder: &OwnedFd| open_beneath(folder.as_fd(), parent, OFlags::DIRECTORY | OFlags::RDONLY);
        let (from, to) = (open(&self.upper)?, open(&self.folder)?);
        let mut tree = Tree::default();
        clean(from.as_fd(), name.as_bytes(), 0, &mut tree)?;
        match rustix::fs::renameat_with(&from, name, &to, name, RenameFlags::NOREPLACE) {
            Err(Errno::XDEV) => copy_in(from.as_fd(), to.as_fd(), name.as_bytes())?,
            moved => moved?,
        }
        // Nothing else makes it outlive a power cut, and what is lost is made again; the name shall not be half of one.
        rustix::fs::fsync(&to)?;
        Ok(tree)
    }
}

/// Takes away what must not come in, and counts.
fn clean(folder: BorrowedFd<'_>, name: &[u8], depth: usize, tree: &mut Tree) -> io::Result<()> {
    let stat = stat_name(folder, name)?;
    tree.entries += 1;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory if depth >= DEEPEST => {
            return Err(io::Error::other("it is more than 200 folders deep"));
        }
        FileType::Directory => {
            let opened = open_anyway(folder, name)?;
            let mut names = Names::default();
            names.read(&opened)?;
            let mut index = 0;
            while let Some((inner, _)) = names.at(index) {
                index += 1;
                clean(opened.as_fd(), inner, depth + 1, tree)?;
            }
            let mode = stat.st_mode & FOLDER_MODE | 0o700;
            let opened = File::from(opened);
            clear_attributes(&opened, mode)?;
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?;
        }
        FileType::RegularFile => {
            tree.bytes += u64::try_from(stat.st_size).unwrap_or(0);
            let mode = stat.st_mode & MODE;
            let opened = open_file(folder, name)?;
            if clear_attributes(&opened, mode)? || stat.st_mode & 0o7777 != mode {
                rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?;
            }
        }
        FileType::Symlink => {}
        // Pipes, sockets and devices of a program that has ended lead nowhere.
        _ => rustix::fs::unlinkat(folder, name, AtFlags::empty())?,
    }
    Ok(())
}

/// Copies a folder to another file system: beside its place first.
fn copy_in(from: BorrowedFd<'_>, to: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let beside = format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple());
    let copied = copy(from, name, to, beside.as_bytes())
        .and_then(|()| Ok(rustix::fs::renameat_with(to, &*beside, to, name, RenameFlags::NOREPLACE)?));
    if copied.is_err() {
        let _ = remove_name(to, beside.as_bytes(), 0);
    }
    copied
}

fn copy(from: BorrowedFd<'_>, name: &[u8], to: BorrowedFd<'_>, new_name: &[u8]) -> io::Result<()> {
    let stat = stat_name(from, name)?;
    let mode = Mode::from_raw_mode(stat.st_mode & MODE);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            rustix::fs::mkdirat(to, new_name, Mode::from_raw_mode(0o700))?;
            let (source, made) = (open_anyway(from, name)?, open_anyway(to, new_name)?);
            let mut names = Names::default();
            names.read(&source)?;
            let mut index = 0;
            while let Some((inner, _)) = names.at(index) {
                index += 1;
                copy(source.as_fd(), inner, made.as_fd(), inner)?;
            }
            rustix::fs::fchmod(&made, mode)?;
            Ok(rustix::fs::futimens(&made, &times(&stat))?)
        }
        FileType::Symlink => {
            let leads_to = rustix::fs::readlinkat(from, name, Vec::new())?;
            Ok(rustix::fs::symlinkat(leads_to, to, new_name)?)
        }
        _ => {
            let mut source = open_file(from, name)?;
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mut made = File::from(rustix::fs::openat(to, new_name, flags, Mode::from_raw_mode(0o600))?);
            io::copy(&mut source, &mut made)?;
            rustix::fs::fchmod(&made, mode)?;
            Ok(rustix::fs::futimens(&made, &times(&stat))?)
        }
    }
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, rest: u64| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(rest).unwrap_or(0) };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}
