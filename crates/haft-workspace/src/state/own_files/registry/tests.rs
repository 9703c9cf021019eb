//! Tests which state folder a workspace gets: renamed, moved, copied, or deleted and made again.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Registry, name_of};
use crate::require::Need;
use crate::state::own_files::root_record::{RootIdentity, RootRecord};

struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn make(&self, name: &str) -> PathBuf {
        std::fs::create_dir(self.at(name)).expect("a folder can be made");
        self.at(name)
    }

    fn rename(&self, from: &str, to: &str) -> PathBuf {
        std::fs::rename(self.at(from), self.at(to)).expect("it can be renamed");
        self.at(to)
    }

    /// Finds the state folder of a root, without keeping anything there.
    fn state_of(&self, root: &Path) -> PathBuf {
        Registry::new(&self.at("state")).assign(root).folder().to_owned()
    }

    /// Finds the state folder of a root and keeps something there.
    fn use_state_of(&self, root: &Path) -> PathBuf {
        let claim = Registry::new(&self.at("state")).assign(root);
        claim.stake();
        claim.folder().to_owned()
    }

    /// Returns whether folders can be recognised on this file system.
    #[track_caller]
    fn records_births(&self) -> bool {
        Need::Births.met(RootIdentity::of(self.folder.path()).is_some())
    }
}

#[test]
fn a_workspace_without_state_creates_nothing() {
    let disk = Disk::new();
    let root = disk.make("a");
    assert_eq!(disk.state_of(&root).file_name(), Some(name_of(&root).as_ref()));
    assert!(!disk.at("state").exists());
}

#[test]
fn a_renamed_workspace_keeps_its_state_and_so_it_does_when_it_is_renamed_back() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let state = disk.use_state_of(&disk.make("a"));
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let root = disk.rename(from, to);
        // The second time it is found by a record that leads there.
        for _ in 0..2 {
            assert_eq!(disk.state_of(&root), state, "{from} {to}");
        }
        assert_eq!(RootRecord::read(&state).expect("it is recorded").path(), root);
    }
}

#[test]
fn a_new_folder_at_the_old_path_gets_state_of_its_own() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let moved = disk.use_state_of(&disk.make("a"));
    let b = disk.rename("a", "b");
    let new = disk.use_state_of(&disk.make("a"));
    assert_ne!(new, moved);
    assert_eq!((disk.state_of(&disk.at("a")), disk.state_of(&b)), (new, moved));
}

#[test]
fn a_new_folder_of_the_same_name_inherits_nothing_from_a_deleted_one() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let old = disk.use_state_of(&disk.make("a"));
    // A second folder exists meanwhile, so that the inode cannot be used again.
    disk.make("b");
    std::fs::remove_dir(disk.at("a")).expect("it is empty");
    let root = disk.rename("b", "a");
    assert_ne!(disk.state_of(&root), old);
    assert!(!RootRecord::read(&old).expect("it is recorded").is_there());
}

#[test]
fn what_is_still_at_its_path_was_not_moved() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let root = disk.make("a");
    let state = disk.use_state_of(&root);
    // The same folder under another path, as a bind mount shows it.
    std::os::unix::fs::symlink(&root, disk.at("b")).expect("a link can be made");
    assert_ne!(disk.state_of(&disk.at("b")), state);
    assert_eq!(disk.state_of(&root), state);
}

#[test]
fn state_without_a_record_is_taken_over_by_its_path() {
    let disk = Disk::new();
    let root = disk.make("a");
    let old = disk.at("state/workspaces").join(name_of(&root));
    std::fs::create_dir_all(old.join("journal")).expect("folders can be made");
    assert_eq!(disk.state_of(&root), old);
    assert!(RootRecord::read(&old).is_some());
    if disk.records_births() {
        assert_eq!(disk.state_of(&disk.rename("a", "b")), old);
    }
}

#[test]
fn a_disk_that_was_mounted_anew_changes_nothing() {
    let disk = Disk::new();
    let root = disk.make("a");
    let state = disk.use_state_of(&root);
    let file = state.join("root.json");
    let text = std::fs::read_to_string(&file).expect("it is recorded");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    if record["identity"]["device"].is_u64() {
        record["identity"]["device"] = 4_000_000_000_u64.into();
        std::fs::write(&file, record.to_string()).expect("it can be written");
    }
    assert_eq!(disk.state_of(&root), state);
    assert_eq!(RootRecord::read(&state), Some(RootRecord::of(&root)));
}

#[test]
fn a_record_that_leads_to_removed_state_is_used_again() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let state = disk.use_state_of(&disk.make("a"));
    let root = disk.rename("a", "b");
    assert_eq!(disk.state_of(&root), state);
    std::fs::remove_dir_all(&state).expect("it is there");
    let new = disk.use_state_of(&root);
    assert_eq!(new.file_name(), Some(name_of(&root).as_ref()));
    assert_eq!(RootRecord::read(&new), Some(RootRecord::of(&root)));
}

#[test]
fn several_processes_that_find_a_moved_workspace_at_once_agree() {
    let disk = Disk::new();
    if !disk.records_births() {
        return;
    }
    let state = disk.use_state_of(&disk.make("a"));
    let root = disk.rename("a", "b");
    std::thread::scope(|scope| {
        let found: Vec<_> = (0..8).map(|_| scope.spawn(|| disk.use_state_of(&root))).collect();
        found.into_iter().for_each(|found| assert_eq!(found.join().expect("it ends"), state));
    });
    assert_eq!(disk.state_of(&root), state);
}
