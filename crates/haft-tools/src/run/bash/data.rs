//! Presents the outcome of a command as data for programs, bounded like everything in a result.

use haft_contract::doors::process::{HowEnded, SettledCommand, Settlement};
use haft_contract::files::change_summary::Importance;
use haft_contract::prelude::*;
use serde_json::{Value, json};

use super::shown::ShownStreams;

/// Returns the data of a command with these streams.
pub(super) fn of(ran: &SettledCommand, notes: &[String], shown: &ShownStreams, cx: &RunContext<'_>) -> Value {
    // A result takes four times this many bytes of data; characters may have four bytes each.
    let room = cx.limits().result_whole;
    let (files, more_files) = files(&ran.settled.changes, room / 2);
    let mut data = json!({
        "exit_code": ran.ended.how.exit_code(),
        "stdout": first_bytes(&shown.out, room),
        "stderr": first_bytes(&shown.err, room),
        "duration_ms": u64::try_from(ran.ended.took.as_millis()).unwrap_or(u64::MAX),
        "timed_out": ran.ended.how == HowEnded::TimedOut,
        "files": files,
        "change_set": cx.change_set().map(|number| number.0),
        "notes": first_notes(notes, room / 2),
    });
    if more_files > 0 {
        data["more_files"] = more_files.into();
    }
    data
}

fn first_bytes(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn first_notes(notes: &[String], most: usize) -> Vec<&str> {
    let mut left = most;
    let fits = |note: &&str| {
        let room = left.checked_sub(note.len() + 8);
        left = room.unwrap_or(0);
        room.is_some()
    };
    notes.iter().map(String::as_str).take_while(fits).collect()
}

/// Returns the changed files as far as they fit, and how many do not.
fn files(changes: &[Settlement], most: usize) -> (Vec<Value>, usize) {
    let mut left = most;
    let mut files = Vec::new();
    let mut by_importance: Vec<&Settlement> = changes.iter().collect();
    by_importance.sort_by_cached_key(|change| Importance::of(&(*change).into()));
    for settlement in by_importance {
        let path = settlement.target.to_string();
        let Some(room) = left.checked_sub(path.len() + 48) else { break };
        left = room;
        let change = match settlement.change {
            _ if settlement.from.is_some() => "moved",
            Change::Create => "created",
            Change::Replace => "changed",
            Change::Remove => "removed",
        };
        let mut file = json!({ "path": path, "change": change });
        if let Some(from) = &settlement.from {
            file["from"] = from.to_string().into();
        }
        files.push(file);
    }
    let more = changes.len() - files.len();
    (files, more)
}
