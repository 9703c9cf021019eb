//! A workspace that is ready for calls: settings, doors, catalogue, rules, hooks and a runtime.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
#[cfg(feature = "model")]
use haft_config::keys::ApiKeys;
use haft_config::settings::Settings;
use haft_contract::description::dialect::Dialect;
use haft_contract::description::spec::Spec;
use haft_contract::doors::door::Doors;
#[cfg(feature = "model")]
use haft_contract::doors::web::SearchAccess;
use haft_contract::outcome::result::ToolResult;
use haft_contract::tool::AnyTool;
#[cfg(feature = "model")]
use haft_net::HttpDoor;
#[cfg(all(feature = "sandbox", feature = "model"))]
use haft_net::{NetworkOfSession, supervisor::HostDial};
use haft_runtime::asking::approval::{Approver, Nobody};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::ToolList;
use haft_runtime::record;
use haft_runtime::redaction::redact::Redactor;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
#[cfg(feature = "sandbox")]
use haft_sandbox::{Launcher, Network, Requirement, Sandbox};
use haft_workspace::history::WorkspaceHistory;
use haft_workspace::replica::Replica;
use haft_workspace::state::WorkspaceState;
use haft_workspace::state::trust::FolderTrust;

#[cfg(feature = "model")]
use crate::calling::job_publication::StateJobService;
use crate::notices::Notices;
use crate::opening::described_tools;
use crate::opening::described_tools::{Assembly, ToolDescriptions};
use crate::opening::dialects::chosen_dialect;
use crate::opening::hooks::with_hooks;
use crate::opening::hosts::HostsOfSettings;
use crate::opening::loaded_workspace::{LoadedWorkspace, WorkspaceSearch, open_workspace};
use crate::opening::project_files::{COMMANDS, OnUntrusted, ProjectFiles, load_again};
use crate::opening::reload::Reload;
use crate::opening::rulebook::Rulebook;
use crate::opening::servers::deferral::{Deferral, OF_SERVER, defer_large};
use crate::opening::servers::{OfferedTool, ServerScope};
use crate::options::{BuiltIn, Options};
use crate::texts::shown_tools::show_deferred;

/// A workspace that is ready for calls.
pub struct Host {
    /// The user's settings, with those of a trusted project.
    pub settings: Settings,
    /// The workspace, by its real path.
    pub workspace: PathBuf,
    /// haft's own files about the workspace.
    pub state: WorkspaceState,
    /// The change sets of the workspace.
    pub history: WorkspaceHistory,
    /// Runs the calls.
    pub runtime: Runtime,
    /// What the trusted project says to agents: files and their texts.
    pub words: Vec<(String, String)>,
    options: Options,
    dialect: Option<Arc<dyn Dialect>>,
    /// Reloads described tools at the start of each turn, for callers that stay.
    reload: Option<Reload>,
    /// What `--trust` trusts in this run.
    vouched: Option<FolderTrust>,
    deferral: Mutex<Deferral>,
}

impl Host {
    /// Opens the workspace to look at it.
    ///
    /// # Errors
    ///
    /// Fails when settings or rules have a mistake, or the folder cannot be opened.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        Self::open_for(options, OnUntrusted::Ignore)
    }

    /// Opens the workspace for calls.
    ///
    /// # Errors
    ///
    /// As [`Host::open`].
    pub fn open_for(options: &Options, on_untrusted: OnUntrusted) -> anyhow::Result<Self> {
        let host = Self::on(options, LoadedWorkspace::open(options, on_untrusted)?)?;
        if on_untrusted == OnUntrusted::AskAboutWords {
            // A model works here.
            host.note_deferral();
        }
        Ok(host)
    }

    /// Opens the workspace to look at it, also with broken settings: mistakes are reported.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be opened.
    pub fn salvage(options: &Options) -> anyhow::Result<Self> {
        Self::on(options, LoadedWorkspace::salvage(options, WorkspaceSearch::Named)?)
    }

    /// Opens a copy of a workspace, with the rules and tools of the original. Calls change nothing outside the copy.
    ///
    /// # Errors
    ///
    /// As [`Host::open`].
    pub fn open_copy(options: &Options, copy: &Replica, of: &Path) -> anyhow::Result<Self> {
        Self::on(options, LoadedWorkspace::open_copy(options, copy, of)?)
    }

    /// Opens this folder with the default rules and the tools under their own names, without hooks.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be opened.
    pub fn open_in(options: &Options, folder: &Path, mut settings: Settings) -> anyhow::Result<Self> {
        settings.hooks.clear();
        let workspace = open_workspace(options, folder, &settings)?;
        let options = Options { dialect: None, ..options.clone() };
        let hosts = Arc::new(HostsOfSettings::of(&settings, workspace.path()));
        let rulebook = Rulebook { hosts: Some(hosts), ..Rulebook::default() };
        Self::on(&options, LoadedWorkspace { settings, workspace, rulebook, files: None, reload: None, held: None })
    }

    fn on(options: &Options, loaded: LoadedWorkspace) -> anyhow::Result<Self> {
        let LoadedWorkspace { settings, workspace, rulebook, files, reload, held } = loaded;
        let path = workspace.path().to_owned();
        let state = WorkspaceState::new(&settings.environment.state_folder, &path);
        let state = state.with_journal_limits(settings.journal.limits());
        let history = workspace.history(&state);
        let workspace = workspace.with_masked_secrets(settings.surroundings.masks_secrets);
        workspace.finish_left_behind(&state).iter().for_each(|line| options.notices.note(line));
        let doors = with_system(workspace.doors(&state), &settings, rulebook.hosts.clone());
        let config = &settings.environment.config_folder;
        let dialect = chosen_dialect(options, config, files.as_ref())?;
        let words = files.as_ref().map(|files| files.words.clone()).unwrap_or_default();
        let vouched = files.as_ref().filter(|_| options.trust).map(|files| files.trusted.clone());
        let described = files.map(|files| described_in(&settings, &path, files)).unwrap_or_default();
        if let Some(reload) = &reload {
            reload.note(&described);
        }
        let redactor = Redactor::of_values(settings.environment.secrets.iter().cloned());
        let runtime = Runtime::new(Catalog::default(), doors).with_policy(rulebook.policy());
        let runtime = runtime.with_limits(settings.limits.clone()).with_redactor(redactor);
        let runtime = runtime.with_overlap(settings.commands.overlap);
        let runtime = match dialect.clone() {
            Some(dialect) => runtime.with_dialect(dialect),
            None => runtime,
        };
        let runtime = with_hooks(runtime, &settings.hooks, held.as_ref());
        let assembly = Assembly { workspace: &path, runtime: &runtime, notices: &*options.notices };
        let of_servers = of_servers(options, &settings, &path);
        let sources = CatalogSources { described, options, dialect: dialect.clone(), of_servers };
        let secrets = block_on(sources.fill(runtime.catalog(), assembly))??;
        let deferral = Mutex::new(defer_large(runtime.catalog(), &settings, &*options.notices));
        show_deferred(runtime.catalog(), (&settings, &options.show), assembly);
        runtime.also_hide(secrets);
        let options = options.clone();
        Ok(Self {
            settings,
            workspace: path,
            state,
            history,
            runtime,
            words,
            options,
            dialect,
            reload,
            vouched,
            deferral,
        })
    }

    /// Reloads described tools and those of servers if something changed since the last look; returns whether a model now
    /// gets another list. Running calls continue.
    pub async fn reload(&self) -> bool {
        let Some(reload) = &self.reload else { return false };
        let Some(described) = reload.found(&self.settings, &self.workspace) else { return false };
        let catalog = Catalog::default();
        let notices = &*self.options.notices;
        let assembly = Assembly { workspace: &self.workspace, runtime: &self.runtime, notices };
        let of_servers = of_servers(&self.options, &self.settings, &self.workspace);
        let sources = CatalogSources { described, options: &self.options, dialect: self.dialect.clone(), of_servers };
        match sources.fill(&catalog, assembly).await {
            Ok(secrets) => {
                let deferral = defer_large(&catalog, &self.settings, notices);
                *self.deferral.lock().unwrap_or_else(PoisonError::into_inner) = deferral;
                show_deferred(&catalog, (&self.settings, &self.options.show), assembly);
                self.runtime.also_hide(secrets);
                let is_same = shown(&catalog) == shown(self.runtime.catalog());
                self.runtime.catalog().renew(catalog);
                !is_same
            }
            Err(error) => {
                self.options.notices.note(&format!("note: the tools stay unchanged: {error:#}"));
                false
            }
        }
    }

    /// Opens a session whose questions go to this approver.
    #[must_use]
    pub fn session(&self, name: &str, approver: Box<dyn Approver>) -> Session {
        self.opened(self.runtime.session(name, approver))
    }

    /// Opens a session with a place of its own: its commands share no home, no temporary folder and no network with those of
    /// other sessions. The place is made with the first command, and removed with the session.
    #[must_use]
    pub fn session_apart(&self, name: &str, approver: Box<dyn Approver>) -> Session {
        self.opened(self.runtime.session_apart(name, approver))
    }

    fn opened(&self, session: Session) -> Session {
        let session = session.with_keeping(self.options.keeping);
        #[cfg(feature = "model")]
        let session = session.publishing_jobs(Arc::new(StateJobService(self.state.clone())));
        session.set_mode(self.options.mode);
        session
    }

    /// Returns the commands of a trusted project as they are now, files and their texts, and what is to be said of others.
    #[must_use]
    pub fn project_commands(&self) -> (Vec<(String, String)>, Vec<String>) {
        let notices = &*self.options.notices;
        match load_again(&self.settings, &self.workspace, self.vouched.as_ref(), notices) {
            Ok((files, told)) => {
                let is_of_commands = |line: &String| line.contains(COMMANDS);
                (files.commands, told.into_iter().filter(is_of_commands).collect())
            }
            Err(error) => (Vec::new(), vec![format!("note: the commands of this project cannot be read: {error:#}")]),
        }
    }

    /// Remembers a call for `haft doctor TOOL`. A call does not fail because that did not work.
    pub fn note_call(&self, result: &ToolResult) {
        note_call(&self.state, result, &*self.options.notices);
    }

    /// Reports which tools of servers a model does not get in its list, because they are too many.
    pub fn note_deferral(&self) {
        let deferral = self.deferral.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !deferral.servers.is_empty() {
            self.options.notices.note(&format!("note: {deferral}"));
        }
    }

    /// Returns how the workspace was opened.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

/// Finds what files describe: tools and skills.
pub(crate) fn described_in(settings: &Settings, workspace: &Path, files: ProjectFiles) -> ToolDescriptions {
    let config = &settings.environment.config_folder;
    ToolDescriptions::in_folders(config, workspace, files).with_own_skills(config, &settings.surroundings.home)
}

/// Remembers a call of a workspace for `haft doctor TOOL`.
pub fn note_call(state: &WorkspaceState, result: &ToolResult, notices: &dyn Notices) {
    let mut short = record::of_result(result);
    if let Some(fields) = short.as_object_mut() {
        // The id is the caller's own and may be anything; what was shown is not kept twice.
        for left_out in ["id", "content", "data"] {
            fields.remove(left_out);
        }
    }
    if let Err(error) = state.recent_calls().add(&short) {
        notices.note(&format!("note: haft could not record this call for \"haft doctor\": {error}"));
    }
}

/// Adds the doors to processes and to other machines that this build has; calls through a missing one are refused.
fn with_system(doors: Doors, settings: &Settings, hosts: Option<Arc<HostsOfSettings>>) -> Doors {
    #[cfg(feature = "sandbox")]
    let doors = doors.with_processes(supervised(sandbox(settings), hosts.clone()));
    #[cfg(feature = "model")]
    let doors = doors.with_net(web(settings, hosts));
    #[cfg(not(any(feature = "sandbox", feature = "model")))]
    let _ = (settings, hosts);
    doors
}

/// Reaches other machines as the settings say.
#[cfg(feature = "model")]
fn web(settings: &Settings, hosts: Option<Arc<HostsOfSettings>>) -> HttpDoor {
    let config = settings.environment.config_folder.clone();
    let door = HttpDoor::new().searching_with(move || search_access(&config));
    #[cfg(feature = "sandbox")]
    let door = match hosts {
        Some(hosts) => door.ruled_by(hosts),
        None => door,
    };
    #[cfg(not(feature = "sandbox"))]
    let _ = hosts;
    door
}

/// Finds the first provider of searches that has a key in the environment or in `keys.toml`.
#[cfg(feature = "model")]
fn search_access(config: &Path) -> Result<Option<SearchAccess>, String> {
    let keys = ApiKeys::read(config).map_err(|mistake| mistake.to_string())?;
    for (provider, name) in haft_tools::web::web_search::providers() {
        if let Some(key) = keys.find(&name).map_err(|error| error.to_string())? {
            return Ok(Some(SearchAccess { provider, key: key.text().to_owned() }));
        }
    }
    Ok(None)
}

/// Lets commands reach hosts by name, as the settings and the answers to questions say.
#[cfg(all(feature = "sandbox", feature = "model"))]
fn supervised(sandbox: Sandbox, hosts: Option<Arc<HostsOfSettings>>) -> Sandbox {
    let Some(hosts) = hosts else { return sandbox };
    let network = NetworkOfSession::new(hosts, Arc::new(HostDial::new()));
    sandbox.supervised_by(Arc::new(network))
}

#[cfg(all(feature = "sandbox", not(feature = "model")))]
fn supervised(sandbox: Sandbox, _: Option<Arc<HostsOfSettings>>) -> Sandbox {
    sandbox
}

/// Runs commands with this very program as the launcher.
#[cfg(feature = "sandbox")]
pub(crate) fn sandbox(settings: &Settings) -> Sandbox {
    let surroundings = settings.surroundings.clone();
    let is_off = surroundings.is_off;
    let level = settings.environment.state_folder.join("sandbox-level");
    let settings = haft_sandbox::SandboxSettings {
        required: match surroundings.is_requirement_set {
            true => Requirement::Set(surroundings.required),
            false => Requirement::Usual,
        },
        network: if surroundings.network { Network::On } else { Network::Off },
        environment: surroundings.environment,
        job_environment: surroundings.job_environment,
        readable: surroundings.readable,
        hidden: surroundings.hidden,
        home: surroundings.home,
        home_files: surroundings.home_files,
        processes: surroundings.processes,
        caches: surroundings.caches.into_iter().map(tool_cache).collect(),
        cache_room: surroundings.cache_room,
        memory: surroundings.memory.map_or_else(haft_sandbox::usual_memory, |set| Some(set).filter(|set| *set > 0)),
        disk: surroundings.disk,
    };
    let sandbox = Sandbox::new(Launcher::own(), settings).remembering_in(level);
    if is_off { sandbox.switched_off() } else { sandbox.looking_ahead() }
}

#[cfg(feature = "sandbox")]
fn tool_cache(cache: haft_config::surroundings::ToolCache) -> haft_sandbox::ToolCache {
    let haft_config::surroundings::ToolCache { name, folder, moved_by, carried, left_out } = cache;
    haft_sandbox::ToolCache { name, folder, moved_by, carried, left_out }
}

/// What the toolset of haft's own tools is called.
pub const BUILT_IN_TOOLS: &str = "the built-in tools";
/// Returns what a model gets of each tool.
fn shown(catalog: &Catalog) -> Vec<Spec> {
    catalog.list().iter().map(|entry| entry.shown().clone()).collect()
}

/// Returns the tools of servers that the caller wants.
fn of_servers(options: &Options, settings: &Settings, workspace: &Path) -> Vec<OfferedTool> {
    let Some(servers) = &options.servers else { return Vec::new() };
    servers.tools(ServerScope::new(settings.clone(), workspace.to_owned()), &*options.notices)
}

/// What the tools of a catalogue are made of.
struct CatalogSources<'a> {
    described: ToolDescriptions,
    options: &'a Options,
    dialect: Option<Arc<dyn Dialect>>,
    of_servers: Vec<OfferedTool>,
}

impl CatalogSources<'_> {
    /// Fills a catalogue: the built-in tools in the words of prompt files and in the chosen dialect, then the tools of the
    /// program and of servers, then those that files describe. Returns the values that must stay hidden.
    async fn fill(self, catalog: &Catalog, assembly: Assembly<'_>) -> anyhow::Result<Vec<String>> {
        let Self { described, options, dialect, of_servers } = self;
        let tools: Vec<Arc<dyn AnyTool>> = match options.built_in {
            BuiltIn::Shown => haft_tools::all_under(assembly.runtime.limits()),
            BuiltIn::LeftOut => Vec::new(),
        };
        let built_in = described_tools::built_in(tools, dialect, &described.prompts, assembly.notices).await?;
        catalog.add(&*built_in).await?;
        if !options.tools.is_empty() {
            catalog.add(&ToolList::new("the program's tools", options.tools.clone())).await?;
        }
        // One by one: no server can cost another one its tools.
        for OfferedTool { server, tool } in of_servers {
            let name = tool.spec().name.clone();
            if let Err(error) = catalog.add(&ToolList::new(format!("{OF_SERVER}{server}"), vec![tool])).await {
                assembly.notices.note(&format!("note: the tool {name} of a server is left out: {error}"));
            }
        }
        Ok(described_tools::add(catalog, described, assembly).await)
    }
}

/// What a model does about an ordinary question that no one answers.
const MODEL_CANNOT_ALLOW: &str = "do without it, or ask the user to allow it";

/// Refuses every question about the calls of a model.
#[must_use]
pub fn nobody() -> Nobody {
    Nobody::there(MODEL_CANNOT_ALLOW)
}

/// Runs async work on this thread; most commands need no more.
pub fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().enable_io().build();
    match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(work);
            // A question may still be open, or a disk may be slow; the caller does not wait for either.
            runtime.shutdown_background();
            Ok(done)
        }
        Err(error) => bail!("the system gives no more threads or files: {error}"),
    }
}
