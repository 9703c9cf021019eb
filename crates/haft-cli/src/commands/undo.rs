//! `haft undo` and `haft redo`: takes changes back, or the taking back.
//!
//! A person's word: nothing is asked. What somebody changed since is merged or left alone, never overwritten.

use haft::path::one_line;
use haft_workspace::history::{Became, HistoryError, Side, TakenBack, Which};
use serde_json::{Value, json};

use super::diff::{Compared, between};
use crate::arguments::{Common, Undo};
use crate::exit::Exit;
use crate::rescue::Rescue;
use crate::screen::{self, Part};
use crate::shown_diff;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;
/// Most lines of a difference that stands in the way.
const MOST_LINES: usize = 60;

/// Runs `haft undo`.
pub(crate) fn run(common: &Common, arguments: &Undo) -> anyhow::Result<Exit> {
    if common.plan {
        return plan_mode(common);
    }
    let desk = Rescue::open(common)?;
    let which = match (arguments.number, arguments.turn, arguments.session) {
        (Some(number), ..) => Which::Number(number),
        (None, true, _) => Which::Turn,
        (None, false, true) => Which::Session,
        (None, false, false) => Which::Newest,
    };
    let only = match &arguments.file {
        Some(path) => Some(desk.locate(path)?),
        None => None,
    };
    told(common, desk.history.undo(which, only.as_ref()), "Took back")
}

/// Runs `haft redo`.
pub(crate) fn run_redo(common: &Common) -> anyhow::Result<Exit> {
    if common.plan {
        return plan_mode(common);
    }
    let desk = Rescue::open(common)?;
    told(common, desk.history.redo(), "Took back the undo,")
}

/// Whoever plans changes nothing, not even back.
fn plan_mode(common: &Common) -> anyhow::Result<Exit> {
    let what = "nothing is taken back in plan mode; leave --plan out";
    match common.json {
        true => screen::record(&json!({ "v": 1, "error": { "kind": "denied", "what": what } }).to_string())?,
        false => screen::talk(&format!("haft: {what}.")),
    }
    Ok(Exit::Refused)
}

fn told(common: &Common, outcome: Result<TakenBack, HistoryError>, what: &str) -> anyhow::Result<Exit> {
    let taken = match outcome {
        Ok(taken) => taken,
        Err(error) => return refused(common, &error),
    };
    if common.json {
        screen::record(&record(&taken).to_string())?;
        return Ok(Exit::Ok);
    }
    show(&taken, what)?;
    Ok(Exit::Ok)
}

/// Shows what was taken back.
pub(super) fn show(taken: &TakenBack, what: &str) -> anyhow::Result<()> {
    let noun = if taken.sets.len() == 1 { "change set" } else { "change sets" };
    screen::line(&[
        Part::Plain(what),
        Part::Plain(" "),
        Part::Plain(noun),
        Part::Plain(" "),
        Part::Strong(&numbers(&taken.sets)),
    ])?;
    for (path, became) in taken.files.iter().take(MOST_FILES) {
        screen::line(&[
            Part::Plain("  "),
            Part::Plain(&one_line(path)),
            Part::Faint(": "),
            Part::Plain(words(*became)),
        ])?;
    }
    if let more @ 1.. = taken.files.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files]"));
    }
    taken.notes.iter().for_each(|note| screen::talk(&format!("[{note}]")));
    Ok(())
}

/// Names change sets: `3`, `7–4, 2`.
pub(super) fn numbers(sets: &[u64]) -> String {
    let runs = sets.chunk_by(|one, next| one.checked_sub(1) == Some(*next));
    let run = |run: &[u64]| match run {
        [first, _, .., last] => format!("{first}–{last}"),
        few => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

fn words(became: Became) -> &'static str {
    match became {
        Became::Restored => "as it was before",
        Became::Merged => "taken out; what was changed since is kept",
        Became::Removed => "gone again",
        Became::Returned => "there again",
        Became::Renamed => "has its old name again",
        Became::Unchanged => "was so already",
        Became::Kept => "stays, there is something in it",
    }
}

/// Says why nothing was done, with the difference that stands in the way.
pub(super) fn refused(common: &Common, error: &HistoryError) -> anyhow::Result<Exit> {
    let difference = match error {
        HistoryError::Conflict { left, now, .. } => {
            let now = now.as_ref().map_or(Side::Absent, |now| Side::File(now.clone()));
            let left = left.as_ref().map(|left| Side::File(left.clone()));
            match left.map(|left| between(&left, &now)) {
                Some(Compared::Diff(diff)) => Some(diff),
                _ => None,
            }
        }
        _ => None,
    };
    if common.json {
        let mut told = json!({ "v": 1, "error": { "kind": kind(error), "what": error.to_string() } });
        if let Some(diff) = difference {
            told["error"]["diff"] = diff.render(MOST_LINES).into();
        }
        screen::record(&told.to_string())?;
        return Ok(Exit::Failed);
    }
    screen::talk(&one_line(&format!("haft: {error}.")));
    if let Some(diff) = difference {
        screen::talk("Changed since:");
        for line in shown_diff::lines(&diff, MOST_LINES) {
            screen::talk_part(&line.part());
        }
    }
    Ok(Exit::Failed)
}

fn kind(error: &HistoryError) -> &'static str {
    match error {
        HistoryError::NothingLeft | HistoryError::NothingToRedo => "nothing_left",
        HistoryError::Unknown(_) => "unknown_change_set",
        HistoryError::AlreadyUndone(_) => "already_undone",
        HistoryError::Dropped(_) => "dropped",
        HistoryError::Damaged(_) => "damaged",
        HistoryError::NotConcerned(_) => "not_concerned",
        HistoryError::Entangled(_) => "entangled",
        HistoryError::InTheWay(_) => "in_the_way",
        HistoryError::NotAdded(_) => "denied",
        HistoryError::Conflict { .. } | HistoryError::Overtaken(_) => "stale",
        HistoryError::System { .. } | HistoryError::Standing { .. } | HistoryError::Journal(_) => "io",
    }
}

fn record(taken: &TakenBack) -> Value {
    let became = |became| match became {
        Became::Restored => "restored",
        Became::Merged => "merged",
        Became::Removed => "removed",
        Became::Returned => "returned",
        Became::Renamed => "renamed",
        Became::Unchanged => "unchanged",
        Became::Kept => "kept",
    };
    let files: Vec<Value> =
        taken.files.iter().map(|(path, how)| json!({ "path": path, "became": became(*how) })).collect();
    json!({ "v": 1, "change_set": taken.number, "took_back": taken.sets, "files": files, "notes": taken.notes })
}
