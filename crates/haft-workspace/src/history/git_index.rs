//! Tells whether two states of git's index have the same meaning.
//!
//! The index is also a cache: git rewrites it whenever it has looked at files, with their times and numbers. That is not the
//! user's work, and a command that only looks has changed nothing.
//!
//! haft reads versions 2, 3 and 4, with content names by SHA-1 and SHA-256. It does not understand a split index.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::git::object_store::to_hex;

/// Returns whether a path is git's index, of a repository, a submodule or a worktree.
pub(crate) fn is_index(path: &Path) -> bool {
    let is_git = |part: &std::ffi::OsStr| part.as_encoded_bytes().ends_with(b".git");
    path.file_name().is_some_and(|name| name == "index") && path.iter().any(is_git)
}

/// Returns whether both list the same contents under the same names. What is not understood is not the same.
pub(crate) fn says_the_same(one: &[u8], other: &[u8]) -> bool {
    [20, 32].into_iter().any(|hash| {
        let read = |index| Index::read(index, hash);
        matches!((read(one), read(other)), (Some(one), Some(other))
            if one.entries == other.entries && one.lasting().eq(other.lasting()))
    })
}

/// Returns the paths that an index lists; nothing when it is not understood.
pub(crate) fn paths(index: &[u8]) -> Option<Vec<PathBuf>> {
    let index = [20, 32].into_iter().find_map(|hash| Index::read(index, hash))?;
    Some(index.entries.into_iter().map(|entry| PathBuf::from(OsString::from_vec(entry.path))).collect())
}

/// Passes on the paths that an index lists, in its order; nothing when it is not understood, perhaps after some.
pub(crate) fn each_path(index: &[u8], hash: usize, take: &mut dyn FnMut(&[u8])) -> Option<()> {
    scan(index, hash, &mut |_, path| take(path)).map(drop)
}

/// Returns the paths that an index lists, with the names of their contents; nothing when it is not understood.
pub(crate) fn contents(index: &[u8]) -> Option<HashMap<PathBuf, Vec<u8>>> {
    let index = [20, 32].into_iter().find_map(|hash| Index::read(index, hash))?;
    let entry = |entry: GitIndexEntry<'_>| (PathBuf::from(OsString::from_vec(entry.path)), entry.content.to_vec());
    Some(index.entries.into_iter().map(entry).collect())
}

/// Returns the mode of a file and the name of its content.
pub(crate) type IndexEntryFacts<'f> = &'f dyn Fn() -> (String, String);

/// Gathers something from all files of an index, in all stages, each with its mode and the name of its content; nothing
/// when the index is not understood, or lists a whole folder as one.
pub(crate) fn gathered<T: Default>(index: &[u8], take: &dyn Fn(&mut T, IndexEntryFacts<'_>, &Path)) -> Option<T> {
    let of_length = |hash: usize| {
        let (mut all, mut has_folders) = (T::default(), false);
        let each = &mut |entry: GitIndexEntry<'_>, path: &[u8]| {
            has_folders |= entry.mode[2] & 0xf0 == FOLDER;
            let path = Path::new(OsStr::from_bytes(path));
            take(&mut all, &|| (to_hex(entry.mode), to_hex(entry.content)), path);
        };
        scan(index, hash, each)?;
        (!has_folders).then_some(all)
    };
    [20, 32].into_iter().find_map(of_length)
}

/// Returns the names of all objects that an index names; nothing when it is not understood.
pub(super) fn named_objects(index: &[u8], length: usize) -> Option<Vec<String>> {
    let index = Index::read(index, length)?;
    // The commit of a submodule is in another repository.
    let is_here = |entry: &&GitIndexEntry<'_>| entry.mode[2] & 0xf0 != 0xe0;
    let mut named: Vec<String> = index.entries.iter().filter(is_here).map(|entry| to_hex(entry.content)).collect();
    for (name, content) in &index.extensions {
        match *name {
            b"TREE" => named.extend(trees(content, length)?),
            b"REUC" => named.extend(resolved(content, length)?),
            _ => {}
        }
    }
    named.sort_unstable();
    named.dedup();
    Some(named)
}

/// What an index says.
struct Index<'a> {
    entries: Vec<GitIndexEntry<'a>>,
    /// The names and contents of its extensions.
    extensions: Vec<(&'a [u8], &'a [u8])>,
}

/// One path of an index.
#[derive(PartialEq, Eq)]
struct GitIndexEntry<'a> {
    mode: &'a [u8],
    content: &'a [u8],
    flags: u16,
    extended: u16,
    path: Vec<u8>,
}

/// Where the mode stands in an entry, and where the name of the content: times, numbers, owner and size are the rest.
const MODE: usize = 24;
const CONTENT: usize = 40;
/// What the mode of a folder has in its third byte.
const FOLDER: u8 = 0x40;
/// The flags without the length of the path.
const FLAGS: u16 = 0xf000;
/// The flag that more flags follow.
const EXTENDED: u16 = 0x4000;
/// Longest list of paths that is read, in bytes.
const LONGEST: usize = 256 << 20;
/// Extensions that git may rebuild at any time.
const CACHES: [&[u8]; 5] = [b"TREE", b"UNTR", b"FSMN", b"EOIE", b"IEOT"];

impl<'a> Index<'a> {
    /// Reads an index whose names of contents have so many bytes; nothing where it is not one.
    fn read(index: &'a [u8], hash: usize) -> Option<Self> {
        let mut entries: Vec<GitIndexEntry<'a>> = Vec::new();
        let extensions =
            scan(index, hash, &mut |entry, path| entries.push(GitIndexEntry { path: path.to_vec(), ..entry }))?;
        Some(Self { entries, extensions })
    }

    /// Returns the extensions that are more than a cache.
    fn lasting(&self) -> impl Iterator<Item = &(&'a [u8], &'a [u8])> {
        self.extensions.iter().filter(|(name, _)| !CACHES.contains(name))
    }
}

/// Passes all entries on, in order, each without its path and with it beside; returns the extensions.
fn scan<'a>(
    index: &'a [u8],
    hash: usize,
    take: &mut dyn FnMut(GitIndexEntry<'a>, &[u8]),
) -> Option<Vec<(&'a [u8], &'a [u8])>> {
    // A checksum as long as the names of contents ends it.
    let mut reader = GitIndexReader { bytes: index.get(..index.len().checked_sub(hash)?)?, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number()?;
    let count = reader.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut path = Vec::new();
    let mut length = 0_usize;
    for _ in 0..count {
        let entry = reader.entry((version, hash), &mut path)?;
        // A path of version 4 repeats the one before it, so a small index can list very long ones.
        length = length.checked_add(path.len()).filter(|length| *length <= LONGEST)?;
        take(entry, &path);
    }
    let mut extensions = Vec::new();
    while reader.at < reader.bytes.len() {
        let name = reader.take(4)?;
        let length = usize::try_from(reader.number()?).ok()?;
        let content = reader.take(length)?;
        // The entries are elsewhere.
        if name == b"link" {
            return None;
        }
        extensions.push((name, content));
    }
    Some(extensions)
}

/// Reads the bytes of an index of git from its beginning.
struct GitIndexReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> GitIndexReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(*self.take(2)?.first_chunk()?))
    }

    /// Reads an entry up to its path, which is empty yet; its flags still have the length of the path.
    fn beginning(&mut self, hash: usize) -> Option<GitIndexEntry<'a>> {
        let facts = self.take(CONTENT)?;
        let content = self.take(hash)?;
        let flags = self.short()?;
        let extended = if flags & EXTENDED == 0 { 0 } else { self.short()? };
        Some(GitIndexEntry { mode: &facts[MODE..MODE + 4], content, flags, extended, path: Vec::new() })
    }

    /// Reads an entry. In version 4 it says how much of the last path is dropped and what follows instead, else the path
    /// is written out.
    fn entry(&mut self, (version, hash): (u32, usize), path: &mut Vec<u8>) -> Option<GitIndexEntry<'a>> {
        let begin = self.at;
        let mut entry = self.beginning(hash)?;
        let kept = if version == 4 { path.len().checked_sub(self.dropped()?)? } else { 0 };
        path.truncate(kept);
        path.extend_from_slice(self.path()?);
        if version != 4 {
            // It is filled up with zeros to a multiple of eight bytes; one of them ended the path.
            let length = self.at - begin;
            self.take(length.next_multiple_of(8) - length)?;
        }
        // Where the names of contents have another length, this does not fit.
        if usize::from(entry.flags & !FLAGS) != path.len().min(usize::from(!FLAGS)) {
            return None;
        }
        entry.flags &= FLAGS;
        Some(entry)
    }

    /// Reads the rest of a path, to its end mark.
    fn path(&mut self) -> Option<&'a [u8]> {
        let length = memchr::memchr(0, self.bytes.get(self.at..)?)?;
        let path = self.take(length)?;
        self.take(1)?;
        Some(path)
    }

    /// Reads a number in sevens of bits, the highest first, each but the last one less than it says.
    fn dropped(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut number = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            number = number.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        }
        Some(number)
    }
}

/// Reads the trees that an index remembers: a path, how many entries and subtrees, and the name unless it is unknown.
fn trees(mut content: &[u8], length: usize) -> Option<Vec<String>> {
    let mut named = Vec::new();
    while !content.is_empty() {
        let counts = memchr::memchr(0, content)? + 1;
        let end = counts + memchr::memchr(b'\n', content.get(counts..)?)? + 1;
        content = if content[counts] == b'-' {
            &content[end..]
        } else {
            named.push(to_hex(content.get(end..end + length)?));
            &content[end + length..]
        };
    }
    Some(named)
}

/// Reads the sides of resolved conflicts: a path, three modes, and a name for each mode that is not zero.
fn resolved(mut content: &[u8], length: usize) -> Option<Vec<String>> {
    let mut named = Vec::new();
    while !content.is_empty() {
        let mut sides = 0;
        for field in 0..4 {
            let end = memchr::memchr(0, content)?;
            sides += usize::from(field > 0 && &content[..end] != b"0");
            content = &content[end + 1..];
        }
        for _ in 0..sides {
            named.push(to_hex(content.get(..length)?));
            content = &content[length..];
        }
    }
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(entries: &[(&str, u8, u8)]) -> Vec<u8> {
        index_of(2, 20, entries)
    }

    fn index_of(version: u32, hash: usize, entries: &[(&str, u8, u8)]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap();
        let mut index = [b"DIRC", &version.to_be_bytes()[..], &count.to_be_bytes()].concat();
        let mut last = "";
        for (path, time, content) in entries {
            let begin = index.len();
            index.extend([*time; 24]);
            index.extend(0o100_644_u32.to_be_bytes());
            index.extend([*time; 12]);
            index.extend(vec![*content; hash]);
            index.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
            if version == 4 {
                index.push(u8::try_from(last.len()).unwrap());
                index.extend(path.as_bytes());
                index.push(0);
            } else {
                index.extend(path.as_bytes());
                let length = index.len() - begin;
                index.resize(begin + length / 8 * 8 + 8, 0);
            }
            last = path;
        }
        index.extend(vec![7; hash]);
        index
    }

    #[test]
    fn all_objects_of_an_index_are_found() {
        let one = index(&[("a", 1, 1), ("src/long/name", 1, 2)]);
        assert_eq!(named_objects(&one, 20), Some(vec!["01".repeat(20), "02".repeat(20)]));
        let body = one.len() - 20;
        let tree = [b"\x001 0\n", &[9; 20][..]].concat();
        let size = u32::try_from(tree.len()).unwrap().to_be_bytes();
        let with_tree = [&one[..body], b"TREE", &size, &tree, &one[body..]].concat();
        assert_eq!(named_objects(&with_tree, 20).map(|named| named.len()), Some(3));
        assert_eq!(named_objects(b"DIRC", 20), None);
    }

    #[test]
    fn times_do_not_matter_and_contents_and_paths_do() {
        for (version, hash) in [(2, 20), (2, 32), (3, 20), (4, 20), (4, 32)] {
            let index = |entries: &[(&str, u8, u8)]| index_of(version, hash, entries);
            let one = index(&[("a", 1, 1), ("src/long/name", 1, 2)]);
            assert!(says_the_same(&one, &index(&[("a", 9, 1), ("src/long/name", 8, 2)])), "{version} {hash}");
            assert!(!says_the_same(&one, &index(&[("a", 1, 1), ("src/long/name", 1, 3)])));
            assert!(!says_the_same(&one, &index(&[("a", 1, 1), ("src/long/nama", 1, 2)])));
            assert!(!says_the_same(&one, &index(&[("a", 1, 1)])));
            assert!(!says_the_same(b"", b""));
            assert!(!says_the_same(&one[..40], &one[..40]));
        }
    }

    #[test]
    fn caches_do_not_matter_and_other_extensions_do() {
        let with = |name: &[u8], content: &[u8]| {
            let mut index = index(&[("a", 1, 1)]);
            let end = index.len() - 20;
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            index.splice(end..end, [name, &length, content].concat());
            index
        };
        let plain = index(&[("a", 2, 1)]);
        assert!(says_the_same(&plain, &with(b"TREE", b"anything")));
        assert!(!says_the_same(&plain, &with(b"REUC", b"resolved")));
        assert!(!says_the_same(&with(b"link", b"shared"), &with(b"link", b"shared")));
    }

    #[test]
    fn a_small_index_cannot_list_endlessly_long_paths() {
        let mut index = [*b"DIRC", 4_u32.to_be_bytes(), 20_000_u32.to_be_bytes()].concat();
        for number in 1..=20_000_usize {
            index.extend([1; 60]);
            index.extend(u16::try_from((number * 8).min(0xfff)).unwrap().to_be_bytes());
            index.extend(b"\0aaaaaaaa\0");
        }
        index.extend([7; 20]);
        let mut length = 0;
        assert_eq!(each_path(&index, 20, &mut |path| length += path.len()), None);
        assert!(length > LONGEST / 2 && length <= LONGEST);
    }

    #[test]
    fn the_index_of_a_submodule_and_of_a_worktree_is_one() {
        for path in [".git/index", "sub/.git/index", ".git/modules/a/index", ".git/worktrees/w/index"] {
            assert!(is_index(Path::new(path)), "{path}");
        }
        for path in ["index", "src/index", ".git/HEAD", ".git/index/a"] {
            assert!(!is_index(Path::new(path)), "{path}");
        }
    }
}
