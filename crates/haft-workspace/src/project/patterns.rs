//! Finds the files that a pattern of a shell names: `h*.sh`, `hooks/*.sh`.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};

use globset::GlobBuilder;
use rustix::fs::{Dir, OFlags};

use super::named::straight;
use crate::files::read::open::open_beneath;

/// Most names that one pattern stands for.
const MOST_MATCHES: usize = 2_000;

/// Returns the files and folders that match a pattern, by their paths from the root.
pub(super) fn matches(root: BorrowedFd<'_>, pattern: &str) -> BTreeSet<String> {
    let Some(pattern) = straight(pattern) else { return BTreeSet::new() };
    let mut found = BTreeSet::from([String::new()]);
    for part in pattern.split('/') {
        let is_plain = !is_pattern(part);
        let below = |folder: &String| {
            let names = if is_plain { vec![part.to_owned()] } else { matching(root, folder, part) };
            let join = |name: String| if folder.is_empty() { name } else { format!("{folder}/{name}") };
            names.into_iter().map(join).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(below).take(MOST_MATCHES).collect();
    }
    found
        .into_iter()
        .filter(|path| rustix::fs::statat(root, path.as_str(), rustix::fs::AtFlags::empty()).is_ok())
        .collect()
}

/// Returns the folders in which names may match a pattern; "." is the root.
pub(super) fn folders(root: BorrowedFd<'_>, pattern: &str) -> BTreeSet<String> {
    let above = pattern.match_indices('/').flat_map(|(at, _)| matches(root, &pattern[..at]));
    above.chain([".".to_owned()]).collect()
}

/// Says whether a path is a pattern.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Returns a text that changes when a pattern matches other names.
pub(super) fn listing(matches: &BTreeSet<String>) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in matches {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The names in a folder that match one part of a pattern. A pattern that cannot be read matches everything.
fn matching(root: BorrowedFd<'_>, folder: &str, part: &str) -> Vec<String> {
    let place = if folder.is_empty() { "." } else { folder };
    let opened = open_beneath(root, place, OFlags::DIRECTORY | OFlags::RDONLY);
    let Ok(entries) = opened.and_then(|opened| Dir::read_from(opened.as_fd())) else { return Vec::new() };
    let glob = GlobBuilder::new(part).literal_separator(true).build().ok().map(|glob| glob.compile_matcher());
    let is_match = |name: &String| {
        let is_hidden = name.starts_with('.') && !part.starts_with('.');
        !is_hidden && name != "." && name != ".." && glob.as_ref().is_none_or(|glob| glob.is_match(name))
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let mut names: Vec<String> = names.filter(is_match).collect();
    names.sort_unstable();
    names
}
