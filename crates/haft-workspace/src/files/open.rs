//! Opens beneath the root descriptor, never through a link and never outside.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use haft::error::{Operation, ToolError};
use haft::kinds::ErrorKind;
use haft::path::Target;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::system_error;

/// The root of a workspace, held open.
pub(super) struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

impl Root {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.canonicalize()?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { folder, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what a target inside names. Pipes and devices answer at once instead of blocking.
    pub(super) fn open_target(&self, target: &Target, flags: OFlags) -> Result<OwnedFd, ToolError> {
        let Target::Inside(place) = target else {
            return Err(outside(target));
        };
        let path = if place.path().as_os_str().is_empty() { Path::new(".") } else { place.path() };
        self.open_beneath(path, flags, Mode::empty()).map_err(|errno| open_error(errno, target))
    }

    /// Opens the folder that holds a target, and returns it with the name in it.
    pub(super) fn open_parent<'t>(&self, target: &'t Target) -> Result<(OwnedFd, &'t OsStr), ToolError> {
        let Target::Inside(place) = target else {
            return Err(outside(target));
        };
        let Some(name) = place.path().file_name() else {
            return Err(ToolError::of(ErrorKind::IsFolder, "The root of the workspace cannot be written as a file."));
        };
        let parent = place.path().parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = self
            .open_beneath(parent, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty())
            .map_err(|errno| open_error(errno, target))?;
        Ok((folder, name))
    }

    fn open_beneath(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        open_beneath(self.folder.as_fd(), path, flags, mode)
    }
}

/// Opens one name in a folder that was opened beneath the root: nothing that lies elsewhere can be reached by it.
pub(super) fn open_name(folder: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    open_beneath(folder.as_fd(), name, flags | OFlags::NOFOLLOW, Mode::empty())
}

fn open_beneath(
    folder: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // A descriptor that only names a file cannot block, and the kernel refuses the flags that say so.
    let no_waiting = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK | OFlags::NOCTTY };
    let flags = flags | OFlags::CLOEXEC | no_waiting;
    // The kernel answers EAGAIN when a rename elsewhere made the walk unsure; it is asked again.
    for _ in 0..64 {
        match rustix::fs::openat2(folder, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

fn open_error(errno: Errno, target: &Target) -> ToolError {
    let path = target.to_string();
    match errno {
        // Locating had followed every link, so a link met now was put there since.
        Errno::LOOP | Errno::XDEV => ToolError::of(
            ErrorKind::Stale,
            format!("{path} leads somewhere else than when the call was planned. Nothing was done."),
        )
        .about_file(path, Operation::Access),
        // A socket cannot be opened, and says so in this way.
        Errno::NXIO => super::facts::special(&path),
        errno => system_error(errno.into(), &path, Operation::Access),
    }
}

fn outside(target: &Target) -> ToolError {
    ToolError::of(ErrorKind::Denied, format!("{target} is outside the workspace.")).by_rule("reads outside")
}
