//! `haft diff`: what one change set did.

use haft::change_summary::{ChangedPath, Importance};
use haft::diff::{Diff, DiffHunk};
use haft::effect::Change;
use haft::encoding::decode;
use haft::path::one_line;
use haft_workspace::history::{FileChange, HUNK_CONTEXT, Side};
use serde_json::{Value, json};

use crate::arguments::{Common, Diff as Arguments};
use crate::exit::Exit;
use crate::rescue::Rescue;
use crate::screen::{self, Part};
use crate::shown_diff;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;
/// Most lines of one file; a program reads them all with `--json`.
const MOST_LINES: usize = 2_000;

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let desk = Rescue::open(common)?;
    let (number, mut changes) = match desk.history.diff(arguments.number) {
        Ok(found) => found,
        Err(error) => return super::undo::refused(common, &error),
    };
    changes.sort_by_cached_key(importance);
    if common.json {
        let files: Vec<Value> = changes.iter().map(record).collect();
        screen::record(&json!({ "v": 1, "change_set": number, "files": files }).to_string())?;
        return Ok(Exit::Ok);
    }
    for change in changes.iter().take(MOST_FILES) {
        show(change)?;
    }
    if let more @ 1.. = changes.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files; \"haft diff {number} --json\" names them all]"));
    }
    Ok(Exit::Ok)
}

/// Returns how much a path matters, so that what is gone comes first and what programs made comes last.
fn importance(change: &FileChange) -> Importance {
    let kind = match (change.before.exists(), change.after.exists()) {
        (_, false) => Change::Remove,
        (true, true) => Change::Replace,
        (false, true) => Change::Create,
    };
    let path = change.path.clone();
    let (is_folder, is_replaced) = (false, false);
    Importance::of(&ChangedPath { path, change: kind, is_folder, is_replaced, inside: None, from: None })
}

/// Shows what was done to one path.
pub(super) fn show(change: &FileChange) -> anyhow::Result<()> {
    let what = match (&change.before, &change.after, &change.note) {
        (_, _, Some(note)) => format!("  ({note})"),
        (Side::Absent, _, _) => "  (created)".to_owned(),
        (_, Side::Absent, _) => "  (removed)".to_owned(),
        _ => String::new(),
    };
    screen::line(&[Part::Strong(&one_line(&change.path)), Part::Faint(&one_line(&what))])?;
    match between(&change.before, &change.after) {
        Compared::Diff(diff) => {
            let lines = match has_hunks(change) {
                true => shown_diff::numbered_lines(&diff, MOST_LINES, &one_line(&change.path)),
                false => shown_diff::lines(&diff, MOST_LINES),
            };
            lines.iter().try_for_each(|line| screen::line(&[line.part()]))?;
        }
        Compared::NotText => screen::line(&[Part::Faint("[not text]")])?,
        Compared::Unknown => {}
    }
    Ok(())
}

/// Returns whether single hunks of a change can be taken back: a file that was created or removed has only itself.
fn has_hunks(change: &FileChange) -> bool {
    change.before.exists() && change.after.exists()
}

/// How two contents compare.
pub(super) enum Compared {
    Diff(Diff),
    NotText,
    /// One of them cannot be shown; a note says why.
    Unknown,
}

/// Compares what was there with what came.
pub(super) fn between(before: &Side, after: &Side) -> Compared {
    let text = |side: &Side| match side {
        Side::Absent => Some(String::new()),
        Side::File(bytes) => decode(bytes).ok().map(|decoded| decoded.text.into_owned()),
        Side::Unshown => None,
    };
    if [before, after].contains(&&Side::Unshown) {
        return Compared::Unknown;
    }
    match (text(before), text(after)) {
        (Some(before), Some(after)) => Compared::Diff(Diff::between(&before, &after, HUNK_CONTEXT)),
        _ => Compared::NotText,
    }
}

fn record(change: &FileChange) -> Value {
    let mut record = json!({ "path": change.path, "existed": change.before.exists(), "exists": change.after.exists() });
    if let Compared::Diff(diff) = between(&change.before, &change.after) {
        record["diff"] = diff.render(usize::MAX).into();
        if has_hunks(change) {
            let hunk = |(hunk, number): (&DiffHunk, usize)| json!({ "hunk": format!("{}:{number}", change.path), "old_line": hunk.old_line, "new_line": hunk.new_line });
            record["hunks"] = diff.hunks.iter().zip(1..).map(hunk).collect();
        }
    }
    if let Some(note) = &change.note {
        record["note"] = note.as_str().into();
    }
    record
}
