//! What a process asked for that wants to rename or link something: read from its memory, found from its folders.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, StatxFlags};
use rustix::io::Errno;

/// What the kernel calls the file system of layers in `statfs`.
const OVERLAY_MAGIC: i64 = 0x794c_7630;
/// The longest path that the kernel takes, with its end.
const LONGEST_PATH: usize = 4096;
/// Memory is readable page by page; behind the end of a text there may be nothing.
const PAGE: u64 = 4096;

/// What to do about a rename.
pub(super) enum Verdict {
    /// The kernel does it, or says why not.
    GoOn,
    Done,
    Failed(Errno),
    /// It is a folder that has to be moved piece by piece.
    Move(Rename),
}

/// A rename as it was asked for.
pub(super) struct Rename {
    pub(super) from: Spot,
    pub(super) to: Spot,
}

/// A path and the folder that it starts from.
pub(super) struct Spot {
    pub(super) folder: OwnedFd,
    pub(super) path: CString,
}

/// Judges a rename or a link, and does it if it can be done at once.
pub(super) fn judge(question: &libc::seccomp_notif, still_waits: impl Fn() -> bool) -> Verdict {
    let Ok(caller) = Caller::of(question.pid) else { return Verdict::GoOn };
    match i64::from(question.data.nr) {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link => judge_link(&caller),
        libc::SYS_linkat => judge_link(&caller),
        _ => judge_rename(question, &caller, still_waits),
    }
}

/// A layer gives a file another inode number when it is linked. git compares the numbers and gives up ("hardlink
/// different from source"), but copies the file where links do not work.
fn judge_link(caller: &Caller) -> Verdict {
    if caller.is_git() { Verdict::Failed(Errno::XDEV) } else { Verdict::GoOn }
}

fn judge_rename(question: &libc::seccomp_notif, caller: &Caller, still_waits: impl Fn() -> bool) -> Verdict {
    let [from, to, flags] = arguments(question);
    // Only plain renames are done here; for everything else the kernel's answer is the right one.
    let flags = RenameFlags::from_bits_retain(flags.1 as u32);
    if !(flags - RenameFlags::NOREPLACE).is_empty() {
        return Verdict::GoOn;
    }
    let Ok(from) = caller.spot(from) else { return Verdict::GoOn };
    if !from.is_folder_of_layer() {
        return Verdict::GoOn;
    }
    let Ok(to) = caller.spot(to) else { return Verdict::GoOn };
    if from.depends_on_who_asks() || to.depends_on_who_asks() || !still_waits() {
        return Verdict::GoOn;
    }
    match rustix::fs::renameat_with(&from.folder, &from.path, &to.folder, &to.path, flags) {
        Ok(()) => Verdict::Done,
        Err(Errno::XDEV) if to.is_beside(&from) => Verdict::Move(Rename { from, to }),
        Err(error) => Verdict::Failed(error),
    }
}

/// A folder by its descriptor, and the address of a path; or, last, flags.
type Argument = (i32, u64);

fn arguments(question: &libc::seccomp_notif) -> [Argument; 3] {
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

struct Caller {
    /// What the kernel says of the process.
    said: OwnedFd,
    memory: OwnedFd,
}

impl Caller {
    fn of(pid: u32) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let said = rustix::fs::open(format!("/proc/{pid}"), flags, Mode::empty())?;
        let memory = rustix::fs::openat(&said, "mem", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { said, memory })
    }

    /// Returns whether the process calls itself git.
    fn is_git(&self) -> bool {
        let name = rustix::fs::openat(&self.said, "comm", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let mut text = [0; 16];
        name.and_then(|name| rustix::io::read(name, &mut text)).is_ok_and(|length| text[..length] == *b"git\n")
    }

    fn spot(&self, (folder, address): Argument) -> io::Result<Spot> {
        let path = self.text(address)?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let folder = match (path.as_bytes().first(), folder) {
            (None, _) => return Err(Errno::NOENT.into()),
            // Nobody inside can change the root, so theirs is ours.
            (Some(b'/'), _) => rustix::fs::openat(CWD, "/", flags, Mode::empty())?,
            (_, libc::AT_FDCWD) => rustix::fs::openat(&self.said, "cwd", flags, Mode::empty())?,
            (_, folder) => rustix::fs::openat(&self.said, format!("fd/{folder}"), flags, Mode::empty())?,
        };
        Ok(Spot { folder, path })
    }

    /// Reads a text up to its end.
    fn text(&self, address: u64) -> io::Result<CString> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST_PATH {
            let from = address.saturating_add(bytes.len() as u64);
            let mut piece = vec![0; (PAGE - from % PAGE) as usize];
            let read = rustix::io::pread(&self.memory, &mut piece, from)?;
            match piece[..read].iter().position(|byte| *byte == 0) {
                Some(end) => {
                    bytes.extend(&piece[..end]);
                    return CString::new(bytes).map_err(io::Error::other);
                }
                None if read == 0 => return Err(Errno::FAULT.into()),
                None => bytes.extend(&piece[..read]),
            }
        }
        Err(Errno::NAMETOOLONG.into())
    }
}

impl Spot {
    fn is_folder_of_layer(&self) -> bool {
        let Ok(found) = rustix::fs::statat(&self.folder, &self.path, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return false;
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.folder, &self.path, flags, Mode::empty());
        opened.is_ok_and(|folder| rustix::fs::fstatfs(&folder).is_ok_and(|found| found.f_type == OVERLAY_MAGIC))
    }

    /// Below these `self` is whoever asks: here it would be somebody else.
    fn depends_on_who_asks(&self) -> bool {
        [&b"/proc/"[..], b"/dev/"].iter().any(|place| self.path.as_bytes().starts_with(place))
    }

    /// Whether this comes to lie on the same mount as another one: across two, no rename is expected to work.
    fn is_beside(&self, other: &Spot) -> bool {
        let mount = |spot: &Spot| {
            let (parent, _) = spot.parent().ok()?;
            let found = rustix::fs::statx(&parent, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
            Some(found.stx_mnt_id)
        };
        mount(self).is_some_and(|own| Some(own) == mount(other))
    }

    /// Opens the folder that it lies in, and returns its name there.
    pub(super) fn parent(&self) -> Result<(OwnedFd, CString), Errno> {
        let path = self.path.as_bytes();
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let start = path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let name = &path[start..end];
        if matches!(name, b"" | b"." | b"..") {
            return Err(Errno::INVAL);
        }
        let folder = if start == 0 { &b"."[..] } else { &path[..start] };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.folder, folder, flags, Mode::empty())?;
        Ok((folder, CString::new(name).map_err(|_| Errno::INVAL)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(path: &str) -> Result<String, Errno> {
        let folder = rustix::fs::open("/", OFlags::PATH, Mode::empty()).unwrap();
        let spot = Spot { folder, path: CString::new(path).unwrap() };
        spot.parent().map(|(_, name)| name.into_string().unwrap())
    }

    #[test]
    fn the_name_is_the_last_part_whatever_slashes_follow() {
        assert_eq!(name_of("a"), Ok("a".into()));
        assert_eq!(name_of("/usr//b//"), Ok("b".into()));
        assert_eq!(name_of("/usr/.."), Err(Errno::INVAL));
        assert_eq!(name_of("/"), Err(Errno::INVAL));
    }
}
