//! Decides the owner of a file, and its mode if it cannot have the right owner.
//!
//! Permission bits speak of the owner and the group. For another owner they would mean something else: a program would run
//! as the user who restored it, or another group could open the file.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Gid, Mode, Stat, Uid};

use crate::state::journal::{FileOwner, Rights};

/// Gives a new file these rights as far as the system lets us; returns what could not be kept.
///
/// A file that replaces another gets the current owner of that file, even if the file was given away since.
pub(in crate::files) fn grant(file: impl AsFd, rights: Rights, replaced: Option<&Stat>) -> io::Result<Option<String>> {
    let note = match (replaced, rights.owner) {
        (None, Some(owner)) => give(&file, owner)?,
        _ => None,
    };
    let has = of(&rustix::fs::fstat(&file)?);
    let mode = granted(rights, replaced.map(|stat| Rights { mode: stat.st_mode & 0o7777, owner: Some(of(stat)) }), has);
    // Set, not passed to the opening: there the mask of the process would take bits away.
    set_mode(&file, mode)?;
    Ok(note)
}

/// Sets a mode. A file system without modes refuses even the one that every file has there, so that is not set again.
pub(in crate::files) fn set_mode(file: impl AsFd, mode: u32) -> io::Result<()> {
    if rustix::fs::fstat(&file)?.st_mode & 0o7777 == mode {
        return Ok(());
    }
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
}

/// Returns as much of a recorded mode as may be set on a file that belongs to this owner now.
fn granted(rights: Rights, replaced: Option<Rights>, has: FileOwner) -> u32 {
    let wanted = replaced.and_then(|replaced| replaced.owner).or(rights.owner).unwrap_or(has);
    let mode = fitting(rights.mode, wanted, has);
    if rights.owner == Some(has) {
        return mode;
    }
    let mode = mode & NOT_AS_ANOTHER;
    match (rights.owner, replaced) {
        // The group is not the recorded one: it gets no more than it has, or than all others get.
        (Some(owner), Some(replaced)) if owner.gid != has.gid => {
            mode & (0o1707 | replaced.mode & 0o070 | (mode & 0o007) << 3)
        }
        _ => mode,
    }
}

/// Lets a file belong to this owner and group, or at least to the group; returns what could not be kept.
pub(in crate::files) fn give(file: impl AsFd, wanted: FileOwner) -> io::Result<Option<String>> {
    if of(&rustix::fs::fstat(&file)?) == wanted {
        return Ok(None);
    }
    let (uid, gid) = (Uid::from_raw(wanted.uid), Gid::from_raw(wanted.gid));
    if rustix::fs::fchown(&file, Some(uid), Some(gid)).is_err() {
        // A user who may not give files away may still belong to the group.
        let _ = rustix::fs::fchown(&file, None, Some(gid));
    }
    let has = of(&rustix::fs::fstat(&file)?);
    Ok(match (has.uid == wanted.uid, has.gid == wanted.gid) {
        (true, true) => None,
        (false, true) => Some(format!("Its owner (user {}) could not be kept.", wanted.uid)),
        (true, false) => Some(format!("Its group ({}) could not be kept.", wanted.gid)),
        (false, false) => {
            Some(format!("Its owner (user {}) and its group ({}) could not be kept.", wanted.uid, wanted.gid))
        }
    })
}

/// Everything but the bits that let a program run as its owner or group.
pub(crate) const NOT_AS_ANOTHER: u32 = 0o1777;

/// Takes from a file with new content what let the old content run with the rights of its owner, as the system does when
/// a file is written; returns what was dropped.
pub(in crate::files) fn drop_privileges(file: impl AsFd) -> io::Result<Option<String>> {
    let mode = rustix::fs::fstat(&file)?.st_mode & 0o7777;
    let had_capabilities = rustix::fs::fremovexattr(&file, "security.capability").is_ok();
    let had_bits = mode & !NOT_AS_ANOTHER != 0;
    if had_bits {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & NOT_AS_ANOTHER))?;
    }
    let what = match (had_bits, had_capabilities) {
        (false, false) => return Ok(None),
        (true, false) => "set-user-ID and set-group-ID bits",
        (false, true) => "capabilities",
        (true, true) => "set-user-ID and set-group-ID bits and its capabilities",
    };
    Ok(Some(format!("Its {what} were dropped, because its content is new.")))
}

/// Returns as much of a mode as may be set when a file that should belong to one belongs to another.
pub(in crate::files) fn fitting(mode: u32, wanted: FileOwner, has: FileOwner) -> u32 {
    if has == wanted {
        return mode;
    }
    let mode = mode & NOT_AS_ANOTHER;
    if has.gid == wanted.gid {
        return mode;
    }
    // Those of the other group were among all others before.
    mode & (0o1707 | (mode & 0o007) << 3)
}

/// Returns whom a file belongs to.
pub(in crate::files) fn of(stat: &Stat) -> FileOwner {
    FileOwner { uid: stat.st_uid, gid: stat.st_gid }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_for_another_owner_lets_nobody_do_more_than_before() {
        let wanted = FileOwner { uid: 1, gid: 10 };
        assert_eq!(fitting(0o6775, wanted, wanted), 0o6775);
        assert_eq!(fitting(0o6775, wanted, FileOwner { uid: 2, gid: 10 }), 0o775);
        assert_eq!(fitting(0o6775, wanted, FileOwner { uid: 1, gid: 20 }), 0o755);
        assert_eq!(fitting(0o1660, wanted, FileOwner { uid: 2, gid: 20 }), 0o1600);
        assert_eq!(fitting(0o607, wanted, FileOwner { uid: 2, gid: 20 }), 0o607);
    }

    #[test]
    fn a_recorded_mode_is_set_as_far_as_the_owner_is_the_recorded_one() {
        let (then, now) = (FileOwner { uid: 1, gid: 10 }, FileOwner { uid: 2, gid: 20 });
        let recorded = Rights { mode: 0o4664, owner: Some(then) };
        let replaced = |mode| Some(Rights { mode, owner: Some(now) });
        assert_eq!(granted(recorded, None, then), 0o4664);
        assert_eq!(granted(recorded, None, now), 0o644);
        assert_eq!(granted(Rights { owner: None, ..recorded }, None, now), 0o664);
        // Another user gave the file to another group and let it write.
        assert_eq!(granted(recorded, replaced(0o664), now), 0o664);
        assert_eq!(granted(recorded, replaced(0o600), now), 0o644);
    }
}
