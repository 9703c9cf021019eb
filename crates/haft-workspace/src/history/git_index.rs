//! Whether two states of git's index say the same.
//!
//! The index is also a cache: git writes it anew whenever it has looked at files, with their times and numbers in it. An
//! undo must not take that for work of the user.

use std::path::Path;

use super::git::object_store::to_hex;

/// Returns whether a path is git's index.
pub(super) fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "index") && path.iter().any(|part| part == ".git")
}

/// Returns whether both list the same contents under the same names. What is not understood is not the same.
pub(super) fn says_the_same(one: &[u8], other: &[u8]) -> bool {
    matches!((entries(one), entries(other)), (Some(one), Some(other)) if one == other)
}

/// The mode, the name of the content, the flags, and the path.
type Entry<'a> = ([u8; 4], [u8; 20], u16, &'a [u8]);

/// Times, numbers, owner and size have 40 bytes, four of which are the mode.
const MODE: usize = 24;
const CONTENT: usize = 40;
const FLAGS: usize = 60;
/// Everything but the length of the path.
const TOLD: u16 = 0xf000;

/// Reads the entries of an index of the usual versions, in which paths are written out.
fn entries(index: &[u8]) -> Option<Vec<Entry<'_>>> {
    let number = |at: usize| Some(u32::from_be_bytes(*index.get(at..)?.first_chunk()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=3).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut entries = Vec::new();
    for _ in 0..number(8)? {
        let flags = u16::from_be_bytes(*index.get(at + FLAGS..)?.first_chunk()?);
        let is_extended = version == 3 && flags & 0x4000 != 0;
        let name = at + FLAGS + if is_extended { 4 } else { 2 };
        let length = memchr::memchr(0, index.get(name..)?)?;
        let (mode, content) = (*index[at + MODE..].first_chunk()?, *index[at + CONTENT..].first_chunk()?);
        entries.push((mode, content, flags & TOLD, &index[name..name + length]));
        // An entry is filled up with one to eight zeros to a multiple of eight bytes.
        at += (name + length - at) / 8 * 8 + 8;
    }
    // A split index has entries elsewhere.
    (!index.get(at..)?.starts_with(b"link")).then_some(entries)
}

/// Returns the names of all objects that an index names; nothing when it is not understood.
pub(super) fn named_objects(index: &[u8], length: usize) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_be_bytes(*index.get(at..)?.first_chunk()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut named = Vec::new();
    for _ in 0..number(8)? {
        let flags = CONTENT + length;
        let is_extended = version >= 3 && index.get(at + flags)? & 0x40 != 0;
        let name = at + flags + if is_extended { 4 } else { 2 };
        // Version 4 begins a path with how much of the one before it drops.
        let text = match version {
            4 => name + index.get(name..)?.iter().position(|byte| byte & 0x80 == 0)? + 1,
            _ => name,
        };
        let end = text + memchr::memchr(0, index.get(text..)?)?;
        // The commit of a submodule is in another repository.
        if number(at + MODE)? & 0o170_000 != 0o160_000 {
            named.push(to_hex(index.get(at + CONTENT..at + flags)?));
        }
        at = if version == 4 { end + 1 } else { at + (end - at) / 8 * 8 + 8 };
    }
    // Extensions: four letters, a size, and content; a hash of everything ends the file.
    while let (Some(kind), Some(size)) = (index.get(at..at + 4), number(at + 4)) {
        if at + length >= index.len() {
            break;
        }
        let content = index.get(at + 8..at + 8 + size as usize)?;
        match kind {
            b"TREE" => named.extend(trees(content, length)?),
            b"REUC" => named.extend(resolved(content, length)?),
            b"link" => return None,
            _ => {}
        }
        at += 8 + size as usize;
    }
    named.sort_unstable();
    named.dedup();
    Some(named)
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
        let mut index =
            [b"DIRC", &2_u32.to_be_bytes()[..], &u32::try_from(entries.len()).unwrap().to_be_bytes()].concat();
        for (path, time, content) in entries {
            let begin = index.len();
            index.extend([*time; 24]);
            index.extend(0o100_644_u32.to_be_bytes());
            index.extend([*time; 12]);
            index.extend([*content; 20]);
            index.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
            index.extend(path.as_bytes());
            let length = index.len() - begin;
            index.resize(begin + length / 8 * 8 + 8, 0);
        }
        index.extend([7; 20]);
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
        let one = index(&[("a", 1, 1), ("src/long/name", 1, 2)]);
        assert!(says_the_same(&one, &index(&[("a", 9, 1), ("src/long/name", 8, 2)])));
        assert!(!says_the_same(&one, &index(&[("a", 1, 1), ("src/long/name", 1, 3)])));
        assert!(!says_the_same(&one, &index(&[("a", 1, 1), ("src/long/nama", 1, 2)])));
        assert!(!says_the_same(&one, &index(&[("a", 1, 1)])));
        assert!(!says_the_same(b"", b""));
        assert!(!says_the_same(&one[..40], &one[..40]));
    }
}
