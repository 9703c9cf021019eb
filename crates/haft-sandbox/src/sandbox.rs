//! The door to processes.

mod seen;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use haft_contract::BoxFuture;
use haft_contract::connection::SessionNetwork;
use haft_contract::door::{Permit, Receipt, Standing};
use haft_contract::effect::{CommandLine, Effect, Exposure};
use haft_contract::error::ToolError;
use haft_contract::kinds::ErrorKind;
use haft_contract::process::{
    Command, Confinement, Ended, Ground, GroundRoot, Heard, Home, HowEnded, Level, NotRun, Processes, Worker,
};
use tokio::sync::mpsc;

use crate::attend::{Finish, NoFinish, Task, attend};
use crate::disk::DiskBound;
use crate::explain::{Scene, explain};
use crate::home::HomeWatch;
use crate::launcher::Launcher;
use crate::orders::{Confine, Orders, Visible, VisibleRoot};
use crate::private::{Furniture, PrivateFolder};
use crate::reached::Reached;
use crate::remembered::Remembered;
use crate::settings::{Network, Settings};
use crate::standby::Launchers;
use crate::strays::Mark;
use crate::wake::{AbandonWhenDropped, Wake, Wish};
use crate::whose_home::WhoseHome;
use crate::worker::{Hire, Terms};
use crate::{environment, ports, programs, reached_hosts, refusal};

/// How many pieces of output wait for whoever listens; then the command waits.
const PIECES: usize = 4;
/// What is said of a command that had the network because it was approved with it.
const WITH_NETWORK: &str = "it ran with the network, to any host";

/// Runs commands.
pub struct Sandbox {
    launchers: Arc<Launchers>,
    settings: Settings,
    strongest: Level,
    /// Whether the settings switch it off.
    is_off: bool,
    network: Option<Arc<dyn SessionNetwork>>,
    remembered: Option<Remembered>,
    known: Mutex<Option<Confinement>>,
    covered: OnceLock<Vec<PathBuf>>,
    /// The keys in folders of toolchains, and when they were looked for.
    keys: Mutex<Option<(Instant, Vec<PathBuf>)>>,
    home: HomeWatch,
    /// Commands that somebody agreed to hold a copy while they run in the home of the session.
    guests: Arc<()>,
    told_of_caches: AtomicBool,
}

impl Sandbox {
    /// Runs commands with this launcher, as these settings say. Nothing is tried yet.
    pub fn new(launcher: Launcher, settings: Settings) -> Self {
        Self {
            launchers: Arc::new(Launchers::new(launcher)),
            settings,
            strongest: Level::Full,
            is_off: false,
            network: None,
            remembered: None,
            known: Mutex::default(),
            covered: OnceLock::new(),
            keys: Mutex::default(),
            home: HomeWatch::default(),
            guests: Arc::default(),
            told_of_caches: AtomicBool::new(false),
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
        self.remembered = Some(Remembered::new(file));
        self
    }

    /// Confines commands at most so strongly, as if the system gave no more. What is required stays required.
    pub fn at_most(mut self, strongest: Level) -> Self {
        self.strongest = strongest;
        self
    }

    /// Confines nothing, because the user's settings say so.
    pub fn switched_off(mut self) -> Self {
        self.is_off = true;
        self.at_most(Level::None)
    }

    /// Prepares what is to be run; `permit` has admitted it.
    fn task(&self, permit: &Permit, command: &Command, ground: &dyn Ground) -> Result<(Task, Around), NotRun> {
        let network = self.network_of_run(permit, command)?;
        let launch = self.launch(permit, command, ground, network)?;
        let Launch { orders, descriptors, level, mark, private, home } = launch;
        let uses = self.network.as_ref().filter(|_| network == Network::Supervised);
        let task = Task {
            launchers: Arc::clone(&self.launchers),
            orders,
            descriptors,
            input: command.input.clone(),
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
        command: &Command,
        ground: &dyn Ground,
        network: Network,
    ) -> Result<Launch, NotRun> {
        if self.launchers.launcher.program().is_none() {
            return Err(refusal::no_launcher().into());
        }
        refusal::of_words(command)?;
        let level = self.level(permit)?;
        if level != Level::Full && ground.roots().iter().any(|root| root.layer.is_some()) {
            return Err(NotRun::NoLayer(self.confinement().why_no_layer()));
        }
        let whose = self.whose_home(permit, command, ground);
        let mut environment = environment::with(&self.settings.environment, &command.environment)?;
        let mark = (level != Level::Full).then(Mark::fresh);
        environment.extend(mark.as_ref().map(Mark::variable));
        if command.code.is_some() {
            // The copy is mounted over folders of the project, and git stops looking for its repository at a mount.
            environment.push(("GIT_DISCOVERY_ACROSS_FILESYSTEM".into(), "1".into()));
            // What lies compiled beside a module in the project may be planted.
            environment.push(("PYTHONPYCACHEPREFIX".into(), "/tmp/.haft-pycache".into()));
        }
        let private = match level {
            Level::Partial => Some(self.private_folder(ground, &mut environment)?),
            Level::Full | Level::None => None,
        };
        let confine = match (level, &private) {
            (Level::Full, _) => {
                let is_supervised = network == Network::Supervised;
                let visible = Visible { is_supervised, ..self.visible(command, ground)? };
                whose.limit(&mut environment, &self.settings.home);
                Confine::Fully(self.with_home(visible, whose, ground))
            }
            (Level::Partial, Some(private)) => {
                Confine::Partly(self.visible(command, ground)?, private.path().to_owned())
            }
            (Level::Partial | Level::None, _) => Confine::No,
        };
        if let Some(place) = self.launchers.place.get().and_then(Option::as_ref).filter(|_| level == Level::Full) {
            environment::lead(&mut environment, &place.caches.moved);
        }
        let descriptors = match level {
            Level::None => Vec::new(),
            Level::Partial | Level::Full => descriptors(ground.roots())?,
        };
        let orders = Orders {
            words: command.words.clone(),
            folder: command.folder.clone(),
            environment,
            network: network == Network::On,
            is_of_session: whose != WhoseHome::Own,
            has_input: !command.input.is_empty(),
            stays: command.stays,
            ..self.orders(confine)
        };
        Ok(Launch { orders, descriptors, level, mark, private, home: whose })
    }

    /// Returns how strongly commands are confined; refuses where that is less than it must be.
    fn level(&self, permit: &Permit) -> Result<Level, ToolError> {
        let confinement = self.confinement();
        if let Some(why) = &confinement.untried {
            return Err(refusal::untried(why));
        }
        let level = confinement.reached;
        if level < confinement.required {
            permit.go_on()?;
            let exposure = Exposure::BelowRequired { required: confinement.required, reached: level };
            if permit.admit(&Effect::Expose(exposure)).is_err() {
                return Err(refusal::below_required(&confinement));
            }
        }
        Ok(level)
    }

    /// Returns which network a command has that runs by itself.
    fn network_of_run(&self, permit: &Permit, command: &Command) -> Result<Network, ToolError> {
        let is_of_session = command.home == Home::Session && permit.desk().is_some();
        let is_supervised = self.network.is_some() && is_of_session && self.level(permit)? == Level::Full;
        let by_setting = self.settings.network == Network::On && permit.standing() != Standing::Plan;
        Ok(if is_supervised && !by_setting { Network::Supervised } else { self.network_of(permit, command) })
    }

    /// Returns whether this command has the network: by the settings, or because a part of it that was approved uses it.
    fn network_of(&self, permit: &Permit, command: &Command) -> Network {
        let is_of_command = |effect: &&Effect| matches!(effect, Effect::Step(step) if *step.command == *command.line);
        let is_approved = permit.effects().iter().filter(is_of_command).any(Effect::gives_network);
        match permit.standing() {
            Standing::Plan => Network::Off,
            Standing::Words | Standing::Consent if is_approved => Network::On,
            Standing::Words | Standing::Consent => self.settings.network,
        }
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
            network: self.settings.network == Network::On,
            is_of_session: false,
            has_input: false,
            serves: false,
            stays: false,
        }
    }

    fn private_folder(
        &self,
        ground: &dyn Ground,
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
        let Settings { home_files, readable, home, .. } = &self.settings;
        Furniture { files: home_files, readable, home, workspace }
    }

    /// Tries which level there is, from the strongest down.
    fn reached(&self) -> Reached {
        if self.launchers.launcher.program().is_none() {
            return Reached::nothing(refusal::no_launcher().what.clone());
        }
        if self.is_off {
            return Reached::switched_off();
        }
        let mut reached = Reached::default();
        if self.strongest >= Level::Full {
            let remembered = self.remembered.as_ref().zip(self.launchers.launcher.program());
            if let Some(notes) = remembered.and_then(|(remembered, program)| remembered.full(program)) {
                return Reached::full(notes);
            }
            let confine = Confine::Fully(self.visible_without_ground());
            reached.try_level(Level::Full, &self.launchers, self.orders(confine));
            if let (Some((remembered, program)), Some(notes)) = (remembered, reached.notes_of_full()) {
                remembered.note_full(program, notes);
            }
        }
        if self.strongest >= Level::Partial && !reached.is_settled() {
            match PrivateFolder::make(&self.furniture(None)) {
                Ok(private) => {
                    let confine = Confine::Partly(self.visible_without_ground(), private.path().to_owned());
                    reached.try_level(Level::Partial, &self.launchers, self.orders(confine));
                }
                Err(error) => reached.could_not_try(format!("No private folder can be made in /tmp: {error}.")),
            }
        }
        reached
    }
}

/// What a launcher is told, and what lives as long as what it launches.
pub(crate) struct Launch {
    pub(crate) orders: Orders,
    pub(crate) descriptors: Vec<OwnedFd>,
    pub(crate) level: Level,
    pub(crate) mark: Option<Mark>,
    pub(crate) private: Option<PrivateFolder>,
    pub(crate) home: WhoseHome,
}

/// What stands around a command that runs by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub(crate) level: Level,
    pub(crate) network: Network,
    pub(crate) home: WhoseHome,
}

/// Returns what is noted of what runs on a ground.
pub(crate) fn ran(level: Level, ground: &dyn Ground) -> Receipt {
    Receipt::Ran { level, uncovered: ground.uncovered().map(str::to_owned) }
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
pub(crate) fn visible_roots(ground: &dyn Ground) -> Vec<VisibleRoot> {
    let visible = |root: &GroundRoot| VisibleRoot {
        path: root.path.clone(),
        layered: root.layer.is_some(),
        read_only: root.read_only.clone(),
        covers_rest: root.shown.is_some(),
        shown: root.shown.clone().unwrap_or_default(),
    };
    ground.roots().iter().map(visible).collect()
}

/// Returns the descriptors that go with a list of roots, in the order that the orders promise.
pub(crate) fn descriptors(roots: &[GroundRoot]) -> Result<Vec<OwnedFd>, ToolError> {
    let of_root = |root: &GroundRoot| {
        let layer = root.layer.as_ref().map(|layer| [&layer.upper, &layer.work]);
        [&root.folder].into_iter().chain(layer.into_iter().flatten()).map(OwnedFd::try_clone).collect()
    };
    let all: Result<Vec<Vec<_>>, std::io::Error> = roots.iter().map(of_root).collect();
    let failed = |error| ToolError::of(ErrorKind::Io, format!("Too many files are open to run a command: {error}."));
    all.map(|all| all.into_iter().flatten().collect()).map_err(failed)
}

impl Processes for Sandbox {
    fn confinement(&self) -> Confinement {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(confinement) = &*known {
            return confinement.clone();
        }
        let reached = self.reached();
        let network = self.settings.network == Network::On;
        let supervised = self.network.is_some();
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

    fn is_listening(&self, port: u16) -> Option<bool> {
        ports::is_listening(self.launchers.inside(), port)
    }

    fn connect(&self, port: u16) -> std::io::Result<OwnedFd> {
        ports::connect(
            match self.confinement().reached {
                Level::Full => self.launchers.kept.sockets(),
                // Its commands are on the network of the machine.
                Level::Partial | Level::None => ports::own_sockets(),
            },
            port,
        )
    }

    fn run<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a Command,
        ground: &'a dyn Ground,
        heard: Heard<'a>,
    ) -> BoxFuture<'a, Result<Ended, NotRun>> {
        Box::pin(async move {
            permit.admit(&Effect::Run(CommandLine(command.line.clone())))?;
            let (task, around) = self.task(permit, command, ground)?;
            let Around { level, network, .. } = around;
            let uses = task.network.clone();
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
            let scene = Scene { settings: &self.settings, command, ground, around, ports: &ports };
            let mut notes = finish.notes.clone();
            let mut refused_hosts = Vec::new();
            if let Some(uses) = uses {
                let reached = uses.reached();
                permit.receipts().note_reached(&reached);
                notes.extend(reached_hosts::notes(&reached, finish.how));
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
            let Finish { how, took, left_behind, .. } = finish;
            Ok(Ended { how, took, level, left_behind, notes, refused_hosts })
        })
    }

    fn start<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a Command,
        ground: &'a dyn Ground,
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

/// Lets a thread attend to the command; passes on what it prints, and the wish to stop.
async fn attended(task: Task, permit: &Permit, heard: Heard<'_>) -> Result<Result<Finish, NoFinish>, ToolError> {
    let failed = |error| ToolError::of(ErrorKind::Io, format!("No command can be run now: {error}."));
    let wake = Arc::new(Wake::new().map_err(|error| failed(std::io::Error::from(error)))?);
    let abandon = AbandonWhenDropped(Arc::clone(&wake));
    let (tell, mut pieces) = mpsc::channel(PIECES);
    let attends = tokio::task::spawn_blocking(move || attend(task, tell, &wake));
    let mut is_told = false;
    loop {
        tokio::select! {
            biased;
            () = permit.stop().cancelled(), if !is_told => {
                is_told = true;
                abandon.0.tell(Wish::Stop);
            }
            signals = permit.signals().next() => abandon.0.signal(signals),
            piece = pieces.recv() => match piece {
                Some((stream, piece)) => {
                    // The room is there before the piece is dealt with, so that reading and listening overlap.
                    abandon.0.there_is_room();
                    heard(stream, &piece);
                }
                None => break,
            },
        }
    }
    attends.await.map_err(|_| ToolError::of(ErrorKind::Bug, "The thread that attends to the command broke down."))
}
