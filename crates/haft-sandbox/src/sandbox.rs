//! The door to processes.

use std::ffi::OsString;
use std::path::PathBuf;

use haft::BoxFuture;
use haft::door::Permit;
use haft::error::ToolError;
use haft::kinds::ErrorKind;
use haft::process::{Command, Confinement, Ended, Ground, Heard, Level, NotRun, Processes};

use crate::launcher::Launcher;

/// Runs commands.
pub struct Sandbox {
    launcher: Launcher,
    settings: Settings,
}

impl Sandbox {
    /// Runs commands with this launcher, as these settings say. Nothing is tried yet.
    pub fn new(launcher: Launcher, settings: Settings) -> Self {
        Self { launcher, settings }
    }
}

impl Processes for Sandbox {
    fn confinement(&self) -> Confinement {
        Confinement { required: self.settings.required, reached: Level::None, missing: Vec::new() }
    }

    fn run<'a>(
        &'a self,
        _permit: &'a Permit,
        _command: &'a Command,
        _ground: &'a dyn Ground,
        _heard: Heard<'a>,
    ) -> BoxFuture<'a, Result<Ended, NotRun>> {
        let error = ToolError::of(ErrorKind::Unavailable, format!("{:?} cannot start commands.", self.launcher));
        Box::pin(async move { Err(NotRun::Failed(error)) })
    }
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
    /// Files in those that they may not.
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
    /// They do, because the user's settings say so.
    On,
}
