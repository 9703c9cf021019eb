//! Selects which of a command's changes are committed, if its tool declared what it would change.

use std::path::Path;

use haft_contract::doors::process::Keeps;
use haft_contract::files::path::{Extent, FileLocation, Target};

/// Tells which changes are kept; paths are given as places, as all of haft names them.
pub(in crate::files::layer) trait KeepFilter {
    /// Returns whether a change of this one entry is kept.
    fn entry(&self, place: &Path) -> bool;

    /// Returns whether something of what is at a place or below it is kept, and something is not.
    fn some_of(&self, place: &Path) -> bool;
}

impl KeepFilter for Keeps {
    fn entry(&self, place: &Path) -> bool {
        self.holds(&Target::Inside(FileLocation::new(place, Extent::Entry)))
    }

    fn some_of(&self, place: &Path) -> bool {
        let tree = Target::Inside(FileLocation::new(place, Extent::Tree));
        match self {
            Keeps::All => false,
            Keeps::Only(targets) => !self.holds(&tree) && targets.iter().any(|target| tree.overlaps(target)),
        }
    }
}
