//! The door to processes.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::door::{Permit, Receipt};
use haft_contract::effect::{CommandLine, Effect, Exposure};
use haft_contract::error::ToolError;
use haft_contract::kinds::ErrorKind;
use haft_contract::process::{
    Command, Confinement, Ended, Ground, GroundRoot, Heard, HowEnded, Level, NotRun, Processes, Worker,
};
use tokio::sync::mpsc;

use crate::attend::{Finish, NoFinish, Task, attend};
use crate::covered::{covered, keys_of_toolchains};
use crate::explain::{Scene, explain};
use crate::launcher::Launcher;
use crate::orders::{Confine, Orders, Visible, VisibleCode, VisibleRoot};
use crate::private::{Furniture, PrivateFolder};
use crate::reached::Reached;
use crate::standby::Launchers;
use crate::strays::Mark;
use crate::wake::{AbandonWhenDropped, Wake, Wish};
use crate::worker::{Hire, Terms};
use crate::{environment, programs, refusal};

/// How many pieces of output wait for whoever listens; then the command waits.
const PIECES: usize = 4;
/// What is said of a command that had the network because it was approved with it.
const WITH_NETWORK: &str = "it ran with the network, to any host";

/// Runs commands.
pub struct Sandbox {
    launchers: Arc<Launchers>,
    settings: Settings,
    strongest: Level,
    known: Mutex<Option<Confinement>>,
    /// What there is of what may be read: most toolchains are nowhere to be found.
    readable: OnceLock<Vec<PathBuf>>,
    covered: OnceLock<Vec<PathBuf>>,
    keys: OnceLock<Vec<PathBuf>>,
}

impl Sandbox {
    /// Runs commands with this launcher, as these settings say. Nothing is tried yet.
    pub fn new(launcher: Launcher, settings: Settings) -> Self {
        Self {
            launchers: Arc::new(Launchers::new(launcher)),
            settings,
            strongest: Level::Full,
            known: Mutex::default(),
            readable: OnceLock::new(),
            covered: OnceLock::new(),
            keys: OnceLock::new(),
        }
    }

    /// Confines commands at most so strongly, as if the system gave no more. What is required stays required.
    pub fn at_most(mut self, strongest: Level) -> Self {
        self.strongest = strongest;
        self
    }

    /// Prepares what is to be run; `permit` has admitted it.
    fn task(&self, permit: &Permit, command: &Command, ground: &dyn Ground) -> Result<(Task, Level), NotRun> {
        let Launch { orders, descriptors, level, mark, private } = self.launch(permit, command, ground)?;
        let task = Task {
            launchers: Arc::clone(&self.launchers),
            orders,
            descriptors,
            input: command.input.clone(),
            time: command.time,
            receipts: permit.receipts().clone(),
            ran: ran(level, ground),
            mark,
            _private: private,
        };
        Ok((task, level))
    }

    /// Finds out how a command is confined, and says so to a launcher.
    fn launch(&self, permit: &Permit, command: &Command, ground: &dyn Ground) -> Result<Launch, NotRun> {
        if self.launchers.launcher.program().is_none() {
            return Err(refusal::no_launcher().into());
        }
        refusal::of_words(command)?;
        let level = self.level(permit)?;
        if level != Level::Full && ground.roots().iter().any(|root| root.layer.is_some()) {
            return Err(NotRun::NoLayer(format!("the sandbox reaches only the level \"{level}\" here")));
        }
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
            (Level::Full, _) => Confine::Fully(self.visible(command, ground)?),
            (Level::Partial, Some(private)) => {
                Confine::Partly(self.visible(command, ground)?, private.path().to_owned())
            }
            (Level::Partial | Level::None, _) => Confine::No,
        };
        let descriptors = match level {
            Level::None => Vec::new(),
            Level::Partial | Level::Full => descriptors(ground.roots())?,
        };
        let orders = Orders {
            words: command.words.clone(),
            folder: command.folder.clone(),
            environment,
            network: self.network_of(permit, command) == Network::On,
            has_input: !command.input.is_empty(),
            ..self.orders(confine)
        };
        Ok(Launch { orders, descriptors, level, mark, private })
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

    /// Returns whether this command has the network: by the settings, or because a part of it that was approved uses it.
    fn network_of(&self, permit: &Permit, command: &Command) -> Network {
        let is_of_command = |effect: &&Effect| matches!(effect, Effect::Step(step) if *step.command == *command.line);
        let is_approved = permit.effects().iter().filter(is_of_command).any(Effect::gives_network);
        if is_approved { Network::On } else { self.settings.network }
    }

    /// Returns orders that run nothing.
    fn orders(&self, confine: Confine) -> Orders {
        Orders {
            words: Vec::new(),
            folder: "/".into(),
            environment: Vec::new(),
            confine,
            processes: self.settings.processes,
            network: self.settings.network == Network::On,
            has_input: false,
            serves: false,
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

    /// Says what a command sees on this ground.
    fn visible(&self, command: &Command, ground: &dyn Ground) -> Result<Visible, ToolError> {
        let (roots, shown) = (visible_roots(ground), shown(&command.readable)?);
        let code = command.code.as_ref().map(|code| VisibleCode {
            folder: code.folder.clone(),
            root: code.workspace.clone(),
            places: code.places.clone(),
        });
        let mut visible = Visible { roots, shown, code, ..self.visible_without_ground() };
        visible.hidden.extend_from_slice(ground.hidden());
        // Where a workspace lies in the folder of a toolchain, its own files stay visible.
        let is_of_root = |key: &&PathBuf| visible.roots.iter().any(|root| key.starts_with(&root.path));
        let keys = self.keys.get_or_init(|| keys_of_toolchains(&self.settings.hidden, &self.settings.readable));
        let keys: Vec<PathBuf> = keys.iter().filter(|key| !is_of_root(key)).cloned().collect();
        visible.hidden.extend(keys);
        Ok(visible)
    }

    fn readable(&self) -> &[PathBuf] {
        let is_there = |path: &&PathBuf| path.symlink_metadata().is_ok();
        self.readable.get_or_init(|| self.settings.readable.iter().filter(is_there).cloned().collect())
    }

    fn visible_without_ground(&self) -> Visible {
        Visible {
            roots: Vec::new(),
            readable: self.readable().to_vec(),
            shown: Vec::new(),
            layers: Vec::new(),
            hidden: self.covered.get_or_init(|| covered(&self.settings.hidden)).clone(),
            home: self.settings.home.clone(),
            home_files: self.settings.home_files.clone(),
            code: None,
        }
    }

    /// Tries which level there is, from the strongest down.
    fn reached(&self) -> Reached {
        if self.launchers.launcher.program().is_none() {
            return Reached::nothing(refusal::no_launcher().what.clone());
        }
        let mut reached = Reached::default();
        if self.strongest >= Level::Full {
            let confine = Confine::Fully(self.visible_without_ground());
            reached.try_level(Level::Full, &self.launchers, self.orders(confine));
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
        let confinement = Confinement { network, ..reached.into_confinement(self.settings.required) };
        // What failed for want of memory or descriptors is asked again the next time.
        if confinement.untried.is_none() {
            *known = Some(confinement.clone());
        }
        confinement
    }

    fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        programs::find(names, &self.settings.environment, &self.settings.readable)
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
            let (task, level) = self.task(permit, command, ground)?;
            let finish = attended(task, permit, heard).await?;
            let finish = finish.map_err(|why| refusal::of_finish(why, command))?;
            if let Some(status) = finish.how.exit_code() {
                permit.receipts().note(Receipt::Exited(status));
            }
            let scene =
                Scene { settings: &self.settings, command, ground, level, network: self.network_of(permit, command) };
            let mut notes = finish.notes.clone();
            // Who got there does not need to be told that there was a way.
            if scene.network != self.settings.network && finish.how != HowEnded::Exited(0) {
                notes.push(WITH_NETWORK.to_owned());
            }
            notes.extend(explain(&scene, &finish));
            let Finish { how, took, left_behind, .. } = finish;
            Ok(Ended { how, took, level, left_behind, notes })
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
            let mut launch = self.launch(permit, command, ground)?;
            if let Confine::Fully(visible) = &mut launch.orders.confine {
                visible.layers = ground.layers().iter().filter_map(|path| path.canonicalize().ok()).collect();
            }
            let network = if launch.orders.network { Network::On } else { Network::Off };
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

/// How commands are run on this machine. `haft-config` fills it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The level of confinement without which no command runs unasked.
    pub required: Level,
    /// Whether commands reach the network.
    pub network: Network,
    /// The whole environment of commands: from an allow-list, without secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders and files of the system and of toolchains that commands may read.
    pub readable: Vec<PathBuf>,
    /// Files in those that they may not; `FOLDER/*` means the tokens and keys in a folder.
    pub hidden: Vec<PathBuf>,
    /// The user's home; nothing in it is visible but what else is listed.
    pub home: PathBuf,
    /// Small files that commands find in their private home, by their place in it.
    pub home_files: Vec<(PathBuf, String)>,
    /// Most processes and threads of one command.
    pub processes: u32,
}

/// Whether commands reach the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// They do not; only the loopback of their own.
    Off,
    /// They do, because the user's settings say so, or because a part of this one uses it and was approved.
    On,
}
