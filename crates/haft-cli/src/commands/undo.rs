//! `haft undo` and `haft redo`: takes changes back, or the taking back.
//!
//! A person's word: nothing is asked. What somebody changed since is merged or left alone, never overwritten.

use std::borrow::Cow;
use std::path::Path;

use haft_contract::diff::Diff;
use haft_contract::history::other_files;
use haft_contract::path::one_line;
use haft_runtime::redact::Redactor;
use haft_workspace::history::{
    Became, Conflict, HistoryError, Placement, Scope, Side, TakenBack, UndoMode, UndoRequest, Which,
};
use serde_json::{Value, json};

use super::diff::{Compared, between, learn};
use crate::arguments::{Common, Undo};
use crate::exit::Exit;
use crate::screen::{self, Part};
use crate::shown_diff;
use haft_host::change_log::numbers;
use haft_host::rescue::Rescue;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;
/// Most lines of a difference that stands in the way.
const MOST_LINES: usize = 60;

/// Runs `haft undo`.
pub(crate) fn run(common: &Common, arguments: &Undo) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let which = match (arguments.number, arguments.turn, arguments.session) {
        (Some(number), ..) => Which::Number(number),
        (None, true, _) => Which::Turn,
        (None, false, true) => Which::Session,
        (None, false, false) => Which::Newest,
    };
    let locate = |path: &Path| host.locate(path);
    let only = arguments.file.as_deref().map(locate).transpose()?;
    let mut hunks = Vec::new();
    for (path, hunk) in &arguments.hunks {
        hunks.push((locate(path)?, *hunk));
    }
    let scope = match &only {
        Some(target) => Scope::Below(target),
        None if hunks.is_empty() => Scope::All,
        None => Scope::Hunks(&hunks),
    };
    let placement = if arguments.beside { Placement::Beside } else { Placement::InPlace };
    let request = UndoRequest { scope, placement, mode: mode(common), ..UndoRequest::all(which) };
    told((common, host.redactor()), &host.history.request(&request), &request)
}

/// Runs `haft redo`.
pub(crate) fn run_redo(common: &Common) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let request = UndoRequest { mode: mode(common), ..UndoRequest::all(Which::LastUndo) };
    told((common, host.redactor()), &host.history.request(&request), &request)
}

fn mode(common: &Common) -> UndoMode {
    if common.plan { UndoMode::Plan } else { UndoMode::Commit }
}

fn told(
    (common, redactor): (&Common, &Redactor),
    outcome: &Result<TakenBack, HistoryError>,
    request: &UndoRequest<'_>,
) -> anyhow::Result<Exit> {
    match outcome {
        Err(error) => refused(common, error, redactor),
        Ok(taken) if common.json => {
            let mut record = record(taken);
            redactor.redact_known_value(&mut record);
            screen::record(&record.to_string())?;
            Ok(Exit::Ok)
        }
        Ok(taken) => {
            show(taken, request, redactor)?;
            Ok(Exit::Ok)
        }
    }
}

/// Returns what was done, or would be, in the words before the numbers of change sets.
fn verb(taken: &TakenBack, request: &UndoRequest<'_>) -> Cow<'static, str> {
    let is_planned = request.mode == UndoMode::Plan;
    let undo = if is_planned { "Would undo" } else { "Undid" };
    match (request.placement, request.scope) {
        _ if !taken.redoes.is_empty() && is_planned => "Would redo".into(),
        _ if !taken.redoes.is_empty() => "Redid".into(),
        (Placement::Beside, _) if is_planned => "Would restore beside the current files, from".into(),
        (Placement::Beside, _) => "Restored beside the current files, from".into(),
        (Placement::InPlace, Scope::Hunks(_)) => format!("{undo} hunks of").into(),
        (Placement::InPlace, Scope::Below(target)) if taken.stay_changed > 0 => format!("{undo} {target} of").into(),
        (Placement::InPlace, Scope::Below(_) | Scope::All) => undo.into(),
    }
}

/// Returns what is said behind the numbers of change sets.
fn remark(taken: &TakenBack, request: &UndoRequest<'_>) -> String {
    if !taken.redoes.is_empty() {
        return format!(" (its undo was change set {})", numbers(&taken.sets));
    }
    match other_files(taken.stay_changed).filter(|_| request.placement == Placement::InPlace) {
        None => String::new(),
        Some((others, _)) if request.mode == UndoMode::Plan => format!("; {others} would stay changed"),
        Some((others, stay)) => format!("; {others} {stay} changed"),
    }
}

/// Shows what was taken back.
pub(super) fn show(taken: &TakenBack, request: &UndoRequest<'_>, redactor: &Redactor) -> anyhow::Result<()> {
    let named = if taken.redoes.is_empty() { &taken.sets } else { &taken.redoes };
    let noun = if named.len() == 1 { "change set" } else { "change sets" };
    screen::line(&[
        Part::Plain(&one_line(&redactor.redact_known(&verb(taken, request)))),
        Part::Plain(" "),
        Part::Plain(noun),
        Part::Plain(" "),
        Part::Strong(&numbers(named)),
        Part::Plain(&remark(taken, request)),
    ])?;
    for (path, became) in taken.files.iter().take(MOST_FILES) {
        let (verb, remark) = taken.words(*became);
        screen::line(&[
            Part::Plain("  "),
            Part::Plain(&verb),
            Part::Plain(" "),
            Part::Plain(&one_line(&redactor.redact_known(path))),
            Part::Faint(remark),
        ])?;
    }
    if let more @ 1.. = taken.files.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files]"));
    }
    taken.notes.iter().for_each(|note| screen::talk(&redactor.redact_known(&format!("[{note}]"))));
    Ok(())
}

/// Says why nothing was done, with the differences that stand in the way.
pub(super) fn refused(common: &Common, error: &HistoryError, redactor: &Redactor) -> anyhow::Result<Exit> {
    let conflicts = match error {
        HistoryError::Conflicts(conflicts) => &conflicts[..],
        _ => &[],
    };
    // A plan that shows what is in the way is what was asked for.
    let exit = if common.plan && !conflicts.is_empty() { Exit::Ok } else { Exit::Failed };
    if common.json {
        let mut told = refusal(error, conflicts, redactor);
        redactor.redact_known_value(&mut told);
        if common.plan {
            told["planned"] = true.into();
        }
        screen::record(&told.to_string())?;
        return Ok(exit);
    }
    if conflicts.is_empty() {
        screen::talk(&one_line(&redactor.redact_known(&format!("haft: {error}."))));
        return Ok(Exit::Failed);
    }
    for conflict in conflicts.iter().take(MOST_FILES) {
        screen::talk(&one_line(&redactor.redact_known(&format!("haft: {conflict}."))));
        if let Some(diff) = since(conflict, redactor) {
            screen::talk("Changed since:");
            for line in shown_diff::lines(&diff, MOST_LINES) {
                screen::talk_part(&line.part());
            }
        }
    }
    if let more @ 1.. = conflicts.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files were changed since]"));
    }
    let what = if common.plan { "Nothing would be undone." } else { "Nothing was undone." };
    screen::talk(&format!(
        "{what} \"haft undo --file PATH\" undoes other files alone; \"haft undo --beside\" restores earlier versions as NAME.before-N."
    ));
    Ok(exit)
}

/// Returns a refusal as a record.
fn refusal(error: &HistoryError, conflicts: &[Conflict], redactor: &Redactor) -> Value {
    let mut told = json!({ "v": 1, "error": { "kind": kind(error), "what": error.to_string() } });
    let render = |conflict: &Conflict| since(conflict, redactor).map(|diff| diff.render(MOST_LINES));
    if let Some(diff) = conflicts.first().and_then(render) {
        told["error"]["diff"] = diff.into();
    }
    if !conflicts.is_empty() {
        let listed = conflicts.iter().map(|conflict| {
            let mut listed = json!({ "path": conflict.path, "change_set": conflict.set, "why": conflict.why });
            if let Some(diff) = render(conflict) {
                listed["diff"] = diff.into();
            }
            if !conflict.blocked_by.is_empty() {
                listed["undo_first"] = conflict.blocked_by.clone().into();
            }
            listed
        });
        told["conflicts"] = listed.collect();
    }
    told
}

/// Returns what was changed since a change set, where both versions are known.
fn since(conflict: &Conflict, redactor: &Redactor) -> Option<Diff> {
    let now = conflict.now.as_ref().map_or(Side::Absent, |now| Side::File(now.clone()));
    let left = Side::File(conflict.left.clone()?);
    learn(&conflict.path, [&left, &now], redactor);
    match between(&left, &now) {
        Compared::Diff(mut diff) => {
            redactor.redact_diff(&mut diff);
            Some(diff)
        }
        Compared::NotText | Compared::Unknown => None,
    }
}

fn kind(error: &HistoryError) -> &'static str {
    match error {
        HistoryError::NothingLeft | HistoryError::NothingToRedo => "nothing_left",
        HistoryError::Unknown(_) => "unknown_change_set",
        HistoryError::AlreadyUndone(_) => "already_undone",
        HistoryError::Dropped(_) => "dropped",
        HistoryError::Damaged(_) => "damaged",
        HistoryError::NotConcerned(_) | HistoryError::NotInSet { .. } | HistoryError::InBuildFolder { .. } => {
            "not_concerned"
        }
        HistoryError::NoHunks(_) | HistoryError::NoHunk { .. } => "no_hunk",
        HistoryError::NothingEarlier => "nothing_left",
        HistoryError::Entangled(_) => "entangled",
        HistoryError::Halfway { error, .. } => kind(error),
        HistoryError::InTheWay(_) | HistoryError::BesideExists(_) => "in_the_way",
        HistoryError::NotAdded(_) | HistoryError::Plants { .. } | HistoryError::Followed { .. } => "denied",
        HistoryError::Conflicts(_) | HistoryError::Overtaken(_) => "stale",
        HistoryError::System { .. } | HistoryError::Standing { .. } | HistoryError::Journal(_) => "io",
    }
}

fn record(taken: &TakenBack) -> Value {
    let file = |(path, became): &(String, Became)| {
        let (code, count) = match became {
            Became::Restored => ("restored", None),
            Became::Merged => ("merged", None),
            Became::Removed => ("removed", None),
            Became::Returned => ("returned", None),
            Became::Renamed => ("renamed", None),
            Became::Unchanged => ("unchanged", None),
            Became::Kept => ("kept", None),
            Became::ObjectsKept(count) => ("objects_kept", Some(*count)),
            Became::ObjectsRestored(count) => ("objects_restored", Some(*count)),
        };
        let mut file = json!({ "path": path, "became": code });
        if let Some(count) = count {
            file["count"] = count.into();
        }
        file
    };
    let files: Vec<Value> = taken.files.iter().map(file).collect();
    let mut told =
        json!({ "v": 1, "change_set": taken.number, "took_back": taken.sets, "files": files, "notes": taken.notes });
    if taken.number.is_none() {
        told["planned"] = true.into();
    }
    told
}
