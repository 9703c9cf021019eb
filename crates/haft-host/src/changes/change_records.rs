//! Shows single change sets, and the results and refusals of undo, as differences and as records for programs.
//!
//! Not here: lists of change sets (`change_log`), colours (`haft-cli`).

use std::path::Path;

use haft_contract::doors::door::SecretFile;
use haft_contract::effect::Change;
use haft_contract::files::change_summary::{ChangedPath, Importance};
use haft_contract::files::guarded::secret_kind;
use haft_contract::text::diff::{Diff, DiffHunk};
use haft_contract::text::encoding::decode;
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{Became, Conflict, FileChange, HUNK_CONTEXT, HistoryError, PathContent, TakenBack};
use serde_json::{Value, json};

/// Most lines of a difference that stands in the way.
pub const MOST_LINES: usize = 60;

/// Returns how much a path matters, so that what is gone comes first and what programs made comes last.
pub fn importance(change: &FileChange) -> Importance {
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
pub fn learn(path: &str, sides: [&PathContent; 2], redactor: &Redactor) {
    if secret_kind(Path::new(path)).is_none() {
        return;
    }
    for side in sides {
        if let PathContent::File(bytes) = side {
            redactor.also_hide_files(&[SecretFile::of(path.to_owned(), bytes)]);
        }
    }
}

/// Returns whether single hunks of a change can be taken back: a file that was created or removed has only itself.
pub fn has_hunks(change: &FileChange) -> bool {
    change.before.exists() && change.after.exists()
}

/// The result of comparing two contents.
pub enum ContentComparison {
    /// Both are text.
    Diff(Diff),
    /// One of them is no text.
    NotText,
    /// One of them cannot be shown; a note says why.
    Unknown,
}

/// Compares what was there with what came.
pub fn between(before: &PathContent, after: &PathContent) -> ContentComparison {
    let text = |side: &PathContent| match side {
        PathContent::Absent => Some(String::new()),
        PathContent::File(bytes) => decode(bytes).ok().map(|decoded| decoded.text.into_owned()),
        PathContent::Unshown => None,
    };
    if [before, after].contains(&&PathContent::Unshown) {
        return ContentComparison::Unknown;
    }
    match (text(before), text(after)) {
        (Some(before), Some(after)) => ContentComparison::Diff(Diff::between(&before, &after, HUNK_CONTEXT)),
        _ => ContentComparison::NotText,
    }
}

/// Returns what was done to one path, for programs.
pub fn change_record(change: &FileChange, redactor: &Redactor) -> Value {
    let mut record = json!({ "path": change.path, "existed": change.before.exists(), "exists": change.after.exists() });
    if let ContentComparison::Diff(mut diff) = between(&change.before, &change.after) {
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

/// Returns a refusal as a record.
pub fn refusal(error: &HistoryError, redactor: &Redactor) -> Value {
    let conflicts = conflicts_of(error);
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

/// Returns the files that stand in the way of an undo.
pub fn conflicts_of(error: &HistoryError) -> &[Conflict] {
    match error {
        HistoryError::Conflicts(conflicts) => conflicts,
        _ => &[],
    }
}

/// Returns what was changed since a change set, where both versions are known.
pub fn since(conflict: &Conflict, redactor: &Redactor) -> Option<Diff> {
    let now = conflict.now.as_ref().map_or(PathContent::Absent, |now| PathContent::File(now.clone()));
    let left = PathContent::File(conflict.left.clone()?);
    learn(&conflict.path, [&left, &now], redactor);
    match between(&left, &now) {
        ContentComparison::Diff(mut diff) => {
            redactor.redact_diff(&mut diff);
            Some(diff)
        }
        ContentComparison::NotText | ContentComparison::Unknown => None,
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
        HistoryError::NoLines { .. } => "no_text",
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

/// Returns what was undone, for programs.
pub fn taken_back_record(taken: &TakenBack) -> Value {
    let file = |(path, became): &(String, Became)| {
        let (code, count) = match became {
            Became::Restored => ("restored", None),
            Became::Merged => ("merged", None),
            Became::PartlyRestored => ("partly_restored", None),
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
