//! Reads earlier versions of secret files from the journal.
//!
//! A call may rename a secret file, change a value in it, or remove it after copying it. Then no name leads to the old
//! values, and a later process would show them. The journal has them, so haft reads them there. Most journals never hold
//! such a file, and then haft reads nothing.
//!
//! Not here: secret files as they are now (`files::secrets`).

use std::collections::HashSet;
use std::path::Path;

use haft_contract::doors::door::SecretFile;
use haft_contract::files::guarded::secret_kind;

use super::WorkspaceHistory;
use super::contents::Contents;
use super::sets::Sets;
use crate::files::read::open::WorkspaceRoot;
use crate::state::journal::{IntentStep, Journal, PathState};

/// Most versions of files, the newest first.
const MOST: usize = 500;
/// Largest version that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

impl WorkspaceHistory {
    /// Returns secret files as they were before and after the changes in the journal.
    pub fn earlier_secrets(&self) -> Vec<SecretFile> {
        earlier_secrets(&self.root, &self.journal)
    }
}

/// Returns secret files as they were before and after the changes in a journal.
pub(crate) fn earlier_secrets(root: &WorkspaceRoot, journal: &Journal) -> Vec<SecretFile> {
    if !journal.has_secrets() {
        return Vec::new();
    }
    let Ok(reading) = journal.read() else { return Vec::new() };
    let sets = Sets::of(reading);
    let contents = Contents::new(&sets, root, journal);
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let is_secret = |path: &Path| secret_kind(path).is_some();
    for (intent, inline) in sets.reading.intents.iter().rev() {
        for step in &intent.steps {
            let (path, versions) = match step {
                IntentStep::Change { path, before, after, .. } if is_secret(&path.path()) => {
                    let hashes = [before, after].into_iter().filter_map(|state| match state {
                        PathState::File { hash, size, .. } if *size <= LARGEST => Some((state, *hash)),
                        _ => None,
                    });
                    let new = hashes.filter(|(_, hash)| seen.insert(*hash));
                    let versions = new.filter_map(|(state, _)| contents.bytes(state, before, *inline)).collect();
                    (path.path(), versions)
                }
                // Its content was not touched, so it is where the file is now.
                IntentStep::Move { from, to } if is_secret(&from.path()) => {
                    let now = contents.now(&to.path()).filter(|bytes| bytes.len() as u64 <= LARGEST);
                    (from.path(), Vec::from_iter(now))
                }
                IntentStep::Change { .. } | IntentStep::Move { .. } | IntentStep::Tree { .. } => continue,
            };
            let path = path.display().to_string();
            found.extend(versions.iter().map(|bytes: &Vec<u8>| SecretFile::of(path.clone(), bytes)));
            if found.len() >= MOST {
                return found;
            }
        }
    }
    found
}
