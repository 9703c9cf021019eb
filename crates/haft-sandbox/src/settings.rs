//! The settings for running commands on this machine, from the user and the system.

use std::ffi::OsString;
use std::path::PathBuf;

use haft_contract::doors::process::ConfinementLevel;

use crate::running::orders::CommandNetwork;
use crate::session::caches::ToolCache;
/// The part of the machine's memory that a command may use, in hundredths, where the user has set nothing.
const MEMORY_PART: u64 = 90;

/// Returns the memory that a command may use where the user has set nothing: what a build needs, and less than all.
pub fn usual_memory() -> Option<u64> {
    let facts = rustix::system::sysinfo();
    // Where the numbers have fewer bits, they count larger units.
    #[allow(clippy::useless_conversion, reason = "they are shorter on other processors")]
    let bytes = u64::from(facts.totalram).checked_mul(u64::from(facts.mem_unit))?;
    Some(bytes / 100 * MEMORY_PART).filter(|bytes| *bytes > 0)
}

/// Which level of confinement is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// This one, because the user has set it.
    Set(ConfinementLevel),
    /// The full one, or the partial one where undo covers what commands change.
    Usual,
}

/// How commands are run on this machine. `haft-config` fills it.
#[derive(Clone, Debug)]
pub struct SandboxSettings {
    /// The level of confinement without which no command runs unasked.
    pub required: Requirement,
    /// Whether commands reach the network.
    pub network: Network,
    /// The whole environment of commands: from an allow-list, without secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// What background jobs over a layer have beside it.
    pub job_environment: Vec<(OsString, OsString)>,
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
    /// Where tools keep what they download: commands of a session may write there, which changes nothing of the user's.
    pub caches: Vec<ToolCache>,
    /// How many bytes of new downloads are kept for later sessions of a workspace; with none, nothing is kept.
    pub cache_room: u64,
    /// Most bytes of memory that all processes of one command may use; nothing means no such bound.
    pub memory: Option<u64>,
    /// Most bytes that the changes of one command, the home and the temporary files of the session may take together;
    /// nothing means no such bound.
    pub disk: Option<u64>,
}

/// Whether commands reach the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// They do not; only the loopback of their own.
    Off,
    /// They do, because the user's settings say so, or because a part of this one uses it and was approved.
    On,
    /// They reach hosts by name, and each connection is decided about when it is made.
    Supervised,
    /// The same for programs that ask a proxy on the loopback, which is the only port that they reach.
    Proxied,
}

impl Network {
    /// Returns the network in which a command is then.
    pub(crate) fn of_command(self) -> CommandNetwork {
        if self == Network::On { CommandNetwork::Host } else { CommandNetwork::Own }
    }

    /// Returns whether each connection is decided about when it is made.
    pub(crate) fn is_supervised(self) -> bool {
        matches!(self, Network::Supervised | Network::Proxied)
    }
}
