//! Marks a name in a layer as removed.
//!
//! The kernel's overlay marks it with a device of the number 0. The root of a container is an overlay itself, and an overlay
//! allows no program to make such a device. So haft makes another mark in the layers that only haft reads: a socket with a
//! mode that no program gives to one. Every file system of Linux can hold it, and every user may make it.
//!
//! Not here: marks in a layer that the kernel mounts (`tree/store`).

use std::os::fd::AsFd;

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;

/// The mode of haft's own mark: the sticky bit alone.
const MODE: u32 = 0o1000;

/// Returns whether the metadata is that of a mark, by the kernel or by haft.
pub(in crate::files) fn is_removal_mark(stat: &Stat) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice => stat.st_rdev == 0,
        FileType::Socket => stat.st_mode & 0o7777 == MODE,
        _ => false,
    }
}

/// Marks a name as removed, in a layer that only haft reads.
pub(in crate::files) fn mark_removed(folder: impl AsFd, name: impl rustix::path::Arg) -> Result<(), Errno> {
    rustix::fs::mknodat(folder, name, FileType::Socket, Mode::from_raw_mode(MODE), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_known_and_a_programs_socket_is_none() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let opened = std::fs::File::open(folder.path()).expect("it is there");
        mark_removed(&opened, "mark").expect("it is new");
        let ordinary = Mode::from_raw_mode(0o755);
        rustix::fs::mknodat(&opened, "socket", FileType::Socket, ordinary, 0).expect("it is new");
        let stat =
            |name: &str| rustix::fs::statat(&opened, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).expect("it is there");
        assert!(is_removal_mark(&stat("mark")));
        assert!(!is_removal_mark(&stat("socket")));
        assert_eq!(mark_removed(&opened, "mark"), Err(Errno::EXIST));
    }
}
