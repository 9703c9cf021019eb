//! The door to processes.

mod another_session;
mod attended;
mod given;
mod network;
mod seen;
pub mod server;

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::doors::connection::SessionNetwork;
use haft_contract::doors::door::{Permit, Receipt};
use haft_contract::doors::process::{
    CallerStreams, CommandEnd, CommandSpec, Confinement, ConfinementLevel, Foreground, GroundRoot, HowEnded, NotRun,
    OutputListener, Processes, Staging, Worker,
};
use haft_contract::effect::{CommandLine, Effect, Exposure};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;

use crate::connections::network_jobs::NetworkJobs;
use crate::connections::reached_hosts::Suspects;
use crate::connections::{ports, reached_hosts};
use crate::launcher::Launcher;
use crate::reporting::explain::{ExplanationContext, explain};
use crate::reporting::refusal;
use crate::running::attend::{Finish, NoFinish, Task};
use crate::running::orders::{Confine, OrderedStreams, Orders, Visible, VisibleRoot};
use crate::running::standby::Launchers;
use crate::running::strays::Mark;
use crate::running::worker::{Hire, Terms};
use crate::session::disk::DiskBound;
use crate::session::home::HomeWatch;
use crate::session::private::{Furniture, PrivateFolder};
use crate::session::reached::ConfinementSupport;
use crate::session::remembered::LevelMemory;
use crate::session::whose_home::WhoseHome;
use crate::settings::{Network, SandboxSettings};
use crate::{environment, programs};
use attended::attended;
pub(crate) use given::descriptors;
use seen::ToolchainKeyCache;

/// What is said of a command that had the network because it was approved with it.
const WITH_NETWORK: &str = "it ran with the network, to any host";

/// Runs commands.
pub struct Sandbox {
    launchers: Arc<Launchers>,
    settings: Arc<SandboxSettings>,
    strongest: ConfinementLevel,
    /// Whether the settings switch it off.
    is_off: bool,
    network: Option<Arc<dyn SessionNetwork>>,
    remembered: Option<LevelMemory>,
    known: Arc<Mutex<Option<Confinement>>>,
    covered: Arc<OnceLock<Vec<PathBuf>>>,
    keys: Arc<ToolchainKeyCache>,
    home: HomeWatch,
    /// Each approved command holds a copy while it runs in the home of the session.
    guests: Arc<()>,
    told_of_caches: AtomicBool,
    told_of_level: AtomicBool,
    jobs: NetworkJobs,
}

impl Sandbox {
    /// Runs commands with this launcher, as these settings say. Nothing is tried yet.
    pub fn new(launcher: Launcher, settings: SandboxSettings) -> Self {
        Self {
            launchers: Arc::new(Launchers::new(launcher)),
            settings: Arc::new(settings),
            strongest: ConfinementLevel::Full,
            is_off: false,
            network: None,
            remembered: None,
            known: Arc::default(),
            covered: Arc::default(),
            keys: Arc::default(),
            home: HomeWatch::default(),
            guests: Arc::default(),
            told_of_caches: AtomicBool::new(false),
            told_of_level: AtomicBool::new(false),
            jobs: NetworkJobs::default(),
        }
    }

    /// Lets commands reach the network by name, supervised by this.
    pub fn supervised_by(mut self, network: Arc<dyn SessionNetwork>) -> Self {
        self.launchers = Arc::new(Launchers::supervised_by(self.launchers.launcher.clone(), network.clone()));
        self.network = Some(network);
        self
    }

    /// Remembers in this file, until the machine is started again, that the full level was reached.
    pub fn remembering_in(mut self, file: PathBuf) -> Self {
        self.remembered = Some(LevelMemory::new(file));
        self
    }

    /// Confines commands at most so strongly, as if the system gave no more. What is required stays required.
    pub fn at_most(mut self, strongest: ConfinementLevel) -> Self {
        self.strongest = strongest;
        self
    }

    /// Confines nothing, because the user's settings say so.
    pub fn switched_off(mut self) -> Self {
        self.is_off = true;
        self.at_most(ConfinementLevel::None)
    }

    /// Prepares what is to be run; `permit` has admitted it.
    fn task(&self, permit: &Permit, command: &CommandSpec, ground: &dyn Staging) -> Result<(Task, Around), NotRun> {
        let network = self.network_of_run(permit, command)?;
        let launch = self.launch(permit, command, ground, network)?;
        let Launch { orders, descriptors, level, mark, private, home } = launch;
        let uses = self.network.as_ref().filter(|_| network.is_supervised());
        let task = Task {
            launchers: Arc::clone(&self.launchers),
            orders,
            descriptors,
            input: command.input.clone(),
            streams: own_streams(command).cloned(),
            time: command.time,
            receipts: permit.receipts().clone(),
            ran: ran(level, ground),
            mark,
            disk: self.settings.disk.map(|most| DiskBound::new(most, ground, &self.folders(ground))),
            network: uses.map(|network| network.join(permit.desk().cloned())),
            _private: private,
            _guest: (home == WhoseHome::Session).then(|| self.guests.clone()),
        };
        Ok((task, Around { level, network, home }))
    }

    /// Finds out how a command is confined, and says so to a launcher.
    fn launch(
        &self,
        permit: &Permit,
        command: &CommandSpec,
        ground: &dyn Staging,
        network: Network,
    ) -> Result<Launch, NotRun> {
        let level = self.level_for(permit, command, ground)?;
        let whose = self.whose_home(permit, command, ground);
        let usual = command.streams.as_ref().map_or(&self.settings.environment[..], CallerStreams::environment);
        let mut environment = environment::of_command((usual, &self.settings.job_environment), command, ground)?;
        let mark = (level != ConfinementLevel::Full).then(Mark::fresh);
        environment.extend(mark.as_ref().map(Mark::variable));
        let proxy = self.proxy_for(network, &mut environment)?;
        let private = match level {
            ConfinementLevel::Partial => Some(self.private_folder(ground, &mut environment)?),
            ConfinementLevel::Full | ConfinementLevel::None => None,
        };
        let confine = match (level, &private) {
            (ConfinementLevel::Full, _) => {
                let is_supervised = network == Network::Supervised;
                let visible = Visible { is_supervised, ..self.visible(command, ground)? };
                whose.limit(&mut environment, &self.settings.home);
                Confine::Fully(self.with_home(visible, whose, ground))
            }
            (ConfinementLevel::Partial, Some(private)) => {
                Confine::Partly(self.visible(command, ground)?, private.path().to_owned())
            }
            (ConfinementLevel::Partial | ConfinementLevel::None, _) => Confine::No,
        };
        if let Some(place) =
            self.launchers.place.get().and_then(Option::as_ref).filter(|_| level == ConfinementLevel::Full)
        {
            environment::lead(&mut environment, &place.caches.moved);
        }
        let mut descriptors = match level {
            ConfinementLevel::None => Vec::new(),
            ConfinementLevel::Partial | ConfinementLevel::Full => descriptors(ground.roots())?,
        };
        let watched = given::watched(ground.roots(), &mut descriptors)?;
        let orders = Orders {
            words: command.words.clone(),
            folder: command.folder.clone(),
            environment,
            network: network.of_command(),
            proxy,
            is_of_session: whose != WhoseHome::Own,
            has_input: !command.input.is_empty(),
            stays: command.stays,
            own: given::own_paths(ground.roots()),
            watched,
            streams: own_streams(command).map(ordered),
            ..self.orders(confine)
        };
        Ok(Launch { orders, descriptors, level, mark, private, home: whose })
    }

    /// Returns how strongly this command is confined; refuses what cannot be launched, or not on this ground.
    fn level_for(
        &self,
        permit: &Permit,
        command: &CommandSpec,
        ground: &dyn Staging,
    ) -> Result<ConfinementLevel, NotRun> {
        if self.launchers.launcher.program().is_none() {
            return Err(refusal::no_launcher().into());
        }
        refusal::of_words(command)?;
        let level = self.level(permit)?;
        if level != ConfinementLevel::Full && ground.roots().iter().any(|root| root.layer.is_some()) {
            return Err(NotRun::NoLayer(self.confinement().why_no_layer()));
        }
        if let Some(why) = ground.layerless() {
            admit_level(permit, &self.confinement().without_layer(why))?;
        }
        Ok(level)
    }

    /// Returns how strongly commands are confined; refuses where that is less than it must be.
    fn level(&self, permit: &Permit) -> Result<ConfinementLevel, ToolError> {
        let confinement = self.confinement();
        if let Some(why) = &confinement.untried {
            return Err(refusal::untried(why));
        }
        admit_level(permit, &confinement)?;
        Ok(confinement.reached)
    }

    /// Returns orders that run nothing.
    fn orders(&self, confine: Confine) -> Orders {
        Orders {
            words: Vec::new(),
            folder: "/".into(),
            environment: Vec::new(),
            confine,
            processes: self.settings.processes,
            memory: self.settings.memory,
            network: self.settings.network.of_command(),
            proxy: None,
            is_of_session: false,
            has_input: false,
            serves: false,
            stays: false,
            watched: Vec::new(),
            own: Vec::new(),
            streams: None,
            given: [None; 3],
        }
    }

    fn private_folder(
        &self,
        ground: &dyn Staging,
        environment: &mut Vec<(OsString, OsString)>,
    ) -> Result<PrivateFolder, ToolError> {
        let workspace = ground.roots().first().map(|root| &root.folder);
        let private = PrivateFolder::make(&self.furniture(workspace)).map_err(|error| {
            let what = format!("No private folder for the command can be made in /tmp: {error}. It was not run.");
            ToolError::of(ErrorKind::Io, what)
        })?;
        private.settle_in(environment);
        Ok(private)
    }

    fn furniture<'a>(&'a self, workspace: Option<&'a OwnedFd>) -> Furniture<'a> {
        let SandboxSettings { home_files, readable, home, .. } = &*self.settings;
        Furniture { files: home_files, readable, home, workspace }
    }

    /// Tries which level there is, from the strongest down.
    fn reached(&self) -> ConfinementSupport {
        if self.launchers.launcher.program().is_none() {
            return ConfinementSupport::nothing(refusal::no_launcher().what.clone());
        }
        if self.is_off {
            return ConfinementSupport::switched_off();
        }
        let mut reached = ConfinementSupport::default();
        if self.strongest >= ConfinementLevel::Full {
            let remembered = self.remembered.as_ref().zip(self.launchers.launcher.program());
            if let Some(notes) = remembered.and_then(|(remembered, program)| remembered.full(program)) {
                return ConfinementSupport::full(notes);
            }
            let confine = Confine::Fully(self.visible_without_ground());
            reached.try_level(ConfinementLevel::Full, &self.launchers, self.orders(confine));
            if let (Some((remembered, program)), Some(notes)) = (remembered, reached.notes_of_full()) {
                remembered.note_full(program, notes);
            }
        }
        if self.strongest >= ConfinementLevel::Partial && !reached.is_settled() {
            match PrivateFolder::make(&self.furniture(None)) {
                Ok(private) => {
                    let confine = Confine::Partly(self.visible_without_ground(), private.path().to_owned());
                    reached.try_watching(
                        ConfinementLevel::Partial,
                        &self.launchers,
                        self.orders(confine),
                        private.path(),
                    );
                }
                Err(error) => reached.could_not_try(format!("No private folder can be made in /tmp: {error}.")),
            }
        }
        reached
    }
}

/// Refuses less than what is required, unless the call was approved with that.
fn admit_level(permit: &Permit, confinement: &Confinement) -> Result<(), ToolError> {
    let (required, reached) = (confinement.required, confinement.level());
    if reached >= required {
        return Ok(());
    }
    permit.go_on()?;
    let exposure = Exposure::BelowRequired { required, reached };
    permit.admit(&Effect::Expose(exposure)).map_err(|_| refusal::below_required(confinement))
}

/// What a launcher is told, and what lives as long as what it launches.
pub(crate) struct Launch {
    pub(crate) orders: Orders,
    pub(crate) descriptors: Vec<OwnedFd>,
    pub(crate) level: ConfinementLevel,
    pub(crate) mark: Option<Mark>,
    pub(crate) private: Option<PrivateFolder>,
    pub(crate) home: WhoseHome,
}

/// What stands around a command that runs by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) level: ConfinementLevel,
    pub(crate) network: Network,
    pub(crate) home: WhoseHome,
}

/// Returns the streams that the caller passes. A job outlives its caller, and has none.
fn own_streams(command: &CommandSpec) -> Option<&CallerStreams> {
    command.streams.as_ref().filter(|_| !command.stays)
}

fn ordered(streams: &CallerStreams) -> OrderedStreams {
    OrderedStreams { terminals: streams.terminals(), foreground: streams.foreground() == Foreground::AtOnce }
}

/// Returns what is noted of what runs on a ground.
pub(crate) fn ran(level: ConfinementLevel, ground: &dyn Staging) -> Receipt {
    Receipt::Ran { level: level.on(ground), uncovered: ground.uncovered().map(str::to_owned) }
}

/// Returns what a command may read beside the rest, as it was named and where it really lies; what is not there is passed
/// over.
fn shown(readable: &[PathBuf]) -> Result<Vec<PathBuf>, ToolError> {
    if let Some(path) = readable.iter().find(|path| !path.is_absolute()) {
        let what = format!("The tool named {path:?} to be readable, which is not an absolute path.");
        return Err(ToolError::of(ErrorKind::Bug, what));
    }
    let both = |path: &PathBuf| path.canonicalize().ok().map(|real| [path.clone(), real]);
    let mut shown: Vec<PathBuf> = readable.iter().filter_map(both).flatten().collect();
    shown.dedup();
    Ok(shown)
}

/// Says what a command sees of the roots of a ground.
pub(crate) fn visible_roots(ground: &dyn Staging) -> Vec<VisibleRoot> {
    let visible = |root: &GroundRoot| VisibleRoot {
        path: root.path.clone(),
        layered: root.layer.is_some(),
        read_only: root.read_only.clone(),
        covers_rest: root.shown.is_some(),
        shown: root.shown.clone().unwrap_or_default(),
    };
    ground.roots().iter().map(visible).collect()
}

impl Processes for Sandbox {
    fn for_another_session(&self) -> Option<Arc<dyn Processes>> {
        Some(Arc::new(self.of_another_session()))
    }

    fn confinement(&self) -> Confinement {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(confinement) = &*known {
            return confinement.clone();
        }
        let reached = self.reached();
        let network = self.settings.network == Network::On;
        let supervised = self.network.is_some() && network::is_supervised_at(reached.level());
        let is_off = self.is_off;
        let confinement =
            Confinement { network, supervised, is_off, ..reached.into_confinement(self.settings.required) };
        // What failed for want of memory or descriptors is asked again the next time.
        if confinement.untried.is_none() {
            *known = Some(confinement.clone());
        }
        confinement
    }

    fn can_run(&self) -> bool {
        self.launchers.launcher.program().is_some()
    }

    fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        programs::find(names, &self.settings.environment, &self.settings.readable)
    }

    fn listeners(&self, port: u16) -> Option<Vec<IpAddr>> {
        ports::listeners(self.launchers.inside(), port)
    }

    fn connect(&self, port: u16) -> std::io::Result<OwnedFd> {
        ports::connect(
            match self.confinement().reached {
                ConfinementLevel::Full => self.launchers.kept.sockets(),
                // Its commands are on the network of the machine.
                ConfinementLevel::Partial | ConfinementLevel::None => ports::own_sockets(),
            },
            port,
        )
    }

    fn run<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a CommandSpec,
        ground: &'a dyn Staging,
        heard: OutputListener<'a>,
    ) -> BoxFuture<'a, Result<CommandEnd, NotRun>> {
        Box::pin(async move {
            permit.admit(&Effect::Run(CommandLine(command.line.clone())))?;
            let (task, around) = self.task(permit, command, ground)?;
            let Around { level, network, .. } = around;
            let uses = task.network.clone();
            let job = uses.as_ref().and_then(|_| self.jobs.add(command));
            let mut others = self.jobs.others(job.as_ref());
            let finish = attended(task, permit, heard).await?;
            let finish = finish.map_err(|why| {
                if let (NoFinish::Missing(_), Some(remembered)) = (&why, &self.remembered) {
                    remembered.forget();
                }
                refusal::of_finish(why, command)
            })?;
            if let Some(status) = finish.how.exit_code() {
                permit.receipts().note(Receipt::Exited(status));
            }
            let mut ports = self.network.as_ref().map(|network| network.ports().to_vec()).unwrap_or_default();
            ports.insert(0, ports::NAMES);
            let scene = ExplanationContext { settings: &self.settings, command, ground, around, ports: &ports };
            let mut notes = self.without_limits_of_level(&finish.notes, ground);
            let mut refused_hosts = Vec::new();
            if let Some(reached) = uses.map(|uses| uses.reached()) {
                permit.receipts().note_reached(&reached);
                others.extend(self.jobs.others(job.as_ref()));
                let beside = || Suspects::beside(&others, permit.effects());
                let suspects = if job.is_some() { Suspects::Job } else { beside() };
                notes.extend(reached_hosts::notes(&reached, finish.how, suspects));
                refused_hosts = reached_hosts::refused(&reached);
            }
            // Who got there does not need to be told that there was a way.
            if network == Network::On && self.settings.network == Network::Off && finish.how != HowEnded::Exited(0) {
                notes.push(WITH_NETWORK.to_owned());
            }
            notes.extend(explain(&scene, &finish));
            if let Some((files, note)) = self.left_in_home(ground) {
                permit.receipts().note_left_in_home(files);
                notes.push(note);
            }
            notes.extend(self.caches_only_read());
            let (Finish { how, took, left_behind, .. }, level) = (finish, level.on(ground));
            Ok(CommandEnd { how, took, level, left_behind, notes, refused_hosts })
        })
    }

    fn start<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a CommandSpec,
        ground: &'a dyn Staging,
    ) -> BoxFuture<'a, Result<Box<dyn Worker>, NotRun>> {
        Box::pin(async move {
            permit.admit(&Effect::Run(CommandLine(command.line.clone())))?;
            let network = self.network_of(permit, command);
            let launch = self.launch(permit, command, ground, network)?;
            let terms = Terms { level: launch.level, network, always: self.settings.network };
            let hire = Hire { launchers: Arc::clone(&self.launchers), launch, terms };
            Ok(Box::new(hire.start(permit, command, ground).await?) as Box<dyn Worker>)
        })
    }
}
