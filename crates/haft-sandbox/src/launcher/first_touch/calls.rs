//! Lists the calls that change files or names, and what each would touch.
//!
//! Not here: calls on an open file (write, ftruncate, fallocate), because the watcher kept the file when the command
//! opened it for writing; and times, because haft restores none.

use std::ffi::CString;
use std::io;

use crate::launcher::notify::SyscallCaller;

/// Calls that open files, and the index of the argument with the flags.
pub(super) const OPENINGS: &[(i64, u32)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// Numbers that are the same on every processor; the crate `libc` does not have all of them.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;

/// Calls that the kernel asks about, whatever their arguments are.
pub(super) const ASKED: &[i64] = &[
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// What a system call does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathOperation {
    /// It changes the content of a file, or makes the file.
    WriteOrMake,
    /// It changes the content of a file.
    Write,
    /// It changes mode, owner or attributes.
    Describe,
    /// It makes a new name; an existing entry stays.
    Make,
    /// It removes a name.
    Remove,
    /// It moves the entry away, with everything in it.
    MoveAway,
    /// It replaces the entry, or makes it.
    Replace,
    /// It gives the file another name.
    Link,
}

/// How a system call refers to the entry that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryReference {
    /// By a path: the folder that it starts from, and its address in memory.
    Path(i32, u64),
    /// By an open file.
    Descriptor(i32),
}

/// One entry that a call would touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TouchTarget {
    pub(super) named: EntryReference,
    /// Whether the call follows a link at the end of the path.
    pub(super) follows: bool,
    pub(super) act: PathOperation,
}

impl TouchTarget {
    /// Returns the path from the caller's memory, or the path of the open file.
    pub(super) fn name(&self, caller: &SyscallCaller) -> io::Result<CString> {
        match self.named {
            // Some calls accept a missing path for an open file, which the descriptor names.
            EntryReference::Path(folder, 0) => Ok(caller.path_of(folder)?),
            EntryReference::Path(folder, address) => match caller.text(address)? {
                empty if empty.is_empty() => Ok(caller.path_of(folder)?),
                path => Ok(path),
            },
            EntryReference::Descriptor(descriptor) => Ok(caller.path_of(descriptor)?),
        }
    }
}

/// Returns what a call would touch.
pub(super) fn wishes(data: &libc::seccomp_data) -> Vec<TouchTarget> {
    let arguments = &data.args;
    // The kernel reads descriptors and flags as 32 bits.
    let number = |index: usize| arguments[index] as i32;
    let here = |path: usize| EntryReference::Path(libc::AT_FDCWD, arguments[path]);
    let at = |folder: usize, path: usize| EntryReference::Path(number(folder), arguments[path]);
    let open = |index: usize| EntryReference::Descriptor(number(index));
    let wish = |named: EntryReference, follows: bool, act: PathOperation| vec![TouchTarget { named, follows, act }];
    let described = |named: EntryReference, flags: i32| {
        wish(named, flags & libc::AT_SYMLINK_NOFOLLOW == 0, PathOperation::Describe)
    };
    let (named, of_links) = (
        |path| wish(here(path), true, PathOperation::Describe),
        |path| wish(here(path), false, PathOperation::Describe),
    );
    match i64::from(data.nr) {
        libc::SYS_openat => opened(at(0, 1), number(2)),
        libc::SYS_truncate => wish(here(0), true, PathOperation::Write),
        libc::SYS_unlinkat => wish(at(0, 1), false, PathOperation::Remove),
        libc::SYS_renameat => renamed((at(0, 1), at(2, 3)), 0),
        libc::SYS_renameat2 => renamed((at(0, 1), at(2, 3)), arguments[4] as u32),
        libc::SYS_linkat => {
            let follows = number(4) & libc::AT_SYMLINK_FOLLOW != 0;
            linked(TouchTarget { named: at(0, 1), follows, act: PathOperation::Link }, at(2, 3))
        }
        libc::SYS_symlinkat => wish(at(1, 2), false, PathOperation::Make),
        libc::SYS_mkdirat | libc::SYS_mknodat => wish(at(0, 1), false, PathOperation::Make),
        libc::SYS_fchmod | libc::SYS_fchown | libc::SYS_fsetxattr | libc::SYS_fremovexattr => {
            wish(open(0), false, PathOperation::Describe)
        }
        libc::SYS_fchmodat => described(at(0, 1), 0),
        FCHMODAT2 => described(at(0, 1), number(3)),
        libc::SYS_fchownat => described(at(0, 1), number(4)),
        SETXATTRAT | REMOVEXATTRAT => described(at(0, 1), number(2)),
        libc::SYS_setxattr | libc::SYS_removexattr => named(0),
        libc::SYS_lsetxattr | libc::SYS_lremovexattr => of_links(0),
        other => older(other, arguments).unwrap_or_default(),
    }
}

/// Prefixes of attributes with a meaning for a layer: haft makes a layer of the command's changes.
const MARKS: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];

/// Returns whether a call would set an attribute that means something to a layer.
pub(super) fn sets_mark_of_layers(data: &libc::seccomp_data, caller: &SyscallCaller) -> bool {
    let name = match i64::from(data.nr) {
        libc::SYS_setxattr | libc::SYS_lsetxattr | libc::SYS_fsetxattr => data.args[1],
        SETXATTRAT => data.args[3],
        _ => return false,
    };
    caller.text(name).is_ok_and(|name| MARKS.iter().any(|mark| name.as_bytes().starts_with(mark)))
}

/// The older calls, which only x86-64 has.
#[cfg(target_arch = "x86_64")]
fn older(call: i64, arguments: &[u64; 6]) -> Option<Vec<TouchTarget>> {
    let here = |path: usize| EntryReference::Path(libc::AT_FDCWD, arguments[path]);
    let wish = |path: usize, follows: bool, act: PathOperation| vec![TouchTarget { named: here(path), follows, act }];
    Some(match call {
        libc::SYS_open => opened(here(0), arguments[1] as i32),
        libc::SYS_creat => wish(0, true, PathOperation::WriteOrMake),
        libc::SYS_unlink | libc::SYS_rmdir => wish(0, false, PathOperation::Remove),
        libc::SYS_rename => renamed((here(0), here(1)), 0),
        libc::SYS_link => linked(TouchTarget { named: here(0), follows: false, act: PathOperation::Link }, here(1)),
        libc::SYS_symlink => wish(1, false, PathOperation::Make),
        libc::SYS_mkdir | libc::SYS_mknod => wish(0, false, PathOperation::Make),
        libc::SYS_chmod | libc::SYS_chown => wish(0, true, PathOperation::Describe),
        libc::SYS_lchown => wish(0, false, PathOperation::Describe),
        _ => return None,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn older(_: i64, _: &[u64; 6]) -> Option<Vec<TouchTarget>> {
    None
}

fn opened(named: EntryReference, flags: i32) -> Vec<TouchTarget> {
    let has = |flag: i32| flags & flag == flag;
    // `O_TMPFILE` touches no name until the file is linked, and `O_PATH` does not open the file itself.
    if has(libc::O_TMPFILE) || has(libc::O_PATH) {
        return Vec::new();
    }
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || has(libc::O_TRUNC);
    let act = match (has(libc::O_CREAT), writes) {
        (true, _) if has(libc::O_EXCL) => PathOperation::Make,
        (true, true) => PathOperation::WriteOrMake,
        (true, false) => PathOperation::Make,
        (false, _) => PathOperation::Write,
    };
    let follows = !(has(libc::O_NOFOLLOW) || has(libc::O_CREAT) && has(libc::O_EXCL));
    vec![TouchTarget { named, follows, act }]
}

fn renamed((from, to): (EntryReference, EntryReference), flags: u32) -> Vec<TouchTarget> {
    let wish = |named: EntryReference, act: PathOperation| TouchTarget { named, follows: false, act };
    match flags {
        flags if flags & libc::RENAME_EXCHANGE != 0 => {
            vec![wish(from, PathOperation::MoveAway), wish(to, PathOperation::MoveAway)]
        }
        flags if flags & libc::RENAME_NOREPLACE != 0 => {
            vec![wish(from, PathOperation::MoveAway), wish(to, PathOperation::Make)]
        }
        _ => vec![wish(from, PathOperation::MoveAway), wish(to, PathOperation::Replace)],
    }
}

fn linked(from: TouchTarget, to: EntryReference) -> Vec<TouchTarget> {
    vec![from, TouchTarget { named: to, follows: false, act: PathOperation::Make }]
}
