//! A workspace with its state beside it, and short words for what a call does there.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use haft_contract::call::CallId;
use haft_contract::doors::door::{
    Doors, FileOp, OldChanges, PageRequest, Permit, PermitIssuer, Provenance, SessionName,
};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::files::stamp::ExpectedVersion;
use haft_contract::outcome::error::ToolError;
use haft_workspace::files::Workspace;
use haft_workspace::history::{HistoryError, TakenBack, UndoSelection, WorkspaceHistory};
use haft_workspace::state::{JournalLimits, WorkspaceState};
use tokio_util::sync::CancellationToken;

/// A workspace with its state beside it. Several threads may stand on it.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
    limits: JournalLimits,
    /// What calls may do to old change sets.
    pub(crate) old_changes: OldChanges,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    File(u32, Vec<u8>),
    Folder(u32),
    Link(PathBuf),
}

/// Every path below a folder with what is there.
pub(crate) type Tree = BTreeMap<PathBuf, Entry>;

impl Ground {
    pub(crate) fn new() -> Self {
        Self::with(JournalLimits::default())
    }

    /// In memory where that can be had: nothing here depends on what outlives a power cut.
    pub(crate) fn with(limits: JournalLimits) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.expect("a temporary folder can be made");
        std::fs::create_dir(folder.path().join("ws")).expect("it is new");
        Self { folder, limits, old_changes: OldChanges::Stay }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    /// Returns a place beside the workspace.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("it can be written");
    }

    pub(crate) fn content(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)).ok()
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.folder.path().join("ws")).expect("it is there")
    }

    fn state(&self) -> WorkspaceState {
        let state = WorkspaceState::new(&self.folder.path().join("state"), Path::new("ws"));
        state.with_journal_limits(self.limits)
    }

    pub(crate) fn doors(&self) -> Doors {
        self.workspace().doors(&self.state())
    }

    pub(crate) fn history(&self) -> WorkspaceHistory {
        self.workspace().history(&self.state())
    }

    /// Returns the folder of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        let mut states = std::fs::read_dir(self.folder.path().join("state/workspaces")).expect("something was changed");
        states.next().expect("there is one").expect("it can be read").path().join("journal")
    }

    pub(crate) fn write(&self, files: &[(&str, &[u8])]) -> Result<u64, ToolError> {
        self.write_with(&permit_for(self.old_changes, Vec::new(), &CancellationToken::new()), files)
    }

    pub(crate) fn write_with(&self, permit: &Permit, files: &[(&str, &[u8])]) -> Result<u64, ToolError> {
        run(self.doors().files.change(permit, &puts(files)))?;
        Ok(permit.receipts().change_set().expect("it was changed").0)
    }

    /// Writes files, and adds what is said of them.
    pub(crate) fn write_noting(&self, files: &[(&str, &[u8])], notes: &mut Vec<String>) -> Result<u64, ToolError> {
        let permit = permit(Vec::new(), &CancellationToken::new());
        let written = run(self.doors().files.change(&permit, &puts(files)))?;
        notes.extend(written.into_iter().flat_map(|written| written.notes));
        Ok(permit.receipts().change_set().expect("it was changed").0)
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), ToolError> {
        let permit = permit(Vec::new(), &CancellationToken::new());
        run(self.doors().files.change(&permit, &[FileOp::Remove(target(name))])).map(drop)
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), ToolError> {
        let permit = permit(Vec::new(), &CancellationToken::new());
        run(self.doors().files.change(&permit, &[FileOp::Rename(target(from), target(to))])).map(drop)
    }

    /// Reads a file as `read_file` does.
    pub(crate) fn read(&self, name: &str) -> Result<String, ToolError> {
        let request = PageRequest { first_line: 1, lines: 100, column: 1, line_length: 1000 };
        let permit = permit(Vec::new(), &CancellationToken::new());
        let page = run(self.doors().files.page(&permit, &target(name), request))?;
        Ok(page.lines.into_iter().map(|line| line.text + "\n").collect())
    }

    pub(crate) fn undo(&self, which: UndoSelection) -> Result<TakenBack, HistoryError> {
        self.history().undo(which, None)
    }

    pub(crate) fn tree(&self) -> Tree {
        tree_of(&self.folder.path().join("ws"))
    }

    /// Returns the names of what changes leave beside a file until they are done.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let is_left = |path: &PathBuf| path.to_string_lossy().contains(".haft-");
        self.tree().into_keys().filter(is_left).collect()
    }
}

pub(crate) fn tree_of(folder: &Path) -> Tree {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
            let (path, facts) = (entry.path(), entry.metadata().expect("it is there"));
            let mode = facts.permissions().mode() & 0o7777;
            let found = if facts.is_symlink() {
                Entry::Link(std::fs::read_link(&path).expect("it is a link"))
            } else if facts.is_dir() {
                folders.push(path.clone());
                Entry::Folder(mode)
            } else {
                Entry::File(mode, std::fs::read(&path).expect("it can be read"))
            };
            tree.insert(path, found);
        }
    }
    tree
}

/// A permit for everything inside, with what its plan found.
pub(crate) fn permit(found: Vec<(Target, ExpectedVersion)>, stop: &CancellationToken) -> Permit {
    permit_for(OldChanges::Stay, found, stop)
}

fn permit_for(old_changes: OldChanges, found: Vec<(Target, ExpectedVersion)>, stop: &CancellationToken) -> Permit {
    let root = Target::Inside(FileLocation::new("", Extent::Tree));
    let mut effects: Vec<Effect> =
        [Change::Create, Change::Replace, Change::Remove].map(|change| Effect::Change(root.clone(), change)).into();
    effects.push(Effect::Read(root));
    let (call, session) = (CallId::new("1"), SessionName::new("s"));
    let errand = Provenance {
        call,
        tool: "write_file".into(),
        session,
        run: "one".into(),
        turn: 1,
        purpose: haft_contract::doors::door::Purpose::default(),
        old_changes,
    };
    Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects.into(), stop.clone()).resting_on(found)
}

fn puts(files: &[(&str, &[u8])]) -> Vec<FileOp> {
    files.iter().map(|(name, content)| FileOp::Put(target(name), Bytes::copy_from_slice(content))).collect()
}

pub(crate) fn target(name: &str) -> Target {
    Target::Inside(FileLocation::new(name, Extent::Entry))
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("threads are to be had").block_on(work)
}
