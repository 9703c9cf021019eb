//! Returns a copy to an earlier moment: it reverts everything that changed since, by the journal of the original.
//!
//! It only reads the journal. A copy holds no work of its own, so there is nothing to merge and no conflict: each path gets
//! its old state from the journal. haft names what the journal does not know or has not kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use super::Replica;
use crate::files::Workspace;
use crate::history::since::{Since, has_content};
use crate::state::WorkspaceState;
use crate::state::journal::{Inline, IntentStep, PathState, PathText};

/// The beginning of a session, as a moment to go back to.
#[derive(Clone, Debug)]
pub struct SessionBeginning {
    /// When it was, in milliseconds since 1970.
    pub at_ms: u64,
    /// The session that began then.
    pub session: String,
}

/// What was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Back {
    /// The change sets that were taken back, the newest first.
    pub sets: Vec<u64>,
    /// Those of them that another author than the session made.
    pub of_others: Vec<u64>,
    /// How many paths are as they were.
    pub paths: usize,
    /// What could not be brought back, and why.
    pub not_back: Vec<(PathBuf, String)>,
    /// Files that changed since then without haft: they are as they are now.
    pub changed_otherwise: Vec<PathBuf>,
    /// What else is worth knowing, a sentence each.
    pub notes: Vec<String>,
}

impl Replica {
    /// Takes back in the copy what was done to the original since a moment, as far as the journal of that knows it.
    pub fn back_to(&self, moment: &SessionBeginning, original: &Path, state: &WorkspaceState) -> io::Result<Back> {
        let history = Workspace::open(original)?.history(state);
        let since = history.since(moment.at_ms, &moment.session)?;
        let mut back = Back { notes: since.warnings(), ..Back::default() };
        let mut known = BTreeSet::new();
        let mut failed: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (intent, step, inline) in since.steps() {
            if back.sets.last() != Some(&intent.set) {
                back.sets.push(intent.set);
                if intent.by.session != moment.session {
                    back.of_others.push(intent.set);
                }
            }
            known.extend(step.paths().map(PathText::path));
            let (path, done) = match step {
                IntentStep::Move { from, to } => (from.path(), self.moved(&to.path(), &from.path())),
                // Builds make it again, in the copy too.
                IntentStep::Tree { .. } => continue,
                IntentStep::Change { path, before, .. } => {
                    (path.path(), self.put(&path.path(), (&since, before, inline)))
                }
            };
            match done {
                // What was there still earlier counts, whatever came later.
                Ok(()) => _ = failed.remove(&path),
                Err(error) => _ = failed.insert(path, error.to_string()),
            }
        }
        back.paths = known.len() - failed.len().min(known.len());
        back.not_back = failed.into_iter().collect();
        let is_since = |(path, changed): &&(PathBuf, u64)| *changed > moment.at_ms && !known.contains(path);
        back.changed_otherwise = self.changed.iter().filter(is_since).map(|(path, _)| path.clone()).collect();
        Ok(back)
    }

    /// Returns where a path lies in the copy, with folders above it and no link among them.
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        let is_plain = path.components().all(|component| matches!(component, Component::Normal(_)));
        if !is_plain || path.as_os_str().is_empty() {
            return Err(io::Error::other("it is in a folder that was added to the workspace, which is not copied"));
        }
        let mut place = self.workspace();
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            if parts.peek().is_none() {
                break;
            }
            match place.symlink_metadata() {
                Ok(facts) if facts.is_dir() => open_up(&place, facts.permissions().mode())?,
                // Whatever took the place of the folder came later.
                Ok(_) => {
                    std::fs::remove_file(&place)?;
                    DirBuilder::new().mode(0o755).create(&place)?;
                }
                Err(_) => DirBuilder::new().mode(0o755).create(&place)?,
            }
        }
        Ok(place)
    }

    fn moved(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(self.place(from)?, self.place(to)?)
    }

    fn put(&self, path: &Path, (since, before, inline): (&Since, &PathState, Inline)) -> io::Result<()> {
        let place = self.place(path)?;
        let now = place.symlink_metadata().ok();
        let is_folder = now.as_ref().is_some_and(std::fs::Metadata::is_dir);
        match before {
            PathState::Absent if is_folder => std::fs::remove_dir(&place)
                .map_err(|_| io::Error::other("it was not there then, but there is something in it now")),
            PathState::Absent => remove(&place),
            PathState::Link { to } => {
                remove(&place)?;
                symlink(to.path(), &place)
            }
            PathState::Folder { mode } => {
                if !is_folder {
                    remove(&place)?;
                    DirBuilder::new().mode(0o700).create(&place)?;
                }
                set_mode(&place, *mode)
            }
            PathState::File { mode, .. } => {
                let is_file = now.is_some_and(|facts| facts.is_file());
                // A change of nothing but the mode has kept no content.
                if !is_file || !has_content(File::open(&place)?, before)? {
                    let beside = place.with_file_name(format!(".haft-{}.tmp", uuid::Uuid::now_v7().simple()));
                    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
                    let written = since.write(before, inline, &mut file).and_then(|()| remove(&place));
                    if let Err(error) = written.and_then(|()| std::fs::rename(&beside, &place)) {
                        let _ = std::fs::remove_file(&beside);
                        return Err(error);
                    }
                }
                set_mode(&place, *mode)
            }
        }
    }
}

fn remove(place: &Path) -> io::Result<()> {
    match place.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(facts) if facts.is_dir() => std::fs::remove_dir(place),
        Ok(_) => std::fs::remove_file(place),
    }
}

fn set_mode(place: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(place, Permissions::from_mode(mode & 0o7777))
}

/// Lets us work in a folder of the copy, whatever its mode was.
fn open_up(folder: &Path, mode: u32) -> io::Result<()> {
    match mode & 0o700 {
        0o700 => Ok(()),
        _ => set_mode(folder, mode | 0o700),
    }
}
