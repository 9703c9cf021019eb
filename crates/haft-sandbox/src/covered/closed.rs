//! Finds what the system's settings keep from others, and remembers it for the next start.
//!
//! Inside it is root who reads, so whatever others may not read is covered. To find it, all settings are looked at, some
//! thousand system calls. What was found holds as long as no folder of the settings has changed. A file that was open to
//! all and is closed later changes no folder; so it is looked for again after a while.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::remembered::{own_bytes, put_own_bytes};
use crate::sights::is_past;

/// How deep and how far settings are looked through.
const DEPTH: usize = 6;
const MOST: usize = 20_000;
/// How long what was found is believed.
const HOLDS: Duration = Duration::from_secs(300);

/// What was found.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    /// When, in seconds since 1970.
    at: u64,
    /// The folders that were looked at, and which folder each was when.
    #[serde(with = "crate::exact")]
    folders: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    #[serde(with = "crate::exact")]
    closed: Vec<PathBuf>,
}

/// Device, number and time of the last change.
type Stamp = (u64, u64, i64, i64);

/// Returns the files and folders below one that others than the owner and the group may not read, from this memory where
/// it still holds.
pub(super) fn closed_to_others(folder: &Path, memory: Option<&Path>) -> Vec<PathBuf> {
    let Some(file) = memory else { return look(folder).closed };
    let known = own_bytes(file).and_then(|bytes| serde_json::from_slice::<Found>(&bytes).ok());
    if let Some(found) = known.filter(|found| found.holds(folder)) {
        return found.closed;
    }
    let found = look(folder);
    let is_settled = found.stamps.iter().all(|(_, _, seconds, nanos)| is_past(*seconds, *nanos));
    if let Some(bytes) = serde_json::to_vec(&found).ok().filter(|_| is_settled) {
        put_own_bytes(file, &bytes);
    }
    found.closed
}

impl Found {
    fn holds(&self, folder: &Path) -> bool {
        let age = now().checked_sub(self.at);
        let is_same = |(folder, then): (&PathBuf, &Stamp)| stamp(folder).is_some_and(|now| now == *then);
        age.is_some_and(|age| age < HOLDS.as_secs())
            && self.folders.first().is_some_and(|first| first == folder)
            && self.folders.len() == self.stamps.len()
            && self.folders.iter().zip(&self.stamps).all(is_same)
    }
}

/// Looks through a folder. Links are not followed.
fn look(folder: &Path) -> Found {
    let (mut found, mut looked) = (Found { at: now(), ..Found::default() }, 0);
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        // Before its entries: what changes in between is seen the next time.
        let Some(stamp) = stamp(&folder) else { continue };
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            // The folder itself says so: most settings of the system are links, and asking about each takes time.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            let Ok(facts) = entry.metadata() else { continue };
            let is_closed = facts.permissions().mode() & 0o004 == 0 && !facts.is_symlink();
            if is_closed {
                found.closed.push(entry.path());
            } else if facts.is_dir() && depth < DEPTH && looked < MOST {
                folders.push((entry.path(), depth + 1));
            }
        }
        found.folders.push(folder);
        found.stamps.push(stamp);
    }
    found
}

fn stamp(folder: &Path) -> Option<Stamp> {
    folder.symlink_metadata().ok().map(|facts| (facts.dev(), facts.ino(), facts.ctime(), facts.ctime_nsec()))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn what_others_may_not_read_is_found_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("open/closed")).expect("it is new");
        for (name, mode) in [("key", 0o640), ("open/plain", 0o644), ("open/secret", 0o600)] {
            std::fs::write(at(name), "x").expect("it can be written");
            set_mode(&at(name), mode);
        }
        set_mode(&at("open"), 0o755);
        set_mode(&at("open/closed"), 0o700);
        std::os::unix::fs::symlink(at("key"), at("link")).expect("it is new");
        let mut found = closed_to_others(folder.path(), None);
        found.sort();
        assert_eq!(found, [at("key"), at("open/closed"), at("open/secret")]);
    }

    #[test]
    fn what_was_found_holds_until_a_folder_changes_or_it_is_old() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("open/inner")).unwrap();
        std::fs::write(at("open/key"), "x").unwrap();
        set_mode(&at("open/key"), 0o600);
        let mut found = look(folder.path());
        assert_eq!(found.closed, [at("open/key")]);
        assert!(found.holds(folder.path()) && !found.holds(&at("open")));
        // A memory that holds is believed: it says what nobody could find.
        let memory = state.path().join("closed");
        found.closed = vec![at("remembered")];
        put_own_bytes(&memory, &serde_json::to_vec(&found).unwrap());
        assert_eq!(closed_to_others(folder.path(), Some(&memory)), [at("remembered")]);
        std::fs::write(at("open/inner/new"), "x").unwrap();
        set_mode(&at("open/inner/new"), 0o600);
        assert!(!found.holds(folder.path()));
        assert_eq!(closed_to_others(folder.path(), Some(&memory)), [at("open/key"), at("open/inner/new")]);
        let mut found = look(folder.path());
        found.at = found.at.saturating_sub(HOLDS.as_secs());
        assert!(!found.holds(folder.path()));
        std::fs::write(&memory, "{broken").unwrap();
        assert_eq!(closed_to_others(folder.path(), Some(&memory)), [at("open/key"), at("open/inner/new")]);
        // A memory that others can write is nobody's word.
        found.at = now();
        found.closed = vec![at("planted")];
        std::fs::write(&memory, serde_json::to_vec(&found).unwrap()).unwrap();
        set_mode(&memory, 0o666);
        assert_eq!(closed_to_others(folder.path(), Some(&memory)), [at("open/key"), at("open/inner/new")]);
    }
}
