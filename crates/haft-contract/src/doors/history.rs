//! Changes of a session in the workspace, and undoing them: the door of the tool `undo`.
//!
//! A session sees and undoes only its own change sets. If a file has changed since, haft merges or refuses, as for a person.
//!
//! Not here: the journal and how an undo works (`haft-workspace`), `haft undo` of a person.

use std::sync::Arc;
use std::time::Duration;

use super::door::{ChangeSetId, Permit, SessionName};
use crate::BoxFuture;
use crate::effect::Change;
use crate::files::change_summary::ChangedPath;
use crate::files::path::Target;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;
use crate::plan::FileDiff;
use crate::text::grouped::GroupedNumber;

/// The changes that were made in a workspace.
pub trait History: Send + Sync {
    /// Returns the change sets that have to go to make room for another one; nothing while there is room.
    fn eviction(&self) -> Option<Eviction>;

    /// Returns the change sets of a session, the newest first.
    fn of_session(&self, session: &SessionRun) -> Result<Vec<PastChange>, ToolError>;

    /// Says what taking back would do. Changes nothing.
    fn preview(&self, session: &SessionRun, request: &Reversal) -> Result<ReversalReport, ToolError>;

    /// Takes back what the permit admits.
    fn take_back<'a>(
        &'a self,
        permit: &'a Permit,
        request: &'a Reversal,
    ) -> BoxFuture<'a, Result<ReversalReport, ToolError>>;
}

/// Change sets that have to go, because the journal is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// How many.
    pub change_sets: u64,
    /// The newest of them.
    pub up_to: ChangeSetId,
    /// How long ago the oldest of them was made.
    pub oldest: Duration,
    /// How long ago the newest of them was made.
    pub newest: Duration,
}

/// One session, as the journal knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRun {
    /// Its name.
    pub name: SessionName,
    /// Which opening of it: two sessions of one name are two runs.
    pub run: Arc<str>,
}

/// Whether a change is taken back, or the taking back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// A change is taken back.
    #[default]
    Undo,
    /// The session's last undo is taken back; with a change set, its last undo of that.
    Redo,
}

/// What to take back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reversal {
    /// Whether it is a change, or an undo.
    pub direction: Direction,
    /// The change set; without it, the newest of the session that holds.
    pub change_set: Option<ChangeSetId>,
    /// Only this file, or everything in this folder.
    pub file: Option<Target>,
    /// Only this hunk of the file, from 1.
    pub hunk: Option<usize>,
}

/// A change set of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastChange {
    /// Its number.
    pub change_set: ChangeSetId,
    /// The tool that made it; of an undo or redo, what it took back.
    pub tool: String,
    /// The command that was run.
    pub command: Option<String>,
    /// The paths that it changed.
    pub files: Vec<ChangedPath>,
    /// How much of it was taken back.
    pub undone: Undone,
}

/// How much of a change set was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It holds.
    No,
    /// Some of its files were.
    Partly,
    /// All of it was.
    Yes,
}

/// The result of taking a change set back, or a preview of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversalReport {
    /// The change set that was taken back.
    pub change_set: ChangeSetId,
    /// The change sets that hold again, where it was an undo.
    pub redoes: Vec<ChangeSetId>,
    /// How many files of the change set stay changed because they were not asked for.
    pub stay_changed: usize,
    /// What becomes of each path.
    pub files: Vec<ReversedFile>,
    /// What else is worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// What the change set did to text files; of a preview only.
    pub did: Vec<FileDiff>,
}

/// Names the files of a change set that an undo of others leaves, and says that they stay: "its other 2 files", "stay".
pub fn other_files(count: usize) -> Option<(String, &'static str)> {
    match count {
        0 => None,
        1 => Some(("its other file".to_owned(), "stays")),
        more => Some((format!("its other {} files", GroupedNumber(more as u64)), "stay")),
    }
}

/// What becomes of one path when a change is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversedFile {
    /// The path.
    pub target: Target,
    /// What happens to it; nothing where it stays as it is.
    pub change: Option<Change>,
    /// The same in words: "restored a.txt"; of a preview "restore a.txt".
    pub words: String,
    /// Whether it is data of version control, which belongs to the command that changed it: no plan names it.
    pub is_data: bool,
}

/// A workspace that keeps no history.
pub struct NoHistory;

impl NoHistory {
    fn error<T>() -> Result<T, ToolError> {
        Err(ToolError::of(ErrorKind::Unavailable, "This workspace keeps no history of changes."))
    }
}

impl History for NoHistory {
    fn eviction(&self) -> Option<Eviction> {
        None
    }

    fn of_session(&self, _session: &SessionRun) -> Result<Vec<PastChange>, ToolError> {
        Self::error()
    }

    fn preview(&self, _session: &SessionRun, _request: &Reversal) -> Result<ReversalReport, ToolError> {
        Self::error()
    }

    fn take_back<'a>(&'a self, _: &'a Permit, _: &'a Reversal) -> BoxFuture<'a, Result<ReversalReport, ToolError>> {
        Box::pin(async { Self::error() })
    }
}
