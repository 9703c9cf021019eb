//! Explains why something cannot be undone.

use std::io;

use super::Conflict;
use crate::files::change::transaction::PartialTransaction;

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is nothing left.
    #[error("there is nothing to undo")]
    NothingLeft,
    /// There is nothing to redo.
    #[error("there is nothing to redo")]
    NothingToRedo,
    /// There is no such change set.
    #[error("there is no change set {0}; \"haft log\" lists them")]
    Unknown(u64),
    /// It is taken back already.
    #[error(
        "change set {0} is already undone; \"haft redo\", or \"haft undo\" with the number of that undo, restores it"
    )]
    AlreadyUndone(u64),
    /// It had to make room.
    #[error(
        "change set {0} can no longer be undone: it was dropped to save space, by the journal's limit or by \"haft gc\""
    )]
    Dropped(u64),
    /// Its record is damaged.
    #[error("change set {0} cannot be undone: its record in the journal is damaged")]
    Damaged(u64),
    /// It changed nothing with this path.
    #[error("no change set that can be undone has changed {0}; \"haft log\" lists what was changed")]
    NotConcerned(String),
    /// It lies in a build folder.
    #[error(
        "{path} is in the build folder {folder}, which haft keeps as a whole; \
         \"haft undo {set} --file {folder}\" restores the folder"
    )]
    InBuildFolder {
        /// The path.
        path: String,
        /// The folder.
        folder: String,
        /// The newest change set that changed the folder.
        set: u64,
    },
    /// It was renamed and changed.
    #[error(
        "{0} was renamed and changed in the change sets to undo together; \
         nothing was undone; undo the changes one at a time: \"haft undo\""
    )]
    Entangled(String),
    /// Some change sets were undone one after the other, and then one could not be.
    #[error(
        "change sets {} were undone, but not change set {number}: {error}; \"haft redo\" restores the last one",
        .done.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    Halfway {
        /// Those that were undone.
        done: Vec<u64>,
        /// The one that could not be.
        number: u64,
        /// Why.
        error: Box<HistoryError>,
    },
    /// Something is at the old name.
    #[error("{0} cannot be restored, because something else is there now; nothing was undone")]
    InTheWay(String),
    /// Git would take a folder for a repository that was none before.
    #[error(
        "with {path}, git would treat {repository} as a repository and run programs that its settings and hooks name, \
         which were changed since; nothing was undone; look at {repository} and remove what you do not know, then \
         try again"
    )]
    Plants {
        /// The path that would come back.
        path: String,
        /// The folder.
        repository: String,
    },
    /// A protected name leads to a place that would be written.
    #[error(
        "other programs would run or follow {path}, because {leader} leads to it; nothing was changed; \
         a person can look at \"haft diff\" and write the file"
    )]
    Followed {
        /// The place.
        path: String,
        /// What leads there.
        leader: String,
    },
    /// These paths were changed since, and both versions cannot be kept.
    #[error("{}", listed(.0))]
    Conflicts(Vec<Conflict>),
    /// A file of a change set has no hunks.
    #[error(
        "{0} cannot be undone in hunks: it was created, removed, or is not text; undo it as a whole with --file {0}"
    )]
    NoHunks(String),
    /// There is no such hunk.
    #[error("{path} has no hunk {hunk}, the change set changed {hunks} places in it; \"haft diff\" numbers them")]
    NoHunk {
        /// The path.
        path: String,
        /// The number that was asked for.
        hunk: usize,
        /// How many there are.
        hunks: usize,
    },
    /// A change set did not change a file.
    #[error("change set {set} did not change {path}; \"haft diff {set}\" shows what it changed")]
    NotInSet {
        /// The path.
        path: String,
        /// The change set.
        set: u64,
    },
    /// A file has the name that an earlier version would get.
    #[error("{0} exists already; nothing was restored, rename or remove it first")]
    BesideExists(String),
    /// There is no earlier version.
    #[error(
        "no file has an earlier version in these change sets; nothing was restored; a build folder has only one as a whole, \
         which \"haft undo\" restores"
    )]
    NothingEarlier,
    /// It lies in a folder that is not one of the workspace now.
    #[error("{0} is in a folder that was added to the workspace then; add that folder again with --add-dir")]
    NotAdded(String),
    /// Another program changed a file during the undo.
    #[error("another program is changing {0} at this moment; nothing was undone; try again")]
    Overtaken(String),
    /// The system said no.
    #[error("{path}: {error}; nothing was undone")]
    System {
        /// The path.
        path: String,
        /// What it said.
        error: io::Error,
    },
    /// It failed on the way, and what had been done could not be undone.
    #[error(
        "{why}; the part that was done could not be reverted, so it remains as change set {set}: {paths}; \
         \"haft undo\" again continues with the rest, \"haft undo {set}\" reverts it"
    )]
    Standing {
        /// The change set that holds it.
        set: u64,
        /// The paths concerned.
        paths: String,
        /// What failed, in words.
        why: String,
    },
    /// A file whose lines are asked for is none, or has none.
    #[error("{path} {why}; name a text file of the workspace")]
    NoLines {
        /// The path.
        path: String,
        /// Why there are no lines.
        why: &'static str,
    },
    /// The journal cannot be read or written.
    #[error("the journal: {0}")]
    Journal(io::Error),
}

/// The words of the journal's error are in those of this one, so it is no cause to be told once more.
impl From<io::Error> for HistoryError {
    fn from(error: io::Error) -> Self {
        HistoryError::Journal(error)
    }
}

/// Most paths that an error names.
const MOST_NAMED: usize = 20;

impl From<PartialTransaction> for HistoryError {
    fn from(PartialTransaction { set, places, cause }: PartialTransaction) -> Self {
        let mut paths: Vec<String> = places.iter().take(MOST_NAMED).map(|place| place.display().to_string()).collect();
        if places.len() > MOST_NAMED {
            paths.push(format!("and {} more", places.len() - MOST_NAMED));
        }
        HistoryError::Standing { set, paths: paths.join(", "), why: cause.to_string() }
    }
}

/// Joins conflicts to one sentence.
fn listed(conflicts: &[Conflict]) -> String {
    let named: Vec<String> = conflicts.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = match conflicts.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}; nothing was undone", named.join("; "))
}
