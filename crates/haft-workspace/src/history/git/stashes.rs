//! Finds secrets among the untracked files that git put into a stash.
//!
//! `git stash -u` and `-a` put such files into a separate commit, the third parent of the stash. The index does not know
//! them, and the workspace may no longer have them, but `git show stash^3` prints them.
//!
//! Not here: what a stash keeps of tracked files, which the index knows too.

use std::io::Read;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::is_secret;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::object_kind::referenced;
use super::object_store::{ObjectStore, open_file, to_hex};

/// Largest log of stashes that is read, and largest object, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Most folders of one stash that are read.
const MOST_FOLDERS: usize = 10_000;
/// The parent that has the untracked files, counted from 0.
const UNTRACKED: usize = 2;

/// A secret that a stash may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashedSecret {
    /// The names of the stash and of its commit of untracked files.
    commits: [String; 2],
    /// Its path in the repository; nothing if the stash cannot be read to the end.
    pub path: Option<PathBuf>,
    git_dir: PathBuf,
}

impl StashedSecret {
    /// Returns whether a word names the stash: by its reference, by another one, or by the first digits of its commits.
    pub fn is_named_by(&self, word: &str) -> bool {
        let is_beginning = |digits: &str| {
            let digits = digits.to_ascii_lowercase();
            digits.len() >= 4 && self.commits.iter().any(|commit| commit.starts_with(&digits))
        };
        let last = word.rsplit('/').next().unwrap_or_default();
        last == "stash" || is_beginning(word) || referenced(&self.git_dir, word).is_some_and(|oid| is_beginning(&oid))
    }
}

/// Returns one secret for each stash that has any.
pub(crate) fn secrets(git_dir: &Path) -> Vec<StashedSecret> {
    let found =
        |commits: [String; 2], path: Option<PathBuf>| StashedSecret { commits, path, git_dir: git_dir.to_owned() };
    if git_dir.join("reftable").is_dir() {
        // The log of stashes is in tables that only git reads.
        return vec![found(Default::default(), None)];
    }
    let stashes = stashes(git_dir);
    if stashes.is_empty() {
        return Vec::new();
    }
    let store = ObjectStore::open(git_dir);
    let mut secrets = Vec::new();
    for stash in stashes {
        let Some(commit) = read(&store, &stash) else {
            secrets.push(found([stash, String::new()], None));
            continue;
        };
        let Some(untracked) = fields(&commit, "parent").nth(UNTRACKED) else { continue };
        let tree = read(&store, &untracked).and_then(|commit| fields(&commit, "tree").next());
        match tree.map_or(Err(Unreadable), |tree| secret_in(&store, &tree)) {
            Ok(None) => {}
            Ok(Some(path)) => secrets.push(found([stash, untracked], Some(path))),
            Err(Unreadable) => secrets.push(found([stash, untracked], None)),
        }
    }
    secrets
}

/// Returns the commits of all stashes: the reference has the newest, its log has all.
fn stashes(git_dir: &Path) -> Vec<String> {
    let log = text(&git_dir.join("logs/refs/stash")).unwrap_or_default();
    let logged = log.lines().filter_map(|line| line.split(' ').nth(1)).map(str::to_owned);
    let mut stashes: Vec<String> = logged.chain(referenced(git_dir, "stash")).collect();
    stashes.sort();
    stashes.dedup();
    stashes
}

fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_file(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An object is in a pack, damaged, or too large.
struct Unreadable;

/// Reads a loose object without its header.
fn read(store: &ObjectStore, oid: &str) -> Option<Vec<u8>> {
    let (folder, name) = oid.split_at_checked(2)?;
    let path = store.folders.iter().map(|objects| objects.join(folder).join(name)).find(|path| path.is_file())?;
    let mut compressed = Vec::new();
    open_file(&path).ok()?.take(LARGEST).read_to_end(&mut compressed).ok()?;
    let object = decompress_to_vec_zlib_with_limit(&compressed, usize::try_from(LARGEST).ok()?).ok()?;
    let content = object.iter().position(|byte| *byte == 0)? + 1;
    Some(object[content..].to_vec())
}

/// Returns the values of one field of a commit.
fn fields(commit: &[u8], name: &'static str) -> impl Iterator<Item = String> {
    let head = String::from_utf8_lossy(commit).into_owned();
    let lines: Vec<String> = head.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.into_iter().filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(' ')?.to_owned()))
}

/// Returns the first secret below a folder.
fn secret_in(store: &ObjectStore, tree: &str) -> Result<Option<PathBuf>, Unreadable> {
    let mut left = vec![(PathBuf::new(), tree.to_owned())];
    let mut count = 0;
    while let Some((folder, tree)) = left.pop() {
        count += 1;
        let entries = read(store, &tree).filter(|_| count <= MOST_FOLDERS).ok_or(Unreadable)?;
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let entry = TreeEntry::first(rest, tree.len() / 2).ok_or(Unreadable)?;
            let path = folder.join(String::from_utf8_lossy(entry.name).as_ref());
            if entry.mode == b"40000" {
                left.push((path, to_hex(entry.oid)));
            } else if is_secret(&path) {
                return Ok(Some(path));
            }
            rest = entry.behind;
        }
    }
    Ok(None)
}

/// An entry of a folder, and the bytes behind it.
struct TreeEntry<'t> {
    mode: &'t [u8],
    name: &'t [u8],
    oid: &'t [u8],
    behind: &'t [u8],
}

impl<'t> TreeEntry<'t> {
    /// Reads the first entry; the names of objects have this length.
    fn first(bytes: &'t [u8], length: usize) -> Option<Self> {
        let blank = bytes.iter().position(|byte| *byte == b' ')?;
        let (mode, rest) = (&bytes[..blank], &bytes[blank + 1..]);
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (oid, behind) = rest[end + 1..].split_at_checked(length)?;
        Some(Self { mode, name: &rest[..end], oid, behind })
    }
}
