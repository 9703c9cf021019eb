//! Decides what to do about a rename or a link that a process asks for.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, StatxFlags};
use rustix::io::Errno;

use crate::launcher::notify::{AnchoredPath, SyscallCaller};

/// What the kernel calls the file system of layers in `statfs`.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

/// The decision about a rename or a link.
pub(super) enum RenameVerdict {
    /// The kernel does it, or says why not.
    GoOn,
    Done,
    Failed(Errno),
    /// It is a folder that has to be moved piece by piece.
    Move(Rename),
}

/// A rename as it was asked for.
pub(super) struct Rename {
    pub(super) from: AnchoredPath,
    pub(super) to: AnchoredPath,
}

/// Judges a rename or a link, and does it if it can be done immediately.
pub(super) fn judge(question: &libc::seccomp_notif, still_waits: impl Fn() -> bool) -> RenameVerdict {
    let Ok(caller) = SyscallCaller::of(question.pid) else { return RenameVerdict::GoOn };
    match i64::from(question.data.nr) {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link => judge_link(&caller),
        libc::SYS_linkat => judge_link(&caller),
        _ => judge_rename(question, &caller, still_waits),
    }
}

/// A layer gives a file another inode number when it is linked. git compares the numbers and gives up ("hardlink
/// different from source"), but copies the file where links do not work.
fn judge_link(caller: &SyscallCaller) -> RenameVerdict {
    if caller.is_git() { RenameVerdict::Failed(Errno::XDEV) } else { RenameVerdict::GoOn }
}

fn judge_rename(
    question: &libc::seccomp_notif,
    caller: &SyscallCaller,
    still_waits: impl Fn() -> bool,
) -> RenameVerdict {
    let [from, to, flags] = arguments(question);
    // Only plain renames are done here; for everything else the kernel's answer is the right one.
    let flags = RenameFlags::from_bits_retain(flags.1 as u32);
    if !(flags - RenameFlags::NOREPLACE).is_empty() {
        return RenameVerdict::GoOn;
    }
    let Ok(from) = caller.spot(from) else { return RenameVerdict::GoOn };
    if !from.is_folder_of_layer() {
        return RenameVerdict::GoOn;
    }
    let Ok(to) = caller.spot(to) else { return RenameVerdict::GoOn };
    if from.depends_on_who_asks() || to.depends_on_who_asks() || !still_waits() {
        return RenameVerdict::GoOn;
    }
    match rustix::fs::renameat_with(&from.folder, &from.path, &to.folder, &to.path, flags) {
        Ok(()) => RenameVerdict::Done,
        Err(Errno::XDEV) if to.is_beside(&from) => RenameVerdict::Move(Rename { from, to }),
        Err(error) => RenameVerdict::Failed(error),
    }
}

/// The descriptor of a folder and the address of a path; as the last argument, flags.
type SyscallArgument = (i32, u64);

fn arguments(question: &libc::seccomp_notif) -> [SyscallArgument; 3] {
    let values = &question.data.args;
    // The kernel reads descriptors and flags as 32 bits.
    let at = |folder: usize, path: usize| (values[folder] as i32, values[path]);
    match i64::from(question.data.nr) {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => [(libc::AT_FDCWD, values[0]), (libc::AT_FDCWD, values[1]), (0, 0)],
        libc::SYS_renameat => [at(0, 1), at(2, 3), (0, 0)],
        _ => [at(0, 1), at(2, 3), (0, values[4])],
    }
}

impl AnchoredPath {
    fn is_folder_of_layer(&self) -> bool {
        let Ok(found) = rustix::fs::statat(&self.folder, &self.path, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return false;
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.folder, &self.path, flags, Mode::empty());
        opened.is_ok_and(|folder| rustix::fs::fstatfs(&folder).is_ok_and(|found| found.f_type == OVERLAY_MAGIC))
    }

    /// Below these paths `self` is the process that asks; here it would be the watching process.
    fn depends_on_who_asks(&self) -> bool {
        [&b"/proc/"[..], b"/dev/"].iter().any(|place| self.path.as_bytes().starts_with(place))
    }

    /// Whether this is on the same mount as another path: across two mounts, programs do not expect a rename to work.
    fn is_beside(&self, other: &AnchoredPath) -> bool {
        let mount = |spot: &AnchoredPath| {
            let (parent, _) = spot.parent().ok()?;
            let found = rustix::fs::statx(&parent, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
            Some(found.stx_mnt_id)
        };
        mount(self).is_some_and(|own| Some(own) == mount(other))
    }
}
