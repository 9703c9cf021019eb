//! What commands leave in the home folder of a session: it ends with the session, and whoever expects it there must know.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Names that programs leave everywhere and that nobody looks for.
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

/// Knows which names of the home were told of.
#[derive(Debug, Default)]
pub(crate) struct HomeWatch {
    known: Mutex<BTreeSet<OsString>>,
}

impl HomeWatch {
    /// Says what is new in the home, a sentence; `is_own` tells names that are there for other reasons.
    pub(crate) fn news(&self, home: &Path, is_own: impl Fn(&Path) -> bool) -> Option<String> {
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
            format!("It left {}{more} in the home folder of this session, which ends with it.", named.join(", "))
        })
    }
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
        assert_eq!(news().as_deref(), Some(words));
        assert_eq!(news(), None);
        ["a", "b", "c", "d", "e"].iter().for_each(|name| put(name));
        assert!(news().unwrap().starts_with("It left ~/a, ~/b, ~/c, ~/d and 1 more in"));
    }
}
