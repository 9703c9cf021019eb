//! Gives files the time that a command gave them, if it changed nothing else of them.
//!
//! `touch src/lib.rs` makes the next build compile that file, so the time must reach the workspace. Undo need not revert it:
//! the content is the same, and haft makes no change set of it.
//!
//! Not here: times of files whose content or mode is committed; these keep their own.

use std::os::fd::AsFd;

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded;
use rustix::fs::{AtFlags, Stat, Timespec, Timestamps};

use super::difference::{Below, RootedPath};
use super::judging::judge::open_path;
use super::settling::settle::Settling;
use crate::files::read::facts::stamp_of;

/// Most files of one command whose times are set.
pub(super) const MOST: usize = 100_000;

/// A file of which only the time changed.
#[derive(Debug)]
pub(super) struct FileTimeChange {
    pub(super) spot: RootedPath,
    below: Below,
    seconds: i64,
    nanoseconds: i64,
}

impl FileTimeChange {
    /// Returns what of a file changed, if that is its time: in the layer it is one, beneath it another.
    pub(super) fn of(spot: RootedPath, upper: &Stat, lower: &Stat) -> Option<Self> {
        let time = |stat: &Stat| (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
        let (seconds, nanoseconds) = time(upper);
        (time(upper) != time(lower)).then(|| Self {
            spot,
            below: Below::from(lower),
            seconds: seconds as i64,
            nanoseconds: nanoseconds as i64,
        })
    }
}

impl Settling<'_> {
    /// Sets the times. A file whose time cannot be set, or that another program has changed since, keeps its own.
    pub(super) fn set_times(&self, touched: &[FileTimeChange]) {
        for touched in touched {
            let root = &self.roots[touched.spot.root];
            let is_refused =
                guarded::refused_from_commands(&root.place_of(&touched.spot.path), FileKind::File).is_some();
            let (Some(parent), Some(name)) = (touched.spot.path.parent(), touched.spot.path.file_name()) else {
                continue;
            };
            let Ok(parent) = open_path(root.folder.as_fd(), parent) else { continue };
            let is_same = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|now| stamp_of(&now) == touched.below.stamp);
            if is_refused || !is_same {
                continue;
            }
            let as_before = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
            let last_modification = Timespec { tv_sec: touched.seconds, tv_nsec: touched.nanoseconds };
            let times = Timestamps { last_access: as_before, last_modification };
            let _ = rustix::fs::utimensat(&parent, name, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}
