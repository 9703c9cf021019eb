//! Records the moment before a command: any file changed after it was changed by another program.
//!
//! A command in its layer never changes a file below the layer. So haft compares only the time of the last change, and need
//! not walk the tree before the command.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};

/// How long the clock of a file system is waited for: some count whole seconds, and one kind every second one.
const PATIENCE: Duration = Duration::from_millis(2_100);
/// How long one that goes in steps of nanoseconds may take.
const AT_ONCE: Duration = Duration::from_micros(50);
/// Most clocks stand still for at most 10 ms. After this long, one is looked at only now and then.
const BUSY: Duration = Duration::from_millis(20);
/// How long to wait between two looks then.
const PAUSE: Duration = Duration::from_millis(5);

/// A moment by the clock of a file system, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::files) struct FilesystemTime(i128);

/// The clock of the file system that a folder is on.
#[derive(Debug, Default)]
pub(in crate::files) struct Clock {
    /// A file without a name: it leaves no trace in the folder. Several callers may use it side by side.
    file: OnceLock<File>,
}

impl Clock {
    /// Takes the moment, or else by the clock of another folder.
    pub(in crate::files) fn now(&self, folder: BorrowedFd<'_>, other: BorrowedFd<'_>) -> io::Result<FilesystemTime> {
        if let (None, Ok(file)) = (self.file.get(), nameless(folder)) {
            let _ = self.file.set(file);
        }
        match self.file.get() {
            Some(file) => FilesystemTime::by(file, PATIENCE),
            // Not every file system has those, and one of another machine has a clock of its own.
            None => FilesystemTime::by_name(folder).or_else(|_| FilesystemTime::by(&nameless(other)?, PATIENCE)),
        }
    }

    /// Takes the moment if that is possible without waiting.
    pub(in crate::files) fn at_once(&self) -> Option<FilesystemTime> {
        FilesystemTime::by(self.file.get()?, AT_ONCE).ok()
    }
}

fn nameless(folder: BorrowedFd<'_>) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, ".", flags, Mode::from_raw_mode(0o600))?))
}

impl FilesystemTime {
    /// A moment before every change.
    pub(in crate::files) const BEGINNING: Self = Self(i128::MIN);

    /// Returns the moment of so many nanoseconds since 1970.
    pub(in crate::files) fn at(nanoseconds: i64) -> Self {
        Self(i128::from(nanoseconds))
    }

    /// Returns how many nanoseconds since 1970 it is.
    pub(in crate::files) fn nanoseconds(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    fn by_name(folder: BorrowedFd<'_>) -> io::Result<Self> {
        let name = format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(folder, &*name, flags, Mode::from_raw_mode(0o600))?;
        let moment = Self::by(&File::from(file), PATIENCE);
        rustix::fs::unlinkat(folder, &*name, AtFlags::empty())?;
        moment
    }

    /// Changes a file until its time moves on: what was changed before the first time cannot have the second one.
    fn by(file: &File, patience: Duration) -> io::Result<Self> {
        let begin = Instant::now();
        let mut first = None;
        loop {
            file.write_all_at(b".", 0)?;
            let now = changed(&rustix::fs::fstat(file)?);
            if *first.get_or_insert(now) < now {
                return Ok(Self(now));
            }
            let waited = begin.elapsed();
            if waited > patience {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the clock of the file system stands still"));
            }
            if waited > BUSY {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Returns whether what is described was changed from this moment on.
    pub(in crate::files) fn is_before_change_of(self, stat: &Stat) -> bool {
        changed(stat) >= self.0
    }

    /// Returns whether a folder itself was moved or put in the place of another since: only its names have not changed.
    pub(in crate::files) fn is_before_move_of(self, stat: &Stat) -> bool {
        self.is_before_change_of(stat) && nanoseconds(stat.st_mtime, stat.st_mtime_nsec) < self.0
    }
}

fn changed(stat: &Stat) -> i128 {
    nanoseconds(stat.st_ctime, stat.st_ctime_nsec)
}

fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_was_changed_before_and_after_the_moment_is_told_apart() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let opened = File::open(folder.path()).expect("it is there");
        let clock = Clock::default();
        for round in 0..50 {
            let (before, after) = (folder.path().join(format!("{round}a")), folder.path().join(format!("{round}b")));
            std::fs::write(&before, "a").expect("it can be written");
            let moment = clock.now(opened.as_fd(), opened.as_fd()).expect("the clock goes");
            std::fs::write(&after, "b").expect("it can be written");
            let is_later =
                |path: &std::path::Path| moment.is_before_change_of(&rustix::fs::stat(path).expect("it is there"));
            assert_eq!((is_later(&before), is_later(&after)), (false, true));
        }
        FilesystemTime::by_name(opened.as_fd()).expect("the clock goes");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 100);
    }
}
