//! Remembers what a walk through folders found, for the next start.
//!
//! A search for keys in toolchains and for settings that are closed to other users takes some thousand system calls. Its
//! result is valid until one of its folders changes, or a file whose content decided. A file that is closed later
//! changes no folder, so haft walks again after a while.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::session::remembered::{own_bytes, put_own_bytes};
use crate::session::sights::is_past;

/// How long what was found is believed.
const HOLDS: Duration = Duration::from_secs(300);

/// The paths that a walk looked at, and its findings.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WalkRecord {
    /// When it began, in seconds since 1970.
    at: u64,
    /// Where it began.
    #[serde(with = "crate::running::exact")]
    roots: Vec<PathBuf>,
    /// What decided, and the stamp of each.
    #[serde(with = "crate::running::exact")]
    looked_at: Vec<PathBuf>,
    stamps: Vec<Option<PathStamp>>,
    #[serde(with = "crate::running::exact")]
    found: Vec<PathBuf>,
}

/// Device, number and time of the last change.
type PathStamp = (u64, u64, i64, i64);

impl WalkRecord {
    /// Walks through these folders, or returns what the last walk found if it still holds.
    pub(super) fn remembered(
        roots: &[PathBuf],
        memory: Option<&Path>,
        walk: impl FnOnce(&mut Self, &[PathBuf]),
    ) -> Vec<PathBuf> {
        let known = memory.and_then(own_bytes).and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        if let Some(known) = known.filter(|known| known.holds(roots)) {
            return known.found;
        }
        let mut fresh = Self { at: now(), roots: roots.to_vec(), ..Self::default() };
        walk(&mut fresh, roots);
        let is_settled = fresh.stamps.iter().flatten().all(|(_, _, seconds, nanos)| is_past(*seconds, *nanos));
        if let (Some(file), true) = (memory, is_settled)
            && let Ok(bytes) = serde_json::to_vec(&fresh)
        {
            put_own_bytes(file, &bytes);
        }
        fresh.found
    }

    /// Notes that what is at this path decides, before it is looked at: what changes in between is seen the next time.
    pub(super) fn look_at(&mut self, path: &Path) {
        self.looked_at.push(path.to_owned());
        self.stamps.push(stamp(path));
    }

    /// Adds what the walk looks for.
    pub(super) fn found(&mut self, path: PathBuf) {
        self.found.push(path);
    }

    fn holds(&self, roots: &[PathBuf]) -> bool {
        let age = now().checked_sub(self.at);
        age.is_some_and(|age| age < HOLDS.as_secs())
            && self.roots == roots
            && self.looked_at.len() == self.stamps.len()
            && self.looked_at.iter().zip(&self.stamps).all(|(path, then)| stamp(path) == *then)
    }
}

fn stamp(path: &Path) -> Option<PathStamp> {
    path.symlink_metadata().ok().map(|facts| (facts.dev(), facts.ino(), facts.ctime(), facts.ctime_nsec()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Finds the files of one folder, and counts the walks.
    fn files(folder: &Path, memory: Option<&Path>, walks: &mut usize) -> Vec<PathBuf> {
        WalkRecord::remembered(&[folder.to_owned()], memory, |walk, roots| {
            *walks += 1;
            walk.look_at(&roots[0]);
            let entries = std::fs::read_dir(&roots[0]).into_iter().flatten().flatten();
            entries.for_each(|entry| walk.found(entry.path()));
        })
    }

    /// Makes a change of now look old, so that a walk is remembered without waiting.
    fn aged(memory: &Path, folder: &Path, found: &[PathBuf], at: u64) {
        let walk = WalkRecord {
            at,
            roots: vec![folder.to_owned()],
            looked_at: vec![folder.to_owned()],
            stamps: vec![stamp(folder)],
            found: found.to_vec(),
        };
        put_own_bytes(memory, &serde_json::to_vec(&walk).unwrap());
    }

    #[test]
    fn what_was_found_holds_until_something_changes_or_it_is_old() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (memory, mut walks) = (state.path().join("walk"), 0);
        // A memory that holds is believed: it says what no walk could find.
        aged(&memory, folder.path(), &["remembered".into()], now());
        assert_eq!(files(folder.path(), Some(&memory), &mut walks), [PathBuf::from("remembered")]);
        assert_eq!(walks, 0);
        // Not for another folder, after a change, or after a while.
        assert!(files(state.path(), None, &mut walks).len() == 1 && walks == 1);
        aged(&memory, folder.path(), &["remembered".into()], now() - HOLDS.as_secs());
        assert!(files(folder.path(), Some(&memory), &mut walks).is_empty() && walks == 2);
        aged(&memory, folder.path(), &["remembered".into()], now());
        let new = folder.path().join("new");
        std::fs::write(&new, "x").unwrap();
        assert_eq!(files(folder.path(), Some(&memory), &mut walks), [new]);
        assert_eq!(walks, 3);
    }

    #[test]
    fn a_memory_that_is_broken_or_that_others_can_write_counts_for_nothing() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (memory, mut walks) = (state.path().join("walk"), 0);
        std::fs::write(&memory, "{broken").unwrap();
        assert!(files(folder.path(), Some(&memory), &mut walks).is_empty());
        aged(&memory, folder.path(), &["planted".into()], now());
        std::fs::set_permissions(&memory, PermissionsExt::from_mode(0o666)).unwrap();
        assert!(files(folder.path(), Some(&memory), &mut walks).is_empty());
        assert_eq!(walks, 2);
    }

    #[test]
    fn a_change_that_may_still_go_on_is_not_remembered() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut walks = 0;
        files(folder.path(), Some(&state.path().join("walk")), &mut walks);
        assert!(!state.path().join("walk").exists());
    }
}
