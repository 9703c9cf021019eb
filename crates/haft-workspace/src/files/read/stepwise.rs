//! Opens beneath a folder one step at a time, where the kernel has no `openat2` or a filter refuses it.
//!
//! It gives the same answers as `openat2` with `RESOLVE_BENEATH`. It opens each step by descriptor without following links,
//! never leaves the folder by `..`, and refuses a path that does. It costs two system calls more for each step.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Most links that one path may lead through, as the kernel has it.
const MOST_LINKS: usize = 40;

/// Opens a path beneath a folder.
pub(in crate::files) fn open(
    folder: BorrowedFd<'_>,
    path: &[u8],
    (flags, resolve): (OFlags, ResolveFlags),
) -> Result<OwnedFd, Errno> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    let mut walk = PathResolver { folder, passed: Vec::new(), left: VecDeque::new(), links: 0 };
    walk.go(path)?;
    while let Some(step) = walk.left.pop_front() {
        let is_last = walk.left.iter().all(|step| step.is_empty() || step == ".");
        let must_be_folder = is_last && !walk.left.is_empty();
        match step.as_bytes() {
            b"" | b"." => {}
            b".." => walk.passed.pop().map(drop).ok_or(Errno::XDEV)?,
            _ => {
                let found = match walk.look(&step) {
                    Err(Errno::NOENT) if is_last => return walk.open(&step, flags),
                    found => found?,
                };
                match kind(&found)? {
                    FileType::Symlink if is_last && !must_be_folder && flags.contains(OFlags::NOFOLLOW) => {
                        return if flags.contains(OFlags::PATH) { Ok(found) } else { Err(Errno::LOOP) };
                    }
                    FileType::Symlink if resolve.contains(ResolveFlags::NO_SYMLINKS) => return Err(Errno::LOOP),
                    FileType::Symlink => walk.follow(&found)?,
                    _ if is_last => {
                        let folder = if must_be_folder { OFlags::DIRECTORY } else { OFlags::empty() };
                        return walk.open(&step, flags | folder);
                    }
                    FileType::Directory => walk.passed.push(found),
                    _ => return Err(Errno::NOTDIR),
                }
            }
        }
    }
    walk.open(OsStr::new("."), flags)
}

/// Resolves a path beneath a folder one step at a time.
struct PathResolver<'f> {
    folder: BorrowedFd<'f>,
    /// The folders on the way, so that `..` goes back by descriptor.
    passed: Vec<OwnedFd>,
    left: VecDeque<OsString>,
    links: usize,
}

impl PathResolver<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        self.passed.last().map_or(self.folder, AsFd::as_fd)
    }

    /// Puts a path before what is left.
    fn go(&mut self, path: &[u8]) -> Result<(), Errno> {
        if path.starts_with(b"/") {
            return Err(Errno::XDEV);
        }
        for step in path.split(|byte| *byte == b'/').rev() {
            self.left.push_front(OsString::from_vec(step.to_vec()));
        }
        Ok(())
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP);
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())?;
        self.go(target.to_bytes())
    }

    fn look(&self, step: &OsStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(self.here(), step, flags, Mode::empty())
    }

    /// A link that has taken the place of what was seen is not followed.
    fn open(&self, step: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.here(), step, flags | OFlags::NOFOLLOW, Mode::empty())
    }
}

fn kind(found: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(found)?.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 28] = [
        "",
        ".",
        "./",
        "a",
        "a/",
        "a/b/file",
        "a//b/./file",
        "a/b/file/",
        "a/b/file/x",
        "a/../a/b",
        "..",
        "a/../..",
        "../in/a",
        "/etc",
        "to_file",
        "to_file/",
        "to_folder",
        "to_folder/",
        "to_folder/file",
        "out",
        "absolute",
        "dangling",
        "round",
        "a/up/file",
        "missing",
        "missing/x",
        "a/./..",
        "to_folder/..",
    ];

    /// What an answer leads to: the file, or the error.
    fn shown(answer: Result<OwnedFd, Errno>) -> Result<(u64, String), Errno> {
        let facts = rustix::fs::fstat(answer?)?;
        Ok((facts.st_ino, format!("{:?}", FileType::from_raw_mode(facts.st_mode))))
    }

    #[test]
    fn it_answers_as_the_kernel_does() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("in");
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("a/b/file"), "x").unwrap();
        std::fs::write(place.path().join("secret"), "x").unwrap();
        for (link, target) in [
            ("to_file", "a/b/file"),
            ("to_folder", "a/b"),
            ("out", "../secret"),
            ("absolute", "/etc/passwd"),
            ("dangling", "nothing"),
            ("round", "round"),
            ("a/up", "../a/b"),
        ] {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
        }
        let opened = rustix::fs::open(&folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let ways = [
            OFlags::RDONLY,
            OFlags::RDONLY | OFlags::NOFOLLOW,
            OFlags::PATH,
            OFlags::PATH | OFlags::NOFOLLOW,
            OFlags::RDONLY | OFlags::DIRECTORY,
        ];
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for path in PATHS {
            for (flags, resolve) in ways.iter().flat_map(|flags| {
                [beneath, beneath | ResolveFlags::NO_SYMLINKS].map(|resolve| (*flags | OFlags::CLOEXEC, resolve))
            }) {
                let kernel = rustix::fs::openat2(&opened, path, flags, Mode::empty(), resolve);
                let stepwise = open(opened.as_fd(), path.as_bytes(), (flags, resolve));
                assert_eq!(shown(stepwise), shown(kernel), "{path:?} {flags:?} {resolve:?}");
            }
        }
    }
}
