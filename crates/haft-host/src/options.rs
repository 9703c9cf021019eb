//! The options of a caller that opens a workspace, whether they come from flags, code or a client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_config::profile::Profile;
use haft_contract::description::dialect::Dialect;
use haft_contract::outcome::error::AdvanceYes;
use haft_contract::tool::AnyTool;
use haft_policy::policy::Mode;
use haft_runtime::state::session::ResultCaching;

use crate::notices::{Notices, Unheard};
use crate::opening::servers::ServerTools;

/// How a workspace is opened, and what its calls may do.
#[derive(Clone)]
pub struct Options {
    /// The workspace; the current folder if left out.
    pub folder: Option<PathBuf>,
    /// More folders whose files count as inside.
    pub added: Vec<PathBuf>,
    /// The profile whose limits hold; that of the dialect if left out.
    pub profile: Option<Profile>,
    /// The system whose tool names, arguments and results are used.
    pub dialect: Option<String>,
    /// Which ordinary questions are answered with yes beforehand; none if left out.
    pub yes: Option<AdvanceYes>,
    /// What happens to changes.
    pub mode: Mode,
    /// Whether everything in the project's `.haft` is trusted for this run.
    pub trust: bool,
    /// Which hosts commands reach without a question.
    pub hosts: HostAccess,
    /// Whether results may be served from the cache.
    pub keeping: ResultCaching,
    /// Which of haft's own tools there are.
    pub built_in: BuiltIn,
    /// More tools, written in Rust.
    pub tools: Vec<Arc<dyn AnyTool>>,
    /// Deferred tools that are listed, beside those of the settings.
    pub show: Vec<String>,
    /// Adds the tools of servers.
    pub servers: Option<Arc<dyn ServerTools>>,
    /// A dialect of the program's own; it counts before `dialect`.
    pub own_dialect: Option<Arc<dyn Dialect>>,
    /// Where haft keeps its state; the user's state folder if left out.
    pub state_folder: Option<PathBuf>,
    /// Receives remarks, warnings and the question about trust.
    pub notices: Arc<dyn Notices>,
}

/// Which hosts commands reach without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostAccess {
    /// Those of the settings.
    #[default]
    OfSettings,
    /// Every host that the settings do not deny, to learn which ones a command needs.
    All,
}

/// Whether haft's own tools are in the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltIn {
    /// All of them.
    #[default]
    Shown,
    /// None: the program brings its own.
    LeftOut,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            folder: None,
            added: Vec::new(),
            profile: None,
            dialect: None,
            yes: None,
            mode: Mode::Normal,
            trust: false,
            hosts: HostAccess::OfSettings,
            keeping: ResultCaching::On,
            built_in: BuiltIn::Shown,
            tools: Vec::new(),
            show: Vec::new(),
            servers: None,
            own_dialect: None,
            state_folder: None,
            notices: Arc::new(Unheard),
        }
    }
}

impl Options {
    /// Returns the folder to open: the named one, else the current one.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new("."))
    }

    /// Returns the profile whose limits hold: the named one, else that of the dialect.
    #[must_use]
    pub fn profile(&self) -> Option<Profile> {
        self.profile.or_else(|| Profile::named(self.dialect.as_deref()?))
    }
}
