//! `haft undo` and `haft redo`: undo changes, or revert the undo.
//!
//! The person decides, so haft asks nothing. It merges later changes or leaves them alone, and never overwrites them.

mod by_hunk;

use std::borrow::Cow;
use std::path::Path;

use haft_contract::doors::history::other_files;
use haft_contract::files::path::one_line;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{HistoryError, Placement, Scope, TakenBack, UndoMode, UndoRequest, UndoSelection};

use crate::arguments::{Common, Hunk, UndoCommandArguments};
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use crate::shown_diff;
use haft_host::changes::change_log::numbers;
use haft_host::changes::change_records::{MOST_LINES, conflicts_of, refusal, since, taken_back_record};
use haft_host::opening::rescue::Rescue;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;

/// Runs `haft undo`.
pub(crate) fn run(common: &Common, arguments: &UndoCommandArguments) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let which = match arguments {
        UndoCommandArguments { number: Some(number), .. } => UndoSelection::Number(*number),
        UndoCommandArguments { since: Some(number), .. } => UndoSelection::Since(*number),
        UndoCommandArguments { turn: true, .. } => UndoSelection::Turn,
        UndoCommandArguments { session: true, .. } => UndoSelection::Session,
        _ => UndoSelection::Newest,
    };
    let locate = |path: &Path| host.locate(path);
    let only = arguments.file.as_deref().map(locate).transpose()?;
    let mut hunks = Vec::new();
    for hunk in &arguments.hunks {
        match hunk {
            Hunk::Asked => return by_hunk::run(common, &host, arguments.number),
            Hunk::Named(path, number) => hunks.push((locate(path)?, *number)),
        }
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
    let request = UndoRequest { mode: mode(common), ..UndoRequest::all(UndoSelection::LastUndo) };
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
        Err(error) => refused((common, request.which), error, redactor),
        Ok(taken) if common.json => {
            let mut record = taken_back_record(taken);
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

/// Returns the text before the numbers of change sets: what haft did, or would do.
fn verb(taken: &TakenBack, request: &UndoRequest<'_>) -> Cow<'static, str> {
    let is_planned = request.mode == UndoMode::Plan;
    let undo = if is_planned { "Would undo" } else { "Undid" };
    match (request.placement, request.scope) {
        _ if !taken.redoes.is_empty() && is_planned => "Would redo".into(),
        _ if !taken.redoes.is_empty() => "Redid".into(),
        (Placement::Beside, _) if is_planned => "Would restore beside the current files, from".into(),
        (Placement::Beside, _) => "Restored beside the current files, from".into(),
        (Placement::InPlace, Scope::Hunks(_) | Scope::Changes(_)) => format!("{undo} hunks of").into(),
        (Placement::InPlace, Scope::Below(target)) if taken.stay_changed > 0 => format!("{undo} {target} of").into(),
        (Placement::InPlace, Scope::Below(_) | Scope::All) => undo.into(),
    }
}

/// Returns the text after the numbers of change sets.
fn remark(taken: &TakenBack, request: &UndoRequest<'_>) -> String {
    if !taken.redoes.is_empty() {
        return format!(" (undone by change set {})", numbers(&taken.sets));
    }
    if request.which == UndoSelection::LastUndo {
        return ", which had restored earlier versions beside the files".to_owned();
    }
    match other_files(taken.stay_changed).filter(|_| request.placement == Placement::InPlace) {
        None => String::new(),
        Some((others, _)) if request.mode == UndoMode::Plan => format!("; {others} would stay changed"),
        Some((others, stay)) => format!("; {others} {stay} changed"),
    }
}

/// Shows what haft undid.
pub(in crate::commands) fn show(
    taken: &TakenBack,
    request: &UndoRequest<'_>,
    redactor: &Redactor,
) -> anyhow::Result<()> {
    let named = if taken.redoes.is_empty() { &taken.sets } else { &taken.redoes };
    let noun = if named.len() == 1 { "change set" } else { "change sets" };
    screen::line(&[
        StyledText::Plain(&one_line(&redactor.redact_known(&verb(taken, request)))),
        StyledText::Plain(" "),
        StyledText::Plain(noun),
        StyledText::Plain(" "),
        StyledText::Strong(&numbers(named)),
        StyledText::Plain(&remark(taken, request)),
    ])?;
    for (path, became) in taken.files.iter().take(MOST_FILES) {
        let (verb, remark) = taken.words(*became);
        screen::line(&[
            StyledText::Plain("  "),
            StyledText::Plain(&verb),
            StyledText::Plain(" "),
            StyledText::Plain(&one_line(&redactor.redact_known(path))),
            StyledText::Faint(remark),
        ])?;
    }
    if let more @ 1.. = taken.files.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files]"));
    }
    taken.notes.iter().for_each(|note| screen::talk(&redactor.redact_known(&format!("[{note}]"))));
    Ok(())
}

/// Says why haft did nothing, with the differences that prevent it.
pub(in crate::commands) fn refused(
    (common, which): (&Common, UndoSelection),
    error: &HistoryError,
    redactor: &Redactor,
) -> anyhow::Result<Exit> {
    let done = if which == UndoSelection::LastUndo { "redone" } else { "undone" };
    let conflicts = conflicts_of(error);
    // A plan that shows the conflicts is a success: the person asked for it.
    let exit = if common.plan && !conflicts.is_empty() { Exit::Ok } else { Exit::Failed };
    if common.json {
        let mut told = refusal(error, redactor);
        told["error"]["what"] = in_words(error, done).into();
        redactor.redact_known_value(&mut told);
        if common.plan {
            told["planned"] = true.into();
        }
        screen::record(&told.to_string())?;
        return Ok(exit);
    }
    if conflicts.is_empty() {
        screen::talk(&one_line(&redactor.redact_known(&format!("haft: {}.", in_words(error, done)))));
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
    let would = if common.plan { "would be" } else { "was" };
    let others = match which {
        UndoSelection::LastUndo => "",
        _ => {
            " \"haft undo --file PATH\" undoes other files alone; \"haft undo --beside\" restores earlier versions as \
             NAME.before-N."
        }
    };
    screen::talk(&format!("Nothing {would} {done}.{others}"));
    Ok(exit)
}

/// Returns the text of an error; the errors are worded for an undo.
fn in_words(error: &HistoryError, done: &str) -> String {
    error.to_string().replace("nothing was undone", &format!("nothing was {done}"))
}
