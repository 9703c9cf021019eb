//! Opens a workspace for the commands that must work when settings are broken: undo, redo, log, diff, blame, gc.
//!
//! A person needs them most when something went wrong, and a mistake in a settings file may be part of that. They need
//! the workspace and haft's own folders; hooks, tools and a runtime are not loaded, which also saves time. Mistakes are
//! reported. All other commands stop at them, because rules that were not read cannot refuse anything.
//!
//! Not here: `haft doctor`, which tries tools and commands (`Host::salvage`).

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use haft_contract::doors::door::{Breadth, Look};
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::files::Workspace;
use haft_workspace::history::WorkspaceHistory;
use haft_workspace::state::{WorkspaceState, check_folder, real_path_of};

use super::loaded_workspace::{LoadedWorkspace, WorkspaceSearch};
use crate::options::Options;

/// A workspace whose history can be read and changed.
pub struct Rescue {
    /// haft's own files about the workspace.
    pub state: WorkspaceState,
    /// Its change sets.
    pub history: WorkspaceHistory,
    /// Where haft keeps the state of all workspaces.
    pub state_folder: PathBuf,
    workspace: Workspace,
    /// Hides what is secret in the workspace, once something is shown.
    redactor: OnceCell<Redactor>,
    secrets: Vec<String>,
    /// Where the person is: paths that they name begin here.
    folder: PathBuf,
}

impl Rescue {
    /// Opens the nearest workspace with history, from the folder that the command line names upwards.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let LoadedWorkspace { settings, workspace, .. } =
            LoadedWorkspace::salvage(options, WorkspaceSearch::NearestWithHistory)?;
        let secrets = settings.environment.secrets.clone();
        let limits = settings.journal.limits();
        let state_folder = settings.environment.state_folder;
        // "There is nothing to undo" must not stand for a history that haft does not read.
        check_folder(&state_folder)
            .with_context(|| format!("haft does not use its state folder {}", state_folder.display()))?;
        let state = WorkspaceState::new(&state_folder, workspace.path()).with_journal_limits(limits);
        workspace.finish_left_behind(&state).iter().for_each(|line| options.notices.note(line));
        workspace.close_left_edits(&state, None);
        let history = workspace.history(&state);
        let folder = real_path_of(options.folder());
        Ok(Self { state, history, state_folder, workspace, redactor: OnceCell::new(), secrets, folder })
    }

    /// Returns what hides the secrets of the workspace in whatever a model wrote. The first call looks for them.
    pub fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| {
            let redactor = Redactor::of_values(self.secrets.iter().cloned());
            redactor.also_hide_files(&self.workspace.secrets(Breadth::Whole).changed);
            redactor.also_hide_files(&self.history.earlier_secrets());
            redactor
        })
    }

    /// Finds the file that a change set names.
    ///
    /// # Errors
    ///
    /// Fails if it leads out of the workspace.
    pub fn locate_in_workspace(&self, path: &Path) -> anyhow::Result<Target> {
        self.locate(&self.workspace.path().join(path))
    }

    /// Finds the file that a person named.
    pub fn locate(&self, path: &Path) -> anyhow::Result<Target> {
        let path = if self.folder == self.workspace.path() { path.to_owned() } else { self.folder.join(path) };
        if let Some(text) = path.to_str() {
            return Ok(self.workspace.locate(&RawPath::new(text), Extent::Entry)?);
        }
        // No text names it, and it is only compared with the paths of change sets.
        let inside = path.strip_prefix(self.workspace.path()).unwrap_or(&path);
        let is_plain = inside.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        anyhow::ensure!(is_plain, "{} is outside the workspace", path.display());
        let parts: PathBuf = inside.components().filter(|part| *part != Component::CurDir).collect();
        Ok(Target::Inside(FileLocation::new(parts, Extent::Entry)))
    }
}
