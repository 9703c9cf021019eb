//! Tells the kind of the objects that a word names: commits, or other objects.
//!
//! `git show 1a2b3c4` prints a commit, whose files git tracks, or the content of any file that was ever stored, also of
//! one that git ignores. Only the object itself says which.
//!
//! Not here: reading an object further than its kind.

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::object_store::{FANOUT, HEADER, ObjectStore, PackIndex, from_hex, open_file, to_hex};

/// How many digits git takes for the name of an object, or for its beginning.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=64;
/// Where git looks for a reference of a short name.
const REFERENCES: [&str; 5] = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/// Largest list of references that is read, in bytes.
const LARGEST_LIST: u64 = 16 * 1024 * 1024;
/// How many differences may stand on each other before the kind counts as unknown; git makes at most 4,095.
const DEEPEST: usize = 4_096;
/// How many bytes of a compressed object are read, and how many of those that it has: enough for the first lines of a tag.
const COMPRESSED: usize = 512;
const BEGINNING: usize = 192;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    /// A commit, or a tag on one.
    Commit,
    /// A file, a folder, a tag on those, or an object that is not understood.
    Other,
}

impl ObjectKind {
    /// Tells the kind of a tag by its first lines.
    fn of_tag(lines: &[u8]) -> Self {
        let tags_commit = String::from_utf8_lossy(lines).lines().nth(1) == Some("type commit");
        if tags_commit { Self::Commit } else { Self::Other }
    }
}

/// Decompresses the beginning of an object.
fn beginning(compressed: &[u8]) -> Vec<u8> {
    // The rest has no room, which the decompressor reports as an error that has the beginning.
    decompress_to_vec_zlib_with_limit(compressed, BEGINNING).unwrap_or_else(|failure| failure.output)
}

/// Returns the kinds of all objects that a word names: by a reference, or by the first digits of their names.
pub(crate) fn kinds(git_dir: &Path, word: &str) -> Vec<ObjectKind> {
    let store = ObjectStore::open(git_dir);
    let named = referenced(git_dir, word);
    let digits = [Some(word.to_ascii_lowercase()), named].into_iter().flatten();
    digits.filter(|digits| is_name(digits)).flat_map(|digits| kinds_of(&store, &digits)).collect()
}

fn is_name(word: &str) -> bool {
    DIGITS.contains(&word.len()) && word.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the name of the object that a reference has.
pub(super) fn referenced(git_dir: &Path, word: &str) -> Option<String> {
    let text = |path: &Path| {
        let mut text = String::new();
        open_file(path).ok()?.take(LARGEST_LIST).read_to_string(&mut text).ok().map(|_| text)
    };
    let is_within = !word.is_empty() && !word.starts_with('/') && !word.split('/').any(|part| part == "..");
    let names = || REFERENCES.iter().map(|above| format!("{above}{word}")).filter(|_| is_within);
    let loose = names().find_map(|name| text(&git_dir.join(name))).map(|text| text.trim().to_owned());
    loose.or_else(|| {
        let packed = text(&git_dir.join("packed-refs"))?;
        let is_named = |name: &str| names().any(|wanted| wanted == name);
        let mut references = packed.lines().filter_map(|line| line.split_once(' '));
        references.find(|(_, name)| is_named(name)).map(|(oid, _)| oid.to_owned())
    })
}

fn kinds_of(store: &ObjectStore, digits: &str) -> Vec<ObjectKind> {
    let mut kinds = loose(store, digits);
    for pack in &store.packs {
        let mut index = pack.first_from(&first_bytes(digits));
        while let Some(name) = pack.name(index).filter(|_| index < pack.count()) {
            if !to_hex(&name).starts_with(digits) {
                break;
            }
            kinds.push(kind_in_pack(store, pack, index).unwrap_or(ObjectKind::Other));
            index += 1;
        }
    }
    kinds
}

/// Returns the bytes that the first objects of this beginning have at least: half a byte is filled with a zero.
fn first_bytes(digits: &str) -> Vec<u8> {
    let even = if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("{digits}0") };
    from_hex(&even).unwrap_or_default()
}

fn loose(store: &ObjectStore, digits: &str) -> Vec<ObjectKind> {
    let (folder, rest) = digits.split_at(2);
    let mut kinds = Vec::new();
    for objects in &store.folders {
        for entry in std::fs::read_dir(objects.join(folder)).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(rest) {
                kinds.push(kind_of_loose(&entry.path()).unwrap_or(ObjectKind::Other));
            }
        }
    }
    kinds
}

/// Reads the first lines of a loose object: its kind and size, then what it has.
fn kind_of_loose(path: &Path) -> Option<ObjectKind> {
    let mut compressed = Vec::new();
    open_file(path).ok()?.take(COMPRESSED as u64).read_to_end(&mut compressed).ok()?;
    let object = beginning(&compressed);
    let content = object.iter().position(|byte| *byte == 0)?;
    Some(if object.starts_with(b"commit ") {
        ObjectKind::Commit
    } else if object.starts_with(b"tag ") {
        ObjectKind::of_tag(&object[content + 1..])
    } else {
        ObjectKind::Other
    })
}

/// Reads the kind of an object of a pack; of a difference, that of the object to which it is one.
fn kind_in_pack(store: &ObjectStore, pack: &PackIndex, index: u32) -> Option<ObjectKind> {
    let data = open_file(&pack.path.with_extension("pack")).ok()?;
    let mut offset = pack.offset(index)?;
    for _ in 0..DEEPEST {
        let mut entry = [0; COMPRESSED];
        let read = data.read_at(&mut entry, offset).ok()?;
        let mut bytes = entry[..read].iter();
        let first = *bytes.next()?;
        let mut last = first;
        while last & 0x80 != 0 {
            last = *bytes.next()?;
        }
        match (first >> 4) & 7 {
            1 => return Some(ObjectKind::Commit),
            4 => return Some(ObjectKind::of_tag(&beginning(bytes.as_slice()))),
            // Behind it stands how far before it the other one is.
            6 => {
                let mut byte = *bytes.next()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = *bytes.next()?;
                    back = back.checked_add(1)?.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
                }
                offset = offset.checked_sub(back).filter(|base| *base < offset)?;
            }
            // Behind it stands the name of the other one, which is in the same pack.
            7 => {
                let name: Vec<u8> = bytes.take(pack.length).copied().collect();
                let base = pack.first_from(&name);
                if pack.name(base)? != name {
                    return store.packs.iter().any(|other| other.has(&name)).then_some(ObjectKind::Other);
                }
                offset = pack.offset(base)?;
            }
            _ => return Some(ObjectKind::Other),
        }
    }
    None
}

impl PackIndex {
    /// Returns where an object begins in the pack.
    fn offset(&self, index: u32) -> Option<u64> {
        let (count, index) = (u64::from(self.count()), u64::from(index));
        // The names and a checksum of four bytes for each come first.
        let offsets = (HEADER + FANOUT) as u64 + count * (self.length as u64 + 4);
        let mut four = [0; 4];
        self.file.read_exact_at(&mut four, offsets + 4 * index).ok()?;
        let offset = u32::from_be_bytes(four);
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let mut eight = [0; 8];
        let large = u64::from(offset & 0x7fff_ffff);
        self.file.read_exact_at(&mut eight, offsets + 4 * count + 8 * large).ok()?;
        Some(u64::from_be_bytes(eight))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real git makes the objects")]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::require::Need;

    fn git(folder: &Path, words: &[&str]) -> String {
        let plain = ["-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "gc.auto=0"];
        let output = Command::new("git").args(plain).args(words).current_dir(folder).output().expect("git starts");
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn commits_are_told_from_files_folders_and_tags_loose_and_packed_and_by_reference() {
        if !Need::Git.met(Command::new("git").arg("--version").output().is_ok()) {
            return;
        }
        let scratch = tempfile::tempdir().expect("a temporary folder can be made");
        let folder = scratch.path();
        git(folder, &["init", "-q"]);
        std::fs::write(folder.join(".env"), "KEY=1\n").expect("it is new");
        let stored = git(folder, &["hash-object", "-w", ".env"]);
        git(folder, &["tag", "k", &stored]);
        let text: String = (0..400).map(|line| format!("line {line}\n")).collect();
        for round in 0..5 {
            std::fs::write(folder.join("a.txt"), format!("{text}{round}\n")).expect("it can be written");
            git(folder, &["add", "a.txt"]);
            git(folder, &["commit", "-qm", "next"]);
        }
        git(folder, &["tag", "-am", "said", "v1"]);
        git(folder, &["tag", "-am", "said", "v2", "HEAD^{tree}"]);
        let objects: Vec<String> = ["HEAD", "HEAD~3", "v1", "HEAD^{tree}", "HEAD:a.txt", "HEAD~2:a.txt", "v2"]
            .iter()
            .map(|name| git(folder, &["rev-parse", name]))
            .chain([stored])
            .collect();
        let git_dir = folder.join(".git");
        let check = || {
            for (at, object) in objects.iter().enumerate() {
                let kind = if at < 3 { ObjectKind::Commit } else { ObjectKind::Other };
                for digits in [object.as_str(), &object[..12], &object[..7]] {
                    assert_eq!(kinds(&git_dir, digits), [kind], "{at}: {digits}");
                }
                assert_eq!(kinds(&git_dir, &object.to_uppercase()), [kind], "{at}");
            }
            assert_eq!(kinds(&git_dir, "k"), [ObjectKind::Other]);
            assert_eq!(kinds(&git_dir, "tags/v2"), [ObjectKind::Other]);
            let branch = git(folder, &["branch", "--show-current"]);
            assert_eq!(kinds(&git_dir, &branch), [ObjectKind::Commit]);
            for missing in ["0123456789abcdef0123456789abcdef01234567", "abc", "", "../HEAD", "no-branch"] {
                assert_eq!(kinds(&git_dir, missing), [], "{missing}");
            }
        };
        check();
        git(folder, &["gc", "-q", "--aggressive"]);
        assert!(git(folder, &["count-objects"]).starts_with("0 objects"));
        check();
    }
}
