//! Puts things in place so that a name holds the old or the new content at any moment.
//!
//! New content is written beside, synced, and swapped with the old. What was swapped out is
//! compared with what was kept: if somebody else was faster, it is swapped back. Nothing is ever
//! written in place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::image::{copy_metadata, is_same};
use super::open::Root;
use super::owner;
use crate::eager::Eager;
use crate::state::journal::Rights;

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

/// New content that lies beside its place, synced.
pub(super) struct Staged {
    /// The device and number of the folder that it lies in.
    folder: (u64, u64),
    /// That folder, so that the content is found again when somebody moves it.
    held: Option<OwnedFd>,
    ours: Stat,
    /// What could not be kept of the old file.
    pub(super) notes: Vec<String>,
}

impl Staged {
    /// Closes the folder. Whoever stages a thousand contents must not hold a thousand folders open.
    pub(super) fn let_go(&mut self) {
        self.held = None;
    }
}

/// Writes new content beside its place.
pub(super) fn stage(spot: &Spot<'_>, new: New<'_>, rights: Option<Rights>) -> Result<Staged, Trouble> {
    let (folder, _) = spot.root.open_parent(spot.place)?;
    let identity = identity(&folder)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    // Nobody shall read beside what they may not read in place, so it gets its mode when it is whole.
    let has_mode = spot.seen.is_some() || rights.is_some();
    let at_first = Mode::from_raw_mode(if has_mode { 0o600 } else { 0o666 });
    let file = File::from(rustix::fs::openat(&folder, spot.beside, flags, at_first)?);
    match fill(spot, file, new, rights) {
        Ok((notes, ours)) => Ok(Staged { folder: identity, held: Some(folder), ours, notes }),
        Err(trouble) => {
            let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty());
            Err(trouble)
        }
    }
}

fn identity(folder: &OwnedFd) -> Result<(u64, u64), Errno> {
    rustix::fs::fstat(folder).map(|stat| (stat.st_dev, stat.st_ino))
}

/// Removes new content that was not put in its place. What is not ours stays, whatever its name.
pub(super) fn unstage(spot: &Spot<'_>, staged: &Staged) {
    let reopened = match &staged.held {
        Some(_) => None,
        None => spot.root.open_parent(spot.place).ok().map(|(folder, _)| folder),
    };
    let Some(folder) = staged.held.as_ref().or(reopened.as_ref()) else { return };
    let beside = rustix::fs::statat(folder, spot.beside, AtFlags::SYMLINK_NOFOLLOW);
    if beside.is_ok_and(|beside| is_same(&beside, &staged.ours)) {
        let _ = rustix::fs::unlinkat(folder, spot.beside, AtFlags::empty());
    }
}

/// Puts new content in its place.
pub(super) fn place(spot: &Spot<'_>, staged: &Staged) -> Result<(), Trouble> {
    let placed = place_in_folder(spot, staged);
    if placed.is_err() {
        unstage(spot, staged);
    }
    Ok(rustix::fs::fsync(&placed?)?)
}

fn place_in_folder(spot: &Spot<'_>, staged: &Staged) -> Result<OwnedFd, Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    // The folder itself may have been moved since the content was written into it.
    if identity(&folder)? != staged.folder {
        return Err(Trouble::Overtaken);
    }
    match spot.seen {
        Some(seen) => swap(&folder, (spot.beside, name), (seen, &staged.ours))?,
        None => appear(&folder, spot.beside, name)?,
    }
    Ok(folder)
}

/// Writes the new file beside the old one; returns what could not be kept, and the file.
fn fill(spot: &Spot<'_>, mut file: File, new: New<'_>, rights: Option<Rights>) -> Result<(Vec<String>, Stat), Trouble> {
    match new {
        New::Bytes(bytes) => Eager::new(&file).write_all(bytes)?,
        New::File(mut source) => drop(io::copy(&mut source, &mut file)?),
    }
    let mut notes = Vec::new();
    if let Some(stat) = spot.seen {
        // Its attributes are read from it; a link that was put there since is not followed.
        let old = spot.root.open_place(spot.place, OFlags::RDONLY | OFlags::NOFOLLOW)?;
        notes = copy_metadata(&old, stat, &file)?;
    }
    if let Some(rights) = rights {
        notes.extend(owner::grant(&file, rights, spot.seen)?);
    }
    file.sync_all()?;
    Ok((notes, rustix::fs::fstat(&file)?))
}

/// Swaps the new file with the old one, and makes sure that the old one was what we think.
fn swap(folder: &OwnedFd, (beside, name): (&str, &OsStr), (seen, ours): (&Stat, &Stat)) -> Result<(), Trouble> {
    match rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {
            let out = rustix::fs::statat(folder, beside, AtFlags::SYMLINK_NOFOLLOW);
            if out.is_ok_and(|out| is_same(&out, seen)) {
                // The new content is in place; an old one that does not go harms nobody.
                let _ = rustix::fs::unlinkat(folder, beside, AtFlags::empty());
                return Ok(());
            }
            give_back(folder, (beside, name), ours);
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

/// How often something is given back to somebody who goes on replacing it.
const MOST_SWAPS: usize = 16;

/// Gives back what was swapped out and is not what we think, until what comes out is what we had put there.
///
/// In between somebody may write over what we had put in place. Theirs is the newest then, and is put back in turn.
fn give_back(folder: &OwnedFd, (beside, name): (&str, &OsStr), ours: &Stat) {
    let mut put = *ours;
    for _ in 0..MOST_SWAPS {
        let held = rustix::fs::statat(folder, beside, AtFlags::SYMLINK_NOFOLLOW);
        let swapped = rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::EXCHANGE);
        let out = rustix::fs::statat(folder, beside, AtFlags::SYMLINK_NOFOLLOW);
        match (held, swapped, out) {
            (Ok(_), Ok(()), Ok(out)) if is_same(&out, ours) => {
                let _ = rustix::fs::unlinkat(folder, beside, AtFlags::empty());
                return;
            }
            // Somebody meant to replace it by something newer, but only we have seen it go.
            (Ok(_), Ok(()), Ok(out)) if is_same(&out, &put) => return set_aside(folder, beside, name),
            (Ok(held), Ok(()), Ok(_)) => put = held,
            _ => break,
        }
    }
    if appear(folder, beside, name).is_err() {
        set_aside(folder, beside, name);
    }
}

/// Gives something that is not ours a name that can be seen. Where the system does not let us, it stays where it is.
pub(super) fn set_aside(folder: &OwnedFd, beside: &str, name: &OsStr) {
    for number in 1..100 {
        let mut kept = name.to_owned();
        kept.push(if number == 1 { ".kept-by-haft".to_owned() } else { format!(".kept-by-haft-{number}") });
        if !matches!(appear(folder, beside, &kept), Err(Trouble::Overtaken)) {
            return;
        }
    }
}

/// Gives a new file its name, never over one that has appeared since.
fn appear(folder: &OwnedFd, beside: &str, name: &OsStr) -> Result<(), Trouble> {
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
    match rustix::fs::renameat(&folder, name, &folder, spot.beside) {
        Err(Errno::NOENT) => return Err(Trouble::Overtaken),
        renamed => renamed?,
    }
    let out = rustix::fs::statat(&folder, spot.beside, AtFlags::SYMLINK_NOFOLLOW);
    if !out.is_ok_and(|out| is_same(&out, seen)) {
        // Where nothing has appeared since, it goes back to where it was.
        if appear(&folder, spot.beside, name).is_err() {
            set_aside(&folder, spot.beside, name);
        }
        return Err(Trouble::Overtaken);
    }
    if let Err(errno) = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty()) {
        appear(&folder, spot.beside, name)?;
        return Err(errno.into());
    }
    Ok(rustix::fs::fsync(&folder)?)
}

/// Makes a folder. One with a mode is made beside, so that it is never seen with another one.
pub(super) fn make_folder(spot: &Spot<'_>, mode: Option<u32>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    match mode {
        None => match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => return Err(Trouble::Overtaken),
            made => made?,
        },
        Some(mode) => {
            rustix::fs::mkdirat(&folder, spot.beside, Mode::from_raw_mode(0o700))?;
            let placed = place_folder((&folder, spot.beside), name, mode);
            if placed.is_err() {
                let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::REMOVEDIR);
            }
            placed?;
        }
    }
    Ok(rustix::fs::fsync(&folder)?)
}

fn place_folder((folder, beside): (&OwnedFd, &str), name: &OsStr, mode: u32) -> Result<(), Trouble> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, beside, flags, Mode::empty())?;
    rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    match rustix::fs::renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE) {
        // Not every file system can refuse to replace; at worst an empty folder is replaced by an empty one.
        Err(Errno::INVAL | Errno::NOSYS) => Ok(rustix::fs::renameat(folder, beside, folder, name)?),
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        placed => Ok(placed?),
    }
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
    let (old, new) = ((&old_folder, old_name), (&new_folder, new_name));
    move_over_nothing(old, new)?;
    let synced = rustix::fs::fsync(&new_folder).and_then(|()| rustix::fs::fsync(&old_folder));
    if synced.is_err() {
        // Nobody can tell later from a look whether it was us who renamed it.
        move_over_nothing(new, old)?;
    }
    Ok(synced?)
}

/// Moves a file or folder where nothing is.
fn move_over_nothing((old, old_name): (&OwnedFd, &OsStr), (new, new_name): (&OwnedFd, &OsStr)) -> Result<(), Trouble> {
    match rustix::fs::renameat_with(old, old_name, new, new_name, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        Err(Errno::INVAL | Errno::NOSYS) => move_by_second_name((old, old_name), (new, new_name)),
        moved => Ok(moved?),
    }
}

/// Not every file system can refuse to replace when it renames; all refuse to give a second name that is taken.
fn move_by_second_name(
    (old, old_name): (&OwnedFd, &OsStr),
    (new, new_name): (&OwnedFd, &OsStr),
) -> Result<(), Trouble> {
    match rustix::fs::linkat(old, old_name, new, new_name, AtFlags::empty()) {
        Ok(()) => {
            let removed = rustix::fs::unlinkat(old, old_name, AtFlags::empty());
            if removed.is_err() {
                let _ = rustix::fs::unlinkat(new, new_name, AtFlags::empty());
            }
            Ok(removed?)
        }
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        // Folders never have two names; then a look right before must do.
        Err(Errno::PERM | Errno::OPNOTSUPP) => match rustix::fs::statat(new, new_name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Trouble::Overtaken),
            Err(Errno::NOENT) => Ok(rustix::fs::renameat(old, old_name, new, new_name)?),
            Err(errno) => Err(errno.into()),
        },
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_content_is_unstaged() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = Root::open(folder.path()).expect("it is there");
        for let_go in [false, true] {
            let spot = Spot { root: &root, place: Path::new("a"), beside: ".haft-1.tmp", seen: None };
            let mut staged = stage(&spot, New::Bytes(b"ours"), None).expect("it can be written");
            if let_go {
                staged.let_go();
            }
            std::fs::write(folder.path().join("b"), "theirs").expect("it can be written");
            std::fs::rename(folder.path().join("b"), folder.path().join(spot.beside)).expect("both are there");
            unstage(&spot, &staged);
            let left = std::fs::read_to_string(folder.path().join(spot.beside));
            assert_eq!(left.expect("it is there"), "theirs");
            std::fs::remove_file(folder.path().join(spot.beside)).expect("it is there");
            unstage(&spot, &stage(&spot, New::Bytes(b"ours"), None).expect("it can be written"));
            assert!(!folder.path().join(spot.beside).exists());
        }
    }

    #[test]
    fn where_the_system_cannot_refuse_to_replace_a_move_still_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = Root::open(folder.path()).expect("it is there");
        let (opened, _) = root.open_parent(Path::new("a")).expect("it is there");
        let go = |from: &str, to: &str| move_by_second_name((&opened, from.as_ref()), (&opened, to.as_ref()));
        std::fs::write(folder.path().join("a"), "a").expect("it can be written");
        std::fs::write(folder.path().join("b"), "b").expect("it can be written");
        std::fs::create_dir(folder.path().join("d")).expect("it is new");
        std::fs::create_dir(folder.path().join("e")).expect("it is new");
        assert!(matches!(go("a", "b"), Err(Trouble::Overtaken)));
        assert!(matches!(go("d", "e"), Err(Trouble::Overtaken)));
        go("a", "c").expect("nothing is there");
        go("d", "f").expect("nothing is there");
        let names = std::fs::read_dir(folder.path()).expect("it is there").flatten();
        let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        assert_eq!(names, ["b", "c", "e", "f"]);
    }
}
