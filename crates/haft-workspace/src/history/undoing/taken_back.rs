//! Reports what was undone, path by path.

use std::borrow::Cow;

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The number under which the journal has that; nothing when it was only planned.
    pub number: Option<u64>,
    /// The change sets that were taken back.
    pub sets: Vec<u64>,
    /// The change sets that hold again, where an undo was taken back.
    pub redoes: Vec<u64>,
    /// How many files of the change sets stay changed because they were not asked for.
    pub stay_changed: usize,
    /// What became of each path.
    pub files: Vec<(String, Became)>,
    /// What is otherwise worth knowing, a sentence each.
    pub notes: Vec<String>,
}

/// What became of a path when a change was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It has the content it had before.
    Restored,
    /// The change was taken out, and what was done since was kept.
    Merged,
    /// Some parts of the change were taken out, and nothing was done since.
    PartlyRestored,
    /// It was removed.
    Removed,
    /// It exists once more.
    Returned,
    /// It has the name it had before.
    Renamed,
    /// It was so already.
    Unchanged,
    /// A folder that stays, because there is something in it.
    Kept,
    /// An object store that keeps so many objects that the change had added: something else may refer to them.
    ObjectsKept(usize),
    /// An object store to which so many objects were added back.
    ObjectsRestored(usize),
}

impl TakenBack {
    /// Returns what happens to a path, and a remark behind it: "restored", of a plan "restore", of a redo "changed again".
    pub fn words(&self, became: Became) -> (Cow<'static, str>, &'static str) {
        let (is_plan, is_redo) = (self.number.is_none(), !self.redoes.is_empty());
        let tense = |past: &'static str, plan: &'static str| if is_plan { plan } else { past };
        let direction = |undo: (&'static str, &'static str), redo| if is_redo { redo } else { undo };
        let again = if is_redo { " again" } else { "" };
        let objects =
            |count: usize| if count == 1 { "1 git object in".into() } else { format!("{count} git objects in") };
        let (verb, remark) = match became {
            Became::Restored => direction((tense("restored", "restore"), ""), (tense("changed", "change"), again)),
            Became::Returned => direction((tense("restored", "restore"), ""), (tense("created", "create"), again)),
            Became::Merged => (tense("merged", "merge"), " (later changes are kept)"),
            Became::PartlyRestored => (tense("restored", "restore"), " (the chosen hunks; the others stay)"),
            Became::Removed => (tense("removed", "remove"), again),
            Became::Renamed => {
                direction((tense("renamed back", "rename back"), ""), (tense("renamed", "rename"), again))
            }
            Became::Unchanged if is_plan => ("leave", " unchanged (nothing is left to do)"),
            Became::Unchanged => {
                direction(("unchanged", " (nothing was left to undo)"), ("unchanged", " (nothing was left to redo)"))
            }
            Became::Kept => (tense("kept", "keep"), " (it is not empty)"),
            Became::ObjectsKept(count) => return (format!("{} {}", tense("kept", "keep"), objects(count)).into(), ""),
            Became::ObjectsRestored(count) => {
                return (format!("{} {}", tense("restored", "restore"), objects(count)).into(), "");
            }
        };
        (verb.into(), remark)
    }
}
