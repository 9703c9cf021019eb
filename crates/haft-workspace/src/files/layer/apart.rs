//! Folders that lie outside the layer: what programs make there is made anew at any time, and is large.
//!
//! A folder is set apart when its name is in the list, the ignore rules of the workspace leave it out and git tracks
//! nothing in it. The rules are the model's to edit: a line added to `.gitignore` must not open a folder that was
//! protected before, and `remembered` sees to that.
//!
//! Not here: what a command makes that would have been set apart (`read`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};

use super::super::folder::{Names, stat_name};
use super::super::open::{open_beneath, open_name};
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
/// Most of an ignore file that is looked at, in bytes.
const LONGEST_RULES: u64 = 1 << 20;

/// Returns whether a path ends in a name of the list.
pub(super) fn is_listed(path: &Path) -> bool {
    NAMES.iter().any(|name| path.ends_with(name))
}

/// What is beneath a root, by places in it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The folders that can be set apart.
    pub(super) outside: BTreeSet<PathBuf>,
    /// Those that are listed and cannot.
    pub(super) inside: BTreeSet<PathBuf>,
    /// The folders that have rules, with a hash of those.
    pub(super) rules: BTreeMap<PathBuf, String>,
}

/// Looks for the folders beneath a root that can be set apart.
pub(super) fn find(root: BorrowedFd<'_>, real: &Path) -> Seen {
    let mut search = Search { rules: Rules::default(), seen: Seen::default(), left: MOST_FOLDERS };
    search.look(root, &mut Vec::new(), 1);
    let mut seen = search.seen;
    let ignored = std::mem::take(&mut seen.outside);
    let untracked = index::untracked(ignored.iter().map(|place| real.join(place)).collect()).into_iter();
    seen.outside = untracked.filter_map(|folder| folder.strip_prefix(real).ok().map(Path::to_owned)).collect();
    seen.inside.extend(ignored.difference(&seen.outside).cloned());
    seen
}

struct Search {
    rules: Rules,
    seen: Seen,
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
        if let Some(hash) = rules_hash(folder) {
            let place = OsStr::from_bytes(path.strip_suffix(b"/").unwrap_or(path));
            self.seen.rules.insert(place.into(), hash);
        }
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
        // What has a history of its own is nobody's build product.
        let has_history = || {
            let opened = open_name(folder, name, OFlags::DIRECTORY | OFlags::RDONLY);
            opened.is_ok_and(|opened| stat_name(opened.as_fd(), b".git").is_ok())
        };
        let is_ignored = self.rules.verdict(path, FileType::Directory) == Verdict::Ignored && !has_history();
        let place = Path::new(OsStr::from_bytes(path));
        if !is_ignored && is_listed(place) {
            self.seen.inside.insert(place.to_owned());
        }
        match (is_ignored, is_listed(place)) {
            (true, true) => {
                self.seen.outside.insert(place.to_owned());
            }
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

/// Returns a hash of all that a folder says about what is ignored in it, if it says anything.
fn rules_hash(folder: BorrowedFd<'_>) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let mut has_any = stat_name(folder, b".git").is_ok();
    hasher.update(&[u8::from(has_any)]);
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        let mut bytes = Vec::new();
        let opened = open_beneath(folder, name.as_bytes(), OFlags::RDONLY | OFlags::NONBLOCK);
        let is_read = opened.is_ok_and(|file| File::from(file).take(LONGEST_RULES).read_to_end(&mut bytes).is_ok());
        has_any |= is_read;
        hasher.update(&[u8::from(is_read)]).update(blake3::hash(&bytes).as_bytes());
    }
    has_any.then(|| hasher.finalize().to_hex().to_string())
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
        found.outside.into_iter().map(|place| place.display().to_string()).collect()
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
        assert!(found(&[("target/.git/HEAD", ""), (".gitignore", "target\n")]).is_empty());
    }
}
