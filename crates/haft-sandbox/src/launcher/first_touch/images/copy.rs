//! Copies a file with its mode, its times and its attributes.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;

/// How many bytes are read at a time.
const PIECE: usize = 256 * 1024;
/// Most bytes of the names of all attributes, and of the value of one.
const MOST_ATTRIBUTES: usize = 64 * 1024;

/// An entry of an open folder.
#[derive(Clone, Copy)]
pub(super) struct EntryName<'a> {
    pub(super) folder: BorrowedFd<'a>,
    pub(super) name: &'a OsStr,
}

/// Copies files, and remembers whether the file system can share contents.
#[derive(Default)]
pub(super) struct Copier {
    buffer: Vec<u8>,
    cannot_share: bool,
}

impl Copier {
    /// Copies a file to a new name.
    pub(super) fn copy(
        &mut self,
        source: EntryName<'_>,
        images: BorrowedFd<'_>,
        to: &str,
        stat: &Stat,
    ) -> Result<(), Errno> {
        let source = open_readable(source, stat)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let copy = rustix::fs::openat(images, to, flags, Mode::RUSR | Mode::WUSR)?;
        let copied = self.fill(&source, &copy, stat);
        if copied.is_err() {
            let _ = rustix::fs::unlinkat(images, to, AtFlags::empty());
        }
        copied
    }

    /// Replaces a kept second name with a copy, so that the file can change under its other names.
    pub(super) fn part(&mut self, images: BorrowedFd<'_>, name: &str, stat: &Stat) -> Result<(), Errno> {
        let apart = format!("{name}.new");
        self.copy(EntryName { folder: images, name: OsStr::new(name) }, images, &apart, stat)?;
        rustix::fs::renameat(images, &*apart, images, name)
    }

    fn fill(&mut self, source: &OwnedFd, copy: &OwnedFd, stat: &Stat) -> Result<(), Errno> {
        if stat.st_size > 0 && !self.share(source, copy) {
            self.buffer.resize(PIECE, 0);
            loop {
                let read = rustix::io::read(source, &mut *self.buffer)?;
                if read == 0 {
                    break;
                }
                let mut rest = &self.buffer[..read];
                while !rest.is_empty() {
                    rest = &rest[rustix::io::write(copy, rest)?..];
                }
                if read < PIECE && u64::try_from(stat.st_size).is_ok_and(|size| size == read as u64) {
                    break;
                }
            }
        }
        copy_attributes(source, copy);
        if stat.st_mode & 0o7777 != 0o600 {
            rustix::fs::fchmod(copy, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        }
        let at = |seconds: i64, rest: u64| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(rest).unwrap_or(0) };
        let times = Timestamps {
            last_access: at(stat.st_atime, stat.st_atime_nsec),
            last_modification: at(stat.st_mtime, stat.st_mtime_nsec),
        };
        let _ = rustix::fs::futimens(copy, &times);
        Ok(())
    }

    /// Shares the content (a reflink), on file systems that can.
    fn share(&mut self, source: &OwnedFd, copy: &OwnedFd) -> bool {
        if self.cannot_share {
            return false;
        }
        // SAFETY: the call takes two descriptors, as numbers.
        #[allow(unsafe_code)]
        let answer = unsafe { libc::ioctl(copy.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) };
        self.cannot_share = answer != 0;
        answer == 0
    }
}

/// Makes a pipe or a device like this one. Refuses a socket: no program would listen on the new one.
pub(super) fn copy_special(images: BorrowedFd<'_>, to: &str, stat: &Stat) -> Result<(), Errno> {
    let (kind, mode) = (FileType::from_raw_mode(stat.st_mode), Mode::from_raw_mode(stat.st_mode & 0o7777));
    if kind == FileType::Socket {
        return Err(Errno::OPNOTSUPP);
    }
    rustix::fs::mknodat(images, to, kind, mode, stat.st_rdev)?;
    // The mask of this process took bits away.
    rustix::fs::chmodat(images, to, mode, AtFlags::empty())
}

/// Opens a file or a folder, even if its mode does not let its owner read it.
pub(super) fn open_readable(source: EntryName<'_>, stat: &Stat) -> Result<OwnedFd, Errno> {
    let EntryName { folder, name } = source;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(folder, name, flags, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => {
            let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
            rustix::fs::chmodat(folder, name, mode | Mode::RUSR, AtFlags::empty())?;
            let opened = open();
            rustix::fs::chmodat(folder, name, mode, AtFlags::empty())?;
            opened
        }
        opened => opened,
    }
}

/// Copies attributes as far as that is allowed.
fn copy_attributes(source: impl AsFd, copy: impl AsFd) {
    let mut names = [0_u8; 1024];
    let names = match rustix::fs::flistxattr(&source, &mut names) {
        Ok(0) => return,
        Ok(length) => names[..length].to_vec(),
        Err(Errno::RANGE) => {
            let mut names = vec![0; MOST_ATTRIBUTES];
            let Ok(length) = rustix::fs::flistxattr(&source, &mut *names) else { return };
            names.truncate(length);
            names
        }
        Err(_) => return,
    };
    let mut value = vec![0; MOST_ATTRIBUTES];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::fgetxattr(&source, name, &mut *value) {
            let _ = rustix::fs::fsetxattr(&copy, name, &value[..length], XattrFlags::empty());
        }
    }
}
