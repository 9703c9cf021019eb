//! Looks at many paths together, and reads each shared folder only once.
//!
//! A sandbox concerns hundreds of paths. Most of them are in the home, and most do not exist. To ask about each part of
//! each path would take thousands of system calls. So the second question about a folder reads all of it.
//!
//! A glance does not look at a path again: it is valid for one moment, and its user drops it afterwards.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Largest folder that is read as a whole, in entries.
const MOST: usize = 2_000;

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderEntryKind {
    Folder,
    Link,
    Other,
}

/// The parts of the file system that are known so far.
#[derive(Debug, Default)]
pub(crate) struct Glance {
    folders: HashMap<PathBuf, FolderGlance>,
    real: HashMap<PathBuf, Option<PathBuf>>,
}

/// The known entries of a folder.
#[derive(Debug)]
enum FolderGlance {
    /// Only these entries are known; `None` stands for an entry that does not exist.
    Parts(HashMap<OsString, Option<FolderEntryKind>>, Whole),
    /// These are all entries.
    All(HashMap<OsString, FolderEntryKind>),
}

/// Whether a folder can be read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    NotTried,
    TooMuch,
}

impl Glance {
    /// Returns the kind of the entry at a path. Only the last part of the path may be a link.
    pub(crate) fn kind(&mut self, path: &Path) -> Option<FolderEntryKind> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return kind_of(path) };
        match self.folders.get_mut(folder) {
            Some(FolderGlance::All(entries)) => return entries.get(name).copied(),
            Some(FolderGlance::Parts(parts, whole)) => match (parts.get(name), &*whole) {
                (Some(kind), _) => return *kind,
                (None, Whole::TooMuch) => {}
                (None, Whole::NotTried) => {
                    if let Some(entries) = entries_of(folder) {
                        let kind = entries.get(name).copied();
                        self.folders.insert(folder.to_owned(), FolderGlance::All(entries));
                        return kind;
                    }
                    *whole = Whole::TooMuch;
                }
            },
            None => {}
        }
        let kind = kind_of(path);
        self.note(folder, name, kind);
        kind
    }

    /// Returns the path without links; `None` if it does not exist.
    pub(crate) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(real) = self.real.get(path) {
            return real.clone();
        }
        let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let real = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) if is_plain && path.is_absolute() => {
                let found = self.real(above).map(|above| above.join(name));
                found.and_then(|found| match self.kind(&found)? {
                    FolderEntryKind::Link => found.canonicalize().ok(),
                    FolderEntryKind::Folder | FolderEntryKind::Other => Some(found),
                })
            }
            _ => path.canonicalize().ok(),
        };
        self.real.insert(path.to_owned(), real.clone());
        real
    }

    /// Returns whether a path leads to a folder.
    pub(crate) fn is_folder(&mut self, path: &Path) -> bool {
        self.real(path).is_some_and(|real| self.kind(&real) == Some(FolderEntryKind::Folder))
    }

    fn note(&mut self, folder: &Path, name: &OsStr, kind: Option<FolderEntryKind>) {
        let seen = self.folders.entry(folder.to_owned());
        if let FolderGlance::Parts(parts, _) =
            seen.or_insert_with(|| FolderGlance::Parts(HashMap::new(), Whole::NotTried))
        {
            parts.insert(name.to_owned(), kind);
        }
    }
}

fn kind_of(path: &Path) -> Option<FolderEntryKind> {
    path.symlink_metadata().ok().map(|found| FolderEntryKind::from(found.file_type()))
}

/// Reads a folder; `None` if it is too large or cannot be read.
fn entries_of(folder: &Path) -> Option<HashMap<OsString, FolderEntryKind>> {
    let mut entries = HashMap::new();
    let read = match std::fs::read_dir(folder) {
        // A folder that does not exist has no entries.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => return Some(entries),
        read => read.ok()?,
    };
    for entry in read {
        let entry = entry.ok()?;
        entries.insert(entry.file_name(), FolderEntryKind::from(entry.file_type().ok()?));
        if entries.len() > MOST {
            return None;
        }
    }
    Some(entries)
}

impl From<std::fs::FileType> for FolderEntryKind {
    fn from(kind: std::fs::FileType) -> Self {
        match kind {
            kind if kind.is_dir() => FolderEntryKind::Folder,
            kind if kind.is_symlink() => FolderEntryKind::Link,
            _ => FolderEntryKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_sees_what_single_questions_would() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["home/.cargo/bin", "home/empty", "away/inner", "home/locked"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("home/file"), "x").unwrap();
        for (target, link) in
            [("../away", "home/link"), ("nowhere", "home/broken"), ("loop", "home/loop"), ("file", "home/to-file")]
        {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        for number in 0..=MOST {
            std::fs::create_dir_all(at(&format!("large/{number}"))).unwrap();
        }
        let names = [
            "home",
            "home/.cargo",
            "home/.cargo/bin",
            "home/.cargo/none",
            "home/.cargo/bin/none/at/all",
            "home/none",
            "home/none/none",
            "home/file",
            "home/file/none",
            "home/link",
            "home/link/inner",
            "home/link/none",
            "home/to-file",
            "home/broken",
            "home/loop",
            "home/loop/none",
            "home/../away",
            "large/1",
            "large/7",
            "large/none",
            "large/1999",
            "none/none",
        ];
        let mut glance = Glance::default();
        for _ in 0..2 {
            for name in names {
                let path = at(name);
                assert_eq!(glance.real(&path), path.canonicalize().ok(), "{name}");
                assert_eq!(glance.is_folder(&path), path.is_dir(), "{name}");
            }
        }
        assert_eq!(glance.real(Path::new("/")), Some("/".into()));
        assert_eq!(glance.kind(Path::new("/")), Some(FolderEntryKind::Folder));
    }
}
