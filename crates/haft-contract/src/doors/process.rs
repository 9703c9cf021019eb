//! The door that runs commands: its requests, and its reports of how a command went.
//!
//! A command runs on a *ground*: the folders it may write, which the file door prepares. Where the
//! system can, a layer takes every change of the command. The file door then inspects the changes,
//! refuses parts of them, and writes the rest to the journal.
//!
//! Not here: how a process is confined (`haft-sandbox`), how a layer is read (`haft-workspace`).

mod caller_streams;
mod command;
mod settled;

pub use settled::{ChangeCounts, CommitReport, Conflict, Disposition, Settlement};

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::door::Permit;
use crate::BoxFuture;
use crate::files::path::Target;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;

pub use caller_streams::{CallerSide, CallerStreams, Foreground, StreamNews};
pub use command::{CommandSpec, Home, Keeps, ReadScope, TrustedCode};

/// Runs commands.
pub trait Processes: Send + Sync {
    /// Says how well commands are confined here. It is tried at the first question and remembered.
    fn confinement(&self) -> Confinement;

    /// Returns a door like this one for another session: its commands have a home, temporary folders and a network of their
    /// own. Nothing where commands leave nothing behind that another session could find.
    fn for_another_session(&self) -> Option<Arc<dyn Processes>> {
        None
    }

    /// Returns whether this program can run commands at all.
    fn can_run(&self) -> bool {
        true
    }

    /// Returns the path of the first of these programs that commands find.
    fn find_program(&self, _names: &[&str]) -> Option<PathBuf> {
        None
    }

    /// Returns at which addresses programs listen on this port of the network that commands have, where that is known.
    fn listeners(&self, _port: u16) -> Option<Vec<IpAddr>> {
        None
    }

    /// Connects to a port of the loopback that commands have. May wait for the program that listens there.
    ///
    /// # Errors
    ///
    /// Fails where no program accepts, or where there is no way to that loopback.
    fn connect(&self, _port: u16) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Runs a command on a ground until it ends, and everything that it has started with it.
    ///
    /// What it prints is passed on while it runs.
    fn run<'a>(
        &'a self,
        permit: &'a Permit,
        command: &'a CommandSpec,
        ground: &'a dyn Staging,
        heard: OutputListener<'a>,
    ) -> BoxFuture<'a, Result<CommandEnd, NotRun>>;

    /// Starts a process that serves one call after the other; it is on this ground from the start.
    fn start<'a>(
        &'a self,
        _permit: &'a Permit,
        _command: &'a CommandSpec,
        _ground: &'a dyn Staging,
    ) -> BoxFuture<'a, Result<Box<dyn Worker>, NotRun>> {
        let error = ToolError::of(ErrorKind::Unavailable, "Workers cannot be started here.");
        Box::pin(async move { Err(NotRun::Failed(error)) })
    }
}

/// A process that serves one call after the other.
///
/// It talks over a socket of its own, which is descriptor 3 inside: one message per line, in both directions. What it
/// prints to its output is no message. Dropping it ends it, and everything that it has started.
pub trait Worker: Send {
    /// Puts it on the ground of the next call. It must have left the one before, and the call must be permitted the
    /// network if and only if the one was that it was started for.
    ///
    /// Its folder is still that of the ground before: it changes into the new one, of the same path, when its message comes.
    fn enter<'a>(&'a mut self, permit: &'a Permit, ground: &'a dyn Staging) -> BoxFuture<'a, Result<(), NotRun>>;

    /// Sends a message, which is one line, without its line end. What the worker prints meanwhile is passed on.
    fn send<'a>(&'a mut self, message: &'a [u8], heard: OutputListener<'a>) -> BoxFuture<'a, Result<(), CommandEnd>>;

    /// Waits for the next message. What the worker prints meanwhile is passed on. May be dropped while it waits.
    fn receive<'a>(&'a mut self, heard: OutputListener<'a>) -> BoxFuture<'a, Result<Vec<u8>, CommandEnd>>;

    /// Takes the ground away, and ends whatever the call has started and left behind; returns how much that was. Then
    /// nothing can change the ground any more, and it may be settled.
    ///
    /// That holds for an error, too: then the worker had ended, or was ended because it would not let go of the ground.
    fn leave(&mut self) -> BoxFuture<'_, Result<usize, CommandEnd>>;

    /// Ends it, and everything that it has started, and says so; how it had ended where it had.
    fn end(self: Box<Self>, how: HowEnded) -> BoxFuture<'static, CommandEnd>;
}

/// Receives the output of a command, piece by piece.
pub type OutputListener<'a> = &'a (dyn Fn(Stream, &[u8]) + Send + Sync);

/// A door that is shut: no command can be run.
#[derive(Clone, Copy, Debug)]
pub struct NoProcesses;

impl Processes for NoProcesses {
    fn confinement(&self) -> Confinement {
        Confinement {
            required: ConfinementLevel::None,
            is_set: false,
            reached: ConfinementLevel::None,
            layerless: None,
            missing: Vec::new(),
            untried: None,
            network: false,
            is_off: false,
            supervised: false,
            watches: false,
        }
    }

    fn can_run(&self) -> bool {
        false
    }

    fn run<'a>(
        &'a self,
        _permit: &'a Permit,
        _command: &'a CommandSpec,
        _ground: &'a dyn Staging,
        _heard: OutputListener<'a>,
    ) -> BoxFuture<'a, Result<CommandEnd, NotRun>> {
        let error =
            ToolError::of(ErrorKind::Unavailable, "Commands cannot be run here: no sandbox was set up for them.");
        Box::pin(async move { Err(NotRun::Failed(error)) })
    }
}

/// How well commands are confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// The level that is required.
    pub required: ConfinementLevel,
    /// Whether the user's settings say which level is required. Otherwise less is enough where haft can undo the changes.
    pub is_set: bool,
    /// The level of the sandbox that this system gives.
    pub reached: ConfinementLevel,
    /// Why the sandbox has no layer over the workspace at the full level: then a command has the partial level.
    pub layerless: Option<String>,
    /// What is missing for more, a sentence each.
    pub missing: Vec<String>,
    /// Why the level could not be found out just now, a sentence. Then no command runs: it would have less than there is.
    pub untried: Option<String>,
    /// Whether every command has the network, because the settings say so. Else only one whose approved parts use it.
    pub network: bool,
    /// Whether commands reach hosts by name at the level that is reached, each connection decided about when it is made:
    /// in a network of their own, or by a proxy.
    pub supervised: bool,
    /// Whether the user has switched the sandbox off.
    pub is_off: bool,
    /// Whether contents can be kept before a command touches them, so that undo needs no layer.
    pub watches: bool,
}

impl Confinement {
    /// Returns the level of a command: what confines it, and whether a layer takes its changes.
    pub fn level(&self) -> ConfinementLevel {
        if self.layerless.is_some() { self.reached.min(ConfinementLevel::Partial) } else { self.reached }
    }

    /// Returns the confinement of commands that work on the real files at the full level, for this reason.
    #[must_use]
    pub fn without_layer(mut self, why: &str) -> Self {
        if self.reached != ConfinementLevel::Full || self.layerless.is_some() {
            return self;
        }
        self.layerless = Some(why.to_owned());
        self.missing.push(format!("Commands change the real files while they run: {why}."));
        if !self.is_set {
            self.required = self.required.min(ConfinementLevel::Partial);
        }
        self
    }

    /// Says why commands have no layer below the full level.
    pub fn why_no_layer(&self) -> String {
        if self.is_off {
            return "your settings switch the sandbox off ([sandbox] use = \"none\")".to_owned();
        }
        format!("the sandbox reaches only the level \"{}\" here", self.reached)
    }
}

/// The strength of the confinement of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConfinementLevel {
    /// Not at all.
    None,
    /// The kernel refuses files and network (Landlock, seccomp), but there are no namespaces, or no layer over the workspace.
    Partial,
    /// Namespaces of its own, a layer, Landlock, seccomp.
    Full,
}

impl ConfinementLevel {
    /// Returns the name of the level in records and settings.
    pub fn code(self) -> &'static str {
        match self {
            ConfinementLevel::None => "none",
            ConfinementLevel::Partial => "partial",
            ConfinementLevel::Full => "full",
        }
    }

    /// Returns the level of a command on these folders in a sandbox of this level.
    pub fn on(self, ground: &dyn Staging) -> Self {
        if ground.layerless().is_some() { self.min(ConfinementLevel::Partial) } else { self }
    }
}

impl fmt::Display for ConfinementLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Which stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its output.
    Out,
    /// Its errors.
    Err,
}

/// How a command ended. No process that it started is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// In which way.
    pub how: HowEnded,
    /// How long it ran.
    pub took: Duration,
    /// How strongly it was confined.
    pub level: ConfinementLevel,
    /// How many processes it had left behind, which were ended with it.
    pub left_behind: usize,
    /// What else is worth knowing: denials explained, limits that could not be set; a sentence each.
    pub notes: Vec<String>,
    /// Hosts that it asked for and may not reach.
    pub refused_hosts: Vec<String>,
}

/// In which way a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// It ended by itself with this status.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
    /// Its time was up.
    TimedOut,
    /// The call was told to stop.
    Stopped,
}

impl HowEnded {
    /// Returns the exit status as a shell would say it, where there is one.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            HowEnded::Exited(status) => Some(status),
            HowEnded::Killed(signal) => Some(128 + signal),
            HowEnded::TimedOut | HowEnded::Stopped => None,
        }
    }
}

/// Why a command was not run. Nothing has happened then.
#[derive(Debug)]
pub enum NotRun {
    /// The system refuses the layers of this ground, or to watch what happens on it, for this reason; another ground may do.
    NoLayer(String),
    /// It cannot be run.
    Failed(ToolError),
}

impl From<ToolError> for NotRun {
    fn from(error: ToolError) -> Self {
        NotRun::Failed(error)
    }
}

/// The folders on which a command works.
///
/// Dropping it discards the changes of the command in its layers.
pub trait Staging: Send + Sync {
    /// The folders that the command may write.
    fn roots(&self) -> &[GroundRoot];

    /// Folders and files that must not be visible inside, by their real paths, wherever they lie.
    fn hidden(&self) -> &[PathBuf];

    /// Says why what the command changes cannot be undone, where that is so.
    fn uncovered(&self) -> Option<&str>;

    /// Says why the command works on the real folders, where that is so.
    fn layerless(&self) -> Option<&str> {
        None
    }

    /// Lets nothing come into the workspace but what a tool had said that it would change; to be called before anything runs.
    ///
    /// Without layers it has no effect: the command then changes the real files immediately.
    fn keep_only(&mut self, targets: Arc<[Target]>);

    /// Lets the command read only these parts of the workspace, by their real paths; to be called before anything runs.
    fn show_only(&mut self, _paths: &[PathBuf]) {}

    /// Returns the folders in which the layers of this ground and of later ones lie, by their real paths.
    fn layers(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns a private folder on disk for the files of the session; `tool-caches` beside it is for later sessions.
    fn place(&self) -> Option<PathBuf> {
        None
    }

    /// Returns whether anything was written, where a layer tells.
    fn is_changed(&self) -> bool {
        true
    }

    /// Commits what the command has changed so far, while it goes on running.
    fn sync<'a>(&'a self, _permit: &'a Permit) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        Box::pin(async {
            let what = "There is no layer over the workspace: what the command changed is already there.";
            Err(ToolError::of(ErrorKind::Unavailable, what))
        })
    }

    /// Brings what the command changed into the workspace, or shows it and throws it away.
    fn settle<'a>(
        self: Box<Self>,
        permit: &'a Permit,
        how: Disposition,
    ) -> BoxFuture<'a, Result<CommitReport, ToolError>>;
}

/// One folder that a command may write.
#[derive(Debug)]
pub struct GroundRoot {
    /// Its real path, which is its path inside too.
    pub path: PathBuf,
    /// The folder itself.
    pub folder: OwnedFd,
    /// What takes the changes; without it they go into the folder itself.
    pub layer: Option<OverlayDirs>,
    /// Without a layer, the folder in which what the command changes is kept as it was
    /// ([`before_image`](super::before_image)).
    pub images: Option<OwnedFd>,
    /// Places in it that belong to haft. Where they cannot be hidden, a command that is watched cannot change them.
    pub own: Vec<PathBuf>,
    /// Files and folders in it, by their place, that cannot be changed.
    pub read_only: Vec<PathBuf>,
    /// The files and folders in it, by their place, that can be read; all where nothing is said.
    pub shown: Option<Vec<PathBuf>>,
}

/// Two empty folders on one file system that take the changes of a command.
#[derive(Debug)]
pub struct OverlayDirs {
    /// What comes to hold the changes.
    pub upper: OwnedFd,
    /// What the kernel needs beside it.
    pub work: OwnedFd,
}

/// Chooses the folders on which a command works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagingMode {
    /// One with layers on disk.
    Layered,
    /// One with layers in memory where there is room, because a short call shall not wait for a disk; else as above.
    Quick,
    /// One with layers in memory, because those on disk were refused for this reason.
    LayeredInMemory(String),
    /// The real folders without layers, for this reason. Contents are kept when the command first touches them.
    Watched(String),
    /// The real folders, and nothing is kept, for this reason.
    Open(String),
    /// The same, because the system does not let haft watch what commands do.
    Unwatched(String),
}

impl StagingMode {
    /// Returns what is wanted for this command. While one that stays is running, others change the real folders too, so
    /// nothing could tell who changed what.
    pub(crate) fn fitting(self, command: &CommandSpec) -> Self {
        match self {
            StagingMode::Watched(reason) if command.stays => StagingMode::Open(reason),
            wanted => wanted,
        }
    }

    /// Returns what is wanted next when the system refuses the layers of this ground, for this reason.
    pub(crate) fn without_layer(self, reason: String) -> Result<Self, ToolError> {
        match self {
            StagingMode::Quick => Ok(StagingMode::Layered),
            StagingMode::Layered => Ok(StagingMode::LayeredInMemory(reason)),
            StagingMode::LayeredInMemory(_) => Ok(StagingMode::Watched(reason)),
            StagingMode::Watched(why) => Ok(StagingMode::Unwatched(format!("{why}, and {reason}"))),
            StagingMode::Open(_) | StagingMode::Unwatched(_) => {
                Err(ToolError::of(ErrorKind::Bug, "The sandbox refused layers that it was not given."))
            }
        }
    }
}

/// A command that was run, with what became of its changes.
#[derive(Debug)]
pub struct SettledCommand {
    /// How it ended.
    pub ended: CommandEnd,
    /// What it changed. Empty if haft discarded the changes because the command was stopped.
    pub settled: CommitReport,
    /// Why what it changed cannot be taken back, where that is so.
    pub uncovered: Option<String>,
    /// What became of its changes.
    pub how: Disposition,
}
