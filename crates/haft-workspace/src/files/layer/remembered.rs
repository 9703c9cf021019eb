//! Which folders may lie outside the layers, remembered from one process to the next.
//!
//! The ignore rules are the model's to edit, and a folder that lies outside is not protected. So a folder that was seen
//! inside never comes outside, and one that is new comes outside only while the rules above it are those of the last
//! look. A folder that a tool renamed stays inside; one that came in as a whole was made by a command, and comes
//! outside. Every process looks before it changes anything. Where nothing can be remembered, nothing lies outside.
//!
//! Folders are kept as hashes of their places: only whether one is known is ever asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::apart::Seen;
use crate::state::private;

/// The file of a workspace's state.
#[derive(Debug)]
pub(super) struct Remembered {
    path: PathBuf,
}

/// What is in it: for each root what was seen.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    roots: BTreeMap<String, OfRoot>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct OfRoot {
    /// The rules of each folder that has some.
    rules: BTreeMap<String, String>,
    outside: BTreeSet<String>,
    /// What never comes outside.
    inside: BTreeSet<String>,
}

impl Remembered {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Remembers what was seen, and returns which folders of each root lie outside.
    ///
    /// One looks first and remembers then: who has changed rules that are seen has remembered something before.
    pub(super) fn agree(&self, seen: &[(&Path, Seen)]) -> io::Result<Vec<BTreeSet<PathBuf>>> {
        self.change(|memory| seen.iter().map(|(real, seen)| memory.agree(real, seen)).collect())
    }

    /// Returns what [`Self::agree`] would, and remembers nothing.
    pub(super) fn would_agree(&self, seen: &[(&Path, Seen)]) -> io::Result<Vec<BTreeSet<PathBuf>>> {
        let mut known = Known::read(&self.path)?;
        Ok(seen.iter().map(|(real, seen)| known.agree(real, seen)).collect())
    }

    /// Remembers that a folder came in as a whole.
    pub(super) fn came_whole(&self, real: &Path, place: &Path) -> io::Result<()> {
        self.change(|memory| {
            if let Some(root) = memory.known(real) {
                root.outside.insert(key(place));
            }
        })
    }

    /// Remembers that folders stay inside.
    pub(super) fn stays_inside(&self, real: &Path, places: &[&PathBuf]) -> io::Result<()> {
        self.change(|memory| {
            let root = memory.memory.roots.entry(key(real)).or_default();
            root.inside.extend(places.iter().map(|place| key(place)));
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> io::Result<T> {
        private::create_folder(self.path.parent().unwrap_or(Path::new(".")))?;
        let lock = private::append_file(&self.path.with_extension("lock"))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
        let mut known = Known::read(&self.path)?;
        let answer = change(&mut known);
        let new = self.path.with_extension("new");
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        private::create_file(&new)?.write_all(&serde_json::to_vec(&known.memory)?)?;
        std::fs::rename(&new, &self.path)?;
        Ok(answer)
    }
}

/// The memory as it was read.
struct Known {
    memory: Memory,
    /// Whether something was there that is not understood, so that nothing can be a first look.
    is_lost: bool,
}

impl Known {
    fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        match private::read_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { memory: Memory::default(), is_lost: false });
            }
            file => file?.read_to_end(&mut bytes)?,
        };
        let read = serde_json::from_slice(&bytes);
        Ok(Self { is_lost: read.is_err(), memory: read.unwrap_or_default() })
    }

    fn known(&mut self, real: &Path) -> Option<&mut OfRoot> {
        self.memory.roots.get_mut(&key(real))
    }

    fn agree(&mut self, real: &Path, seen: &Seen) -> BTreeSet<PathBuf> {
        let is_lost = self.is_lost;
        let is_first = !is_lost && self.known(real).is_none();
        let root = self.memory.roots.entry(key(real)).or_default();
        let rules: BTreeMap<String, String> =
            seen.rules.iter().map(|(place, rules)| (key(place), rules.clone())).collect();
        root.inside.extend(seen.inside.iter().map(|place| key(place)));
        let has_old_rules =
            |place: &Path| place.ancestors().skip(1).map(key).all(|above| rules.get(&above) == root.rules.get(&above));
        let may_be = |place: &Path| {
            let is_known = is_first || root.outside.contains(&key(place)) || (!is_lost && has_old_rules(place));
            is_known && !root.inside.contains(&key(place))
        };
        let (outside, refused): (BTreeSet<PathBuf>, BTreeSet<PathBuf>) =
            seen.outside.iter().cloned().partition(|place| may_be(place));
        root.outside.extend(outside.iter().map(|place| key(place)));
        root.inside.extend(refused.iter().map(|place| key(place)));
        root.rules = rules;
        outside
    }
}

fn key(place: &Path) -> String {
    blake3::hash(place.as_os_str().as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(outside: &[&str], inside: &[&str], rules: &[(&str, &str)]) -> Seen {
        let places = |places: &[&str]| places.iter().map(PathBuf::from).collect();
        let rules = rules.iter().map(|(place, rules)| (PathBuf::from(place), (*rules).to_owned())).collect();
        Seen { outside: places(outside), inside: places(inside), rules }
    }

    fn agreed(remembered: &Remembered, seen: Seen) -> Vec<String> {
        let agreed = remembered.agree(&[(Path::new("/ws"), seen)]).expect("it can be remembered");
        agreed.iter().flatten().map(|place| place.display().to_string()).collect()
    }

    #[test]
    fn what_was_inside_stays_inside_and_new_folders_come_outside_under_the_old_rules_only() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let remembered = Remembered::new(folder.path().join("apart"));
        let old = [("", "1")];
        assert_eq!(agreed(&remembered, seen(&["target"], &["out"], &old)), ["target"]);
        // It was inside, whatever the rules say later, and whether or not they changed.
        assert_eq!(agreed(&remembered, seen(&["out", "target"], &[], &old)), ["target"]);
        assert_eq!(agreed(&remembered, seen(&["a/dist", "out", "target"], &[], &old)), ["a/dist", "target"]);
        // It appeared together with other rules.
        let new = [("", "1"), ("b", "2")];
        assert_eq!(agreed(&remembered, seen(&["b/dist", "c/dist"], &[], &new)), ["c/dist"]);
        assert_eq!(agreed(&remembered, seen(&["b/dist", "b/out"], &[], &new)), ["b/out"]);
        // What came in as a whole is known, unless it was inside.
        for place in ["d/build", "out"] {
            remembered.came_whole(Path::new("/ws"), Path::new(place)).expect("it can be remembered");
        }
        assert_eq!(agreed(&remembered, seen(&["d/build", "e/build", "out"], &[], &[("", "3")])), ["d/build"]);
        // What is not ignored any more is inside from now on.
        assert!(agreed(&remembered, seen(&[], &["target"], &[("", "3")])).is_empty());
        assert!(agreed(&remembered, seen(&["target"], &[], &[("", "3")])).is_empty());
    }

    #[test]
    fn what_cannot_be_read_lets_nothing_come_outside() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("apart");
        std::fs::write(&path, "").expect("it can be written");
        let remembered = Remembered::new(path);
        for _ in 0..2 {
            assert!(agreed(&remembered, seen(&["target"], &[], &[])).is_empty());
        }
        std::fs::create_dir(folder.path().join("folder")).expect("it is new");
        let wrong = Remembered::new(folder.path().join("folder"));
        assert!(wrong.agree(&[(Path::new("/ws"), seen(&["target"], &[], &[]))]).is_err());
    }
}
