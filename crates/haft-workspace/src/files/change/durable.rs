//! Makes many changes survive a power cut together: syncs their file systems, or a few folders.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::replace::StagedEntry;
use crate::files::read::open::WorkspaceRoot;

/// So many folders are synced one by one; of more, their file systems are.
const FEW_FOLDERS: usize = 64;

/// Syncs the file systems that contents lie ready on, each once; returns them.
pub(in crate::files) fn sync_contents<'s>(
    root: &WorkspaceRoot,
    staged: impl Iterator<Item = (&'s Path, &'s StagedEntry)>,
) -> Result<HashSet<u64>, (PathBuf, io::Error)> {
    let mut synced = HashSet::new();
    for (place, staged) in staged {
        if synced.insert(staged.device()) {
            let sync = root.open_parent(place).and_then(|(folder, _)| rustix::fs::syncfs(folder));
            sync.map_err(|errno| (place.to_owned(), errno.into()))?;
        }
    }
    Ok(synced)
}

/// Syncs the names in folders: folder by folder, or all together if there are many.
pub(in crate::files) fn sync_folders(
    root: &WorkspaceRoot,
    folders: &BTreeSet<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let mut synced = HashSet::new();
    for place in folders {
        let sync = match root.open_place(place, OFlags::RDONLY | OFlags::DIRECTORY) {
            // It went too or became something else, and the folder it was in is synced.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            Ok(folder) if folders.len() <= FEW_FOLDERS => rustix::fs::fsync(folder),
            Ok(folder) => rustix::fs::fstat(&folder).and_then(|stat| match synced.insert(stat.st_dev) {
                true => rustix::fs::syncfs(folder),
                false => Ok(()),
            }),
            Err(errno) => Err(errno),
        };
        sync.map_err(|errno| (place.clone(), errno.into()))?;
    }
    Ok(())
}
