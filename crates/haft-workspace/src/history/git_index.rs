//! Whether two states of git's index say the same.
//!
//! The index is also a cache: git writes it anew whenever it has looked at files, with their times and numbers in it. An
//! undo must not take that for work of the user.

use std::path::Path;

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
