//! Which folders hold files that git tracks, by a look into its index.
//!
//! Only the question is answered whether any entry begins with a folder. What cannot be understood counts as tracked,
//! because what is tracked gets the better protection.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest index that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Longest file that says where a repository is, in bytes.
const LONGEST_POINTER: u64 = 4_096;

/// The folders in which a repository tracks something.
pub(super) enum Tracked {
    /// There is no repository, or one that tracks nothing yet.
    Nothing,
    Folders(TrackedFolders),
    /// Its index is not understood.
    Unclear,
}

/// What an index lists: folders with entries in them, and entries. A sparse index has whole folders as entries.
#[derive(Default)]
pub(super) struct TrackedFolders {
    folders: HashSet<Vec<u8>>,
    entries: HashSet<Vec<u8>>,
}

impl Tracked {
    /// Returns whether something in a folder, or the folder itself, is tracked.
    pub(super) fn holds(&self, folder: &[u8]) -> bool {
        match self {
            Tracked::Nothing => false,
            Tracked::Unclear => true,
            Tracked::Folders(tracked) => {
                let mut above = (0..=folder.len()).filter(|end| *end == folder.len() || folder[*end] == b'/');
                tracked.folders.contains(folder) || above.any(|end| tracked.entries.contains(&folder[..end]))
            }
        }
    }
}

/// Reads which folders of a repository hold something that it tracks.
pub(super) fn tracked_by(repository: &Path) -> Tracked {
    match index_of(repository) {
        Index::None => Tracked::Nothing,
        Index::Read(bytes) => tracked_in(&bytes).map_or(Tracked::Unclear, Tracked::Folders),
        Index::Unclear => Tracked::Unclear,
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

/// Reads the index of a folder, if it is a repository.
fn index_of(folder: &Path) -> Index {
    let git = folder.join(".git");
    let data = match git.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Index::None,
        Ok(facts) if facts.is_dir() => Some(git),
        Ok(facts) if facts.is_file() => pointed_to(folder, &git).filter(|data| data.is_dir()),
        Ok(_) | Err(_) => None,
    };
    let Some(data) = data else { return Index::Unclear };
    let file = match File::open(data.join("index")) {
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

/// Returns where a worktree or a submodule says that its repository is.
fn pointed_to(folder: &Path, pointer: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let read = File::open(pointer).ok()?.take(LONGEST_POINTER).read_to_string(&mut text).ok()?;
    let to = text.strip_prefix("gitdir:")?.trim();
    (read as u64 != LONGEST_POINTER && !to.is_empty()).then(|| folder.join(to))
}

/// Collects what an index lists; nothing when the index is not understood.
fn tracked_in(index: &[u8]) -> Option<TrackedFolders> {
    let mut tracked = TrackedFolders::default();
    let rest = index.strip_prefix(b"DIRC")?;
    let number = |at: usize| Some(u32::from_be_bytes(*rest.get(at..)?.first_chunk()?));
    let (version, entries) = (number(0)?, number(4)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..entries {
        at = entry(index, at, version, &mut path)?;
        let own = path.strip_suffix(b"/").unwrap_or(&path);
        let mut folder = own;
        // Entries are in order, so the folders above are most often known.
        while let Some(end) = memchr::memrchr(b'/', folder) {
            folder = &folder[..end];
            if !tracked.folders.insert(folder.to_vec()) {
                break;
            }
        }
        tracked.entries.insert(own.to_vec());
    }
    // A split index has entries elsewhere.
    let rest = index.get(at..)?;
    (!rest.starts_with(b"link")).then_some(tracked)
}

/// Reads the path of the entry that begins here; returns where the next one begins.
fn entry(index: &[u8], at: usize, version: u32, path: &mut Vec<u8>) -> Option<usize> {
    // Times, numbers, mode, owner and size have 40 bytes, the name of the content has 20; then come the flags.
    const FLAGS: usize = 60;
    let flags = u16::from_be_bytes(*index.get(at + FLAGS..)?.first_chunk()?);
    let is_extended = version >= 3 && flags & 0x4000 != 0;
    let mut name = at + FLAGS + if is_extended { 4 } else { 2 };
    if version == 4 {
        let mut strip = 0_usize;
        let mut byte = *index.get(name)?;
        strip |= usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            name += 1;
            byte = *index.get(name)?;
            strip = strip.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
        }
        name += 1;
        path.truncate(path.len().checked_sub(strip)?);
    } else {
        path.clear();
    }
    let length = memchr::memchr(0, index.get(name..)?)?;
    path.extend_from_slice(&index[name..name + length]);
    // In a repository whose names of contents are longer, everything lies elsewhere: then the length does not fit.
    if usize::from(flags & 0xfff) != path.len().min(0xfff) {
        return None;
    }
    let end = name + length;
    Some(if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 })
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
        bytes.extend(*b"TREE");
        bytes
    }

    #[test]
    fn a_folder_is_tracked_when_an_entry_lies_in_it() {
        for version in [2, 3, 4] {
            let index = index(version, &["src/target/a", "tar/x", "target-b/c", "targets", "vendor/bundle/a"]);
            let asked: [&[u8]; 5] = [b"target", b"src/target", b"vendor/bundle", b"vendor", b"targets"];
            let tracked = Tracked::Folders(tracked_in(&index).expect("it is an index"));
            assert_eq!(asked.map(|folder| tracked.holds(folder)), [false, true, true, true, true], "version {version}");
        }
        let sparse = Tracked::Folders(tracked_in(&index(4, &["a/", "b"])).expect("it is an index"));
        assert_eq!([&b"a/target"[..], b"c"].map(|folder| sparse.holds(folder)), [true, false]);
    }

    #[test]
    fn what_is_not_understood_is_no_answer() {
        let mut split = index(2, &["a"]);
        split.truncate(split.len() - 4);
        split.extend(*b"link");
        for index in [&b""[..], b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x01abc", b"?", &split] {
            assert!(tracked_in(index).is_none());
        }
    }

    #[test]
    fn only_where_no_index_is_nothing_is_tracked() {
        let place = tempfile::tempdir().expect("a temporary folder can be made");
        let root = place.path();
        let is_untracked = |at: &str| !tracked_by(&root.join(at)).holds(b"target");
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
