//! Says where layers in memory lie, and whether they are possible.

use std::path::{Path, PathBuf};

use rustix::fs::XattrFlags;

/// A file system in memory that every system has.
const IN_MEMORY: &str = "/dev/shm";
/// What the kernel calls such a file system in `statfs`.
const TMPFS_MAGIC: i64 = 0x0102_1994;
/// How much room there must be for a layer that could lie on disk as well.
const LEAST_ROOM: u64 = 1024 * 1024 * 1024;

/// Returns the folder for layers in memory, which belongs to this user alone.
pub(super) fn folder() -> PathBuf {
    Path::new(IN_MEMORY).join(format!("haft-{}", rustix::process::geteuid().as_raw()))
}

/// Returns whether there is room in memory for what a call may write.
pub(super) fn has_room() -> bool {
    #[expect(clippy::useless_conversion, reason = "the kernel's word is shorter on some processors")]
    rustix::fs::statfs(IN_MEMORY).is_ok_and(|system| {
        let block = u64::try_from(system.f_bsize).unwrap_or(0);
        i64::from(system.f_type) == TMPFS_MAGIC && system.f_bavail.saturating_mul(block) >= LEAST_ROOM
    })
}

/// Returns whether files there can have the marks that a layer needs; older kernels have none in memory.
pub(super) fn takes_marks(folder: &Path) -> bool {
    let name = "user.haft.marks";
    let marked = rustix::fs::setxattr(folder, name, b"", XattrFlags::empty());
    marked.and_then(|()| rustix::fs::removexattr(folder, name)).is_ok()
}
