//! `haft diff`: what one change set did.

use haft::diff::Diff;
use haft::encoding::decode;
use haft_workspace::history::FileChange;
use serde_json::{Value, json};

use crate::arguments::{Common, Diff as Arguments};
use crate::desk::Desk;
use crate::exit::Exit;
use crate::screen::{self, Part};
use crate::shown_diff;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Most lines of one file; a program reads them all with `--json`.
const MOST_LINES: usize = 2_000;

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let desk = Desk::open(common)?;
    let (number, changes) = match desk.history.diff(arguments.number) {
        Ok(found) => found,
        Err(error) => return super::undo::refused(common, &error),
    };
    if common.json {
        let files: Vec<Value> = changes.iter().map(record).collect();
        screen::answer(&json!({ "v": 1, "change_set": number, "files": files }).to_string())?;
        return Ok(Exit::Ok);
    }
    for change in &changes {
        show(change)?;
    }
    Ok(Exit::Ok)
}

/// Shows what was done to one path.
pub(super) fn show(change: &FileChange) -> anyhow::Result<()> {
    let what = match (&change.before, &change.after, &change.note) {
        (_, _, Some(note)) => format!("  ({note})"),
        (None, Some(_), _) => "  (created)".to_owned(),
        (Some(_), None, _) => "  (removed)".to_owned(),
        _ => String::new(),
    };
    screen::line(&[Part::Strong(&change.path.replace('\n', "\\n")), Part::Faint(&what)])?;
    match between(change) {
        Some(diff) => shown_diff::lines(&diff, MOST_LINES).iter().try_for_each(|line| screen::line(&[line.part()]))?,
        None => screen::line(&[Part::Faint("[not text]")])?,
    }
    Ok(())
}

/// Compares the two, where both are text.
pub(super) fn between(change: &FileChange) -> Option<Diff> {
    let text = |bytes: &Option<Vec<u8>>| match bytes {
        Some(bytes) => decode(bytes).ok().map(|decoded| decoded.text.into_owned()),
        None => Some(String::new()),
    };
    Some(Diff::between(&text(&change.before)?, &text(&change.after)?, CONTEXT))
}

fn record(change: &FileChange) -> Value {
    let diff = between(change).map(|diff| diff.render(usize::MAX));
    let mut record =
        json!({ "path": change.path, "existed": change.before.is_some(), "exists": change.after.is_some() });
    if let Some(diff) = diff {
        record["diff"] = diff.into();
    }
    if let Some(note) = &change.note {
        record["note"] = note.as_str().into();
    }
    record
}
