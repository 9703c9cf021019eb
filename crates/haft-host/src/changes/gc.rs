//! Lists what haft keeps on disk for each workspace, and removes what a person chose (`haft gc`).
//!
//! Not here: counting and removing (`haft_workspace::state`), asking (`haft-cli`).

pub mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use haft_contract::files::path::one_line;
use haft_workspace::state::{
    Selection, StateKind, UndoRange, WorkspacePresence, WorkspaceState, WorkspaceUsage, real_path_of, remove_leftovers,
};
use serde_json::{Value, json};

use super::change_log::utc;
use crate::opening::rescue::Rescue;

/// What a person chose.
pub struct Cleanup {
    /// The workspaces.
    pub workspaces: ChosenWorkspaces,
    /// The kinds of data that were named.
    pub kinds: Vec<StateKind>,
    /// How old the data must be, at least.
    pub older_than: Option<Duration>,
}

/// Which workspaces are meant.
pub enum ChosenWorkspaces {
    /// The one of the current folder.
    Current,
    /// Those of these folders.
    Named(Vec<PathBuf>),
    /// All of them.
    All,
    /// Those that no longer exist.
    Gone,
}

impl Cleanup {
    /// Returns what is to be freed; nothing where nothing was chosen.
    pub fn selection(&self) -> Option<Selection> {
        let mut kinds = self.kinds.clone();
        // Without the journal nothing leads to them.
        if let Some(journal) = kinds.iter().position(|kind| *kind == StateKind::Journal)
            && !kinds.contains(&StateKind::Trees)
        {
            kinds.insert(journal + 1, StateKind::Trees);
        }
        if kinds.is_empty() && (matches!(self.workspaces, ChosenWorkspaces::Gone) || self.older_than.is_some()) {
            kinds = StateKind::ALL.into();
        }
        let before = self.older_than.map(|age| SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
        (!kinds.is_empty()).then_some(Selection { kinds, before })
    }

    /// Returns the workspaces to show where nothing is to be freed: all of them, unless some are named.
    pub fn shown(&self, rescue: &Rescue) -> Vec<WorkspaceUsage> {
        match &self.workspaces {
            ChosenWorkspaces::Named(_) => self.chosen(rescue),
            _ => WorkspaceUsage::of_all(&rescue.state_folder),
        }
    }

    /// Returns what would be freed, workspace by workspace.
    ///
    /// # Errors
    ///
    /// Fails if haft's own files cannot be read.
    pub fn plan(&self, rescue: &Rescue, wanted: &Selection) -> anyhow::Result<Vec<PlannedCleanup>> {
        let mut plan = Vec::new();
        for usage in self.chosen(rescue) {
            let freed = usage.would_free(wanted)?;
            plan.extend((!freed.is_empty()).then_some(PlannedCleanup { usage, freed }));
        }
        Ok(plan)
    }

    fn chosen(&self, rescue: &Rescue) -> Vec<WorkspaceUsage> {
        let all = WorkspaceUsage::of_all(&rescue.state_folder);
        let folders = match &self.workspaces {
            ChosenWorkspaces::All => return all,
            ChosenWorkspaces::Gone => {
                return all.into_iter().filter(|usage| usage.standing == WorkspacePresence::Gone).collect();
            }
            ChosenWorkspaces::Current => &[][..],
            ChosenWorkspaces::Named(folders) => folders,
        };
        let named: Vec<WorkspaceUsage> = match folders.is_empty() {
            true => vec![rescue.state.usage()],
            false => folders.iter().map(|folder| usage_of(&rescue.state_folder, folder)).collect(),
        };
        let paths: Vec<PathBuf> = folders.iter().map(|folder| real_path_of(folder)).collect();
        let is_named = |usage: &WorkspaceUsage| {
            // One that no longer exists is found by the path that it had.
            let had = usage.standing == WorkspacePresence::Gone
                && usage.path.as_ref().is_some_and(|path| paths.contains(path));
            had || named.iter().any(|named| named.is_same(usage))
        };
        all.into_iter().filter(is_named).collect()
    }
}

fn usage_of(state_folder: &Path, folder: &Path) -> WorkspaceUsage {
    WorkspaceState::new(state_folder, &real_path_of(folder)).usage()
}

/// What would be freed of one workspace.
pub struct PlannedCleanup {
    usage: WorkspaceUsage,
    freed: Vec<(StateKind, u64)>,
}

impl PlannedCleanup {
    /// Returns how many bytes that are.
    pub fn bytes(&self) -> u64 {
        self.freed.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns whether changes could no longer be undone.
    pub fn loses_journal(&self) -> bool {
        self.freed.iter().any(|(kind, _)| *kind == StateKind::Journal)
    }

    /// Says it in a line.
    pub fn in_words(&self) -> String {
        let kinds: Vec<String> =
            self.freed.iter().map(|(kind, bytes)| format!("{} {}", kind.name(), size(*bytes))).collect();
        format!("{}: {}", place(&self.usage), kinds.join(", "))
    }

    /// Returns it for programs.
    pub fn record(&self) -> Value {
        let kinds = self.freed.iter().map(|(kind, bytes)| (kind.name().to_owned(), (*bytes).into()));
        let mut record = Value::Object(kinds.collect());
        record["path"] = json!(self.usage.path);
        record["state"] = self.usage.name().into();
        record["total"] = self.bytes().into();
        record
    }
}

/// The space that was freed, with a record for each workspace.
#[derive(Default)]
pub struct CleanupReport {
    /// How many bytes.
    pub bytes: u64,
    /// A record for each workspace.
    pub records: Vec<Value>,
    /// Which workspaces were freed only in part, and why.
    pub problems: Vec<String>,
}

/// Frees everything that was planned. A workspace that is in use is reported, and the others are freed.
pub fn free(state_folder: &Path, plan: &[PlannedCleanup], wanted: &Selection) -> CleanupReport {
    let mut freed = CleanupReport::default();
    for PlannedCleanup { usage, .. } in plan {
        let mut record = json!({ "path": usage.path, "state": usage.name() });
        match usage.free(wanted) {
            Ok(bytes) => {
                freed.bytes += bytes;
                record["freed"] = bytes.into();
            }
            Err(error) => {
                record["error"] = error.to_string().into();
                freed.problems.push(format!("{} was freed only in part: {error}", place(usage)));
            }
        }
        freed.records.push(record);
    }
    remove_leftovers(state_folder);
    freed
}

/// Reads an age such as 30d.
///
/// # Errors
///
/// Says how to write one.
pub fn age(text: &str) -> Result<Duration, String> {
    let usage = || "write a number and m, h, d or w, such as 30d".to_owned();
    let unit = text.chars().last().ok_or_else(usage)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(usage()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| usage())?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(usage)
}

/// Names a workspace, and says whether it is there.
fn place(usage: &WorkspaceUsage) -> String {
    let path = usage.path.as_ref().map(|path| one_line(&path.to_string_lossy()).into_owned());
    match (path, usage.standing) {
        (Some(path), WorkspacePresence::Exists) => path,
        (Some(path), _) => format!("{path} (no longer exists)"),
        (None, _) => format!("{} (path not recorded)", usage.name()),
    }
}

/// Returns what is kept, for programs.
pub fn record(usages: &[WorkspaceUsage]) -> Value {
    let numbers = |bytes: &dyn Fn(StateKind) -> u64| {
        StateKind::ALL.iter().map(|kind| (kind.name().to_owned(), bytes(*kind).into())).collect()
    };
    let one = |usage: &WorkspaceUsage| {
        let mut record = Value::Object(numbers(&|kind| bytes_of(usage, kind)));
        record["path"] = json!(usage.path.as_ref().map(|path| path.to_string_lossy()));
        record["state"] = usage.name().into();
        record["exists"] = match usage.standing {
            WorkspacePresence::Exists => true.into(),
            WorkspacePresence::Gone => false.into(),
            WorkspacePresence::Unknown => Value::Null,
        };
        record["total"] = usage.total().into();
        record["undo"] = usage.reach.map_or(Value::Null, reach);
        record
    };
    let workspaces: Vec<Value> = usages.iter().map(one).collect();
    let mut total = Value::Object(numbers(&|kind| usages.iter().map(|usage| bytes_of(usage, kind)).sum()));
    total["total"] = usages.iter().map(WorkspaceUsage::total).sum::<u64>().into();
    json!({ "v": 1, "workspaces": workspaces, "total": total })
}

fn reach(reach: UndoRange) -> Value {
    json!({ "oldest": reach.oldest, "newest": reach.newest, "since": utc(reach.oldest_ms) })
}

fn bytes_of(usage: &WorkspaceUsage, kind: StateKind) -> u64 {
    usage.bytes.get(&kind).copied().unwrap_or(0)
}

/// Writes a number of bytes for people.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return match unit {
                "B" => format!("{bytes} B"),
                _ if value < 100.0 => format!("{value:.1} {unit}"),
                _ => format!("{value:.0} {unit}"),
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_number_and_a_unit() {
        let hours = |text: &str| age(text).map(|age| age.as_secs() / 3_600);
        assert_eq!([hours("120m"), hours("12h"), hours("30d"), hours("1w")], [Ok(2), Ok(12), Ok(720), Ok(168)]);
        for text in ["", "d", "30", "30 d", "-1d", "1y", "ä", "99999999999999999999d", "99999999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
