//! Removes the parts of haft's state that a person chose.
//!
//! It holds the lock of the journal, so it removes nothing that another changing haft uses. It writes the journal again
//! without the old change sets, and renames it into place. It removes the state of a deleted workspace as a whole, after
//! renaming it to a name that no haft looks for. So a kill in the middle leaves either all of it or something that the next
//! clean-up removes.
//!
//! Not here: what there is (`usage`), keeping the journal within its room on its own (`journal::room`).

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};

use super::usage::{StateKind, WorkspacePresence, WorkspaceUsage, files_below, is_only_a_record, journal_in, taken};
use crate::files::tree;
use crate::state::journal::JournalWriter;
use crate::state::own_files::private;
use crate::state::own_files::private::ScratchFolder;
use crate::state::own_files::registry::Registry;

/// How the names of folders begin that are being removed.
const REMOVED: &str = ".removed-";

/// What is to be freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The kinds; [`StateKind::Other`] is freed only together with everything else.
    pub kinds: Vec<StateKind>,
    /// Only what is older than this moment.
    pub before: Option<SystemTime>,
}

impl Selection {
    fn has(&self, kind: StateKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns whether everything of a workspace is meant.
    fn is_everything(&self) -> bool {
        self.before.is_none() && StateKind::ALL.iter().all(|kind| self.has(*kind))
    }

    fn before_ms(&self) -> Option<u64> {
        let since = self.before?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn is_old(&self, modified: io::Result<SystemTime>) -> bool {
        self.before.is_none_or(|before| modified.is_ok_and(|modified| modified < before))
    }
}

impl WorkspaceUsage {
    /// Returns about how many bytes of each kind would be freed; what would free none is left out.
    pub fn would_free(&self, wanted: &Selection) -> io::Result<Vec<(StateKind, u64)>> {
        let mut freed = Vec::new();
        for kind in StateKind::ALL.into_iter().filter(|kind| wanted.has(*kind)) {
            let bytes = match kind {
                _ if wanted.before.is_none() => self.whole(kind, wanted),
                StateKind::Journal => journal_in(&self.folder).room_of_older(wanted.before_ms())?,
                StateKind::Layers | StateKind::Other => 0,
                StateKind::Trees => {
                    self.tree_folders().iter().map(|folder| tree::bytes_of(folder, wanted.before)).sum()
                }
                StateKind::ToolCaches => self.old_tools(wanted).iter().map(|tool| bytes_below(tool)).sum(),
                StateKind::Caches | StateKind::Spills | StateKind::Sessions => {
                    let files = files_below(&kind.folder(&self.folder));
                    let old = files.iter().filter(|(_, facts)| wanted.is_old(facts.modified()));
                    old.map(|(_, facts)| taken(facts)).sum()
                }
            };
            freed.extend((bytes > 0).then_some((kind, bytes)));
        }
        Ok(freed)
    }

    fn whole(&self, kind: StateKind, wanted: &Selection) -> u64 {
        let is_kept = kind == StateKind::Other && !self.goes_as_a_whole(wanted);
        // A journal without change sets still says up to which they were dropped.
        let is_empty = kind == StateKind::Journal && self.reach.is_none() && !self.goes_as_a_whole(wanted);
        if is_kept || is_empty { 0 } else { self.bytes.get(&kind).copied().unwrap_or(0) }
    }

    /// Frees what was chosen; returns how many bytes that were.
    ///
    /// # Errors
    ///
    /// Fails where another haft changes files there, or where a change was interrupted: that is for undo to finish.
    pub fn free(&self, wanted: &Selection) -> io::Result<u64> {
        let before = Self::of(&self.folder).total();
        let journal = journal_in(&self.folder);
        // A state without journal gets none because of this.
        let writing = if journal.exists() { Some(journal.lock(&|| false)?) } else { None };
        if self.goes_as_a_whole(wanted) {
            remove_whole(&self.folder)?;
            return Ok(before);
        }
        for kind in [StateKind::Caches, StateKind::Spills].into_iter().filter(|kind| wanted.has(*kind)) {
            for (path, facts) in files_below(&kind.folder(&self.folder)) {
                if wanted.is_old(facts.modified()) {
                    remove_file(&path)?;
                }
            }
        }
        if wanted.has(StateKind::Sessions) {
            self.free_sessions(wanted)?;
        }
        if wanted.has(StateKind::ToolCaches) {
            self.old_tools(wanted).iter().try_for_each(|tool| remove_tool(tool))?;
        }
        if wanted.has(StateKind::Trees) {
            self.tree_folders().iter().for_each(|folder| tree::remove_from_folder(folder, wanted.before));
        }
        if wanted.has(StateKind::Layers) && wanted.before.is_none() {
            crate::files::remove_layers_left_behind(&StateKind::Layers.folder(&self.folder));
        }
        if let Some(writing) = writing.filter(|_| wanted.has(StateKind::Journal)) {
            self.free_journal(writing, wanted)?;
        }
        Ok(before.saturating_sub(Self::of(&self.folder).total()))
    }

    /// Returns the folders that hold before-images of build folders.
    fn tree_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.trees_in_workspace();
        folders.push(StateKind::Trees.folder(&self.folder));
        folders
    }

    /// Returns the folders of tools that no session has used since, and what is left of removed ones.
    fn old_tools(&self, wanted: &Selection) -> Vec<PathBuf> {
        let tools = std::fs::read_dir(StateKind::ToolCaches.folder(&self.folder)).into_iter().flatten().flatten();
        let is_old = |tool: &std::fs::DirEntry| {
            tool.metadata().is_ok_and(|facts| facts.is_dir() && wanted.is_old(facts.modified()))
        };
        tools.filter(is_old).map(|tool| tool.path()).collect()
    }

    fn free_journal(&self, writing: JournalWriter<'_>, wanted: &Selection) -> io::Result<()> {
        if writing.is_unfinished() && self.standing != WorkspacePresence::Gone {
            let what = "a change was interrupted here; run \"haft log\" in that workspace to finish it, then try again";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
        }
        writing.drop_older(wanted.before_ms()).map(drop)
    }

    /// Removes sessions that no haft is working on.
    fn free_sessions(&self, wanted: &Selection) -> io::Result<()> {
        for (path, facts) in files_below(&StateKind::Sessions.folder(&self.folder)) {
            if !wanted.is_old(facts.modified()) {
                continue;
            }
            let Ok(file) = private::read_file(&path) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn goes_as_a_whole(&self, wanted: &Selection) -> bool {
        self.standing == WorkspacePresence::Gone && wanted.is_everything()
    }
}

/// Removes what an interrupted clean-up left, and records that lead to state that was removed.
pub fn remove_leftovers(state_folder: &Path) {
    let registry = Registry::new(state_folder);
    for folder in registry.removed(REMOVED) {
        drop(ScratchFolder::taken_over(&folder));
    }
    let leads_nowhere = |folder: &&std::path::PathBuf| is_only_a_record(folder) && !registry.leads_somewhere(folder);
    for folder in registry.folders().iter().filter(leads_nowhere) {
        drop(ScratchFolder::taken_over(folder));
    }
}

/// Removes a state folder under another name, so that no haft finds half of it.
fn remove_whole(folder: &Path) -> io::Result<()> {
    let hidden = folder.with_file_name(format!("{REMOVED}{}", uuid::Uuid::now_v7().simple()));
    std::fs::rename(folder, &hidden)?;
    drop(ScratchFolder::taken_over(&hidden));
    Ok(())
}

fn bytes_below(folder: &Path) -> u64 {
    files_below(folder).iter().map(|(_, facts)| taken(facts)).sum()
}

/// Removes what a tool has downloaded, unless a session has it in use: sessions hold a lock on it.
fn remove_tool(folder: &Path) -> io::Result<()> {
    let opened = std::fs::File::open(folder)?;
    if flock(&opened, FlockOperation::NonBlockingLockExclusive).is_ok() {
        remove_whole(folder)?;
    }
    Ok(())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        // Another haft was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests;
