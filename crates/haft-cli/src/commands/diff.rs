//! `haft diff`: what one change set did.

use std::path::Path;

use haft_contract::change_summary::{ChangedPath, Importance};
use haft_contract::diff::{Diff, DiffHunk};
use haft_contract::door::SecretFile;
use haft_contract::effect::Change;
use haft_contract::encoding::decode;
use haft_contract::guarded::secret_kind;
use haft_contract::path::one_line;
use haft_runtime::redact::Redactor;
use haft_workspace::history::{FileChange, HUNK_CONTEXT, Side};
use serde_json::{Value, json};

use crate::arguments::{Common, Diff as Arguments};
use crate::exit::Exit;
use crate::screen::{self, Part};
use crate::shown_diff;
use haft_host::rescue::Rescue;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;
/// Most lines of one file; a program reads them all with `--json`.
const MOST_LINES: usize = 2_000;

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let (number, mut changes) = match host.history.diff(arguments.number) {
        Ok(found) => found,
        Err(error) => return super::undo::refused(common, &error, host.redactor()),
    };
    changes.sort_by_cached_key(importance);
    let redactor = host.redactor();
    changes.iter().for_each(|change| learn(&change.path, [&change.before, &change.after], redactor));
    if common.json {
        let files: Vec<Value> = changes.iter().map(|change| record(change, redactor)).collect();
        screen::record(&json!({ "v": 1, "change_set": number, "files": files }).to_string())?;
        return Ok(Exit::Ok);
    }
    for change in changes.iter().take(MOST_FILES) {
        show(change, redactor)?;
    }
    if let more @ 1.. = changes.len().saturating_sub(MOST_FILES) {
        screen::talk(&format!("[{more} more files; \"haft diff {number} --json\" lists them all]"));
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

/// Learns what is secret in the versions of a file, which may be no more.
pub(super) fn learn(path: &str, sides: [&Side; 2], redactor: &Redactor) {
    if secret_kind(Path::new(path)).is_none() {
        return;
    }
    for side in sides {
        if let Side::File(bytes) = side {
            redactor.also_hide_files(&[SecretFile::of(path.to_owned(), bytes)]);
        }
    }
}

/// Shows what was done to one path.
pub(super) fn show(change: &FileChange, redactor: &Redactor) -> anyhow::Result<()> {
    let path = redactor.redact_known(&change.path);
    let path = one_line(&path);
    let what = match (&change.before, &change.after, &change.note) {
        (_, _, Some(note)) => format!("  ({note})"),
        (Side::Absent, _, _) => "  (created)".to_owned(),
        (_, Side::Absent, _) => "  (removed)".to_owned(),
        _ => String::new(),
    };
    screen::line(&[Part::Strong(&path), Part::Faint(&one_line(&redactor.redact_known(&what)))])?;
    match between(&change.before, &change.after) {
        Compared::Diff(mut diff) => {
            redactor.redact_diff(&mut diff);
            let lines = match has_hunks(change) {
                true => shown_diff::numbered_lines(&diff, MOST_LINES, &path),
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

fn record(change: &FileChange, redactor: &Redactor) -> Value {
    let mut record = json!({ "path": change.path, "existed": change.before.exists(), "exists": change.after.exists() });
    if let Compared::Diff(mut diff) = between(&change.before, &change.after) {
        redactor.redact_diff(&mut diff);
        record["diff"] = diff.render(usize::MAX).into();
        if has_hunks(change) {
            let hunk = |(hunk, number): (&DiffHunk, usize)| json!({ "hunk": format!("{}:{number}", change.path), "old_line": hunk.old_line, "new_line": hunk.new_line });
            record["hunks"] = diff.hunks.iter().zip(1..).map(hunk).collect();
        }
    }
    if let Some(note) = &change.note {
        record["note"] = note.as_str().into();
    }
    redactor.redact_known_value(&mut record);
    record
}
