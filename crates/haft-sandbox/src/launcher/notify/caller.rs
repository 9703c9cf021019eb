//! A process that waits for an answer. haft reads its arguments from its memory and resolves them from its folders.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// The longest path that the kernel takes, with its end.
const LONGEST_PATH: usize = 4096;
/// Memory is readable page by page; behind the end of a text there may be nothing.
const PAGE: u64 = 4096;

/// A path and the folder that it starts from.
pub(in crate::launcher) struct AnchoredPath {
    pub(in crate::launcher) folder: OwnedFd,
    pub(in crate::launcher) path: CString,
}

/// A process whose system call waits for an answer.
pub(in crate::launcher) struct SyscallCaller {
    pid: u32,
    /// What the kernel says of the process.
    said: OwnedFd,
}

impl SyscallCaller {
    /// Finds the process of this number.
    pub(in crate::launcher) fn of(pid: u32) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let said = rustix::fs::open(format!("/proc/{pid}"), flags, Mode::empty())?;
        Ok(Self { pid, said })
    }

    /// Returns its number.
    pub(in crate::launcher) fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns whether the process calls itself git.
    pub(in crate::launcher) fn is_git(&self) -> bool {
        let name = rustix::fs::openat(&self.said, "comm", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let mut text = [0; 16];
        name.and_then(|name| rustix::io::read(name, &mut text)).is_ok_and(|length| text[..length] == *b"git\n")
    }

    /// Finds a path, by the descriptor of a folder and its address.
    pub(in crate::launcher) fn spot(&self, (folder, address): (i32, u64)) -> io::Result<AnchoredPath> {
        let path = self.text(address)?;
        if path.is_empty() {
            return Err(Errno::NOENT.into());
        }
        Ok(AnchoredPath { folder: self.start(folder, path.as_bytes())?, path })
    }

    /// Opens the folder that a path starts from.
    pub(in crate::launcher) fn start(&self, folder: i32, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        match (path.first(), folder) {
            // No process inside can change its root, so their root is ours.
            (Some(b'/'), _) => rustix::fs::openat(CWD, "/", flags, Mode::empty()),
            (_, libc::AT_FDCWD) => rustix::fs::openat(&self.said, "cwd", flags, Mode::empty()),
            (_, folder) => rustix::fs::openat(&self.said, format!("fd/{folder}"), flags, Mode::empty()),
        }
    }

    /// Returns where a descriptor leads, as a path.
    pub(in crate::launcher) fn path_of(&self, descriptor: i32) -> Result<CString, Errno> {
        rustix::fs::readlinkat(&self.said, format!("fd/{descriptor}"), Vec::new())
    }

    /// Reads a text up to its end.
    pub(in crate::launcher) fn text(&self, address: u64) -> io::Result<CString> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST_PATH {
            let from = address.saturating_add(bytes.len() as u64);
            // Most paths are short.
            let length = (PAGE - from % PAGE).min(if bytes.is_empty() { 256 } else { PAGE });
            let mut piece = vec![0; usize::try_from(length).unwrap_or_default()];
            let read = self.read(from, &mut piece)?;
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

    #[allow(unsafe_code)]
    fn read(&self, from: u64, room: &mut [u8]) -> io::Result<usize> {
        let local = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        let remote = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: room.len() };
        // SAFETY: the kernel writes to `room` and nowhere else, at most as much as it holds, and reads the other process.
        let read =
            unsafe { libc::process_vm_readv(self.pid.cast_signed(), &raw const local, 1, &raw const remote, 1, 0) };
        if let Ok(read) = usize::try_from(read) {
            return Ok(read);
        }
        // Some surroundings refuse that call, and not the file.
        let memory = rustix::fs::openat(&self.said, "mem", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(rustix::io::pread(&memory, room, from)?)
    }
}

impl AnchoredPath {
    /// Opens the folder that it lies in, and returns its name there.
    pub(in crate::launcher) fn parent(&self) -> Result<(OwnedFd, CString), Errno> {
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
        let spot = AnchoredPath { folder, path: CString::new(path).unwrap() };
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
