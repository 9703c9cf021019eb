//! The names directly in a root that a command cannot change.
//!
//! There are over a hundred of them, and a root has few. So haft remembers which of their first parts exist, until a name in
//! the root changes.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use haft_contract::doors::door::FileKind;
use haft_contract::files::guarded;
use rustix::fs::{AtFlags, Stat};

use crate::files::layer::kind_at;

/// A folder that was changed so short ago may be changed once more at the same time by its clock.
const UNSETTLED: Duration = Duration::from_secs(2);

/// What is known of one root.
#[derive(Debug, Default)]
pub(in crate::files::layer) struct WellKnown {
    seen: Option<WellKnownCache>,
}

/// The well-known names whose first part was found in one version of a root.
#[derive(Debug)]
struct WellKnownCache {
    of: FolderVersion,
    /// Those whose first part is there.
    names: Vec<PathBuf>,
}

/// Device, number and time of the last change.
type FolderVersion = (u64, u64, i64, u64);

impl WellKnown {
    /// Returns those that exist.
    pub(in crate::files::layer) fn existing(&mut self, root: BorrowedFd<'_>, stat: &Stat) -> Vec<PathBuf> {
        let of = (stat.st_dev, stat.st_ino, stat.st_ctime, stat.st_ctime_nsec);
        let is_there = |name: &&PathBuf| matches!(kind_at(root, name), Some(FileKind::File | FileKind::Folder));
        if let Some(seen) = self.seen.as_ref().filter(|seen| seen.of == of) {
            return seen.names.iter().filter(is_there).cloned().collect();
        }
        let names = begun(root);
        let existing = names.iter().filter(is_there).cloned().collect();
        self.seen = is_settled(stat).then_some(WellKnownCache { of, names });
        existing
    }
}

/// Returns the names whose first part is there.
fn begun(root: BorrowedFd<'_>) -> Vec<PathBuf> {
    let look = |part: &OsStr| rustix::fs::statat(root, part, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let mut parts: HashMap<OsString, bool> = HashMap::new();
    let mut is_begun = |name: &PathBuf| {
        let first = name.iter().next().unwrap_or_default();
        *parts.entry(first.to_owned()).or_insert_with_key(|part| look(part))
    };
    guarded::well_known_to_commands().map(PathBuf::from).filter(|name| is_begun(name)).collect()
}

/// Returns whether a later change has another time.
fn is_settled(stat: &Stat) -> bool {
    let since = u64::try_from(stat.st_ctime).map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    since.is_ok_and(|since| SystemTime::now().duration_since(since).is_ok_and(|age| age > UNSETTLED))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn names_that_come_and_go_are_noticed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let opened = File::open(folder.path()).expect("it is there");
        let mut known = WellKnown::default();
        let mut existing = || {
            let stat = rustix::fs::fstat(&opened).expect("it is open");
            known.existing(opened.as_fd(), &stat)
        };
        assert!(existing().is_empty());
        fs::create_dir_all(folder.path().join(".git/hooks")).expect("it is new");
        assert_eq!(existing(), [PathBuf::from(".git/hooks")]);
        fs::write(folder.path().join(".git/config.worktree"), "").expect("it can be written");
        assert_eq!(existing().len(), 2);
        fs::remove_dir_all(folder.path().join(".git")).expect("it is there");
        assert!(existing().is_empty());
    }

    #[test]
    fn what_was_seen_serves_again_and_what_lies_deeper_is_looked_for_each_time() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join(".git")).expect("it is new");
        let opened = File::open(folder.path()).expect("it is there");
        let mut stat = rustix::fs::fstat(&opened).expect("it is open");
        stat.st_ctime -= 60;
        let mut known = WellKnown::default();
        assert!(known.existing(opened.as_fd(), &stat).is_empty());
        assert!(known.seen.is_some(), "its last change was long ago");
        fs::create_dir(folder.path().join(".git/hooks")).expect("it is new");
        assert_eq!(known.existing(opened.as_fd(), &stat), [PathBuf::from(".git/hooks")]);
        assert!(known.seen.as_ref().is_some_and(|seen| seen.names.len() < 20), "only those of one folder");
    }
}
