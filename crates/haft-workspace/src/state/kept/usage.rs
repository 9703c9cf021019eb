//! Measures how much disk space haft's state takes, for each workspace and each kind of state.
//!
//! One table lists what there is to count, [`KINDS`]; a new kind of state is one line there. It does not follow links, and
//! counts a file with the space that it takes on the disk.
//!
//! Not here: removing any of it (`cleanup`).

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::state::journal::{Journal, JournalLimits, UndoRange};
use crate::state::own_files::private;
use crate::state::own_files::registry::Registry;
use crate::state::own_files::root_record::RootRecord;

/// A kind of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKind {
    /// What undo needs.
    Journal,
    /// Before-images of build folders.
    Trees,
    /// Results that may serve identical calls.
    Caches,
    /// Outputs that were too long to show.
    Spills,
    /// Conversations of agents.
    Sessions,
    /// What tools have downloaded.
    ToolCaches,
    /// Layers of commands, at work or left behind by a haft that was killed.
    Layers,
    /// Small files with what haft remembers.
    Other,
}

/// Where each kind is in a state folder. What is in none of these is [`StateKind::Other`].
const KINDS: [(StateKind, &str, &str); 7] = [
    (StateKind::Journal, "journal", "journal"),
    (StateKind::Trees, "trees", "trees"),
    (StateKind::Caches, "caches", "cache"),
    (StateKind::Spills, "spills", "spill"),
    (StateKind::Sessions, "sessions", "sessions"),
    (StateKind::ToolCaches, "tools", "tool-caches"),
    (StateKind::Layers, "layers", "layers"),
];

impl StateKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [StateKind; 8] = [
        StateKind::Journal,
        StateKind::Trees,
        StateKind::Caches,
        StateKind::Spills,
        StateKind::Sessions,
        StateKind::ToolCaches,
        StateKind::Layers,
        StateKind::Other,
    ];

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("other", |(_, name, _)| name)
    }

    /// Returns the folder of the kind in a state folder; that one itself for what has none.
    pub(in crate::state) fn folder(self, state: &Path) -> PathBuf {
        let named = KINDS.iter().find(|(kind, ..)| *kind == self);
        named.map_or_else(|| state.to_owned(), |(_, _, folder)| state.join(folder))
    }

    fn of_name(name: &Path) -> Self {
        KINDS.iter().find(|(_, _, folder)| name == Path::new(folder)).map_or(StateKind::Other, |(kind, ..)| *kind)
    }
}

/// Whether the folder of a workspace is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspacePresence {
    /// Its folder is there.
    Exists,
    /// Its folder is not at its last path.
    Gone,
    /// Its path was not recorded: an earlier version made the state, and the workspace was not opened since.
    Unknown,
}

/// What the state of one workspace takes of the disk.
#[derive(Clone, Debug)]
pub struct WorkspaceUsage {
    /// The last path of the workspace, where it is known.
    pub path: Option<PathBuf>,
    /// Whether the workspace is still there.
    pub standing: WorkspacePresence,
    /// How many bytes each kind takes; what takes none is left out.
    pub bytes: BTreeMap<StateKind, u64>,
    /// How far back undo reaches.
    pub reach: Option<UndoRange>,
    pub(in crate::state) folder: PathBuf,
}

impl WorkspaceUsage {
    /// Looks at the state of all workspaces, the largest first.
    pub fn of_all(state_folder: &Path) -> Vec<Self> {
        let folders = Registry::new(state_folder).folders().into_iter();
        let mut all: Vec<Self> =
            folders.filter(|folder| !is_only_a_record(folder)).map(|folder| Self::of(&folder)).collect();
        all.sort_by_key(|usage| std::cmp::Reverse(usage.total()));
        all
    }

    /// Looks at the state in one folder.
    pub(in crate::state) fn of(folder: &Path) -> Self {
        let record = RootRecord::read(folder);
        let standing = match &record {
            None => WorkspacePresence::Unknown,
            Some(record) if record.is_there() => WorkspacePresence::Exists,
            Some(_) => WorkspacePresence::Gone,
        };
        let mut bytes = BTreeMap::new();
        for (path, facts) in files_below(folder) {
            let first = path.strip_prefix(folder).ok().and_then(|below| below.iter().next()).unwrap_or_default();
            *bytes.entry(StateKind::of_name(Path::new(first))).or_default() += taken(&facts);
        }
        let reach = journal_in(folder).reach().ok().flatten();
        let path = record.map(|record| record.path());
        let mut usage = Self { path, standing, bytes, reach, folder: folder.to_owned() };
        let in_workspace = usage.trees_in_workspace().iter().flat_map(|trees| files_below(trees)).collect::<Vec<_>>();
        if !in_workspace.is_empty() {
            *usage.bytes.entry(StateKind::Trees).or_default() +=
                in_workspace.iter().map(|(_, facts)| taken(facts)).sum::<u64>();
        }
        usage
    }

    /// Returns the folders in the workspace that may hold before-images of build folders.
    pub(in crate::state) fn trees_in_workspace(&self) -> Vec<PathBuf> {
        let root = self.path.as_ref().filter(|_| self.standing == WorkspacePresence::Exists);
        root.map(|root| crate::files::tree::folders_in(root).into()).unwrap_or_default()
    }

    /// Returns how many bytes it is in all.
    pub fn total(&self) -> u64 {
        self.bytes.values().sum()
    }

    /// Returns the name of the state folder.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns whether this is the state of the same workspace.
    pub fn is_same(&self, other: &WorkspaceUsage) -> bool {
        self.folder == other.folder
    }
}

/// The journal of a state folder; a reader does not wait long for another haft.
pub(in crate::state) fn journal_in(folder: &Path) -> Journal {
    let limits = JournalLimits { patience: std::time::Duration::from_secs(1), ..JournalLimits::default() };
    Journal::new(StateKind::Journal.folder(folder), limits)
}

/// Returns whether a state folder only leads to another one.
pub(in crate::state) fn is_only_a_record(folder: &Path) -> bool {
    RootRecord::read(folder).is_some_and(|record| record.lives_in.is_some())
        && !crate::state::own_files::registry::holds_state(folder)
}

/// Returns how much of the disk a file takes.
pub(in crate::state) fn taken(facts: &Metadata) -> u64 {
    facts.len().min(facts.blocks().saturating_mul(512))
}

/// Returns all files below a folder. No link is followed.
pub(in crate::state) fn files_below(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = private::is_folder(folder).then(|| folder.to_owned()).into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => folders.push(entry.path()),
                Ok(facts) => files.push((entry.path(), facts)),
                // Another haft has removed it meanwhile.
                Err(_) => {}
            }
        }
    }
    files
}
