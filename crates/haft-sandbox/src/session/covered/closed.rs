//! Finds files that the system's settings keep from other users.
//!
//! Inside, root is the reader, so haft covers whatever other users may not read.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::walk::WalkRecord;

/// How deep and how far settings are looked through.
const DEPTH: usize = 6;
const MOST: usize = 20_000;

/// Returns the files and folders below one that others than the owner and the group may not read, from this memory where
/// it still holds.
pub(super) fn closed_to_others(folder: &Path, memory: Option<&Path>) -> Vec<PathBuf> {
    WalkRecord::remembered(&[folder.to_owned()], memory, |walk, roots| roots.iter().for_each(|root| look(walk, root)))
}

/// Looks through a folder. Links are not followed.
fn look(walk: &mut WalkRecord, folder: &Path) {
    let mut looked = 0;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        walk.look_at(&folder);
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            // The folder itself says so: most settings of the system are links, and asking about each takes time.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            let Ok(facts) = entry.metadata() else { continue };
            let is_closed = facts.permissions().mode() & 0o004 == 0 && !facts.is_symlink();
            if is_closed {
                walk.found(entry.path());
            } else if facts.is_dir() && depth < DEPTH && looked < MOST {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
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
}
