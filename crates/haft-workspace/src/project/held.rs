//! Whether what a project brought along is still what was trusted, for whoever runs it long after it was loaded.
//!
//! A call may have changed a script since. So whoever is about to run code of a project asks here first, each time; what
//! has not changed since it was compared the last time is not read again.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::AtFlags;

use super::{Brought, Kind, Project, Standing, is_definition};
use crate::state::trust::Trusted;

/// A file of code that was loaded because somebody trusts it.
#[derive(Clone, Debug)]
pub struct Held {
    project: Arc<Project>,
    trusted: Arc<Trusted>,
    file: Brought,
    /// How everything looked when it was compared the last time.
    compared: Arc<Mutex<Vec<Stamp>>>,
}

/// Inode, size, and when content and facts changed; nothing where nothing is.
type Stamp = Option<(u64, i64, [(i64, u64); 2])>;

impl Held {
    /// Holds a file of code, by its path from the root of the workspace, to what was trusted.
    pub fn new(project: Arc<Project>, trusted: Arc<Trusted>, name: &str) -> Self {
        let file = Brought { name: name.to_owned(), kind: Kind::Code };
        Self { project, trusted, file, compared: Arc::default() }
    }

    /// Says whether trust in the file covers a definition that it names, with everything that this one names.
    pub fn covers_definition(&self, name: &str) -> bool {
        is_definition(name) && self.trusted.code.get(&self.file.name).is_some_and(|print| print.contains_key(name))
    }

    /// Fails where the file, or one of the workspace that it names, is not what was trusted any more; says which.
    pub fn still(&self) -> Result<(), String> {
        // What changes while it is compared looks different the next time.
        let now = self.look();
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if *compared == now {
            return Ok(());
        }
        match self.project.standing(&self.file, &self.trusted) {
            Standing::Trusted(_) => {
                *compared = now;
                Ok(())
            }
            Standing::Changed(what) => Err(format!("{} changed since it was trusted", what.join(", "))),
            Standing::New => Err(format!("{} is not trusted", self.file.name)),
            Standing::Refused(why) => Err(format!("{} cannot be loaded any more: {why}", self.file.name)),
        }
    }

    /// Looks at all files, and at their folders: a file that comes may stand in for one of them.
    fn look(&self) -> Vec<Stamp> {
        let named = self.trusted.code.get(&self.file.name).into_iter().flat_map(|print| print.keys());
        let mut places: BTreeSet<&str> = BTreeSet::new();
        for name in named.chain([&self.file.name]) {
            places.extend([name.as_str(), name.rsplit_once('/').map_or(".", |(folder, _)| folder)]);
        }
        places.into_iter().map(|place| self.stamp(place)).collect()
    }

    fn stamp(&self, place: &str) -> Stamp {
        let facts = rustix::fs::statat(self.project.root.as_fd(), place, AtFlags::empty()).ok()?;
        let changed = [(facts.st_mtime, facts.st_mtime_nsec), (facts.st_ctime, facts.st_ctime_nsec)];
        Some((facts.st_ino, facts.st_size, changed))
    }
}
