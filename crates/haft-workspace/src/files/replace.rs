//! Puts things in place so that a name holds the old or the new content at any moment.
//!
//! New content is written beside, synced, and swapped with the old. What was swapped out is
//! compared with what was kept: if somebody else was faster, it is swapped back. Nothing is ever
//! written in place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::image::{copy_metadata, is_same};
use super::open::Root;

/// What to put somewhere.
pub(super) enum New<'a> {
    Bytes(&'a [u8]),
    /// Everything that can be read from this file.
    File(File),
}

/// Where something is to be put, and what was seen there.
pub(super) struct Spot<'a> {
    pub(super) root: &'a Root,
    pub(super) place: &'a Path,
    /// The name for what lies beside until it is in place.
    pub(super) beside: &'a str,
    pub(super) seen: Option<&'a Stat>,
}

/// Why something is not in place.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Somebody else was faster.
    Overtaken,
    /// The system said no.
    System(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::System(error)
    }
}

impl From<Errno> for Trouble {
    fn from(errno: Errno) -> Self {
        Trouble::System(errno.into())
    }
}

/// Writes new content beside its place and syncs it; returns what could not be kept of the old file.
pub(super) fn stage(spot: &Spot<'_>, new: New<'_>, mode: Option<u32>) -> Result<Vec<String>, Trouble> {
    let (folder, _) = spot.root.open_parent(spot.place)?;
    let staged = write_beside(spot, &folder, new, mode);
    if staged.is_err() {
        unstage(spot);
    }
    staged
}

/// Removes what was written beside a place. Only our own file goes; the old content was never touched.
pub(super) fn unstage(spot: &Spot<'_>) {
    if let Ok((folder, _)) = spot.root.open_parent(spot.place) {
        let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty());
    }
}

/// Puts what lies beside in its place.
pub(super) fn place(spot: &Spot<'_>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    let placed = match spot.seen {
        Some(seen) => swap(folder.as_fd(), (spot.beside, name), seen),
        None => appear(folder.as_fd(), spot.beside, name),
    };
    if placed.is_err() {
        let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty());
    }
    placed?;
    Ok(rustix::fs::fsync(&folder)?)
}

fn write_beside(spot: &Spot<'_>, folder: &OwnedFd, new: New<'_>, mode: Option<u32>) -> Result<Vec<String>, Trouble> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(folder, spot.beside, flags, Mode::from_raw_mode(0o666))?);
    match new {
        New::Bytes(bytes) => file.write_all(bytes)?,
        New::File(mut source) => drop(io::copy(&mut source, &mut file)?),
    }
    let mut notes = Vec::new();
    if let Some(stat) = spot.seen {
        // Without following a link, and without the right to read it: a descriptor that only names it will do.
        let old = spot.root.open_place(spot.place, OFlags::RDONLY | OFlags::NOFOLLOW)?;
        notes = copy_metadata(&old, stat, &file)?;
    }
    if let Some(mode) = mode {
        // Set, not passed to the opening: there the mask of the process would take bits away.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    file.sync_all()?;
    Ok(notes)
}

/// Swaps the new file with the old one, and makes sure that the old one was what we think.
fn swap(folder: BorrowedFd<'_>, (beside, name): (&str, &OsStr), seen: &Stat) -> Result<(), Trouble> {
    match rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {
            let out = rustix::fs::statat(folder, beside, AtFlags::SYMLINK_NOFOLLOW)?;
            if is_same(&out, seen) {
                return Ok(rustix::fs::unlinkat(folder, beside, AtFlags::empty())?);
            }
            rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::EXCHANGE)?;
            Err(Trouble::Overtaken)
        }
        // Not every file system can swap; then a look right before must do.
        Err(Errno::INVAL | Errno::NOSYS) => {
            let now = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if !is_same(&now, seen) {
                return Err(Trouble::Overtaken);
            }
            Ok(rustix::fs::renameat(folder, beside, folder, name)?)
        }
        Err(Errno::NOENT) => Err(Trouble::Overtaken),
        Err(errno) => Err(errno.into()),
    }
}

/// Gives a new file its name, never over one that has appeared since.
fn appear(folder: BorrowedFd<'_>, beside: &str, name: &OsStr) -> Result<(), Trouble> {
    match rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::linkat(folder, beside, folder, name, AtFlags::empty()) {
                Err(Errno::EXIST) => return Err(Trouble::Overtaken),
                linked => linked?,
            }
            Ok(rustix::fs::unlinkat(folder, beside, AtFlags::empty())?)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Takes a file or a link away: first aside, and for good when it was what we think.
pub(super) fn take_away(spot: &Spot<'_>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    let Some(seen) = spot.seen else { return Err(Trouble::Overtaken) };
    rustix::fs::renameat(&folder, name, &folder, spot.beside)?;
    let out = rustix::fs::statat(&folder, spot.beside, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_same(&out, seen) {
        // Where nothing has appeared since, it goes back to where it was.
        rustix::fs::renameat_with(&folder, spot.beside, &folder, name, RenameFlags::NOREPLACE)?;
        return Err(Trouble::Overtaken);
    }
    rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty())?;
    Ok(rustix::fs::fsync(&folder)?)
}

/// Makes a folder.
pub(super) fn make_folder(root: &Root, place: &Path, mode: Option<u32>) -> Result<(), Trouble> {
    let (folder, name) = root.open_parent(place)?;
    match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) => return Err(Trouble::Overtaken),
        made => made?,
    }
    if let Some(mode) = mode {
        let made = root.open_place(place, OFlags::DIRECTORY | OFlags::RDONLY)?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    }
    Ok(rustix::fs::fsync(&folder)?)
}

/// Removes a folder that is empty.
pub(super) fn remove_folder(root: &Root, place: &Path) -> Result<(), Trouble> {
    let (folder, name) = root.open_parent(place)?;
    rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR)?;
    Ok(rustix::fs::fsync(&folder)?)
}

/// Makes a link where nothing is.
pub(super) fn make_link(root: &Root, place: &Path, to: &Path) -> Result<(), Trouble> {
    let (folder, name) = root.open_parent(place)?;
    match rustix::fs::symlinkat(to, &folder, name) {
        Err(Errno::EXIST) => return Err(Trouble::Overtaken),
        made => made?,
    }
    Ok(rustix::fs::fsync(&folder)?)
}

/// Gives something another name, where nothing is.
pub(super) fn rename(root: &Root, from: &Path, to: &Path) -> Result<(), Trouble> {
    let (old_folder, old_name) = root.open_parent(from)?;
    let (new_folder, new_name) = root.open_parent(to)?;
    match rustix::fs::renameat_with(&old_folder, old_name, &new_folder, new_name, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => return Err(Trouble::Overtaken),
        renamed => renamed?,
    }
    rustix::fs::fsync(&new_folder)?;
    Ok(rustix::fs::fsync(&old_folder)?)
}
