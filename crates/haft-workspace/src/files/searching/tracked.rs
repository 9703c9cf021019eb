//! Finds what git tracks in a repository, by reading its index.
//!
//! An index of a hundred thousand paths is read in a few milliseconds: its paths are copied one after the other. They are
//! sorted, so a lookup is a binary search.
//!
//! Not here: what an index looks like (`history::git_index`).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::history::git_index;

/// Largest index that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Longest file that says where a repository is, in bytes.
const LONGEST_POINTER: u64 = 4_096;
/// How many bytes the names of contents have.
const HASHES: [usize; 2] = [20, 32];

/// The paths that git tracks in a repository.
#[derive(Debug)]
pub(in crate::files) enum GitTracking {
    /// There is no repository, or one that tracks nothing yet.
    Nothing,
    /// These paths.
    Paths(TrackedPaths),
    /// Its index is not understood.
    Unclear,
}

/// The paths of an index, in order. A sparse index has whole folders among them, with a slash at the end.
#[derive(Debug, Default)]
pub(in crate::files) struct TrackedPaths {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl GitTracking {
    /// Reads what a repository tracks.
    pub(in crate::files) fn by(repository: &Path) -> Self {
        match Index::of(repository) {
            Index::None => GitTracking::Nothing,
            Index::Read(bytes) => TrackedPaths::read(&bytes).map_or(GitTracking::Unclear, GitTracking::Paths),
            Index::Unclear => GitTracking::Unclear,
        }
    }

    /// Returns whether a path is tracked, or something in it; nothing where that is not clear.
    pub(in crate::files) fn holds(&self, path: &[u8]) -> Option<bool> {
        match self {
            GitTracking::Nothing => Some(false),
            GitTracking::Unclear => None,
            GitTracking::Paths(paths) => Some(paths.holds(path)),
        }
    }
}

impl TrackedPaths {
    /// Collects what an index lists; nothing when it is not understood.
    fn read(index: &[u8]) -> Option<Self> {
        HASHES.into_iter().find_map(|hash| {
            let mut paths = Self::default();
            let mut is_in_order = true;
            git_index::each_path(index, hash, &mut |path| {
                is_in_order &= paths.ends.is_empty() || paths.at(paths.ends.len() - 1) <= path;
                paths.bytes.extend_from_slice(path);
                paths.ends.push(paths.bytes.len());
            })?;
            is_in_order.then_some(paths)
        })
    }

    fn at(&self, place: usize) -> &[u8] {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[place]]
    }

    /// Returns the first path that is not before this one with this end.
    fn first_from(&self, (path, end): (&[u8], &[u8])) -> Option<&[u8]> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle).iter().lt(path.iter().chain(end)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.ends.len()).then(|| self.at(low))
    }

    fn lists(&self, path: &[u8]) -> bool {
        self.first_from((path, b"")) == Some(path)
    }

    fn holds(&self, path: &[u8]) -> bool {
        let is_below = |found: &[u8]| found.strip_prefix(path).is_some_and(|rest| rest.starts_with(b"/"));
        let mut above = (0..path.len()).filter(|end| path[*end] == b'/');
        self.lists(path)
            || self.first_from((path, b"/")).is_some_and(is_below)
            // A submodule, or a folder of a sparse index.
            || above.any(|end| self.lists(&path[..end]) || self.lists(&path[..=end]))
    }
}

/// What is known of the index of a folder.
enum Index {
    /// It is no repository, or one without an index.
    None,
    Read(Vec<u8>),
    /// There may be one.
    Unclear,
}

impl Index {
    /// Reads the index of a folder, if it is a repository.
    fn of(folder: &Path) -> Self {
        let git = folder.join(".git");
        let data = match git.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Index::None,
            Ok(facts) if facts.is_dir() => Some(git),
            Ok(facts) if facts.is_file() => pointed_to(folder, &git).filter(|data| data.is_dir()),
            Ok(_) | Err(_) => None,
        };
        let Some(data) = data else { return Index::Unclear };
        let file = match open_file(&data.join("index")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Index::None,
            Err(_) => return Index::Unclear,
            Ok(file) => file,
        };
        let mut bytes = Vec::new();
        match file.take(LARGEST + 1).read_to_end(&mut bytes) {
            Ok(read) if read as u64 <= LARGEST => Index::Read(bytes),
            Ok(_) | Err(_) => Index::Unclear,
        }
    }
}

/// Opens a regular file; a pipe of that name does not block.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Returns where a worktree or a submodule says that its repository is.
fn pointed_to(folder: &Path, pointer: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let read = open_file(pointer).ok()?.take(LONGEST_POINTER).read_to_string(&mut text).ok()?;
    let to = text.strip_prefix("gitdir:")?.trim();
    (read as u64 != LONGEST_POINTER && !to.is_empty()).then(|| folder.join(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(version: u32, paths: &[&str]) -> Vec<u8> {
        let mut bytes = [*b"DIRC", version.to_be_bytes(), (paths.len() as u32).to_be_bytes()].concat();
        let mut last = String::new();
        for path in paths {
            let begin = bytes.len();
            bytes.extend([1; 60]);
            bytes.extend((path.len() as u16).to_be_bytes());
            if version == 4 {
                let shared = last.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
                bytes.push((last.len() - shared) as u8);
                bytes.extend(path[shared..].bytes().chain([0]));
            } else {
                bytes.extend(path.bytes());
                bytes.resize(begin + ((bytes.len() - begin) / 8 + 1) * 8, 0);
            }
            last = (*path).to_owned();
        }
        bytes.extend(*b"TREE\0\0\0\0");
        bytes.extend([7; 20]);
        bytes
    }

    #[test]
    fn a_path_is_tracked_when_an_entry_is_it_or_lies_in_it() {
        for version in [2, 3, 4] {
            let index = index(version, &["src/target/a", "tar/x", "target-b/c", "targets", "vendor/bundle/a"]);
            let asked: [&[u8]; 6] = [b"target", b"src/target", b"vendor/bundle", b"vendor", b"targets", b"vendor/b"];
            let tracked = TrackedPaths::read(&index).expect("it is an index");
            let wanted = [false, true, true, true, true, false];
            assert_eq!(asked.map(|path| tracked.holds(path)), wanted, "version {version}");
        }
        let sparse = TrackedPaths::read(&index(4, &["a/", "b", "sub"])).expect("it is an index");
        let asked: [&[u8]; 5] = [b"a/target", b"a", b"c", b"sub/x", b"su"];
        assert_eq!(asked.map(|path| sparse.holds(path)), [true, true, false, true, false]);
    }

    #[test]
    fn what_is_not_understood_is_no_answer() {
        let whole = index(2, &["a"]);
        let split = [&whole[..whole.len() - 28], b"link\0\0\0\0", &[7; 20]].concat();
        let unordered = index(2, &["b", "a"]);
        let cut = &whole[..40];
        for index in
            [&b""[..], b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x01abc", b"?", &split, &unordered, cut]
        {
            assert!(TrackedPaths::read(index).is_none());
        }
    }

    #[test]
    fn only_where_no_index_is_nothing_is_tracked() {
        let place = tempfile::tempdir().expect("a temporary folder can be made");
        let root = place.path();
        let is_untracked = |at: &str| GitTracking::by(&root.join(at)).holds(b"target") == Some(false);
        let write = |at: &str, content: &[u8]| {
            let path = root.join(at);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            std::fs::write(path, content).expect("it can be written");
        };
        write("plain/a", b"");
        write("fresh/.git/HEAD", b"");
        write("kept/.git/index", &index(2, &["target/a"]));
        write("other/.git/index", &index(2, &["a"]));
        write("empty/.git/index", b"");
        std::fs::create_dir_all(root.join("folder/.git/index")).expect("it can be made");
        std::fs::create_dir_all(root.join("linked")).expect("it can be made");
        std::os::unix::fs::symlink("../fresh/.git", root.join("linked/.git")).expect("it is new");
        write("pointed/.git", b"gitdir: ../other/.git\n");
        write("astray/.git", b"gitdir: ../nowhere\n");
        write("odd/.git", b"what\n");
        for (at, wanted) in [("plain", true), ("fresh", true), ("kept", false), ("other", true), ("empty", false)] {
            assert_eq!(is_untracked(at), wanted, "{at}");
        }
        for (at, wanted) in [("folder", false), ("linked", false), ("pointed", true), ("astray", false), ("odd", false)]
        {
            assert_eq!(is_untracked(at), wanted, "{at}");
        }
    }
}
