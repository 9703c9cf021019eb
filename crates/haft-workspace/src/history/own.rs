//! The history as a session sees it: its own change sets, which the tool `undo` lists and takes back.
//!
//! What others changed since is merged or refused as for a person. A change set on which someone else's change set was
//! built stays: only a person decides about that.

use std::path::Path;

use haft_contract::BoxFuture;
use haft_contract::doors::door::{ChangeSetId, FileKind, Permit, Receipt};
use haft_contract::doors::history::{
    Direction, Eviction, History as SessionHistory, PastChange, Reversal, ReversalReport, ReversedFile, SessionRun,
};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::guarded;
use haft_contract::files::guarded::refused_from_commands;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::plan::FileDiff;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::decode;

use super::{
    Became, ChangeSetKind, Conflict, FileChange, HUNK_CONTEXT, HistoryError, JudgedPlaces, PathContent, Scope,
    TakenBack, UndoMode, UndoRequest, UndoSelection, WorkspaceHistory,
};
use crate::state::journal::ChangeAuthor;

/// Most files of which a preview shows what the change set did.
const MOST_SHOWN: usize = 20;
/// Most lines of the difference of a path that stands in the way.
const MOST_LINES: usize = 40;

impl SessionHistory for WorkspaceHistory {
    fn eviction(&self) -> Option<Eviction> {
        self.journal.eviction()
    }

    fn of_session(&self, session: &SessionRun) -> Result<Vec<PastChange>, ToolError> {
        let by = by(session);
        let sets = self.sets_of_session(UndoMode::Plan, &by);
        let sets = sets.map_err(|error| told(&HistoryError::from(error), &[]))?;
        let own = sets.shown().into_iter().filter(|set| sets.is_of_session(set.number, &by));
        let of = |numbers: &[u64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let past = |set: super::ChangeSet| PastChange {
            change_set: ChangeSetId(set.number),
            tool: match &set.kind {
                ChangeSetKind::Undo(numbers) => format!("undo of change set {}", of(numbers)),
                ChangeSetKind::Redo(numbers) => format!("redo of change set {}", of(&sets.redone_by(numbers))),
                ChangeSetKind::Change => set.tool,
            },
            command: set.command,
            files: set.files,
            undone: set.undone,
        };
        Ok(own.map(past).collect())
    }

    fn preview(&self, session: &SessionRun, request: &Reversal) -> Result<ReversalReport, ToolError> {
        self.reverse(&by(session), request, UndoMode::Plan)
    }

    fn take_back<'a>(
        &'a self,
        permit: &'a Permit,
        request: &'a Reversal,
    ) -> BoxFuture<'a, Result<ReversalReport, ToolError>> {
        let (history, request) = (Self { by: ChangeAuthor::from(permit.errand()), ..self.clone() }, request.clone());
        Box::pin(async move {
            permit.go_on()?;
            let planned = history.reverse(&history.by, &request, UndoMode::Plan)?;
            for file in &planned.files {
                if let Some(change) = file.change.filter(|_| !file.is_data) {
                    permit.admit(&Effect::Change(file.target.clone(), change)).map_err(|_| changed_meanwhile(file))?;
                }
            }
            let receipts = permit.receipts().clone();
            let work = move || {
                let reversed = history.reverse(&history.by, &request, UndoMode::Commit)?;
                for file in &reversed.files {
                    if let Some(change) = file.change {
                        receipts.note(Receipt::Changed(file.target.clone(), change));
                    }
                }
                receipts.note_change_set(reversed.change_set);
                Ok::<_, ToolError>(reversed)
            };
            let done = tokio::task::spawn_blocking(work).await;
            let reversed: ReversalReport =
                done.map_err(|_| ToolError::of(ErrorKind::Bug, "The undo was interrupted."))??;
            Ok(ReversalReport { change_set: planned.change_set, ..reversed })
        })
    }
}

impl WorkspaceHistory {
    /// Takes back a change set of a session, or says what that would do. What was done is told under its own number.
    fn reverse(&self, by: &ChangeAuthor, request: &Reversal, mode: UndoMode) -> Result<ReversalReport, ToolError> {
        let sets = self.sets_of_session(mode, by).map_err(|error| told(&HistoryError::from(error), &[]))?;
        let number = sets.own_number(by, request).map_err(|error| told(&error, &[]))?;
        let hunks = match (&request.file, request.hunk) {
            (Some(file), Some(hunk)) => vec![(file.clone(), hunk)],
            (None, Some(hunk)) => {
                let changed = self.look_at(number).map_err(|error| told(&error, &[]))?;
                vec![(only_file(number, &changed)?, hunk)]
            }
            _ => Vec::new(),
        };
        let scope = match &request.file {
            _ if !hunks.is_empty() => Scope::Hunks(&hunks),
            Some(file) => Scope::Below(file),
            None => Scope::All,
        };
        let judged = JudgedPlaces::NamedPaths;
        let wanted = UndoRequest { scope, mode, judged, ..UndoRequest::all(UndoSelection::Number(number)) };
        let own: Vec<u64> = sets.of_session(by).collect();
        let mut taken = self.request(&wanted).map_err(|error| match &error {
            HistoryError::Conflicts(conflicts) => blocked(conflicts, &own, request.direction),
            _ => told(&error, &own),
        })?;
        let is_chosen = request.direction == Direction::Undo && request.change_set.is_none() && request.file.is_none();
        let newer: Vec<String> = own.iter().take_while(|own| **own != number).map(ToString::to_string).collect();
        if is_chosen && !newer.is_empty() {
            let newer = newer.join(", ");
            taken.notes.push(format!("Change set {newer} wrote only generated files and stays; name it to undo it."));
        }
        let did = match mode {
            UndoMode::Plan => self.look_at(number).map_err(|error| told(&error, &own))?,
            UndoMode::Commit => Vec::new(),
        };
        let is_meant = |change: &FileChange| match &request.file {
            Some(file) => FileLocation::new(&change.path, Extent::Entry).path().starts_with(file.place().path()),
            None => true,
        };
        Ok(ReversalReport {
            change_set: ChangeSetId(taken.number.unwrap_or(number)),
            redoes: taken.redoes.iter().copied().map(ChangeSetId).collect(),
            stay_changed: taken.stay_changed,
            files: taken.files.iter().map(|file| reversed_file(&taken, file)).collect(),
            notes: taken.notes,
            did: did.iter().filter(|change| is_meant(change)).filter_map(difference).take(MOST_SHOWN).collect(),
        })
    }
}

/// Says whether a path is what version control keeps as data, which commands may change.
fn is_data(target: &Target) -> bool {
    let path = target.place().path();
    guarded::protected(path).is_some() && refused_from_commands(path, FileKind::File).is_none()
}

fn by(session: &SessionRun) -> ChangeAuthor {
    ChangeAuthor { session: session.name.as_str().to_owned(), run: session.run.to_string(), ..ChangeAuthor::default() }
}

fn reversed_file(taken: &TakenBack, (path, became): &(String, Became)) -> ReversedFile {
    let change = match became {
        Became::Restored | Became::Merged | Became::PartlyRestored | Became::Renamed => Some(Change::Replace),
        Became::Returned | Became::ObjectsRestored(_) => Some(Change::Create),
        Became::Removed => Some(Change::Remove),
        Became::Unchanged | Became::Kept | Became::ObjectsKept(_) => None,
    };
    let (verb, remark) = taken.words(*became);
    let words = format!("{verb} {path}{remark}");
    let target = Target::Inside(FileLocation::new(path, Extent::Entry));
    let is_data = is_data(&target);
    ReversedFile { target, change, words, is_data }
}

/// How a change set changed a text file.
fn difference(change: &FileChange) -> Option<FileDiff> {
    let text = |side: &PathContent| match side {
        PathContent::Absent => Some(String::new()),
        PathContent::File(bytes) => decode(bytes).ok().map(|decoded| decoded.text.into_owned()),
        PathContent::Unshown => None,
    };
    let diff = Diff::between(&text(&change.before)?, &text(&change.after)?, HUNK_CONTEXT);
    Some(FileDiff { path: change.path.clone(), diff, notes: change.note.iter().cloned().collect() })
}

/// Returns the file of a hunk that is named without one, which must be the only one that changed.
fn only_file(number: u64, changed: &[FileChange]) -> Result<Target, ToolError> {
    if let [change] = changed {
        return Ok(Target::Inside(FileLocation::new(&change.path, Extent::Entry)));
    }
    let paths: Vec<&str> = changed.iter().take(MOST_SHOWN).map(|change| change.path.as_str()).collect();
    let what = format!("A hunk is one of a file, and change set {number} changed {} files.", changed.len());
    let next = Next::FixArguments(format!("name one of them in \"file\": {}", paths.join(", ")));
    Err(ToolError::new(ErrorKind::BadArguments, what, next))
}

fn changed_meanwhile(file: &ReversedFile) -> ToolError {
    let next = Next::FixArguments("send the call again".into());
    ToolError::new(ErrorKind::Stale, format!("{} was changed while the call was planned.", file.target), next)
}

/// Says to a model why nothing was taken back.
fn told(error: &HistoryError, own: &[u64]) -> ToolError {
    let look = || Next::LookFirst { tool: "undo".into(), at: "your change sets, with action \"list\"".into() };
    let (kind, what, next) = match error {
        HistoryError::NothingLeft => (
            ErrorKind::NoMatch,
            "This session has made no change that could be undone.".to_owned(),
            Next::DoNotRetry("go on".into()),
        ),
        HistoryError::NothingToRedo => {
            (ErrorKind::NoMatch, "This session has not undone that, so there is nothing to redo.".to_owned(), look())
        }
        HistoryError::Unknown(number) => {
            (ErrorKind::NoMatch, format!("Change set {number} is not of this session."), look())
        }
        HistoryError::AlreadyUndone(number) => {
            (ErrorKind::NoChange, format!("Change set {number} is already undone."), look())
        }
        HistoryError::NotConcerned(path) => {
            (ErrorKind::NoMatch, format!("No change set of this session has changed {path}."), look())
        }
        HistoryError::NotInSet { path, set } => {
            (ErrorKind::NoMatch, format!("Change set {set} did not change {path}."), look())
        }
        HistoryError::NoHunks(path) => (
            ErrorKind::BadArguments,
            format!("{path} has no hunks: it was created, removed, or is not text."),
            Next::FixArguments("leave \"hunk\" out to undo the whole file".into()),
        ),
        HistoryError::NoHunk { path, hunk, hunks } => (
            ErrorKind::BadArguments,
            format!("{path} has no hunk {hunk}; the change set changed {hunks} places in it."),
            Next::FixArguments(format!("give a hunk from 1 to {hunks}; action \"preview\" numbers them")),
        ),
        HistoryError::Conflicts(conflicts) => return blocked(conflicts, own, Direction::Undo),
        other => (ErrorKind::Io, format!("{other}."), Next::AskUser("tell the user".into())),
    };
    ToolError::new(kind, what, next)
}

/// Says which paths stand in the way, and what could be done.
fn blocked(conflicts: &[Conflict], own: &[u64], direction: Direction) -> ToolError {
    // What a redo takes back is an undo, whose number no result has shown.
    let (mut what, made) = match direction {
        Direction::Undo => (String::from("Nothing was undone."), ""),
        Direction::Redo => (String::from("Nothing was redone."), "the undo, "),
    };
    for conflict in conflicts.iter().take(MOST_SHOWN) {
        let Conflict { path, set, why, .. } = conflict;
        what.push_str(&format!("\n{path} was changed since {made}change set {set}, {why}"));
        let texts = (conflict.left.as_deref().map(decode), conflict.now.as_deref().map(decode));
        // The plan of the call has not been judged yet, so a secret is not shown.
        if let (false, (Some(Ok(left)), Some(Ok(now)))) = (guarded::is_secret(Path::new(&conflict.path)), texts) {
            let diff = Diff::between(&left.text, &now.text, HUNK_CONTEXT).render(MOST_LINES);
            what.push_str(&format!(":\n{}", diff.trim_end()));
        } else {
            what.push('.');
        }
    }
    let later = conflicts.iter().flat_map(|conflict| &conflict.blocked_by).max();
    let next = match later {
        Some(later) if own.contains(later) => Next::FixArguments(format!("undo change set {later} first")),
        Some(later) => Next::AskUser(format!(
            "leave it, or ask the user: change set {later}, which is not of this session, builds on it"
        )),
        None => Next::UseInstead {
            tool: "edit_file".into(),
            to: "to revert what you still want to, because the file was changed outside of haft".into(),
        },
    };
    ToolError::new(ErrorKind::Stale, what, next)
}
