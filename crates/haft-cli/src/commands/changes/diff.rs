//! `haft diff`: shows the changes of one change set.

use haft_contract::files::path::one_line;
use haft_host::changes::change_records::{ContentComparison, between, change_record, has_hunks, importance, learn};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{FileChange, PathContent, UndoSelection};
use serde_json::{Value, json};

use crate::arguments::{Common, Diff as Arguments};
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use crate::shown_diff;
use haft_host::opening::rescue::Rescue;

/// Most files that a person is shown.
const MOST_FILES: usize = 200;
/// Most lines of one file; a program reads them all with `--json`.
const MOST_LINES: usize = 2_000;

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let (number, mut changes) = match host.history.diff(arguments.number) {
        Ok(found) => found,
        Err(error) => return super::undo::refused((common, UndoSelection::Newest), &error, host.redactor()),
    };
    changes.sort_by_cached_key(importance);
    let redactor = host.redactor();
    changes.iter().for_each(|change| learn(&change.path, [&change.before, &change.after], redactor));
    if common.json {
        let files: Vec<Value> = changes.iter().map(|change| change_record(change, redactor)).collect();
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

/// Shows what was done to one path.
pub(in crate::commands) fn show(change: &FileChange, redactor: &Redactor) -> anyhow::Result<()> {
    let path = redactor.redact_known(&change.path);
    let path = one_line(&path);
    let what = match (&change.before, &change.after, &change.note) {
        (_, _, Some(note)) => format!("  ({note})"),
        (PathContent::Absent, _, _) => "  (created)".to_owned(),
        (_, PathContent::Absent, _) => "  (removed)".to_owned(),
        _ => String::new(),
    };
    screen::line(&[StyledText::Strong(&path), StyledText::Faint(&one_line(&redactor.redact_known(&what)))])?;
    match between(&change.before, &change.after) {
        ContentComparison::Diff(mut diff) => {
            redactor.redact_diff(&mut diff);
            let lines = match has_hunks(change) {
                true => shown_diff::numbered_lines(&diff, MOST_LINES, &path),
                false => shown_diff::lines(&diff, MOST_LINES),
            };
            lines.iter().try_for_each(|line| screen::line(&[line.part()]))?;
        }
        ContentComparison::NotText => screen::line(&[StyledText::Faint("[not text]")])?,
        ContentComparison::Unknown => {}
    }
    Ok(())
}
