//! The configured servers of the Model Context Protocol, from haft's own file and from those of other programs.
//!
//! haft reads the files of other programs as they are and never writes to them. Nothing that is found here runs: a server
//! starts only after the user agreed to its exact command line (`haft-mcp` keeps that consent).
//!
//! Not here: talking to a server (`haft-mcp`).

pub mod deferral;
pub mod edit;
mod expansion;
mod foreign;
mod json_with_comments;
pub mod local_code;
#[cfg(feature = "sandbox")]
pub mod process;
pub mod records;
#[cfg(feature = "model")]
pub mod sampling;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use haft_config::sections::mcp::{LoginSection, ServerSection};
use haft_config::settings::Settings;
use haft_contract::outcome::output::Image;
use haft_contract::tool::AnyTool;
use haft_policy::policy::Mode;

use crate::notices::Notices;
use crate::options::Options;

/// A server that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Its name in the file.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Whose file it is.
    pub origin: ServerOrigin,
    /// What the file says of the server, or why that cannot be used.
    pub spec: Result<ServerSpec, String>,
    /// The file whose server of the same name counts instead.
    pub hidden_by: Option<PathBuf>,
}

/// The owner of the file that names a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOrigin {
    /// haft's own configuration.
    Own,
    /// The user's file for another program.
    User(&'static str),
    /// A file of the project for another program: others may have written it.
    Project(&'static str),
}

/// How a server is reached, and what it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// How it is reached.
    pub reach: ServerTransport,
    /// The program and its arguments, or the address, as the file has them: without the values of variables.
    pub written_reach: Vec<String>,
    /// The variables that it gets; for a server that runs elsewhere, the headers of each request.
    pub environment: BTreeMap<String, String>,
    /// The same as the file has them: without the values of other variables.
    pub written_environment: BTreeMap<String, String>,
    /// The hosts that it may reach, as settings write them.
    pub hosts: Vec<String>,
    /// How long a call may take without progress.
    pub timeout: Option<Duration>,
    /// How long it may take from its start to the list of its tools.
    pub start_timeout: Option<Duration>,
    /// Which of its tools are used.
    pub filter: ToolFilter,
    /// How haft logs in to it.
    pub login: LoginSpec,
    /// How many times in a session it may ask the user's model.
    pub sampling: u32,
}

/// How haft logs in to a server with an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginSpec {
    /// The client that the user has registered there.
    pub client_id: Option<String>,
    /// The variable that has the secret of that client.
    pub secret_variable: Option<String>,
    /// The address of a document that describes the client.
    pub client_metadata: Option<String>,
    /// The authorization server that the client belongs to.
    pub issuer: Option<String>,
    /// The rights that are asked for, if the server does not say.
    pub scopes: Vec<String>,
    /// The port of this machine to which the browser comes back.
    pub callback_port: Option<u16>,
}

impl LoginSpec {
    fn of_section(section: &LoginSection) -> Self {
        let LoginSection { client_id, client_secret_env, client_metadata, issuer, scopes, callback_port } =
            section.clone();
        Self { client_id, secret_variable: client_secret_env, client_metadata, issuer, scopes, callback_port }
    }

    /// Returns the secret of the client, if the user named a variable for it.
    ///
    /// # Errors
    ///
    /// Fails if the variable is not set.
    pub fn secret(&self) -> Result<Option<String>, String> {
        let Some(name) = &self.secret_variable else { return Ok(None) };
        let value = expansion::of_process(name).filter(|value| !value.is_empty());
        value.map(Some).ok_or_else(|| format!("the variable {name}, which has the secret of the client, is not set"))
    }
}

/// The way to reach a server: a command that haft starts, or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// haft starts it.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The folder it starts in; the workspace if left out.
        folder: Option<PathBuf>,
    },
    /// It runs elsewhere.
    Url(String),
}

/// Which tools of a server are used. What is left out wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, if the file lists some.
    pub only: Option<BTreeSet<String>>,
    /// Not these.
    pub without: BTreeSet<String>,
}

impl ToolFilter {
    /// Returns whether a tool is used.
    #[must_use]
    pub fn admits(&self, tool: &str) -> bool {
        !self.without.contains(tool) && self.only.as_ref().is_none_or(|only| only.contains(tool))
    }
}

/// Whose servers are meant, and for which workspace they work.
#[derive(Clone, Debug)]
pub struct ServerScope {
    settings: Settings,
    workspace: PathBuf,
    mode: Mode,
}

impl ServerScope {
    /// Takes the servers of these settings, for this workspace.
    #[must_use]
    pub fn new(settings: Settings, workspace: PathBuf) -> Self {
        Self { settings, workspace, mode: Mode::Normal }
    }

    /// Reads the user's settings, for the workspace that the options name.
    ///
    /// # Errors
    ///
    /// Fails if the settings have a mistake.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let settings = Settings::read(options.profile())?;
        let workspace = haft_workspace::state::real_path_of(options.folder());
        Ok(Self { settings, workspace, mode: options.mode })
    }

    /// Returns the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns whether nothing may be changed, not even which servers are allowed.
    #[must_use]
    pub fn only_plans(&self) -> bool {
        self.mode == Mode::Plan
    }

    /// Returns the user's own file.
    #[must_use]
    pub fn config_file(&self) -> &Path {
        &self.settings.config_file
    }

    /// Returns how many tokens the definitions of all servers may take together.
    #[must_use]
    pub fn room_for_definitions(&self) -> usize {
        deferral::room(&self.settings)
    }

    /// Returns the values that must not be shown.
    #[must_use]
    pub fn secrets(&self) -> &[String] {
        &self.settings.environment.secrets
    }
}

/// Adds the tools of servers to a workspace. `haft-mcp` implements it.
pub trait ServerTools: Send + Sync {
    /// Returns the tools that are known and allowed, without starting anything.
    fn tools(&self, scope: ServerScope, notices: &dyn Notices) -> Vec<OfferedTool>;
}

/// A tool that a server offers.
pub struct OfferedTool {
    /// The name of the server.
    pub server: String,
    /// The tool, as the catalogue takes it.
    pub tool: Arc<dyn AnyTool>,
}

/// Returns what changes when other servers or other tools of them can be used: the records of servers, and the files of
/// other programs.
pub(crate) fn watched(settings: &Settings, workspace: &Path) -> Vec<PathBuf> {
    let scope = ServerScope::new(settings.clone(), workspace.to_owned());
    let places = foreign::ForeignFileRoots { home: &settings.surroundings.home, workspace };
    std::iter::once(records::ServerRecords::of(&scope).folder().to_owned()).chain(places.files()).collect()
}

impl ServerSpec {
    /// Describes a server that haft starts with these words.
    #[must_use]
    pub fn of_words(words: Vec<String>) -> Self {
        Self {
            written_reach: words.clone(),
            reach: ServerTransport::Command { words, folder: None },
            environment: BTreeMap::new(),
            written_environment: BTreeMap::new(),
            hosts: Vec::new(),
            timeout: None,
            start_timeout: None,
            filter: ToolFilter::default(),
            login: LoginSpec::default(),
            sampling: 0,
        }
    }

    fn of_section(section: &ServerSection) -> Self {
        let reach = match (section.words(), &section.url) {
            (Some(words), _) => ServerTransport::Command { words, folder: None },
            (None, url) => ServerTransport::Url(url.clone().unwrap_or_default()),
        };
        let texts = if section.url.is_some() { &section.headers } else { &section.env };
        let written_reach = match &reach {
            ServerTransport::Command { words, .. } => words.clone(),
            ServerTransport::Url(url) => vec![url.clone()],
        };
        Self {
            reach,
            written_reach,
            environment: texts.clone(),
            written_environment: texts.clone(),
            hosts: section.hosts.iter().map(ToString::to_string).collect(),
            timeout: section.timeout,
            start_timeout: section.start_timeout,
            filter: ToolFilter::default(),
            login: LoginSpec::of_section(&section.oauth),
            sampling: section.sampling,
        }
    }
}

impl fmt::Display for ServerOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerOrigin::Own => "haft",
            ServerOrigin::User(product) | ServerOrigin::Project(product) => product,
        })
    }
}

/// Returns an image that models take, if these bytes are one.
#[must_use]
pub fn image_of(bytes: &Bytes) -> Option<Image> {
    haft_workspace::files::image_of(bytes)
}

/// Returns all servers that files name: those of haft's own file, then of the project, then of the user's other programs.
/// Where two have the same name, the first counts. The second list has what is wrong with whole files.
#[must_use]
pub fn configured(scope: &ServerScope) -> (Vec<ConfiguredServer>, Vec<String>) {
    let ServerScope { settings, workspace, .. } = scope;
    let own = |(name, section): (&String, &ServerSection)| ConfiguredServer {
        name: name.clone(),
        file: settings.config_file.clone(),
        origin: ServerOrigin::Own,
        spec: Ok(ServerSpec::of_section(section)),
        hidden_by: None,
    };
    let mut servers: Vec<ConfiguredServer> = settings.mcp.servers.iter().map(own).collect();
    let mut problems = Vec::new();
    let found = foreign::ForeignFileRoots { home: &settings.surroundings.home, workspace };
    for (mut more, problem) in found.read_all() {
        servers.append(&mut more);
        problems.extend(problem);
    }
    let mut first: BTreeMap<String, PathBuf> = BTreeMap::new();
    for server in &mut servers {
        match first.get(&server.name) {
            Some(file) => server.hidden_by = Some(file.clone()),
            None => drop(first.insert(server.name.clone(), server.file.clone())),
        }
    }
    (servers, problems)
}
