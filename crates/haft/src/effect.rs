//! What a call would touch: the one declaration that everything else is derived from.
//!
//! Not here: whether it may (`haft-policy`), what may overlap (`haft-runtime`), doing it (doors).

use std::fmt;

use crate::path::Target;
use crate::process::Level;

/// One thing that a call would touch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads a file or a tree.
    Read(Target),
    /// Changes a file or a tree.
    Change(Target, Change),
    /// Runs a command.
    Run(CommandLine),
    /// Runs it with less between it and the user's files than it should be.
    Expose(Exposure),
    /// Opens a network connection.
    Connect(Host),
    /// Calls a tool of another server, which acts where haft cannot see.
    Remote(RemoteClaim),
    /// Hands work to another agent, whose own calls are judged on their own.
    Delegate(AgentName),
    /// Touches state that belongs to the session alone.
    Session(StateKey),
}

/// How a target would be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It does not exist yet.
    Create,
    /// Its content is replaced.
    Replace,
    /// It is removed.
    Remove,
}

/// The text of a command, as the shell would get it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandLine(pub String);

/// What stands open to a command that should not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Exposure {
    /// The system does not give the level of confinement that the settings require.
    BelowRequired {
        /// The level that the settings require.
        required: Level,
        /// The level that there is.
        reached: Level,
    },
    /// The workspace is the user's home or the whole system.
    WideWorkspace(String),
}

/// A host to connect to, as written in the address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host(pub String);

/// The name of an agent that work is handed to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentName(pub String);

/// Names a piece of session state, such as `todo` or `spill:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateKey(pub String);

/// What a tool of another server claims about itself. A claim, not a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteClaim {
    /// The server.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// What the server says that the tool does.
    pub claims: Claim,
}

/// The strongest thing a remote tool claims to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// It says that it only reads.
    OnlyReads,
    /// It says that it may change something, or nothing at all.
    MayChange,
}

impl Effect {
    /// Returns whether something outside the session could be different afterwards.
    pub fn changes(&self) -> bool {
        match self {
            Effect::Read(_) | Effect::Session(_) => false,
            Effect::Remote(claim) => claim.claims == Claim::MayChange,
            Effect::Change(..) | Effect::Run(_) | Effect::Expose(_) | Effect::Connect(_) | Effect::Delegate(_) => true,
        }
    }

    /// Returns whether somebody who planned this may also do the other without planning it.
    pub fn covers(&self, other: &Effect) -> bool {
        match (self, other) {
            (Effect::Read(planned) | Effect::Change(planned, _), Effect::Read(target)) => planned.holds(target),
            (Effect::Change(planned, change), Effect::Change(target, other)) => {
                change == other && planned.holds(target)
            }
            _ => self == other,
        }
    }
}

/// Says in words what the effect is, for questions and refusals.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Read(target) => write!(f, "read {target}"),
            Effect::Change(target, Change::Create) => write!(f, "create {target}"),
            Effect::Change(target, Change::Replace) => write!(f, "change {target}"),
            Effect::Change(target, Change::Remove) => write!(f, "remove {target}"),
            Effect::Run(command) => write!(f, "run {}", command.0),
            Effect::Expose(Exposure::BelowRequired { required, reached }) => {
                write!(f, "run it in a sandbox of the level \"{reached}\", where \"{required}\" is required")
            }
            Effect::Expose(Exposure::WideWorkspace(path)) => write!(f, "let commands write anywhere in {path}"),
            Effect::Connect(host) => write!(f, "connect to {}", host.0),
            Effect::Remote(claim) => write!(f, "call {} of the server {}", claim.tool, claim.server),
            Effect::Delegate(agent) => write!(f, "hand work to {}", agent.0),
            Effect::Session(key) => write!(f, "use the session's {}", key.0),
        }
    }
}
