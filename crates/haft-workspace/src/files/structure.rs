//! Changes entries without content: folders, links, modes and names.
//!
//! Not here: contents (`replace`).

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use haft_contract::doors::door::FileKind;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::change::replace::{ReplaceTarget, Syncing, Trouble, is_what_was_seen, statted, swap};
use super::change::snapshot::is_same;
use super::read::facts::kind_of;
use super::read::open::WorkspaceRoot;
use super::read::owner;
use super::searching::order::WORKABLE;

/// Makes a folder. One with a mode, or in the place of something, is made beside, so that it is never seen otherwise.
pub(super) fn make_folder(spot: &ReplaceTarget<'_>, mode: Option<u32>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    match (mode, spot.seen) {
        (None, None) => match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => return Err(Trouble::Overtaken),
            made => {
                made?;
                let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(made) = rustix::fs::openat(&folder, name, flags, Mode::empty()) {
                    let_belong_like(&made, &folder);
                }
            }
        },
        (mode, seen) => {
            let at_first = Mode::from_raw_mode(if mode.is_some() { 0o700 } else { 0o777 });
            rustix::fs::mkdirat(&folder, spot.beside, at_first)?;
            #[cfg(test)]
            super::change::crash_points::point();
            let placed = place_folder(spot, (&folder, name), mode);
            // After an overtaken attempt, the folder is already cleaned up.
            if matches!(placed, Err(Trouble::System(_))) || placed.is_err() && seen.is_none() {
                let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::REMOVEDIR);
            }
            placed?;
        }
    }
    spot.sync(&folder)
}

/// Root makes things in the workspaces of others: they belong to whom the folder around them belongs.
pub(super) fn let_belong_like(made: impl AsFd, around: &OwnedFd) {
    if rustix::process::geteuid().is_root()
        && let Ok(around) = rustix::fs::fstat(around)
    {
        // Who may not give it away keeps it.
        let _ = owner::give(made, owner::of(&around));
    }
}

/// The same for a link.
fn let_link_belong_like(around: &OwnedFd, name: &OsStr) {
    if rustix::process::geteuid().is_root()
        && let Ok(facts) = rustix::fs::fstat(around)
    {
        let (uid, gid) = (rustix::fs::Uid::from_raw(facts.st_uid), rustix::fs::Gid::from_raw(facts.st_gid));
        let _ = rustix::fs::chownat(around, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
    }
}

fn place_folder(
    spot: &ReplaceTarget<'_>,
    (folder, name): (&OwnedFd, &OsStr),
    mode: Option<u32>,
) -> Result<(), Trouble> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, spot.beside, flags, Mode::empty())?;
    let_belong_like(&made, folder);
    if let Some(mode) = mode {
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    }
    if spot.seen.is_some() {
        return swap(spot, (folder, name), &rustix::fs::fstat(&made)?);
    }
    match rustix::fs::renameat_with(folder, spot.beside, folder, name, RenameFlags::NOREPLACE) {
        // Not every file system can refuse to replace; at worst an empty folder is replaced by an empty one.
        Err(Errno::INVAL | Errno::NOSYS) => Ok(rustix::fs::renameat(folder, spot.beside, folder, name)?),
        Err(Errno::EXIST) => Err(Trouble::Overtaken),
        // An overlay over a file system without attributes renames no folders.
        Err(Errno::XDEV) => make_in_place(spot, (folder, name), mode),
        placed => Ok(placed?),
    }
}

/// Makes a folder under its name, with its mode a moment later.
fn make_in_place(
    spot: &ReplaceTarget<'_>,
    (folder, name): (&OwnedFd, &OsStr),
    mode: Option<u32>,
) -> Result<(), Trouble> {
    let at_first = Mode::from_raw_mode(if mode.is_some() { 0o700 } else { 0o777 });
    match rustix::fs::mkdirat(folder, name, at_first) {
        Err(Errno::EXIST) => return Err(Trouble::Overtaken),
        made => made?,
    }
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let_belong_like(&made, folder);
    if let Some(mode) = mode {
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    }
    Ok(rustix::fs::unlinkat(folder, spot.beside, AtFlags::REMOVEDIR)?)
}

/// Removes a folder that is empty.
pub(super) fn remove_folder(spot: &ReplaceTarget<'_>) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR)?;
    spot.sync(&folder)
}

/// Makes a link where nothing is, or in the place of what was seen.
pub(super) fn make_link(spot: &ReplaceTarget<'_>, to: &Path) -> Result<(), Trouble> {
    let (folder, name) = spot.root.open_parent(spot.place)?;
    if spot.seen.is_none() {
        match rustix::fs::symlinkat(to, &folder, name) {
            Err(Errno::EXIST) => return Err(Trouble::Overtaken),
            made => made?,
        }
        let_link_belong_like(&folder, name);
    } else {
        rustix::fs::symlinkat(to, &folder, spot.beside)?;
        let_link_belong_like(&folder, spot.beside.as_ref());
        let ours = statted(&folder, spot.beside)?;
        let swapped = swap(spot, (&folder, name), &ours);
        if matches!(swapped, Err(Trouble::System(_))) {
            let _ = rustix::fs::unlinkat(&folder, spot.beside, AtFlags::empty());
        }
        swapped?;
    }
    spot.sync(&folder)
}

/// Gives a file or folder another mode, when it is still what was seen.
pub(super) fn set_mode(spot: &ReplaceTarget<'_>, mode: u32) -> Result<(), Trouble> {
    let (folder, _) = spot.root.open_parent(spot.place)?;
    let held = match spot.root.open_place(spot.place, OFlags::PATH | OFlags::NOFOLLOW) {
        Err(Errno::NOENT) => return Err(Trouble::Overtaken),
        held => held?,
    };
    let now = rustix::fs::fstat(&held)?;
    let is_expected = spot.seen.is_some_and(|seen| is_what_was_seen(&now, seen) && now.st_mode == seen.st_mode);
    if !is_expected || kind_of(&now) == FileKind::Link {
        return Err(Trouble::Overtaken);
    }
    let mode = Mode::from_raw_mode(mode);
    // Even its owner cannot open a file that no user may read; its name among our descriptors leads to it.
    match spot.root.open_place(spot.place, OFlags::RDONLY | OFlags::NOFOLLOW) {
        Ok(opened) if is_same(&rustix::fs::fstat(&opened)?, &now) => {
            rustix::fs::fchmod(&opened, mode)?;
            if spot.syncing == Syncing::Each {
                rustix::fs::fsync(&opened)?;
            }
        }
        Ok(_) => return Err(Trouble::Overtaken),
        Err(_) => {
            let name = format!("/proc/self/fd/{}", held.as_raw_fd());
            rustix::fs::chmodat(rustix::fs::CWD, name, mode, AtFlags::empty())?;
        }
    }
    spot.sync(&folder)
}

/// Gives a folder that was opened for work in it another mode than it had.
pub(super) fn shut(spot: &ReplaceTarget<'_>, mode: u32) -> Result<(), Trouble> {
    let mut opened: Option<Stat> = spot.seen.copied();
    opened.iter_mut().for_each(|opened| opened.st_mode |= WORKABLE);
    set_mode(&ReplaceTarget { seen: opened.as_ref(), ..*spot }, mode)
}

/// Gives a folder that was made a moment ago its mode, when it still has the one for work in it.
pub(super) fn narrow(root: &WorkspaceRoot, place: &Path, mode: u32) -> io::Result<()> {
    let folder = root.open_place(place, OFlags::RDONLY | OFlags::DIRECTORY)?;
    if rustix::fs::fstat(&folder)?.st_mode & 0o7777 == mode | WORKABLE {
        rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode))?;
        rustix::fs::fsync(&folder)?;
    }
    Ok(())
}

/// Gives something another name, where nothing is.
pub(super) fn rename(spot: &ReplaceTarget<'_>, to: &Path) -> Result<(), Trouble> {
    let (old_folder, old_name) = spot.root.open_parent(spot.place)?;
    let (new_folder, new_name) = spot.root.open_parent(to)?;
    let (old, new) = ((&old_folder, old_name), (&new_folder, new_name));
    move_over_nothing(old, new)?;
    let synced = spot.sync(&new_folder).and_then(|()| spot.sync(&old_folder));
    if synced.is_err() {
        // A later look could not tell whether haft renamed it.
        move_over_nothing(new, old)?;
    }
    synced
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
    fn where_the_system_cannot_refuse_to_replace_a_move_still_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = WorkspaceRoot::open(folder.path()).expect("it is there");
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
