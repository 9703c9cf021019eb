//! The history of a workspace: lists changes and undoes them.
//!
//! Undo is a change like any other: it uses the same door, is in the journal, and can be undone. If a file was changed
//! since, haft merges both changes if they do not overlap; otherwise it changes nothing at all.
//!
//! Not here: making changes (`files`), keeping what they replaced (`state::journal`).

mod blame;
mod contents;
pub(crate) mod earlier_secrets;
mod error;
mod filter;
pub(crate) mod git;
pub(crate) mod git_index;
mod own;
mod sets;
pub(crate) mod since;
mod undoing;

#[cfg(test)]
mod tests;

pub use blame::{Blame, BlamedLine, LineOrigin};
pub use error::HistoryError;
pub use filter::LogFilter;
pub use sets::{ChangeSet, ChangeSetKind};
pub use undoing::partial::HUNK_CONTEXT;
pub use undoing::request::{JudgedPlaces, Placement, Scope, UndoMode, UndoRequest, UndoSelection};
pub use undoing::taken_back::{Became, TakenBack};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::doors::door::OldChanges;
use haft_contract::files::path::{Extent, FileLocation, Target};

use crate::files::change::transaction;
use crate::files::change::transaction::{Done, FileMutation, NotDone, TransactionContext};
use crate::files::change::unwritable_dirs::Shut;
use crate::files::read::open::WorkspaceRoot;
use crate::state::journal::{ChangeAuthor, Journal, JournalSnapshot, PathText, TakesBack, UndoDirection};
use contents::Contents;
use sets::{LaterChanges, Sets};
use undoing::deed_notes::notes_of_deeds;
use undoing::take_back::Restoration;
use undoing::unjudged::{UnjudgedPlaces, is_there};

/// Lists the changes in a workspace, and takes them back.
#[derive(Clone)]
pub struct WorkspaceHistory {
    root: Arc<WorkspaceRoot>,
    journal: Journal,
    /// For whom changes are taken back.
    by: ChangeAuthor,
}

/// How many change sets are read for an undo at first, and then: most undo something recent.
const FEW: [usize; 2] = [16, 256];
/// In milliseconds.
const A_MINUTE: u64 = 60 * 1_000;

/// Which change sets are read. Those that they take back always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadExtent {
    /// The newest, at least so many.
    Newest(usize),
    /// Those made since a moment, in milliseconds since the epoch.
    Since(u64),
    All,
}

/// The change sets of a workspace, and warnings about those that can no longer be taken back.
pub struct ChangeLog {
    /// The change sets, the newest first.
    pub sets: Vec<ChangeSet>,
    /// How many older ones there are.
    pub older: u64,
    /// What can no longer be taken back, and why, a sentence each.
    pub warnings: Vec<String>,
}

/// The plan of an undo: everything together, or one change set after the other.
enum UndoPlan {
    /// All of it is done in one transaction.
    Whole(Box<(Sets, Vec<u64>, Restoration)>),
    /// The change sets are taken back one after the other.
    Entangled(Vec<u64>),
}

fn only_below<'r>(request: &UndoRequest<'r>) -> Option<&'r Path> {
    match request.scope {
        Scope::Below(target) => Some(target.place().path()),
        Scope::All | Scope::Hunks(_) | Scope::Changes(_) => None,
    }
}

/// A path that stands in the way of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The change set that was to be taken back.
    pub set: u64,
    /// The path.
    pub path: String,
    /// What stands in the way, in words.
    pub why: String,
    /// The content as the change set had left it, where it is known.
    pub left: Option<Vec<u8>>,
    /// The content now; nothing when it is gone.
    pub now: Option<Vec<u8>>,
    /// Later change sets that hold and changed the same path, the newest first.
    pub blocked_by: Vec<u64>,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { set, path, why, blocked_by, .. } = self;
        write!(formatter, "{path} was changed since change set {set}, {why}")?;
        match blocked_by.first() {
            Some(later) => write!(
                formatter,
                "; change set {later} changed it later, and would be lost: undo {later} first, \"haft undo {later}\""
            ),
            None => Ok(()),
        }
    }
}

/// What was at a path before and after a change set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// What was there before.
    pub before: PathContent,
    /// What was there afterwards.
    pub after: PathContent,
    /// What cannot be shown, in words.
    pub note: Option<String>,
}

/// The content at a path at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathContent {
    /// Nothing.
    Absent,
    /// A file with this content.
    File(Vec<u8>),
    /// Something whose content cannot be shown: a folder, a link, a file that is too large or was not kept.
    Unshown,
}

impl PathContent {
    /// Returns whether something was there.
    pub fn exists(&self) -> bool {
        *self != Self::Absent
    }
}

impl WorkspaceHistory {
    pub(crate) fn new(root: Arc<WorkspaceRoot>, journal: Journal) -> Self {
        Self { root, journal, by: ChangeAuthor { agent: Some("person".into()), ..ChangeAuthor::default() } }
    }

    /// Returns all changes that are known.
    pub fn log(&self) -> Result<ChangeLog, HistoryError> {
        self.newest(usize::MAX)
    }

    /// Returns the newest changes, at most so many. It costs the same however many there are in all.
    pub fn newest(&self, most: usize) -> Result<ChangeLog, HistoryError> {
        let extent = if most < usize::MAX { ReadExtent::Newest(most) } else { ReadExtent::All };
        let sets = Sets::of(self.settled(extent).or_else(|_| self.read(extent))?);
        let mut warnings = sets.warnings();
        let contents = Contents::new(&sets, &self.root, &self.journal);
        warnings.extend(sets.newest_without_tree(&|tree| contents.has_store(tree)).map(|number| {
            format!("The content of build folders before change sets up to {number} is no longer kept; undo leaves them unchanged.")
        }));
        let mut shown = sets.shown();
        let older = sets.not_read() + shown.len().saturating_sub(most) as u64;
        shown.truncate(most);
        Ok(ChangeLog { warnings, sets: shown, older })
    }

    /// Returns what a change set did, path by path; without a number, the newest that was not taken back.
    pub fn diff(&self, number: Option<u64>) -> Result<(u64, Vec<FileChange>), HistoryError> {
        self.among_few(UndoMode::Commit, |sets| {
            let number = match number {
                Some(number) => number,
                None => sets.newest().ok_or(HistoryError::NothingLeft)?,
            };
            sets.sound(number)?;
            let contents = Contents::new(&sets, &self.root, &self.journal);
            Ok((number, contents.changes_of(number)))
        })
    }

    /// Returns what a change set did, like `diff`, without recovery after a killed process: this changes nothing.
    pub fn look_at(&self, number: u64) -> Result<Vec<FileChange>, HistoryError> {
        self.among_few(UndoMode::Plan, |sets| {
            sets.sound(number)?;
            Ok(Contents::new(&sets, &self.root, &self.journal).changes_of(number))
        })
    }

    /// Takes changes back; of a file or folder, only those there.
    pub fn undo(&self, which: UndoSelection, only: Option<&Target>) -> Result<TakenBack, HistoryError> {
        self.request(&UndoRequest { scope: only.map_or(Scope::All, Scope::Below), ..UndoRequest::all(which) })
    }

    /// Takes back what a request asks for, or says what that would do.
    pub fn request(&self, request: &UndoRequest<'_>) -> Result<TakenBack, HistoryError> {
        let planned = match request.which {
            UndoSelection::Turn | UndoSelection::Session => self.planned(self.sets_of_newest(request.mode)?, request),
            UndoSelection::Newest | UndoSelection::Number(_) | UndoSelection::Since(_) | UndoSelection::LastUndo => {
                self.among_few(request.mode, |sets| self.planned(sets, request))
            }
        };
        match planned? {
            // If one change set renamed what another one changed, haft plans again after each.
            UndoPlan::Entangled(numbers) => self.one_by_one(&numbers),
            UndoPlan::Whole(whole) => {
                let (sets, numbers, plan) = *whole;
                self.carry_out(sets, &numbers, (plan, request))
            }
        }
    }

    /// Tries with the newest change sets first. What fails with those may work with all of them.
    fn among_few<T>(
        &self,
        mode: UndoMode,
        attempt: impl Fn(Sets) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        for few in FEW {
            let sets = self.sets_for(mode, ReadExtent::Newest(few))?;
            let is_whole = sets.not_read() == 0;
            match attempt(sets) {
                Err(_) if !is_whole => {}
                outcome => return outcome,
            }
        }
        attempt(self.sets_for(mode, ReadExtent::All)?)
    }

    /// Plans what a request asks for.
    fn planned(&self, sets: Sets, request: &UndoRequest<'_>) -> Result<UndoPlan, HistoryError> {
        let only = match request.scope {
            Scope::Below(target) => Some(target.place().path()),
            // Of one file, the newest change set that changed it is meant.
            Scope::Hunks([(target, _)]) => Some(target.place().path()),
            Scope::All | Scope::Hunks(_) | Scope::Changes(_) => None,
        };
        let numbers = sets.chosen(request.which, only)?;
        match self.plan(&sets, &numbers, request) {
            Err(HistoryError::Entangled(_)) if numbers.len() > 1 && request.is_whole() => {
                Ok(UndoPlan::Entangled(numbers))
            }
            plan => plan.map(|plan| UndoPlan::Whole(Box::new((sets, numbers, plan)))),
        }
    }

    /// Takes change sets back one after the other, the newest first; all of them or none.
    fn one_by_one(&self, numbers: &[u64]) -> Result<TakenBack, HistoryError> {
        let (sets, redoes, files, notes) = Default::default();
        let mut all = TakenBack { number: None, sets, redoes, stay_changed: 0, files, notes };
        for number in numbers {
            match self.request(&UndoRequest::all(UndoSelection::Number(*number))) {
                Ok(taken) => {
                    all.number = taken.number;
                    all.sets.push(*number);
                    all.redoes.extend(taken.redoes);
                    all.files.extend(taken.files);
                    all.notes.extend(taken.notes);
                }
                Err(error) => {
                    // All of them or none: those that were taken back are brought back.
                    let rollback =
                        UndoRequest { judged: JudgedPlaces::Everything, ..UndoRequest::all(UndoSelection::LastUndo) };
                    let is_back = all.sets.iter().all(|_| self.request(&rollback).is_ok());
                    let halfway = |error| HistoryError::Halfway { done: all.sets, number: *number, error };
                    return Err(if is_back { error } else { halfway(Box::new(error)) });
                }
            }
        }
        Ok(all)
    }

    /// Takes the last undo back.
    pub fn redo(&self) -> Result<TakenBack, HistoryError> {
        self.request(&UndoRequest::all(UndoSelection::LastUndo))
    }

    fn sets_for(&self, mode: UndoMode, extent: ReadExtent) -> io::Result<Sets> {
        Ok(Sets::of(match mode {
            UndoMode::Commit => self.settled(extent)?,
            UndoMode::Plan => self.read(extent)?,
        }))
    }

    /// Reads all change sets of a session, as far back as it can have made any.
    fn sets_of_session(&self, mode: UndoMode, by: &ChangeAuthor) -> io::Result<Sets> {
        // Clocks are set back a little from time to time.
        let began = self.journal.began_ms(by).map(|began| began.saturating_sub(A_MINUTE));
        self.sets_for(mode, began.map_or(ReadExtent::All, ReadExtent::Since))
    }

    /// Reads all change sets of the session to which the newest change belongs that holds.
    fn sets_of_newest(&self, mode: UndoMode) -> Result<Sets, HistoryError> {
        let by = self.among_few(mode, |sets| sets.by_of_newest().ok_or(HistoryError::NothingLeft))?;
        Ok(self.sets_of_session(mode, &by)?)
    }

    fn read(&self, extent: ReadExtent) -> io::Result<JournalSnapshot> {
        match extent {
            ReadExtent::Newest(few) => self.journal.read_newest(few.max(1)),
            ReadExtent::Since(ms) => self.journal.read_since(ms),
            ReadExtent::All => self.journal.read(),
        }
    }

    /// Reads records, after recovery from a killed process: otherwise that recovery would invalidate the plan.
    fn settled(&self, extent: ReadExtent) -> io::Result<JournalSnapshot> {
        let reading = self.read(extent)?;
        if !reading.is_unfinished {
            return Ok(reading);
        }
        transaction::recover(&self.root, &self.journal)?;
        let mut settled = self.read(extent)?;
        // A torn end was cut meanwhile; that it was there is still to be told.
        settled.damaged = reading.damaged;
        Ok(settled)
    }

    fn plan(&self, sets: &Sets, numbers: &[u64], request: &UndoRequest<'_>) -> Result<Restoration, HistoryError> {
        let only = only_below(request);
        let contents = Contents::new(sets, &self.root, &self.journal);
        let mut plan = match (request.placement, request.scope, numbers) {
            (Placement::Beside, ..) => undoing::partial::beside(&contents, numbers, only)?,
            (Placement::InPlace, Scope::Hunks(hunks), [number, ..]) => {
                undoing::partial::hunks(&contents, *number, (hunks, HUNK_CONTEXT))?
            }
            (Placement::InPlace, Scope::Changes(changes), [number, ..]) => {
                undoing::partial::hunks(&contents, *number, (changes, 0))?
            }
            _ => undoing::take_back::plan(&contents, numbers, only)?,
        };
        if let (true, Some(path)) = (plan.files.is_empty(), only) {
            return Err(HistoryError::NotConcerned(path.display().to_string()));
        }
        if plan.files.is_empty() {
            // It counts as undone all the same: else no undo would ever reach what came before it.
            plan.notes.push("Nothing of it was left to undo: later work has replaced what it did.".to_owned());
        }
        Ok(plan)
    }

    fn carry_out(
        &self,
        sets: Sets,
        numbers: &[u64],
        (plan, request): (Restoration, &UndoRequest<'_>),
    ) -> Result<TakenBack, HistoryError> {
        let only = only_below(request);
        let partly =
            request.placement == Placement::Beside || matches!(request.scope, Scope::Hunks(_) | Scope::Changes(_));
        let redoes = sets.redone_by(numbers);
        let how = if redoes.is_empty() { UndoDirection::Undo } else { UndoDirection::Redo };
        let stay_changed = only.map_or(0, |only| sets.files_elsewhere(numbers, only));
        // An empty list would mean everything.
        let below = only.map(|only| sets.paths_below(numbers, only)).unwrap_or_default();
        let only = only.filter(|_| below.is_empty()).into_iter().chain(below.iter().map(PathBuf::as_path));
        let only = only.map(PathText::from).collect();
        let takes_back = TakesBack { how, sets: numbers.to_vec(), only, partly };
        let later = sets.later_than(numbers);
        let redoes = if undoing::partial::restored_beside(&sets, numbers) { Vec::new() } else { redoes };
        // Of a large change set that is as much as all that is done now.
        drop(sets);
        let protected_now = undoing::unjudged::notes_about_protected(&self.root, &plan.deeds);
        let done = self.perform(&later, takes_back, (&plan.deeds, request))?;
        let files = plan.files.into_iter().map(|(path, became)| (path.display().to_string(), became)).collect();
        let mut notes = plan.notes;
        if request.judged == JudgedPlaces::Nothing && how == UndoDirection::Undo {
            notes.extend(protected_now);
        }
        notes.extend(done.iter().flat_map(|done| notes_of_deeds(&plan.deeds, done)));
        let (number, sets) = (done.map(|done| done.set), numbers.to_vec());
        Ok(TakenBack { number, sets, redoes, stay_changed, files, notes })
    }

    /// Does what was planned; where it is only to be shown, says why it would be refused.
    fn perform(
        &self,
        later: &LaterChanges,
        takes_back: TakesBack,
        (deeds, request): (&[FileMutation], &UndoRequest<'_>),
    ) -> Result<Option<Done>, HistoryError> {
        let is_redo = takes_back.how == UndoDirection::Redo;
        let unjudged = UnjudgedPlaces::of(request.judged, takes_back.how);
        unjudged.refuse_followed(&self.root, &self.journal, deeds)?;
        // An undo may restore a repository that was complete before; one that a person has made since is another.
        let plants = |place: &Path, repository: &Path| {
            let is_other = || unjudged.covers(place, deeds) && is_there(&self.root, repository);
            !(later.concern(repository) || is_other())
        };
        let tool = if is_redo { "redo" } else { "undo" };
        let job = TransactionContext {
            root: &self.root,
            journal: &self.journal,
            by: ChangeAuthor { tool: tool.into(), ..self.by.clone() },
            set: None,
            takes_back: Some(takes_back),
            shut: Shut::Opens,
            stopped: &|| false,
            // The person who undoes something is not asked.
            old_changes: OldChanges::Stay,
            plants: &plants,
        };
        let performed = match request.mode {
            UndoMode::Commit => transaction::commit(&job, deeds).map(Some),
            UndoMode::Plan => transaction::refuse_planted(&job, deeds).map(|()| None),
        };
        performed.map_err(|not_done| match not_done {
            NotDone::Stopped => HistoryError::Journal(io::ErrorKind::Interrupted.into()),
            NotDone::Stale(place) => HistoryError::Overtaken(place.display().to_string()),
            NotDone::Journal(error) => HistoryError::Journal(error),
            NotDone::System(place, error) => HistoryError::System { path: place.display().to_string(), error },
            NotDone::Plants { place, repository } => HistoryError::Plants {
                path: place.display().to_string(),
                repository: Target::Inside(FileLocation::new(repository, Extent::Entry)).to_string(),
            },
            NotDone::Standing(standing) => HistoryError::from(*standing),
        })
    }
}
