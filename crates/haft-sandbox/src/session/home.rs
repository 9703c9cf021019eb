//! Reports what commands leave in the home folder of a session, because that folder ends with the session.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Names that programs leave everywhere and that no user looks for.
const TRIFLES: [&str; 9] = [
    ".bash_history",
    ".cache",
    ".lesshst",
    ".node_repl_history",
    ".npm",
    ".python_history",
    ".rnd",
    ".sh_history",
    ".wget-hsts",
];
/// Most names in one sentence.
const MOST_NAMED: usize = 4;
/// Names without a dot that programs look for in the folders above the one where they run.
const LOOKED_FOR: [&str; 4] = ["go", "justfile", "node_modules", "rust-toolchain"];
/// Most entries of a home that are looked at.
const MOST_LOOKED_AT: usize = 1_000;

/// Knows which names of the home were told of.
#[derive(Debug, Default)]
pub(crate) struct HomeWatch {
    known: Mutex<BTreeSet<OsString>>,
}

impl HomeWatch {
    /// Says what is new in the home, a sentence; `is_own` tells names that are there for other reasons.
    /// Returns how much it is, too.
    pub(crate) fn news(&self, home: &Path, is_own: impl Fn(&Path) -> bool) -> Option<(usize, String)> {
        let entries = std::fs::read_dir(home).ok()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |name: &OsString| !TRIFLES.iter().any(|trifle| name == trifle) && !is_own(Path::new(name));
        let names = entries.flatten().map(|entry| entry.file_name()).filter(is_new);
        let mut new: Vec<OsString> = names.filter(|name| known.insert(name.clone())).collect();
        new.sort_unstable();
        let named: Vec<String> = new.iter().take(MOST_NAMED).map(|name| format!("~/{}", name.display())).collect();
        let more = match new.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!new.is_empty()).then(|| {
            let named = named.join(", ");
            (new.len(), format!("It left {named}{more} in the home folder of this session, which ends with it."))
        })
    }
}

/// Returns the first thing in a home that a program could take for settings or load: everything hidden but what haft put
/// there and folders with nothing in them.
pub(crate) fn settings_in(home: &Path, own: &[(PathBuf, String)], is_harmless: fn(&OsStr) -> bool) -> Option<PathBuf> {
    let mut looked_at = 0;
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(home.join(&folder)) else { return Some(folder) };
        for entry in entries.flatten() {
            let name = folder.join(entry.file_name());
            let is_own = |(file, text): &(PathBuf, String)| {
                *file == name && std::fs::read(entry.path()).is_ok_and(|found| found == text.as_bytes())
            };
            looked_at += 1;
            if folder.as_os_str().is_empty() && is_harmless(&entry.file_name()) {
                continue;
            }
            match entry.file_type() {
                _ if looked_at > MOST_LOOKED_AT => return Some(name),
                Ok(kind) if kind.is_dir() => folders.push(name),
                Ok(kind) if kind.is_file() && own.iter().any(is_own) => {}
                _ => return Some(name),
            }
        }
    }
    None
}

/// Returns whether a name is harmless in a home that is above no workspace.
pub(crate) fn is_shown(name: &OsStr) -> bool {
    !name.as_encoded_bytes().starts_with(b".")
}

/// Returns whether a name is harmless in a home that is above a workspace: there programs look for their settings as in every
/// folder above it (`package.json`, `rust-toolchain`).
pub(crate) fn is_plain(name: &OsStr) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    name.as_encoded_bytes().iter().all(is_plain) && !LOOKED_FOR.iter().any(|looked_for| name == *looked_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_told_once_and_trifles_never() {
        let home = tempfile::tempdir().unwrap();
        let watch = HomeWatch::default();
        let put = |name: &str| std::fs::create_dir(home.path().join(name)).unwrap();
        let news = || watch.news(home.path(), |name| name == Path::new(".cargo"));
        [".cargo", ".cache"].iter().for_each(|name| put(name));
        assert_eq!(news(), None);
        put(".local");
        let words = "It left ~/.local in the home folder of this session, which ends with it.";
        assert_eq!(news(), Some((1, words.to_owned())));
        assert_eq!(news(), None);
        ["a", "b", "c", "d", "e"].iter().for_each(|name| put(name));
        assert!(news().unwrap().1.starts_with("It left ~/a, ~/b, ~/c, ~/d and 1 more in"));
    }

    #[test]
    fn hidden_files_are_settings_and_above_a_workspace_so_is_every_name_that_programs_look_for() {
        let home = tempfile::tempdir().unwrap();
        let own = [(PathBuf::from(".gitconfig"), "[safe]\n".to_owned())];
        let found = |has_workspace| settings_in(home.path(), &own, if has_workspace { is_plain } else { is_shown });
        let put = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
        std::fs::create_dir_all(home.path().join(".local/share")).unwrap();
        put(".gitconfig", "[safe]\n");
        put("a", "");
        assert_eq!((found(false), found(true)), (None, None));
        put("rust-toolchain", "");
        assert_eq!((found(false), found(true)), (None, Some("rust-toolchain".into())));
        put(".local/share/x", "");
        assert_eq!(found(false), Some(".local/share/x".into()));
        std::fs::remove_dir_all(home.path().join(".local")).unwrap();
        put(".gitconfig", "[core]\n");
        assert_eq!(found(false), Some(".gitconfig".into()));
    }
}
