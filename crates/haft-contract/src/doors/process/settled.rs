//! The changes of a command, and their fate.

use crate::effect::Change;
use crate::files::change_summary::{ChangeSummary, ChangedPath};
use crate::files::path::Target;
use crate::text::diff::Diff;

/// Says whether the changes of a command are committed or discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// haft commits them to the workspace.
    Commit,
    /// haft shows them, and then discards them.
    Discard,
}

/// What a command changed, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// What was changed, or would be.
    pub changes: Vec<Settlement>,
    /// Folders that were made or removed with files in them, which are among the changes.
    pub folders: Vec<(Target, Change)>,
    /// What was refused, kept aside, left out or is otherwise worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// What was not kept because the tool had not said that it would change it. The notes say so too.
    pub undeclared: Vec<Target>,
    /// Files of which the workspace has another version than the command, because others changed them meanwhile.
    pub conflicts: Vec<Conflict>,
    /// The change sets that others committed while the command ran.
    pub meanwhile: Vec<u64>,
}

impl Conflict {
    /// What to do about conflicts.
    pub const NEXT: &'static str = "compare each file with the command's version beside it, keep what is right, and remove \
        the copy; or run the command again";
}

/// A file that a command and another writer changed, and whose two versions could not be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file. It has their version.
    pub path: Target,
    /// Where the command's version is, if it is in the workspace.
    pub kept: Option<Target>,
    /// The change set that has their version; nothing where it was not made through haft.
    pub theirs: Option<u64>,
}

/// One file that a command changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The file.
    pub target: Target,
    /// What happened to it.
    pub change: Change,
    /// Whether it is a folder, or was one where it is gone.
    pub is_folder: bool,
    /// Whether something of another kind has taken its place, such as a file that of a folder.
    pub is_replaced: bool,
    /// How it differs, where it is shown and is text.
    pub diff: Option<Diff>,
    /// How many files in it changed, where it is an ignored tree.
    pub inside: Option<ChangeCounts>,
    /// Where it was, if it is a folder that was moved as a whole.
    pub from: Option<Target>,
}

impl CommitReport {
    /// Sums up what was changed.
    pub fn summary(&self) -> ChangeSummary {
        let folder = |(target, change): &(Target, Change)| ChangedPath {
            path: target.to_string(),
            change: *change,
            is_folder: true,
            is_replaced: false,
            inside: None,
            from: None,
        };
        let paths: Vec<ChangedPath> =
            self.changes.iter().map(ChangedPath::from).chain(self.folders.iter().map(folder)).collect();
        let mut summary = ChangeSummary::of(&paths);
        for (_, change) in &self.folders {
            // Only files are counted.
            match change {
                Change::Remove => summary.counts.removed -= 1,
                Change::Create => summary.counts.created -= 1,
                Change::Replace => summary.counts.changed -= 1,
            }
        }
        summary
    }
}

impl From<&Settlement> for ChangedPath {
    fn from(settlement: &Settlement) -> Self {
        Self {
            path: settlement.target.to_string(),
            change: settlement.change,
            is_folder: settlement.is_folder,
            is_replaced: settlement.is_replaced,
            inside: settlement.inside.map(|counts| [counts.created, counts.replaced, counts.removed]),
            from: settlement.from.as_ref().map(ToString::to_string),
        }
    }
}

/// How many files were created, replaced and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// New ones.
    pub created: u64,
    /// Those that have another content now.
    pub replaced: u64,
    /// Those that are gone.
    pub removed: u64,
}
