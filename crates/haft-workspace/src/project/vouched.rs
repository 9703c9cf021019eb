//! Code of a project that is in use: whether it is still what was trusted, asked before every call.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, Stat};

use super::{Brought, Project, Standing};
use crate::state::trust::Trusted;

/// A file of code that is in use, with every file that it names.
#[derive(Debug)]
pub struct Vouched {
    project: Project,
    file: Brought,
    trusted: Trusted,
    /// How everything was when it was compared the last time: what has not changed since need not be read again.
    stamps: Mutex<Vec<Stamp>>,
}

type Stamp = Option<(u64, i64, i64, i64, i64, i64)>;

impl Vouched {
    /// Watches a file that is what was trusted.
    pub fn new(project: Project, file: Brought, trusted: Trusted) -> Self {
        let vouched = Self { project, file, trusted, stamps: Mutex::default() };
        let stamps = vouched.look();
        *vouched.stamps.lock().unwrap_or_else(PoisonError::into_inner) = stamps;
        vouched
    }

    /// Returns what is not any more what was trusted.
    pub fn changed(&self) -> Vec<String> {
        let now = self.look();
        let mut before = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        if *before == now {
            return Vec::new();
        }
        match self.project.standing(&self.file, &self.trusted) {
            Standing::Trusted(_) => {
                *before = now;
                Vec::new()
            }
            Standing::Changed(what) => what,
            Standing::New | Standing::Refused(_) => vec![self.file.name.clone()],
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
        let facts: Stat = rustix::fs::statat(self.project.root.as_fd(), place, AtFlags::empty()).ok()?;
        Some((
            facts.st_ino,
            facts.st_size,
            facts.st_mtime,
            facts.st_mtime_nsec.cast_signed(),
            facts.st_ctime,
            facts.st_ctime_nsec.cast_signed(),
        ))
    }
}
