//! Everything that a command needs to make calls: settings, workspace, runtime, session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use haft_config::settings::Settings;
use haft_config::surroundings::Surroundings;
use haft_contract::call::Origin;
use haft_contract::dialect::Dialect;
use haft_contract::error::ToolError;
use haft_contract::path::one_line;
use haft_contract::spec::Spec;
use haft_net::HttpDoor;
use haft_policy::policy::Mode;
use haft_runtime::approval::{Approver, Nobody, YesToOrdinary};
use haft_runtime::catalog::Catalog;
use haft_runtime::redact::Redactor;
use haft_runtime::runtime::Runtime;
use haft_runtime::session::{Keeping, Session};
use haft_runtime::toolset::{ToolList, ToolsetExt};
use haft_sandbox::{Launcher, Network, Sandbox};
use haft_workspace::history::History;
use haft_workspace::replica::Replica;
use haft_workspace::state::{WorkspaceState, real_path_of};

use crate::again::Again;
use crate::arguments::Common;
use crate::brought::Manner;
use crate::defined::{self, Found};
use crate::ground::{Ground, Search, open_workspace};
use crate::hooked::with_hooks;
use crate::live::LiveLine;
use crate::prompt::{AtTerminal, somebody_is_there};
use crate::rulebook::Rulebook;
use crate::screen;
use crate::spoken::spoken;

/// A workspace that is ready for calls.
pub(crate) struct Desk {
    pub(crate) settings: Settings,
    pub(crate) workspace: PathBuf,
    pub(crate) state: WorkspaceState,
    pub(crate) history: History,
    pub(crate) runtime: Runtime,
    /// What the project says to agents, as far as it is trusted: files and their texts.
    pub(crate) words: Vec<(String, String)>,
    dialect: Option<Arc<dyn Dialect>>,
    /// What is looked at again at the start of each turn; nothing where nobody stays for a second one.
    again: Option<Again>,
}

/// Who is at the other end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// One call from the command line.
    OneCall,
    /// Lines from a program.
    Lines,
    /// A model that works on a task.
    Agent,
}

impl Desk {
    /// Gets everything ready in the workspace that the command line names, for looking at it.
    pub(crate) fn open(common: &Common) -> anyhow::Result<Self> {
        Self::on(common, Ground::open(common, Manner::Silent)?)
    }

    /// Gets everything ready for looking at it, also where settings are broken: mistakes are reported.
    pub(crate) fn salvage(common: &Common) -> anyhow::Result<Self> {
        Self::on(common, Ground::salvage(common, Search::Named)?)
    }

    /// Gets everything ready for calls. What the project brings along and nobody trusts is asked about, or said.
    pub(crate) fn open_for(common: &Common, caller: Caller) -> anyhow::Result<Self> {
        let manner = match caller {
            Caller::OneCall => Manner::Asking,
            Caller::Lines => Manner::Telling,
            Caller::Agent => Manner::AskingForWords,
        };
        let ground = Ground::open(common, manner)?;
        if common.workspace.is_some() && ground.workspace.path() != real_path_of(Path::new(".")) {
            screen::talk(&one_line(&format!("Workspace: {}", ground.workspace.path().display())));
        }
        Self::on(common, ground)
    }

    /// Gets everything ready in a copy of a workspace, with the rules and tools of that. Nothing outside of it is changed.
    pub(crate) fn open_copy(common: &Common, copy: &Replica, of: &Path) -> anyhow::Result<Self> {
        Self::on(common, Ground::open_copy(common, copy, of)?)
    }

    /// Gets everything ready in this folder, with the default rules and the tools under their own names, without hooks.
    pub(crate) fn open_in(common: &Common, folder: &Path, mut settings: Settings) -> anyhow::Result<Self> {
        settings.hooks.clear();
        let workspace = open_workspace(common, folder, &settings)?;
        let common = Common { dialect: None, ..common.clone() };
        Self::on(
            &common,
            Ground { settings, workspace, rulebook: Rulebook::default(), loaded: None, again: None, held: None },
        )
    }

    fn on(common: &Common, ground: Ground) -> anyhow::Result<Self> {
        let Ground { settings, workspace, rulebook, loaded, again, held } = ground;
        let path = workspace.path().to_owned();
        let state = WorkspaceState::new(&settings.environment.state_folder, &path);
        let history = workspace.history(&state);
        let workspace = workspace.masking_secrets(settings.surroundings.masks_secrets);
        let doors = workspace.doors(&state).with_processes(sandbox(&settings.surroundings)).with_net(HttpDoor::new());
        let config = &settings.environment.config_folder;
        let dialect = spoken(common, config, loaded.as_ref())?;
        let words = loaded.as_ref().map(|loaded| loaded.words.clone()).unwrap_or_default();
        let defined = loaded.map(|loaded| Found::in_folders(config, &path, loaded)).unwrap_or_default();
        if let Some(again) = &again {
            again.note(&defined);
        }
        let redactor = Redactor::of_values(settings.environment.secrets.iter().cloned());
        let runtime = Runtime::new(Catalog::default(), doors).with_policy(rulebook.policy());
        let runtime = runtime.with_limits(settings.limits.clone()).with_redactor(redactor);
        let runtime = match dialect.clone() {
            Some(dialect) => runtime.with_dialect(dialect),
            None => runtime,
        };
        let runtime = with_hooks(runtime, &settings.hooks, held.as_ref());
        let secrets = block_on(fill(runtime.catalog(), defined, dialect.clone(), (&path, &runtime)))??;
        runtime.also_hide(secrets);
        Ok(Self { settings, workspace: path, state, history, runtime, words, dialect, again })
    }

    /// Takes in tools that came, changed or went since the last look; returns whether there were any. Calls under way go on.
    pub(crate) async fn look_again(&self) -> bool {
        let Some(again) = &self.again else { return false };
        let Some(defined) = again.found(&self.settings, &self.workspace) else { return false };
        let catalog = Catalog::default();
        let by = (self.workspace.as_path(), &self.runtime);
        match fill(&catalog, defined, self.dialect.clone(), by).await {
            Ok(secrets) => {
                self.runtime.also_hide(secrets);
                self.runtime.catalog().renew(catalog);
                true
            }
            Err(error) => {
                screen::talk(&format!("note: the tools stay as they were: {error:#}"));
                false
            }
        }
    }

    /// Opens a session for this caller.
    pub(crate) fn session(&self, common: &Common, caller: Caller) -> Session {
        self.session_named("call", common, approver(common, caller, LiveLine::default()))
    }

    /// Opens a session for a model at work, which others may know by its name. What its calls print is on this line.
    pub(crate) fn session_of_agent(&self, name: &str, common: &Common, line: LiveLine) -> Session {
        self.session_named(name, common, approver(common, Caller::Agent, line))
    }

    /// Opens a session whose questions this one answers.
    pub(crate) fn session_answered_by(&self, name: &str, common: &Common, approver: Box<dyn Approver>) -> Session {
        self.session_named(name, common, approver)
    }

    fn session_named(&self, name: &str, common: &Common, approver: Box<dyn Approver>) -> Session {
        let keeping = if common.no_cache { Keeping::Off } else { Keeping::On };
        let session = self.runtime.session(name, approver).with_keeping(keeping);
        session.set_mode(mode(common));
        session
    }
}

/// Runs commands with this very program as the launcher.
fn sandbox(surroundings: &Surroundings) -> Sandbox {
    let surroundings = surroundings.clone();
    let settings = haft_sandbox::Settings {
        required: surroundings.required,
        network: if surroundings.network { Network::On } else { Network::Off },
        environment: surroundings.environment,
        readable: surroundings.readable,
        hidden: surroundings.hidden,
        home: surroundings.home,
        home_files: surroundings.home_files,
        processes: surroundings.processes,
    };
    Sandbox::new(Launcher::own(), settings)
}

/// Fills a catalogue: the built-in tools, in the words of prompt files and in the dialect that is wanted, then those that
/// files describe. Returns what nobody is to see.
async fn fill(
    catalog: &Catalog,
    defined: Found,
    dialect: Option<Arc<dyn Dialect>>,
    (workspace, runtime): (&Path, &Runtime),
) -> anyhow::Result<Vec<String>> {
    let tools = haft_tools::all();
    let specs: Vec<Spec> = tools.iter().map(|tool| tool.spec().clone()).collect();
    let built_in = Box::new(ToolList::new("the built-in tools", tools));
    let built_in = defined::worded(built_in, &specs, &defined.prompts);
    match dialect {
        Some(dialect) => catalog.add(&defined::Boxed(built_in).in_dialect(dialect)).await?,
        None => catalog.add(&*built_in).await?,
    }
    Ok(defined::add(catalog, defined, workspace, runtime).await)
}

/// Says what becomes of changes.
pub(crate) fn mode(common: &Common) -> Mode {
    match (common.plan, common.tries) {
        (true, _) => Mode::Plan,
        (false, true) => Mode::Try,
        (false, false) => Mode::Normal,
    }
}

/// Says who makes the calls: a person sees the question and answers it.
pub(crate) fn origin(common: &Common, caller: Caller) -> Origin {
    match caller {
        Caller::Lines | Caller::Agent => Origin::Model,
        Caller::OneCall if somebody_is_there() && !common.yes => Origin::Person,
        Caller::OneCall => Origin::Script,
    }
}

fn approver(common: &Common, caller: Caller, line: LiveLine) -> Box<dyn Approver> {
    let base: Box<dyn Approver> = match caller {
        Caller::OneCall if somebody_is_there() => Box::new(AtTerminal::ForOneCall),
        Caller::Agent if somebody_is_there() => Box::new(AtTerminal::ForSession(line)),
        Caller::OneCall => Box::new(Nobody::there(HOW_TO_ALLOW)),
        // Even at a terminal: what is typed there are calls, not answers.
        Caller::Agent | Caller::Lines => Box::new(nobody()),
    };
    if common.yes { Box::new(YesToOrdinary::or_ask(base)) } else { base }
}

/// What a model does about an ordinary question that nobody answers.
const MODEL_CANNOT_ALLOW: &str = "do without it, or ask the user to allow it";
/// What a person does about it.
const HOW_TO_ALLOW: &str = "run it with --yes, or at a terminal where somebody can answer";

/// Stands where a person could be, and is not, for the calls of a model.
pub(crate) fn nobody() -> Nobody {
    Nobody::there(MODEL_CANNOT_ALLOW)
}

/// Returns what a person can do about a refusal that a model reads; nothing where the model reads it too.
pub(crate) fn how_to_allow(error: &ToolError, caller: Caller) -> Option<&'static str> {
    let how = match caller {
        Caller::Lines => "run it with --yes, or call the tool alone at a terminal: haft call TOOL …",
        Caller::OneCall | Caller::Agent => HOW_TO_ALLOW,
    };
    error.about.yes_allows.then_some(how)
}

/// Runs async work on this thread; most commands need no more.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().enable_io().build();
    match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(work);
            // Somebody may still be asked, or a disk may be slow; the command does not wait for what nobody wants.
            runtime.shutdown_background();
            Ok(done)
        }
        Err(error) => bail!("the system gives no more threads or files: {error}"),
    }
}
