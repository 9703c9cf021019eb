//! Folders that lie outside the layer: what programs make there is made anew at any time, and is large.
//!
//! A folder is set apart when its name is in the list, the ignore rules of the workspace leave it out, git tracks
//! nothing in it, and all that was so before the first command. The rules are the model's to edit: a line added to
//! `.gitignore` must not open a folder that was protected before.
//!
//! Not here: what a command makes that would have been set apart (`read`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};

use super::super::folder::Names;
use super::super::open::open_name;
use super::super::rules::{Present, Rules, Verdict};
use super::index;

/// Names of folders that programs fill by themselves.
const NAMES: &[&str] = &[
    "target",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".eggs",
    "build",
    "dist",
    "out",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".dart_tool",
    ".terraform",
    ".zig-cache",
    "zig-out",
    "_build",
    "deps",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "vendor/bundle",
];

/// How many levels are looked at.
const DEEPEST: usize = 3;
/// How many folders are looked into.
const MOST_FOLDERS: usize = 192;
/// A folder with more names is not looked into further.
const MOST_NAMES: usize = 2_000;

/// Returns whether a path ends in a name of the list.
pub(super) fn is_listed(path: &Path) -> bool {
    NAMES.iter().any(|name| path.ends_with(name))
}

/// Returns the folders beneath a root that can be set apart, by their place in it.
pub(super) fn find(root: BorrowedFd<'_>, real: &Path) -> BTreeSet<PathBuf> {
    let mut search = Search { rules: Rules::default(), found: Vec::new(), left: MOST_FOLDERS };
    search.look(root, &mut Vec::new(), 1);
    let found = search.found.into_iter().map(|place| real.join(place)).collect();
    let untracked = index::untracked(found).into_iter();
    untracked.filter_map(|folder| folder.strip_prefix(real).ok().map(Path::to_owned)).collect()
}

struct Search {
    rules: Rules,
    found: Vec<PathBuf>,
    left: usize,
}

impl Search {
    /// Looks at the names of a folder, and into those that are not ignored.
    fn look(&mut self, folder: BorrowedFd<'_>, path: &mut Vec<u8>, depth: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let mut names = Names::default();
        // Read through a descriptor of its own: the place in a folder is shared by its copies.
        let own = open_name(folder, b".", OFlags::DIRECTORY | OFlags::RDONLY);
        let Ok(contents) = own.and_then(|own| names.read(&own)) else { return };
        let rules_before = self.rules.len();
        self.rules.enter(folder, contents.present, path.len());
        let mut index = 0;
        while let Some((name, kind)) = names.at(index).filter(|_| index < MOST_NAMES) {
            index += 1;
            if kind != FileType::Directory || name == b".git" {
                continue;
            }
            let length = path.len();
            path.extend_from_slice(name);
            self.judge(folder, name, path, depth);
            path.truncate(length);
        }
        self.rules.leave_to(rules_before);
    }

    fn judge(&mut self, folder: BorrowedFd<'_>, name: &[u8], path: &mut Vec<u8>, depth: usize) {
        let is_ignored = self.rules.verdict(path, FileType::Directory) == Verdict::Ignored;
        let place = Path::new(OsStr::from_bytes(path));
        match (is_ignored, is_listed(place)) {
            (true, true) => self.found.push(place.to_owned()),
            // What is ignored and not in the list is not looked into: it may be large, and nothing says that it is junk.
            (true, false) => {}
            (false, _) if depth < DEEPEST => {
                let Ok(opened) = open_name(folder, name, OFlags::DIRECTORY | OFlags::RDONLY) else { return };
                path.push(b'/');
                self.look(opened.as_fd(), path, depth + 1);
            }
            (false, _) => {}
        }
    }
}

/// Returns whether the rules leave a folder out that does not exist yet.
pub(super) fn would_be_ignored(root: BorrowedFd<'_>, place: &Path) -> bool {
    let mut rules = Rules::default();
    let mut path: Vec<u8> = Vec::new();
    let mut folder = open_name(root, b".", OFlags::DIRECTORY | OFlags::RDONLY).ok();
    rules.enter(root, Present::PERHAPS, 0);
    for part in place.iter() {
        path.extend_from_slice(part.as_bytes());
        // What lies in an ignored folder is ignored, whatever else is said of it.
        if rules.verdict(&path, FileType::Directory) == Verdict::Ignored {
            return true;
        }
        path.push(b'/');
        let above = folder.as_ref().map(|folder: &OwnedFd| folder.as_fd());
        // Below a folder that is not there nothing is, and there are no rules.
        folder = above.and_then(|above| open_name(above, part.as_bytes(), OFlags::DIRECTORY | OFlags::RDONLY).ok());
        if let Some(opened) = &folder {
            rules.enter(opened.as_fd(), Present::PERHAPS, path.len());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("it can be made");
            std::fs::write(path, content).expect("it can be written");
        }
        let root = std::fs::File::open(folder.path()).expect("it is there");
        let found = find(root.as_fd(), folder.path());
        found.into_iter().map(|place| place.display().to_string()).collect()
    }

    #[test]
    fn a_listed_and_ignored_folder_is_set_apart_also_some_levels_down() {
        let files = [
            (".gitignore", "target\nnode_modules/\n/src\n"),
            ("target/a", ""),
            ("web/app/node_modules/b", ""),
            ("src/a", ""),
            ("build/a", ""),
            ("ruby/vendor/bundle/a", ""),
            ("ruby/.gitignore", "vendor/bundle\n"),
        ];
        assert_eq!(found(&files), ["ruby/vendor/bundle", "target", "web/app/node_modules"]);
    }

    #[test]
    fn a_folder_that_git_tracks_or_that_is_not_ignored_is_not_set_apart() {
        assert!(found(&[("target/a", ""), (".gitignore", "*.o\n")]).is_empty());
        assert!(found(&[("target/a", ""), (".gitignore", "target\n"), (".git/index", "no index")]).is_empty());
        assert!(found(&[("secret/a", ""), (".gitignore", "secret\n")]).is_empty());
    }
}
