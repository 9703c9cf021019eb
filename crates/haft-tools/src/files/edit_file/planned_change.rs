//! Holds the planned change of one file: previews it, makes it and reports it.

use haft_contract::doors::door::{FileOp, FileOpResult};
use haft_contract::plan::FileDiff;
use haft_contract::text::diff::Diff;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Value, json};

use crate::files::change::{MOST_LINES, told};

/// The change of one file.
pub struct PlannedChange {
    pub(super) op: FileOp,
    pub(super) diff: Diff,
    pub(super) notes: Vec<String>,
    /// How many edits were sent for it; none for a new or removed file.
    pub(super) edits: usize,
    pub(super) places: usize,
}

impl PlannedChange {
    /// Returns what a person is shown of it.
    pub(super) fn preview(&self) -> FileDiff {
        let (path, what) = match &self.op {
            FileOp::Put(target, _) if self.edits > 0 => (target.to_string(), None),
            FileOp::Put(target, _) => (target.to_string(), Some("The file is new.")),
            FileOp::Remove(target) => (target.to_string(), Some("The file is removed.")),
            FileOp::Rename(from, to) | FileOp::RenameAs(from, to, _) => (format!("{from} → {to}"), None),
        };
        let notes = what.map(str::to_owned).into_iter().chain(self.notes.iter().cloned()).collect();
        FileDiff { path, diff: self.diff.clone(), notes }
    }

    /// Returns what the model is told of it. It knows what it wrote, and a removed file it may never have read.
    pub(super) fn told(&self, mut written: FileOpResult) -> String {
        written.notes.extend(self.notes.iter().cloned());
        let nothing = Diff::default();
        told(self.line(), &written, if self.edits > 0 && !self.is_removal() { &self.diff } else { &nothing })
    }

    /// Returns it as data.
    pub(super) fn data(&self) -> Value {
        let (added, removed) = (self.diff.added, self.diff.removed);
        let mut data = match &self.op {
            FileOp::Put(target, bytes) => json!({ "path": target.to_string(), "bytes": bytes.len() }),
            FileOp::Remove(target) => json!({ "path": target.to_string(), "removed": true }),
            FileOp::Rename(from, to) => json!({ "path": from.to_string(), "moved_to": to.to_string() }),
            FileOp::RenameAs(from, to, bytes) => {
                json!({ "path": from.to_string(), "moved_to": to.to_string(), "bytes": bytes.len() })
            }
        };
        if matches!(self.op, FileOp::Put(..)) && self.edits == 0 {
            data["created"] = json!(true);
        } else if !self.is_removal() {
            data["places"] = json!(self.places);
        }
        data["lines_added"] = json!(added);
        data["lines_removed"] = json!(removed);
        if !self.is_removal() {
            data["diff"] = json!(self.diff.render(MOST_LINES));
        }
        data
    }

    fn is_removal(&self) -> bool {
        matches!(self.op, FileOp::Remove(_))
    }

    fn line(&self) -> String {
        let lines = format!("+{} −{} lines", self.diff.added, self.diff.removed);
        match &self.op {
            FileOp::Put(target, bytes) if self.edits == 0 => {
                format!("Created {target} ({}; {lines}).", GroupedNumber(bytes.len() as u64).of("byte"))
            }
            FileOp::Put(target, _) => format!("Edited {target}: {}, {lines}.", self.counts()),
            FileOp::Remove(target) => format!("Removed {target} (−{} lines).", self.diff.removed),
            FileOp::Rename(from, to) => format!("Moved {from} to {to}."),
            FileOp::RenameAs(from, to, _) => format!("Moved {from} to {to}: {}, {lines}.", self.counts()),
        }
    }

    fn counts(&self) -> String {
        let counted = |count: usize, noun: &str| GroupedNumber(count as u64).of(noun);
        let edits = counted(self.edits, "edit");
        if self.places == self.edits { edits } else { format!("{edits} in {}", counted(self.places, "place")) }
    }
}
