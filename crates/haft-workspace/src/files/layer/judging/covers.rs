//! Hides secrets from commands, where the user wants that: a blank file covers each of them in the layer.
//!
//! A cover has the size and the times of the file. Git is told to look only at these, so it takes the file for unchanged. A
//! cover is an ordinary file of the layer: it can be copied, moved and removed. Its changes are never committed: the covered
//! file stays the same.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid};
use rustix::io::Errno;

use crate::files::layer::Layers;
use crate::files::layer::difference::{Comes, LayerChange};
use crate::files::layer::settling::settle::OpenRoot;
use crate::files::read::open::open_beneath;
use crate::history::git_index;

/// Largest index of git that is read.
const LARGEST_INDEX: u64 = 64 * 1024 * 1024;
/// Most bytes of a cover that are written.
const MOST_WRITTEN: u64 = 1024 * 1024;

/// A file that is covered.
#[derive(Clone, Debug)]
pub(in crate::files::layer) struct Cover {
    /// Its path beneath the root.
    path: PathBuf,
    /// The inode of the cover, its size and the time of its last change.
    blank: (u64, i64, i64, u64),
}

impl Layers {
    /// Covers the secrets beneath a root; fails where one cannot be covered.
    pub(in crate::files::layer) fn cover(
        &self,
        root: &Path,
        folder: &OwnedFd,
        upper: &OwnedFd,
    ) -> Result<Vec<Cover>, Errno> {
        let Some(secrets) = &self.covered else { return Ok(Vec::new()) };
        let mut covers = Vec::new();
        for place in secrets.places(&self.root) {
            let real = self.root.path().join(place);
            let Ok(path) = real.strip_prefix(root) else { continue };
            match cover_one(folder, upper, path) {
                Ok(blank) => covers.push(Cover { path: path.to_owned(), blank }),
                // It is gone by now.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(covers)
    }
}

/// Makes a blank file over a path, in folders like those beneath.
fn cover_one(folder: &OwnedFd, upper: &OwnedFd, path: &Path) -> Result<(u64, i64, i64, u64), Errno> {
    let covered = rustix::fs::fstat(open_beneath(folder.as_fd(), path, OFlags::PATH | OFlags::NOFOLLOW)?)?;
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
    for above in above.iter().rev() {
        match rustix::fs::mkdirat(upper, *above, Mode::from_raw_mode(0o700)) {
            Ok(()) => {
                let below = open_beneath(folder.as_fd(), *above, OFlags::PATH | OFlags::DIRECTORY)?;
                let made = open_beneath(upper.as_fd(), *above, OFlags::RDONLY | OFlags::DIRECTORY)?;
                make_like(&made, &rustix::fs::fstat(below)?)?;
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let made = match rustix::fs::openat(upper, path, flags, Mode::from_raw_mode(0o600)) {
        // Two names lead to it.
        Err(Errno::EXIST) => rustix::fs::openat(upper, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?,
        made => {
            let made = made?;
            fill(&made, u64::try_from(covered.st_size).unwrap_or(0))?;
            make_like(&made, &covered)?;
            made
        }
    };
    // What was made in them has given the folders another time.
    for above in above {
        let below = rustix::fs::fstat(open_beneath(folder.as_fd(), above, OFlags::PATH | OFlags::DIRECTORY)?)?;
        let made = open_beneath(upper.as_fd(), above, OFlags::RDONLY | OFlags::DIRECTORY)?;
        rustix::fs::futimens(&made, &times(&below))?;
    }
    Ok(blank(&rustix::fs::fstat(&made)?))
}

/// Fills a file with line ends; one that is very large has a hole behind them.
fn fill(made: &OwnedFd, size: u64) -> Result<(), Errno> {
    let lines = vec![b'\n'; usize::try_from(size.min(MOST_WRITTEN)).unwrap_or(0)];
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        rest = &rest[rustix::io::write(made, rest)?..];
    }
    if size > MOST_WRITTEN { rustix::fs::ftruncate(made, size) } else { Ok(()) }
}

/// Says what must stay as it is in a cover.
fn blank(stat: &Stat) -> (u64, i64, i64, u64) {
    (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec)
}

/// Gives owner, mode and times of another file, as far as they may be given.
fn make_like(made: &OwnedFd, other: &Stat) -> Result<(), Errno> {
    let _ = rustix::fs::fchown(made, Some(Uid::from_raw(other.st_uid)), Some(Gid::from_raw(other.st_gid)));
    rustix::fs::fchmod(made, Mode::from_raw_mode(other.st_mode & 0o777))?;
    rustix::fs::futimens(made, &times(other))
}

fn times(stat: &Stat) -> Timestamps {
    let at = |seconds: i64, rest: u64| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(rest).unwrap_or(0) };
    Timestamps {
        last_access: at(stat.st_atime, stat.st_atime_nsec),
        last_modification: at(stat.st_mtime, stat.st_mtime_nsec),
    }
}

impl OpenRoot {
    /// Returns whether a path is covered.
    pub(in crate::files::layer) fn is_covered(&self, path: &Path) -> bool {
        self.covers.iter().any(|cover| cover.path == path)
    }

    /// Returns whether something in a folder is covered.
    pub(in crate::files::layer) fn holds_cover(&self, folder: &Path) -> bool {
        self.covers.iter().any(|cover| cover.path.starts_with(folder))
    }

    /// Says which covered files git has taken for changed: it has the blank version now.
    pub(in crate::files::layer) fn of_blank_in_git(&self) -> Option<String> {
        if self.covers.is_empty() {
            return None;
        }
        let index = Path::new(".git/index");
        let read = |root: &OwnedFd| {
            let opened = open_beneath(root.as_fd(), index, OFlags::RDONLY | OFlags::NOFOLLOW).ok()?;
            let mut bytes = Vec::new();
            File::from(opened).take(LARGEST_INDEX).read_to_end(&mut bytes).ok()?;
            git_index::contents(&bytes)
        };
        let (before, after) = (read(&self.folder)?, read(&self.upper)?);
        let is_blank =
            |cover: &&Cover| before.contains_key(&cover.path) && before.get(&cover.path) != after.get(&cover.path);
        let names: Vec<String> =
            self.covers.iter().filter(is_blank).map(|cover| self.place_of(&cover.path).display().to_string()).collect();
        let names = (!names.is_empty()).then(|| names.join(", "))?;
        Some(format!(
            "Git treated the blank file as a change and staged or committed it: {names}. Undo this change set to \
             revert that."
        ))
    }

    /// Returns whether what comes is a cover itself, wherever it was moved, and still blank.
    pub(in crate::files::layer) fn is_cover(&self, found: &LayerChange) -> bool {
        if self.covers.is_empty() || !matches!(found.comes, Comes::File(_) | Comes::Mode(_)) {
            return false;
        }
        let stat = self.stat_layered(found.source());
        stat.is_some_and(|stat| self.covers.iter().any(|cover| cover.blank == blank(&stat)))
    }
}
