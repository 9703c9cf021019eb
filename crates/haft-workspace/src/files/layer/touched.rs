//! Whether a command has written in a folder that lies outside its layer.
//!
//! The times of the folder and of what is in it tell, the upper levels first. It is a cheap look: where there is more than
//! it sees, the folder counts as written to.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft::process::GroundRoot;
use rustix::fs::{FileType, OFlags};

use super::super::folder::{Names, stat_name};
use super::super::open::open_name;
use super::clock::Moment;

/// How many names are looked at in all.
pub(super) const MOST_LOOKS: usize = 2_000;

/// Returns whether something in a folder was changed from a moment on, or may have been.
pub(super) fn is_touched(root: &GroundRoot, place: &Path, since: Moment, left: &mut usize) -> bool {
    let mut folders = VecDeque::from([place.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        match inner_folders(root, &folder, since, left) {
            Some(inner) => folders.extend(inner),
            None => return true,
        }
    }
    false
}

/// Returns the folders in a folder in which nothing was changed; nothing where something was, or may have been.
fn inner_folders(root: &GroundRoot, folder: &Path, since: Moment, left: &mut usize) -> Option<Vec<PathBuf>> {
    let opened = open_name(&root.folder, folder.as_os_str().as_bytes(), OFlags::DIRECTORY | OFlags::RDONLY).ok()?;
    if since.is_before_change_of(&rustix::fs::fstat(&opened).ok()?) {
        return None;
    }
    let mut names = Names::default();
    if *left == 0 || names.read(&opened).ok()?.beyond > 0 {
        return None;
    }
    let mut inner = Vec::new();
    let mut index = 0;
    while let Some((name, _)) = names.at(index) {
        index += 1;
        *left = left.checked_sub(1)?;
        let stat = stat_name(&opened, name).ok()?;
        if since.is_before_change_of(&stat) {
            return None;
        }
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            inner.push(folder.join(OsStr::from_bytes(name)));
        }
    }
    Some(inner)
}
