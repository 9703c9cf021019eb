//! Finds the secret members that a command takes out of an archive by their names.
//!
//! Not here: members that a command does not name. haft does not look into archives, and the guide says so.

use std::path::{Path, PathBuf};

use haft_contract::files::guarded::is_secret;

/// Programs that print or unpack members of archives.
const UNPACKERS: &[&str] = &[
    "tar",
    "gtar",
    "bsdtar",
    "cpio",
    "bsdcpio",
    "unzip",
    "zipgrep",
    "zipinfo",
    "7z",
    "7za",
    "7zr",
    "7zz",
    "unrar",
    "rar",
    "unar",
    "lsar",
    "ar",
    "cabextract",
    "lha",
    "unace",
    "zpaq",
];

/// Options whose value names what is left out.
const LEAVING_OUT: &[&str] = &["--exclude", "-x"];

/// Returns the first member with the name of a secret.
pub(super) fn named_secret(words: &[String]) -> Option<PathBuf> {
    words.first().filter(|program| UNPACKERS.contains(&program.as_str()))?;
    let is_left_out = |at: usize| words.get(at).is_some_and(|word| LEAVING_OUT.contains(&word.as_str()));
    let mut members =
        words.iter().enumerate().skip(1).filter(|(at, word)| !word.starts_with('-') && !is_left_out(at - 1));
    members.find(|(_, word)| is_secret(Path::new(word))).map(|(_, word)| PathBuf::from(word))
}
