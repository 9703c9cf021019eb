//! The side conditions of a case, in words: several are separated by semicolons, and a word that is not known fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use haft_contract::outcome::result::ToolResult;

use super::{Base, names_in};

/// Larger files are compared by their size.
const LARGEST_COMPARED: u64 = 1024 * 1024;

/// What was there before the call.
pub(super) struct Before(BTreeMap<PathBuf, Vec<u8>>);

impl Before {
    pub(super) fn of(base: &Base) -> Self {
        let mut found = BTreeMap::new();
        for name in ["ws", "out", "home"] {
            collect(&base.path(name), &mut found);
        }
        Self(found)
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    found.insert(path.to_owned(), described(path));
    if path.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
        names_in(path).iter().for_each(|name| collect(&path.join(name), found));
    }
}

fn described(path: &Path) -> Vec<u8> {
    match path.symlink_metadata() {
        Err(_) => b"nothing".to_vec(),
        Ok(facts) if facts.is_symlink() => {
            fs::read_link(path).expect("a link leads somewhere").into_os_string().into_encoded_bytes()
        }
        Ok(facts) if facts.is_file() && facts.len() <= LARGEST_COMPARED => fs::read(path).unwrap_or_default(),
        Ok(facts) => format!("{:?} {}", facts.file_type(), if facts.is_dir() { 0 } else { facts.len() }).into_bytes(),
    }
}

/// Checks what holds for every answer.
pub(super) fn during(check: Option<&str>, result: &ToolResult) -> Result<(), String> {
    let text = format!("{} {:?} {:?}", result.text(), result.error, result.data);
    for word in conditions(check).filter_map(|condition| condition.strip_prefix("does not say ")) {
        if text.contains(word) {
            return Err(format!("it says {word}: {text}"));
        }
    }
    for word in conditions(check).filter_map(|condition| condition.strip_prefix("says ")) {
        if !text.contains(word) {
            return Err(format!("it does not say {word}: {text}"));
        }
    }
    Ok(())
}

/// Checks what holds when everything is over.
pub(super) fn afterwards(check: Option<&str>, base: &Base, before: &Before) -> Result<(), String> {
    conditions(check).try_for_each(|condition| holds(condition, base, before))?;
    nothing_is_left(&base.path("ws"))
}

fn conditions(check: Option<&str>) -> impl Iterator<Item = &str> {
    check.into_iter().flat_map(|check| check.split(';')).map(str::trim)
}

fn holds(condition: &str, base: &Base, before: &Before) -> Result<(), String> {
    // Every call has a second, and words were looked at when they were said.
    if condition == "answers within a second"
        || condition.starts_with("does not say ")
        || condition.starts_with("says ")
    {
        return Ok(());
    }
    if condition == "nothing changed" {
        let now = Before::of(base);
        return if now.0 == before.0 { Ok(()) } else { Err("something changed".to_owned()) };
    }
    let about = |ending: &str| condition.strip_suffix(ending).map(|name| base.path(name));
    let is_true = if let Some(path) = about(" unchanged") {
        before.0.get(&path).map_or(b"nothing".as_slice(), Vec::as_slice) == described(&path)
    } else if let Some(path) = about(" is still a symlink") {
        path.is_symlink()
    } else if let Some(path) = about(" does not exist") {
        path.symlink_metadata().is_err()
    } else if let Some(path) = about(" is written") {
        fs::read(path).is_ok_and(|content| content == b"written\n")
    } else {
        panic!("nobody knows how to check {condition:?}");
    };
    if is_true { Ok(()) } else { Err(format!("not true: {condition}")) }
}

/// Whatever happened, nothing of haft lies about.
fn nothing_is_left(folder: &Path) -> Result<(), String> {
    for name in names_in(folder) {
        let path = folder.join(&name);
        if name.to_string_lossy().starts_with(".haft-") {
            return Err(format!("{} was left", path.display()));
        }
        if path.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
            nothing_is_left(&path)?;
        }
    }
    Ok(())
}
