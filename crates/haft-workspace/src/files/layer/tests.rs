//! Tests scenes: a workspace, what a command leaves in the layer over it, and the result.

mod conflicts;
mod guarded_names;
mod keeping;
mod kinds;
mod planted;
mod quick;
mod repositories;
mod rewinds;
mod shut;
mod trees;
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::call::CallId;
use haft_contract::doors::door::{Provenance, Receipts, SessionName};
use haft_contract::doors::process::{CommitReport, Disposition, Staging, StagingMode};
use haft_contract::outcome::error::ToolError;
use rustix::fs::{FileType, Mode, XattrFlags};
use tokio_util::sync::CancellationToken;

use super::settling::settle::Settling;
use super::settling::sync::OwnCommits;
use super::{LayeredGround, Layers};
use crate::files::read::open::WorkspaceRoot;
use crate::history::{UndoSelection, WorkspaceHistory};
use crate::state::WorkspaceState;

/// A workspace with its state.
struct LayerFixture {
    folder: tempfile::TempDir,
    state: WorkspaceState,
    root: Arc<WorkspaceRoot>,
    layers: Arc<Layers>,
    receipts: Receipts,
}

impl LayerFixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let workspace = folder.path().join("ws");
        fs::create_dir(&workspace).expect("it is new");
        for (path, content) in files {
            write(&workspace, path, content);
        }
        let state = WorkspaceState::new(&folder.path().join("state"), &workspace);
        let root = Arc::new(WorkspaceRoot::open(&workspace).expect("it is there"));
        let layers = Arc::new(Layers::new(root.clone(), Arc::new(state.journal()), &state));
        Self { folder, state, root, layers, receipts: Receipts::default() }
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn write(&self, path: &str, content: &str) {
        write(&self.workspace(), path, content);
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.workspace().join(path), PermissionsExt::from_mode(mode)).expect("it is ours");
    }

    fn ground(&self) -> LayeredGround {
        self.layers.prepare(StagingMode::Layered, None).expect("it can be prepared")
    }

    /// Lets a command work on a ground, and brings in what it did.
    fn run(&self, command: impl FnOnce(&Upper)) -> CommitReport {
        self.try_run(command).expect("it comes in")
    }

    fn try_run(&self, command: impl FnOnce(&Upper)) -> Result<CommitReport, ToolError> {
        let ground = self.ground();
        command(&Upper(upper_of(&ground)));
        self.settling(&ground, Disposition::Commit)
    }

    fn show(&self, command: impl FnOnce(&Upper)) -> CommitReport {
        let ground = self.layers.prepare(StagingMode::Layered, None).expect("it can be prepared");
        command(&Upper(upper_of(&ground)));
        self.settling(&ground, Disposition::Discard).expect("it can be shown")
    }

    fn settling(&self, ground: &LayeredGround, how: Disposition) -> Result<CommitReport, ToolError> {
        let settling = self.open(ground)?;
        match how {
            Disposition::Commit => settling.keep(),
            Disposition::Discard => settling.show(),
        }
    }

    fn open<'g>(&self, ground: &'g LayeredGround) -> Result<Settling<'g>, ToolError> {
        let (call, session) = (CallId::new("1"), SessionName::new("s"));
        let errand = Provenance {
            call,
            tool: "bash".into(),
            session,
            run: "r".into(),
            turn: 1,
            purpose: haft_contract::doors::door::Purpose::default(),
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        ground.settling((errand, self.receipts.clone(), CancellationToken::new()), OwnCommits::default())
    }

    fn undo(&self) {
        let history = WorkspaceHistory::new(self.root.clone(), self.state.journal());
        history.undo(UndoSelection::Newest, None).expect("it can be taken back");
    }

    /// Returns everything in the workspace, a line each.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        look(&self.workspace(), "", &mut tree);
        tree
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).expect("it is there")
    }

    fn has(&self, path: &str) -> bool {
        self.workspace().join(path).symlink_metadata().is_ok()
    }

    /// Lets a command work, checks what came of it, and that undo takes all of it back.
    fn check(&self, command: impl FnOnce(&Upper), expected: &[&str]) -> CommitReport {
        let before = self.tree();
        let settled = self.run(command);
        assert_eq!(changed(&settled), expected);
        self.undo();
        assert_eq!(self.tree(), before);
        settled
    }
}

/// What a command did, as the kernel would leave it in a layer.
struct Upper(PathBuf);

impl Upper {
    fn write(&self, path: &str, content: &str) {
        self.folders_above(path);
        let path = self.0.join(path);
        let _ = fs::remove_file(&path);
        fs::write(path, content).expect("it can be written");
    }

    fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.0.join(path), PermissionsExt::from_mode(mode)).expect("it is ours");
    }

    fn gone(&self, path: &str) {
        self.folders_above(path);
        let mode = Mode::from_raw_mode(0);
        rustix::fs::mknodat(rustix::fs::CWD, self.0.join(path), FileType::CharacterDevice, mode, 0)
            .expect("everybody may say that something is gone");
    }

    fn folder(&self, path: &str) {
        self.folders_above(path);
        fs::create_dir_all(self.0.join(path)).expect("it is new");
    }

    fn opaque(&self, path: &str) {
        self.folder(path);
        rustix::fs::setxattr(self.0.join(path), "user.overlay.opaque", b"y", XattrFlags::empty())
            .expect("the file system has attributes");
    }

    fn link(&self, path: &str, to: &str) {
        self.folders_above(path);
        symlink(to, self.0.join(path)).expect("it is new");
    }

    /// Folders that are only passed have the mode that they have beneath.
    fn folders_above(&self, path: &str) {
        if let Some(parent) = Path::new(path).parent() {
            fs::create_dir_all(self.0.join(parent)).expect("they can be made");
        }
    }
}

fn upper_of(ground: &LayeredGround) -> PathBuf {
    ground.folder.as_ref().expect("it has a layer").path().join("0/upper")
}

fn write(folder: &Path, path: &str, content: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("it can be made");
    fs::write(path, content).expect("it can be written");
}

fn look(folder: &Path, path: &str, tree: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder.join(path)).expect("it is there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = if path.is_empty() { name } else { format!("{path}/{name}") };
        let facts = entry.metadata().expect("it is there");
        let mode = facts.mode() & 0o7777;
        let line = if facts.is_dir() {
            look(folder, &below, tree);
            format!("folder {mode:o}")
        } else if facts.is_symlink() {
            format!("link {}", fs::read_link(entry.path()).expect("it is there").display())
        } else {
            format!("file {mode:o} {}", String::from_utf8_lossy(&fs::read(entry.path()).expect("it is there")))
        };
        tree.insert(below, line);
    }
}

/// What a result says was changed, a line each.
fn changed(settled: &CommitReport) -> Vec<String> {
    let line = |change: &haft_contract::doors::process::Settlement| {
        format!("{:?} {}", change.change, change.target).to_lowercase()
    };
    let mut lines: Vec<String> = settled.changes.iter().map(line).collect();
    lines.sort();
    lines
}
