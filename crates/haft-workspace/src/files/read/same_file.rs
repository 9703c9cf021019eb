//! Finds secret files by their other names: a hard link has the same device and inode, whatever it is called.
//!
//! Only a file with more than one name is looked at, so files cost nothing as long as no secret has a second one.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::files::path::{Extent, FileLocation, Target};
use rustix::fs::{FileType, OFlags, Stat};

use super::folder::{FolderNameList, stat_name};
use super::open::WorkspaceRoot;
use crate::files::guarding::secrets::SecretFiles;

/// What a file is, by whichever name.
type Identity = (u64, u64);

impl SecretFiles {
    /// Returns the secret file that a file with another name is.
    pub(in crate::files) fn same_as(&self, root: &WorkspaceRoot, target: &Target) -> Option<PathBuf> {
        let identity = linked(&stat(root, target)?)?;
        let own = target.place().path();
        linked_secrets(root, &self.names(root)).remove(&identity).filter(|secret| secret != own)
    }

    /// Returns the other names in the workspace that secret files have.
    pub(in crate::files) fn other_names(&self, root: &WorkspaceRoot, secrets: &[PathBuf]) -> Vec<PathBuf> {
        let linked_secrets = linked_secrets(root, secrets);
        if linked_secrets.is_empty() {
            return Vec::new();
        }
        let known: HashSet<&PathBuf> = secrets.iter().collect();
        let folders = self.folders();
        let names = folders.iter().flat_map(|folder| names_in(root, folder, &linked_secrets));
        names.filter(|name| !known.contains(name)).collect()
    }
}

/// Returns the secrets that have more than one name.
fn linked_secrets(root: &WorkspaceRoot, secrets: &[PathBuf]) -> HashMap<Identity, PathBuf> {
    let identity = |secret: &PathBuf| {
        let target = Target::Inside(FileLocation::new(secret, Extent::Entry));
        Some((linked(&stat(root, &target)?)?, secret.clone()))
    };
    secrets.iter().filter_map(identity).collect()
}

/// Returns the files of a folder that are among these.
fn names_in(root: &WorkspaceRoot, folder: &Path, wanted: &HashMap<Identity, PathBuf>) -> Vec<PathBuf> {
    let Ok(opened) = root.open_place(folder, OFlags::RDONLY | OFlags::DIRECTORY) else { return Vec::new() };
    let mut names = FolderNameList::default();
    if names.read(&opened).is_err() {
        return Vec::new();
    }
    let is_wanted = |name: &[u8]| {
        let identity = stat_name(&opened, name).ok().and_then(|stat| linked(&stat));
        identity.is_some_and(|identity| wanted.contains_key(&identity))
    };
    let all = (0..).map_while(|index| names.at(index).map(|(name, _)| name));
    all.filter(|name| is_wanted(name)).map(|name| folder.join(OsStr::from_bytes(name))).collect()
}

fn stat(root: &WorkspaceRoot, target: &Target) -> Option<Stat> {
    let opened = root.open_target(target, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
    rustix::fs::fstat(&opened).ok()
}

/// Returns what a regular file is, where it has more than one name.
fn linked(stat: &Stat) -> Option<Identity> {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    (is_file && stat.st_nlink > 1).then_some((stat.st_dev, stat.st_ino))
}
