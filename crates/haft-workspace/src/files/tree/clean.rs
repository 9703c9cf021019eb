//! Removes what must not be committed from a new tree, and copies a tree that cannot be moved.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};

use super::super::layer::{FOLDER_MODE, MODE, open_anyway, open_layer_file as open_file, remove_name};
use crate::files::change::bring::clear_attributes;
use crate::files::change::removal_mark::is_removal_mark;
use crate::files::read::folder::{FolderNameList, stat_name};

/// Deepest folder that is entered: every level holds a descriptor.
pub(super) const DEEPEST: usize = 200;

/// How much is in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::files) struct TreeSize {
    pub(in crate::files) entries: u64,
    pub(in crate::files) bytes: u64,
}

pub(super) fn too_deep() -> io::Error {
    io::Error::other("it is more than 200 folders deep")
}

/// Removes the layer's own marks and attributes, special files, and bits that let a program run as another user.
pub(in crate::files) fn clean_new_tree(folder: BorrowedFd<'_>, name: &[u8]) -> io::Result<TreeSize> {
    let mut size = TreeSize::default();
    clean(folder, name, 0, &mut size)?;
    Ok(size)
}

fn clean(folder: BorrowedFd<'_>, name: &[u8], depth: usize, size: &mut TreeSize) -> io::Result<()> {
    let stat = stat_name(folder, name)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory if depth >= DEEPEST => return Err(too_deep()),
        FileType::Directory => {
            let opened = open_anyway(folder, name)?;
            let mut names = FolderNameList::default();
            names.read(&opened)?;
            let mut index = 0;
            while let Some((inner, _)) = names.at(index) {
                index += 1;
                clean(opened.as_fd(), inner, depth + 1, size)?;
            }
            clean_folder(&File::from(opened), &stat)?;
        }
        FileType::RegularFile => {
            size.entries += 1;
            size.bytes += disk_use(&stat);
            clean_file(folder, name, &stat)?;
        }
        FileType::Symlink => size.entries += 1,
        // Pipes, sockets and devices of a program that has ended are useless.
        _ => rustix::fs::unlinkat(folder, name, AtFlags::empty())?,
    }
    Ok(())
}

/// Cleans a folder alone, and gives it back the time that this changes.
pub(super) fn clean_folder(folder: &File, stat: &Stat) -> io::Result<()> {
    let mode = stat.st_mode & FOLDER_MODE;
    let has_changed = clear_attributes(folder, mode)? || rustix::fs::fstat(folder)?.st_mode & 0o7777 != mode;
    if has_changed {
        rustix::fs::fchmod(folder, Mode::from_raw_mode(mode))?;
    }
    Ok(rustix::fs::futimens(folder, &times(stat))?)
}

pub(super) fn clean_file(folder: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> io::Result<()> {
    let mode = stat.st_mode & MODE;
    let opened = open_file(folder, name)?;
    if clear_attributes(&opened, mode)? || stat.st_mode & 0o7777 != mode {
        rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Returns how much of the disk a file takes.
pub(super) fn disk_use(stat: &Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512)
}

/// Copies a tree to another file system; what was copied so far goes when it fails.
pub(super) fn copy_tree(from: BorrowedFd<'_>, name: &[u8], to: BorrowedFd<'_>, new_name: &[u8]) -> io::Result<()> {
    let copied = copy(from, name, to, new_name);
    if copied.is_err() {
        let _ = remove_name(to, new_name, 0);
    }
    copied
}

fn copy(from: BorrowedFd<'_>, name: &[u8], to: BorrowedFd<'_>, new_name: &[u8]) -> io::Result<()> {
    let stat = stat_name(from, name)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            rustix::fs::mkdirat(to, new_name, Mode::from_raw_mode(0o700))?;
            let (source, made) = (open_anyway(from, name)?, open_anyway(to, new_name)?);
            let mut names = FolderNameList::default();
            names.read(&source)?;
            let mut index = 0;
            while let Some((inner, _)) = names.at(index) {
                index += 1;
                copy(source.as_fd(), inner, made.as_fd(), inner)?;
            }
            let made = File::from(made);
            crate::files::change::snapshot::copy_metadata(&source, &stat, &made)?;
            Ok(rustix::fs::futimens(&made, &times(&stat))?)
        }
        FileType::Symlink => {
            let leads_to = rustix::fs::readlinkat(from, name, Vec::new())?;
            Ok(rustix::fs::symlinkat(leads_to, to, new_name)?)
        }
        // The list of operations says what is removed.
        _ if is_removal_mark(&stat) => Ok(()),
        _ => {
            let mut source = open_file(from, name)?;
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mut made = File::from(rustix::fs::openat(to, new_name, flags, Mode::from_raw_mode(0o600))?);
            io::copy(&mut source, &mut made)?;
            crate::files::change::snapshot::copy_metadata(&source, &stat, &made)?;
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
