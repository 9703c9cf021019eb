//! Shows folders of the system, but makes the sockets in them unreachable.
//!
//! A process reaches a socket of the file system by its inode, and a read-only mount does not keep a command from writing
//! to one. So haft shows folders through an overlay without an upper folder. In it every socket has a different inode, at
//! which no process listens; that includes later sockets. If the kernel refuses such an overlay (something is mounted
//! below the folder, or it already is one), haft shows the folder unchanged and covers the sockets that the kernel lists.
//!
//! Not here: sockets of the workspace and of private folders, which commands use among themselves.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::mount::{FsOpenFlags, fsconfig_set_fd, fsconfig_set_string, fsopen};

use super::mounting::layer::mount_points;
use super::mounting::mounts::{MountTree, PLAIN, READ_ONLY, find, make_folder};
use super::mounting::new_root::{inner, kind};
use super::mounting::places::{PlaceContent, RootPlace};

/// Kernel file systems hold no sockets, and no overlay lies over them.
const OF_THE_KERNEL: [&str; 2] = ["/sys", "/proc"];
/// The name of the empty folder below all others: an overlay without an upper folder wants two.
const NOTHING: &str = "nothing";

/// Mounts folders such that the sockets in them lead nowhere.
pub(super) struct SocketBlocker {
    nothing: OwnedFd,
    mounted: Vec<PathBuf>,
}

impl SocketBlocker {
    /// Prepares it, before the real root is given up.
    pub(super) fn prepare(private: BorrowedFd<'_>) -> std::io::Result<Self> {
        let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        Ok(Self { nothing: make_folder(private, Path::new(NOTHING))?, mounted: mount_points(&mounts) })
    }

    /// Makes a read-only tree of a folder or file; `path` is where it is mounted from.
    pub(super) fn tree(&self, source: BorrowedFd<'_>, path: &Path) -> std::io::Result<MountTree> {
        let is_whole = |mounted: &PathBuf| !mounted.starts_with(path) || mounted == path;
        let can_be = kind(source) == Some(FileType::Directory)
            && !OF_THE_KERNEL.iter().any(|folder| path.starts_with(folder))
            && self.mounted.iter().all(is_whole);
        let overlay = if can_be { both([source, self.nothing.as_fd()]).ok() } else { None };
        let tree = overlay.map_or_else(|| MountTree::of(source), Ok)?;
        tree.restrict(READ_ONLY | PLAIN)?;
        Ok(tree)
    }
}

/// Puts one folder over another, such that neither can be changed through it.
pub(super) fn both(lower: [BorrowedFd<'_>; 2]) -> std::io::Result<MountTree> {
    let by_descriptor = || {
        let file_system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        lower.iter().try_for_each(|folder| fsconfig_set_fd(&file_system, "lowerdir+", *folder))?;
        MountTree::made(file_system.as_fd(), PLAIN)
    };
    // Older kernels take only names; these contain nothing that would need to be quoted.
    let by_name = |_| {
        let file_system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        let names = lower.map(|folder| format!("/proc/self/fd/{}", folder.as_raw_fd()));
        fsconfig_set_string(&file_system, "lowerdir", names.join(":"))?;
        MountTree::made(file_system.as_fd(), PLAIN)
    };
    by_descriptor().or_else(by_name)
}

/// Returns the paths of sockets at which processes listen, as far as the kernel tells. Call it in the outer network.
pub(super) fn listening() -> Vec<PathBuf> {
    let list = std::fs::read("/proc/net/unix").unwrap_or_default();
    paths_in(&list)
}

/// Seven fields come before the path, which may hold blanks. Abstract names begin with `@`.
fn paths_in(list: &[u8]) -> Vec<PathBuf> {
    let path = |line: &[u8]| {
        let start = line.windows(2).position(|two| two == b" /")? + 1;
        Some(PathBuf::from(OsString::from_vec(line[start..].to_vec())))
    };
    let mut paths: Vec<PathBuf> = list.split(|byte| *byte == b'\n').filter_map(path).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns those sockets that a command sees because a folder of the system is shown, with their places.
pub(super) fn to_cover<'a>(listening: &'a [PathBuf], places: &[RootPlace], root: BorrowedFd<'_>) -> Vec<&'a Path> {
    let is_shown_by_folder = |socket: &Path| {
        let around = places
            .iter()
            .filter(|place| !matches!(place.what, PlaceContent::Link(_)) && socket.starts_with(&place.path));
        let nearest = around.max_by_key(|place| place.path.components().count());
        // Who names the socket itself wants it to be used.
        nearest.is_some_and(|place| place.what == PlaceContent::Readable && place.path != socket)
    };
    let is_socket =
        |socket: &Path| find(root, inner(socket)).is_ok_and(|found| kind(found.as_fd()) == Some(FileType::Socket));
    let paths = listening.iter().map(PathBuf::as_path);
    paths.filter(|socket| is_shown_by_folder(socket) && is_socket(socket)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_the_list_of_the_kernel() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 123 /run/a b.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 124 @/tmp/hidden\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 125\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 126 /run/a b.sock\n";
        assert_eq!(paths_in(list), [Path::new("/run/a b.sock")]);
    }
}
