//! Which folders hold files that git tracks, by a look into its index.
//!
//! Only the question is answered whether any entry begins with a folder. What cannot be understood counts as tracked,
//! because what is tracked gets the better protection.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Largest index that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// Longest file that says where a repository is, in bytes.
const LONGEST_POINTER: u64 = 4_096;

/// Returns those of the folders that hold nothing which a repository around them tracks.
///
/// The folders are real paths.
pub(super) fn untracked(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut tracked = vec![false; folders.len()];
    let mut repositories: Vec<PathBuf> =
        folders.iter().flat_map(|folder| folder.ancestors().skip(1)).map(Path::to_owned).collect();
    repositories.sort();
    repositories.dedup();
    for repository in repositories {
        let index = match index_of(&repository) {
            Index::None => continue,
            Index::Read(bytes) => Some(bytes),
            Index::Unclear => None,
        };
        let inside: Vec<(usize, Vec<u8>)> = folders
            .iter()
            .enumerate()
            .filter_map(|(number, folder)| {
                Some((number, folder.strip_prefix(&repository).ok()?.as_os_str().as_bytes().to_vec()))
            })
            .collect();
        let names: Vec<&[u8]> = inside.iter().map(|(_, name)| name.as_slice()).collect();
        let found = index.and_then(|index| tracked_in(&index, &names));
        for (position, (number, _)) in inside.iter().enumerate() {
            tracked[*number] |= found.as_ref().is_none_or(|found| found[position]);
        }
    }
    folders.into_iter().zip(tracked).filter(|(_, tracked)| !tracked).map(|(folder, _)| folder).collect()
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

/// Says of each folder whether an entry of the index lies in it; nothing when the index is not understood.
fn tracked_in(index: &[u8], folders: &[&[u8]]) -> Option<Vec<bool>> {
    let mut tracked = vec![false; folders.len()];
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
        for (folder, tracked) in folders.iter().zip(&mut tracked) {
            let is_in =
                |inner: &[u8], outer: &[u8]| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with(b"/"));
            // Of a sparse index an entry may be a folder itself, with everything in it.
            let folder_entry = path.strip_suffix(b"/");
            *tracked |= is_in(&path, folder)
                || path == *folder
                || folder_entry.is_some_and(|entry| is_in(folder, entry) || entry == *folder);
        }
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
            assert_eq!(tracked_in(&index, &asked), Some(vec![false, true, true, true, true]), "version {version}");
        }
        assert_eq!(tracked_in(&index(4, &["a/", "b"]), &[b"a/target", b"c"]), Some(vec![true, false]));
    }

    #[test]
    fn what_is_not_understood_is_no_answer() {
        let mut split = index(2, &["a"]);
        split.truncate(split.len() - 4);
        split.extend(*b"link");
        for index in [&b""[..], b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x01abc", b"?", &split] {
            assert_eq!(tracked_in(index, &[b"a"]), None);
        }
    }

    #[test]
    fn only_where_no_index_is_nothing_is_tracked() {
        let place = tempfile::tempdir().expect("a temporary folder can be made");
        let root = place.path();
        let is_untracked = |at: &str| !untracked(vec![root.join(at).join("target")]).is_empty();
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
