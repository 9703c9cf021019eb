//! Keeps what belongs to haft: private folders outside the workspace, and the files of its configuration.
//!
//! Not here: where those folders are (`haft-config`).

mod agents;
pub(crate) mod held;
pub(crate) mod journal;
mod kept;
mod live;
pub(crate) mod own_files;
pub mod sessions;
mod skill_files;
pub mod trust;

pub use agents::agent_process::AgentProcess;
pub use agents::agent_turns::AgentTurns;
pub use agents::judged_calls::{Covers, JudgedCall, JudgedCalls};
pub use journal::{JournalLimits, UndoRange};
pub use kept::cleanup::{Selection, remove_leftovers};
pub use kept::recent::RecentCalls;
pub use kept::results::Results;
pub use kept::spill::Spills;
pub use kept::store::StateStore;
pub use kept::usage::{StateKind, WorkspacePresence, WorkspaceUsage};
pub use live::{HeldSocket, LiveSession, LiveSessions, Serves, SocketPlace, is_session_name};
pub use own_files::config_file::{
    NotUtf8, check_script, list_config_folder, read_config_file, read_named_file, read_project_file, read_secret_file,
    real_path_of, stamps_of,
};
pub use own_files::named_image::read_named_image;
pub use own_files::new_files::{create_new_files, link_below};
pub use own_files::own_file::{
    OwnFileLock, lock_own_file, make_own_folder, read_state_file, replace_own_file, replace_private_file,
};
pub use own_files::private::{ScratchFolder, check_folder};
pub use skill_files::{SkillFileEntry, list_skill, read_skill_file};

use std::path::{Path, PathBuf};

use journal::Journal;
use own_files::registry::{Claim, Registry};
use sessions::Sessions;

/// The state of one workspace, in a private folder of its own.
#[derive(Clone, Debug)]
pub struct WorkspaceState {
    claim: Claim,
    journal_limits: JournalLimits,
    recent_calls: RecentCalls,
}

impl WorkspaceState {
    /// Finds the state of the workspace at `root` beneath haft's state folder. Where there is none yet, creates nothing.
    pub fn new(state_folder: &Path, root: &Path) -> Self {
        Self::of(Registry::new(state_folder).assign(root))
    }

    /// Returns the nearest of a folder and its parents that has history or sessions in haft's state.
    pub fn nearest_with_history(state_folder: &Path, folder: &Path) -> Option<PathBuf> {
        let registry = Registry::new(state_folder);
        let has_history = |root: &&Path| Self::of(registry.assign(root)).has_history();
        folder.canonicalize().ok()?.ancestors().find(has_history).map(Path::to_owned)
    }

    /// Returns what this state takes of the disk.
    pub fn usage(&self) -> WorkspaceUsage {
        WorkspaceUsage::of(self.claim.folder())
    }

    fn of(claim: Claim) -> Self {
        let recent_calls = RecentCalls::new(claim.folder().join("recent.jsonl"), claim.clone());
        Self { claim, journal_limits: JournalLimits::default(), recent_calls }
    }

    /// Returns whether something was changed here, or a model has worked here, or a session keeps something running.
    fn has_history(&self) -> bool {
        let is_watched = || self.watched().read_dir().is_ok_and(|mut entries| entries.next().is_some());
        let is_edited = || self.edits().read_dir().is_ok_and(|mut entries| entries.next().is_some());
        self.journal().exists()
            || self.sessions().exist()
            || self.live_sessions().exist()
            || is_watched()
            || is_edited()
    }

    /// Gives the journal of changes other limits than the default ones.
    pub fn with_journal_limits(mut self, limits: JournalLimits) -> Self {
        self.journal_limits = limits;
        self
    }

    /// Returns the outputs that were too long to show.
    pub fn spills(&self) -> Spills {
        Spills::new(self.claim.folder().join("spill"))
    }

    /// Returns the results that may serve identical calls.
    pub fn results(&self) -> Results {
        Results::new(self.claim.folder().join("cache"))
    }

    /// Returns everything that the store keeps.
    pub fn store(&self) -> StateStore {
        StateStore::new(self.spills(), self.results())
    }

    /// Returns the journal of changes.
    pub(crate) fn journal(&self) -> Journal {
        Journal::new(self.claim.folder().join("journal"), self.journal_limits).claiming(self.claim.clone())
    }

    /// Returns where the layers lie that commands work on.
    pub(crate) fn layers(&self) -> PathBuf {
        self.claim.folder().join("layers")
    }

    /// Returns where what commands touch is kept, if they work on the real folders.
    pub(crate) fn watched(&self) -> PathBuf {
        self.claim.folder().join("watched")
    }

    /// Returns where the contents are kept that another agent is about to change.
    pub(crate) fn edits(&self) -> PathBuf {
        self.claim.folder().join("edits")
    }

    /// Returns the calls of other agents that haft has judged.
    pub fn judged_calls(&self) -> JudgedCalls {
        JudgedCalls::new(self.claim.folder().join("judged")).claiming(self.claim.clone())
    }

    /// Returns the turns of other agents.
    pub fn agent_turns(&self) -> AgentTurns {
        AgentTurns::new(self.claim.folder().join("turns"))
    }

    /// Records whose state this is.
    pub(crate) fn stake(&self) {
        self.claim.stake();
    }

    /// Returns where it is remembered that layers are refused here.
    pub(crate) fn layerless(&self) -> PathBuf {
        self.claim.folder().join("layerless")
    }

    /// Returns where it is remembered which wide folders commands may write, because a person said so.
    pub(crate) fn agreed(&self) -> PathBuf {
        self.claim.folder().join("agreed")
    }

    /// Returns the sessions of agents in the workspace.
    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.claim.folder().join("sessions")).claiming(self.claim.clone())
    }

    /// Returns the sessions of other processes that keep something running in the workspace.
    pub fn live_sessions(&self) -> LiveSessions {
        LiveSessions::new(self.claim.folder().join("live"), self.claim.clone(), Serves::Jobs)
    }

    /// Returns the sessions of the workspace that run commands of other processes.
    pub fn held_sessions(&self) -> LiveSessions {
        LiveSessions::new(self.claim.folder().join("held"), self.claim.clone(), Serves::Commands)
    }

    /// Returns the last calls of the workspace.
    pub fn recent_calls(&self) -> RecentCalls {
        self.recent_calls.clone()
    }
}
