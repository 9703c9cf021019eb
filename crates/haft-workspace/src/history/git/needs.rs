//! Ensures that the objects exist which restored references, reflogs and indexes name.
//!
//! haft restores a missing object from the journal, together with everything that it names in turn. If that is not possible,
//! haft does not restore the file that names it.
//!
//! Not here: who needs which object (`take_back`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::journal_objects::{JournalObjects, ObjectStoreFile};
use super::object_store::ObjectStore;
use crate::history::contents::Contents;

/// The objects that an undo needs.
pub(in crate::history) struct Needs<'a, 'c> {
    contents: &'c Contents<'a>,
    journal: OnceCell<JournalObjects<'a>>,
    stores: HashMap<PathBuf, ObjectStore>,
    /// Objects that exist, or will.
    found: HashSet<(PathBuf, String)>,
    /// Files of object stores to add, by their place.
    pub(in crate::history) additions: BTreeMap<PathBuf, ObjectStoreFile<'a>>,
}

impl<'a, 'c> Needs<'a, 'c> {
    pub(in crate::history) fn new(contents: &'c Contents<'a>) -> Self {
        let (journal, stores) = (OnceCell::new(), HashMap::new());
        Self { contents, journal, stores, found: HashSet::new(), additions: BTreeMap::new() }
    }

    /// Makes sure of an object of a repository; returns whether it can be had.
    pub(in crate::history) fn ensure(&mut self, dir: &Path, oid: &str) -> bool {
        let mut added: BTreeMap<PathBuf, ObjectStoreFile<'a>> = BTreeMap::new();
        let mut seen: HashSet<(PathBuf, String)> = HashSet::new();
        let mut open = vec![oid.to_owned()];
        while let Some(oid) = open.pop() {
            let key = (dir.to_owned(), oid);
            if self.found.contains(&key) || seen.contains(&key) {
                continue;
            }
            if !self.is_there(dir, &key.1) {
                let Some(more) = self.add_from_journal(dir, &key.1, &mut added) else { return false };
                open.extend(more);
            }
            seen.insert(key);
        }
        self.found.extend(seen);
        self.additions.extend(added);
        true
    }

    fn is_there(&mut self, dir: &Path, oid: &str) -> bool {
        let real = self.contents.root.path().join(dir);
        let store = self.stores.entry(dir.to_owned()).or_insert_with(|| ObjectStore::open(&real));
        store.is_partial() || store.has(oid)
    }

    /// Adds an object from the journal; returns the objects that it names.
    fn add_from_journal(
        &self,
        dir: &Path,
        oid: &str,
        added: &mut BTreeMap<PathBuf, ObjectStoreFile<'a>>,
    ) -> Option<Vec<String>> {
        let journal = self.journal.get_or_init(|| JournalObjects::of(self.contents));
        let objects = dir.join("objects");
        if let Some((recorded, named)) = journal.loose(self.contents, oid) {
            added.insert(objects.join(&oid[..2]).join(&oid[2..]), recorded);
            return Some(named);
        }
        let files = journal.pack_with(self.contents, oid)?;
        added.extend(files.into_iter().map(|(path, recorded)| (objects.join(path), recorded)));
        Some(Vec::new())
    }
}
