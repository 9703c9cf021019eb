//! Finds a path of a command beneath the watched roots, as the kernel would resolve it for the command.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::calls::TouchTarget;
use super::images::Images;
use crate::launcher::notify::SyscallCaller;

/// How many links the kernel follows at most.
const MOST_LINKS: usize = 40;

/// A path beneath a root, and the folder that holds it.
pub(super) struct FoundPlace {
    /// Which root.
    pub(super) root: usize,
    /// Its path from there.
    pub(super) path: PathBuf,
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

impl Images {
    /// Finds a path that starts from a folder; `None` if it does not lead into a root.
    pub(super) fn find(
        &self,
        caller: &SyscallCaller,
        (folder, path): (i32, &[u8]),
        wish: &TouchTarget,
    ) -> Option<FoundPlace> {
        let mut path = own_words(path, caller.pid());
        let mut start = caller.start(folder, &path).ok()?;
        for _ in 0..MOST_LINKS {
            let (above, name) = parted(&path);
            let Some(name) = name else {
                return self.find_open(real_path(open_folder(&start, &path).ok()?)?.as_bytes());
            };
            let holder = open_folder(&start, above).ok()?;
            let link = if wish.follows { rustix::fs::readlinkat(&holder, name, Vec::new()).ok() } else { None };
            let Some(to) = link else {
                let name = OsStr::from_bytes(name).to_owned();
                return self.within(holder, name);
            };
            path = own_words(to.as_bytes(), caller.pid());
            start = if path.first() == Some(&b'/') { open_folder(CWD, b"/").ok()? } else { holder };
        }
        None
    }

    /// Finds an open file by the path that the kernel reports.
    pub(super) fn find_open(&self, path: &[u8]) -> Option<FoundPlace> {
        let path = Path::new(OsStr::from_bytes(path));
        // The watcher opens nothing outside the roots.
        self.roots().position(|root| path.starts_with(root) && path != root)?;
        let holder = open_folder(CWD, path.parent()?.as_os_str().as_bytes()).ok()?;
        self.within(holder, path.file_name()?.to_owned())
    }

    fn within(&self, folder: OwnedFd, name: OsString) -> Option<FoundPlace> {
        let holder = real_path(folder.as_fd())?;
        let holder = Path::new(&holder);
        // Roots may be nested; the path belongs to the innermost one.
        let depth = |root: &Path| root.as_os_str().len();
        let holding = self.roots().enumerate().filter(|(_, root)| holder.starts_with(root));
        let (root, above) = holding.max_by_key(|(_, root)| depth(root))?;
        let path = holder.strip_prefix(above).ok()?.join(&name);
        Some(FoundPlace { root, path, folder, name })
    }
}

/// Replaces names that mean the calling process; in this process they would mean the watcher.
fn own_words(path: &[u8], pid: u32) -> Vec<u8> {
    let own = format!("/proc/{pid}/");
    let places: [(&[u8], &str); 6] = [
        (b"/proc/self/", ""),
        (b"/proc/thread-self/", ""),
        (b"/dev/fd/", "fd/"),
        (b"/dev/stdin", "fd/0"),
        (b"/dev/stdout", "fd/1"),
        (b"/dev/stderr", "fd/2"),
    ];
    let found = places.iter().find_map(|(place, instead)| Some((path.strip_prefix(*place)?, instead)));
    found.map_or_else(|| path.to_vec(), |(rest, instead)| [own.as_bytes(), instead.as_bytes(), rest].concat())
}

/// Splits a path into the folder and the name; there is no name if the last part is `.`, `..` or missing.
fn parted(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let start = path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let name = &path[start..end];
    let above = if start == 0 { &b"."[..] } else { &path[..start] };
    (above, Some(name).filter(|name| !matches!(*name, b"" | b"." | b"..")))
}

fn open_folder(start: impl AsFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(start, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Returns the path of an open folder; `None` if it was removed.
fn real_path(folder: impl AsFd) -> Option<OsString> {
    let link = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
    let path: CString = rustix::fs::readlinkat(CWD, link, Vec::new()).ok()?;
    let is_removed =
        path.as_bytes().ends_with(b" (deleted)") && rustix::fs::fstat(&folder).is_ok_and(|stat| stat.st_nlink == 0);
    (!is_removed).then(|| OsString::from_vec(path.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_parted_whatever_slashes_follow_and_names_of_the_caller_are_its_own() {
        assert_eq!(parted(b"a"), (&b"."[..], Some(&b"a"[..])));
        assert_eq!(parted(b"/usr//b//"), (&b"/usr//"[..], Some(&b"b"[..])));
        assert_eq!(parted(b"/usr/.."), (&b"/usr/"[..], None));
        assert_eq!(parted(b"/").1, None);
        assert_eq!(own_words(b"/dev/stdout", 7), b"/proc/7/fd/1");
        assert_eq!(own_words(b"/proc/self/fd/3", 7), b"/proc/7/fd/3");
        assert_eq!(own_words(b"/proc/selfish", 7), b"/proc/selfish");
    }
}
