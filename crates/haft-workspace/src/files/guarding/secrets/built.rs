//! Finds secret files in folders that package managers and compilers fill.
//!
//! The user did not write these files, so haft neither asks about them nor masks them. But a call may copy one out, and then
//! its values are in an ordinary file. So haft looks at a bounded number of the nearest folders, and skips a folder with
//! very many entries.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::{may_hold_secrets, secret_kind};
use haft_contract::files::stamp::FileStamp;
use rustix::fs::{FileType, OFlags};

use crate::files::read::facts::stamp_of;
use crate::files::read::folder::FolderNameList;
use crate::files::read::open::WorkspaceRoot;

/// Deepest folder below the first that is entered.
const DEEPEST: usize = 3;
/// Most folders that are looked at.
const MOST_FOLDERS: usize = 400;
/// Most entries of a folder that is looked at.
const MOST_ENTRIES: usize = 2_000;
/// Most files that are read.
const MOST_FILES: usize = 200;

/// What earlier looks found.
#[derive(Debug, Default)]
pub(super) struct BuiltFolders {
    known: HashMap<PathBuf, Built>,
    names: FolderNameList,
}

#[derive(Clone, Debug)]
struct Built {
    stamp: FileStamp,
    folders: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
}

impl BuiltFolders {
    /// Returns the secret files in and near these folders.
    pub(super) fn look(&mut self, root: &WorkspaceRoot, tops: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut waiting: VecDeque<(PathBuf, usize)> = tops.into_iter().map(|top| (top, 0)).collect();
        let (mut found, mut looked) = (Vec::new(), 0);
        while let Some((place, depth)) = waiting.pop_front().filter(|_| looked < MOST_FOLDERS) {
            looked += 1;
            let Some(built) = self.folder(root, &place) else { continue };
            found.extend(built.secrets.iter().cloned());
            if depth < DEEPEST {
                waiting.extend(built.folders.iter().map(|folder| (folder.clone(), depth + 1)));
            }
        }
        found.truncate(MOST_FILES);
        found
    }

    fn folder(&mut self, root: &WorkspaceRoot, place: &Path) -> Option<&Built> {
        let opened = root.open_place(place, OFlags::PATH | OFlags::DIRECTORY).ok()?;
        let stamp = stamp_of(&rustix::fs::fstat(&opened).ok()?);
        if self.known.get(place).is_none_or(|known| known.stamp != stamp) {
            let opened = root.open_place(place, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
            let mut built = Built { stamp, folders: Vec::new(), secrets: Vec::new() };
            let is_read = self.names.read(&opened).is_ok() && self.names.at(MOST_ENTRIES).is_none();
            for index in 0.. {
                let Some((name, kind)) = self.names.at(index).filter(|_| is_read) else { break };
                let name = OsStr::from_bytes(name);
                match kind {
                    FileType::Directory if name != ".git" => built.folders.push(place.join(name)),
                    FileType::RegularFile if may_hold_secrets(name) => {
                        let secret = place.join(name);
                        built.secrets.extend(secret_kind(&secret).is_some().then_some(secret));
                    }
                    _ => {}
                }
            }
            self.known.insert(place.to_owned(), built);
        }
        self.known.get(place)
    }
}
