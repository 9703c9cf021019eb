//! Limits the room for downloads that haft keeps: it removes the folder of the least recently used tool first.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FlockOperation;

use super::locked;
use crate::running::strays::Mark;

/// How the names of folders begin that are being removed.
const REMOVED: &str = ".removed-";

/// Removes folders of tools, the least recently used first, until the rest fits.
pub(super) fn keep_within(own: &Path, room: u64) {
    let mut tools: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(own).into_iter().flatten().flatten() {
        let Ok(facts) = entry.metadata() else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes()) {
            let _ = std::fs::remove_dir_all(entry.path());
        } else if facts.is_dir() {
            tools.push((facts.modified().unwrap_or(SystemTime::UNIX_EPOCH), bytes_below(&entry.path()), entry.path()));
        }
    }
    tools.sort();
    let mut all: u64 = tools.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in tools {
        if all > room && remove(&path) {
            all -= bytes;
        }
    }
}

/// Removes a folder unless a session has it in use. Under its own name no session finds half of it.
fn remove(path: &Path) -> bool {
    let Some(_locked) = locked(path, FlockOperation::NonBlockingLockExclusive) else { return false };
    let removed = path.with_file_name(format!("{REMOVED}{}", Mark::fresh()));
    std::fs::rename(path, &removed).and_then(|()| std::fs::remove_dir_all(&removed)).is_ok()
}

/// Returns how much of the disk the files in a folder take. No link is followed.
fn bytes_below(folder: &Path) -> u64 {
    let (mut bytes, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                folders.push(entry.path());
            }
            bytes += facts.blocks().saturating_mul(512);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_least_recently_used_goes_first_and_one_in_use_stays() {
        let own = tempfile::tempdir().unwrap();
        let at = |name: &str| own.path().join(name);
        for (name, age) in [("old", 30), ("used", 40), ("new", 10)] {
            std::fs::create_dir_all(at(name).join("deep")).unwrap();
            std::fs::write(at(name).join("deep/file"), vec![1; 100_000]).unwrap();
            let times = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(age));
            File::open(at(name)).and_then(|folder| folder.set_times(times)).unwrap();
        }
        std::fs::create_dir_all(at(".removed-1/deep")).unwrap();
        let _used = locked(&at("used"), FlockOperation::NonBlockingLockShared).unwrap();

        keep_within(own.path(), 250_000);

        let left = |name: &str| at(name).exists();
        assert_eq!((left("old"), left("used"), left("new"), left(".removed-1")), (false, true, true, false));
        keep_within(own.path(), 0);
        assert_eq!((left("used"), left("new")), (true, false));
    }
}
