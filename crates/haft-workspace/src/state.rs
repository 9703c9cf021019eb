//! What belongs to haft: private folders outside the workspace, and the files of its configuration.
//!
//! Not here: where those folders are (`haft-config`).

mod config_file;
pub(crate) mod held;
pub(crate) mod journal;
mod new_files;
pub(crate) mod private;
mod recent;
mod results;
pub mod sessions;
mod spill;
mod store;
pub mod trust;

pub use config_file::{
    NotUtf8, list_config_folder, read_config_file, read_named_file, read_secret_file, real_path_of, stamps_of,
};
pub use journal::JournalLimits;
pub use new_files::{create_new_files, link_below};
pub use private::ScratchFolder;
pub use recent::RecentCalls;
pub use results::Results;
pub use spill::Spills;
pub use store::StateStore;

use std::path::{Path, PathBuf};

use journal::Journal;
use sessions::Sessions;

/// The state of one workspace, in a private folder of its own.
#[derive(Clone, Debug)]
pub struct WorkspaceState {
    folder: PathBuf,
    journal_limits: JournalLimits,
}

impl WorkspaceState {
    /// Names the state of the workspace at `root` beneath haft's state folder. Creates nothing yet.
    pub fn new(state_folder: &Path, root: &Path) -> Self {
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let name: String = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let safe: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(32).collect();
        let folder = state_folder.join("workspaces").join(format!("{safe}-{}", &hash[..16]));
        Self { folder, journal_limits: JournalLimits::default() }
    }

    /// Gives the journal of changes other limits than the default ones.
    pub fn with_journal_limits(mut self, limits: JournalLimits) -> Self {
        self.journal_limits = limits;
        self
    }

    /// Returns the outputs that were too long to show.
    pub fn spills(&self) -> Spills {
        Spills::new(self.folder.join("spill"))
    }

    /// Returns the results that may serve identical calls.
    pub fn results(&self) -> Results {
        Results::new(self.folder.join("cache"))
    }

    /// Returns everything that the store keeps.
    pub fn store(&self) -> StateStore {
        StateStore::new(self.spills(), self.results())
    }

    /// Returns the journal of changes.
    pub(crate) fn journal(&self) -> Journal {
        Journal::new(self.folder.join("journal"), self.journal_limits)
    }

    /// Returns where the layers lie that commands work on.
    pub(crate) fn layers(&self) -> PathBuf {
        self.folder.join("layers")
    }

    /// Returns where it is remembered which folders may lie outside the layers.
    pub(crate) fn apart(&self) -> PathBuf {
        self.folder.join("apart")
    }

    /// Returns where it is remembered that layers are refused here.
    pub(crate) fn layerless(&self) -> PathBuf {
        self.folder.join("layerless")
    }

    /// Returns where it is remembered which wide folders commands may write, because a person said so.
    pub(crate) fn agreed(&self) -> PathBuf {
        self.folder.join("agreed")
    }

    /// Returns the sessions of agents in the workspace.
    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.folder.join("sessions"))
    }

    /// Returns the last calls of the workspace.
    pub fn recent_calls(&self) -> RecentCalls {
        RecentCalls::new(self.folder.join("recent.jsonl"))
    }
}
