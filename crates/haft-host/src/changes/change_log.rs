//! The change sets of a workspace as text and as records, the newest first.

mod moment;
mod summary;
mod tool;

pub use moment::moment;
pub use tool::LogTool;

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use haft_contract::doors::history::Undone;
use haft_contract::effect::Change;
use haft_contract::files::change_summary::{ChangeSummary, ChangedPath, Importance, KindCounts};
use haft_contract::files::path::one_line;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{ChangeLog, ChangeSet, ChangeSetKind};
use serde_json::{Value, json};

use crate::texts::bounded_text::cut;

/// Where the words of a line begin, behind the number.
pub const INDENT: usize = 7;
/// A terminal with fewer columns has no room for who made a change.
const NARROW: usize = 60;
/// Fewer columns than these are not enough for a command, or for files: they get a line of their own.
const LEAST_COMMAND: usize = 12;
const LEAST_FILES: usize = 24;
/// How wide the text for programs is.
const TEXT_WIDTH: usize = 120;

/// What is said of a workspace without changes.
pub const NOTHING: &str = "Nothing was changed here through haft.";

/// Hides known secrets in what a model wrote: names of files, and commands.
pub fn hide_in(set: &mut ChangeSet, redactor: &Redactor) {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = redactor.redact_known(text) {
            *text = hidden;
        }
    };
    set.files.iter_mut().for_each(|file| hide(&mut file.path));
    [&mut set.agent, &mut set.command, &mut set.description].into_iter().flatten().for_each(hide);
    [&mut set.tool, &mut set.session, &mut set.call].into_iter().for_each(hide);
}

/// Writes the newest change sets as text.
#[must_use]
pub fn as_text(mut log: ChangeLog, most: usize, redactor: &Redactor) -> String {
    log.sets.iter_mut().take(most).for_each(|set| hide_in(set, redactor));
    let shown = &log.sets[..log.sets.len().min(most)];
    let mut lines: Vec<String> = shown.iter().flat_map(|set| rows(set, TEXT_WIDTH)).collect();
    if shown.is_empty() {
        lines.push(NOTHING.to_owned());
    }
    if log.sets.len() > shown.len() {
        lines.push(format!("[{} older ones; \"haft log\" lists them]", log.sets.len() - shown.len()));
    }
    lines.extend(log.warnings.iter().cloned());
    lines.join("\n") + "\n"
}

/// Says what a change set is in at most so many columns: who made it, with which command, and what that did.
#[must_use]
pub fn rows(set: &ChangeSet, columns: usize) -> Vec<String> {
    let is_narrow = columns < NARROW;
    let when = if is_narrow { format!("{}  ", ago(set.at)) } else { format!("{:<11} ", ago(set.at)) };
    let by = set.agent.as_deref().filter(|_| !is_narrow);
    let by = by.map(|agent| format!(" by {}", one_line(agent))).unwrap_or_default();
    let head = format!("{:>5}  {when}{}{by}{}  ", set.number, what(set), undone(set));
    let indent = " ".repeat(INDENT);
    let below = || format!("{indent}{}", summary::line(set, columns.saturating_sub(INDENT)));
    let room = columns.saturating_sub(summary::width(&head));
    let mut rows = match &set.command {
        Some(command) if room < LEAST_COMMAND => vec![head, format!("{indent}{}", one_line(command)), below()],
        Some(command) => vec![format!("{head}{}", one_line(command)), below()],
        None if room < LEAST_FILES => vec![head, below()],
        None => vec![format!("{head}{}", summary::line(set, room))],
    };
    if !set.hosts.is_empty() {
        rows.push(format!("{indent}network: {}", one_line(&set.hosts.join(", "))));
    }
    rows.iter_mut().for_each(|row| *row = cut(row.trim_end(), columns));
    rows
}

fn undone(set: &ChangeSet) -> &'static str {
    match set.undone {
        Undone::No => "",
        Undone::Partly => " (partly undone)",
        Undone::Yes => " (undone)",
    }
}

fn what(set: &ChangeSet) -> String {
    match &set.kind {
        ChangeSetKind::Change => one_line(&set.tool).into_owned(),
        ChangeSetKind::Undo(sets) => format!("undo of {}", numbers(sets)),
        ChangeSetKind::Redo(sets) => format!("redo of {}", numbers(sets)),
    }
}

/// Says how long ago a moment is, given in milliseconds since 1970.
#[must_use]
pub fn ago(at: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    match now.saturating_sub(at / 1_000) {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

/// Returns the record of a change set.
#[must_use]
pub fn record(set: &ChangeSet) -> Value {
    let change = |change| match change {
        Change::Create => "create",
        Change::Replace => "replace",
        Change::Remove => "remove",
    };
    let mut by_importance: Vec<&ChangedPath> = set.files.iter().collect();
    by_importance.sort_by_key(|file| Importance::of(file));
    let files: Vec<Value> = by_importance
        .iter()
        .map(|file| match file.inside {
            None => json!({ "path": file.path, "change": change(file.change) }),
            Some([created, changed, removed]) => json!({
                "path": file.path,
                "change": change(file.change),
                "inside": { "removed": removed, "changed": changed, "created": created },
            }),
        })
        .collect();
    let KindCounts { removed, replaced, changed, created } = ChangeSummary::of(&set.files).counts;
    let mut record = json!({
        "number": set.number,
        "time": utc(set.at),
        "agent": set.agent,
        "session": set.session,
        "turn": set.turn,
        "tool": set.tool,
        "call": set.call,
        "changes": { "removed": removed, "replaced": replaced, "changed": changed, "created": created },
        "files": files,
        "undone": set.undone == Undone::Yes,
    });
    match (&set.command, &set.kind) {
        (Some(command), _) => record["command"] = command.as_str().into(),
        (None, ChangeSetKind::Change) => record["description"] = set.description.as_deref().unwrap_or(&set.tool).into(),
        (None, ChangeSetKind::Undo(_) | ChangeSetKind::Redo(_)) => record["description"] = what(set).into(),
    }
    if !set.hosts.is_empty() {
        record["network"] = set.hosts.clone().into();
    }
    if set.undone == Undone::Partly {
        record["partly_undone"] = true.into();
    }
    match &set.kind {
        ChangeSetKind::Change => {}
        ChangeSetKind::Undo(sets) => record["undo_of"] = sets.clone().into(),
        ChangeSetKind::Redo(sets) => record["redo_of"] = sets.clone().into(),
    }
    record
}

/// Writes a moment, given in milliseconds since 1970, as RFC 3339 does.
#[must_use]
pub fn utc(at: u64) -> String {
    let (seconds, milliseconds) = (at / 1_000, at % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that the leap day is the last one; an era has 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z", year + era * 400)
}

/// Names change sets: `3`, `7–4, 2`.
#[must_use]
pub fn numbers(sets: &[u64]) -> String {
    let runs = sets.chunk_by(|one, next| one.checked_sub(1) == Some(*next));
    let run = |run: &[u64]| match run {
        [first, _, .., last] => format!("{first}–{last}"),
        few => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_programs_read_them() {
        for (at, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_102_444_800_001, "2100-01-01T00:00:00.001Z"),
        ] {
            assert_eq!(utc(at), expected);
        }
    }

    #[test]
    fn every_width_shows_the_command_and_what_it_did() {
        let file = |path: &str| ChangedPath {
            path: path.to_owned(),
            change: Change::Remove,
            is_folder: false,
            is_replaced: false,
            inside: None,
            from: None,
        };
        let set = ChangeSet {
            number: 12,
            at: 0,
            tool: "bash".into(),
            call: "1".into(),
            session: "s".into(),
            turn: 1,
            agent: Some("some-client".into()),
            command: Some("rm -r src/old && cargo test --workspace".into()),
            description: None,
            hosts: Vec::new(),
            kind: ChangeSetKind::Change,
            files: vec![file("src/old/first.rs"), file("src/old/second.rs"), file(".git/index")],
            undone: Undone::Partly,
        };
        for columns in [20, 40, 60, 80, 200] {
            let rows = rows(&set, columns);
            assert!(rows.iter().all(|row| summary::width(row) <= columns), "{columns}: {rows:#?}");
            assert!(rows.iter().any(|row| row.contains("rm -r src")), "{columns}: {rows:#?}");
            assert!(rows.last().is_some_and(|row| row.contains("−3  −")), "{columns}: {rows:#?}");
        }
        let wide = rows(&set, 200);
        assert!(wide[0].ends_with("bash by some-client (partly undone)  rm -r src/old && cargo test --workspace"));
        assert_eq!(wide[1], "       −3  −src/old/first.rs −src/old/second.rs  git: 1 file");
    }
}
