//! What is served: the tools of one workspace, and the house that they stand in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::result::ToolResult;
use haft_runtime::runtime::Runtime;
use haft_runtime::session::Session;

/// The tools of one workspace, with the one session of the client.
pub struct Toolbox {
    /// Runs the calls.
    pub runtime: Runtime,
    /// The client's session; its questions go to the same [`crate::asking::Asking`] that the server is given.
    pub session: Session,
    /// The workspace, by its real path.
    pub workspace: PathBuf,
    /// What else there is to read.
    pub books: Arc<dyn Books>,
}

/// What is written down about the calls of a workspace.
pub trait Books: Send + Sync {
    /// Returns what was changed in the workspace, the newest first, as text; at most so many change sets. May take a while.
    ///
    /// # Errors
    ///
    /// Says why it cannot be read.
    fn log(&self, most: usize) -> Result<String, String>;

    /// Remembers a call that has ended. May take a while.
    fn called(&self, result: &ToolResult);
}

/// Where the server lives.
pub trait Host: Send + Sync {
    /// Gets a toolbox ready, in the folder that the client names or in the one that the user has named. May take a while.
    ///
    /// # Errors
    ///
    /// Says what is wrong and what to do.
    fn open(&self, root: Option<&Path>) -> Result<Toolbox, String>;

    /// Tells the person who looks at the log of the server.
    fn tell(&self, words: &str);
}

/// Who chooses the workspace.
pub enum Workspace {
    /// The user has, and these are its tools.
    Chosen(Box<Toolbox>),
    /// The client, because the user lets it; the tools are got ready when they are needed.
    OfClient,
}
