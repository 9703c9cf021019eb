//! Effects of a call: the one declaration from which haft derives everything else.
//!
//! Not here: whether an effect is allowed (`haft-policy`), what may overlap (`haft-runtime`), carrying it out (doors).

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::doors::process::ConfinementLevel;
use crate::files::path::{Target, one_line};

/// One thing that a call would touch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Reads a file or a tree.
    Read(Target),
    /// Changes a file or a tree.
    Change(Target, Change),
    /// Plants a git repository: git takes this folder for one from then on, and its settings or hooks run programs. It
    /// comes beside the change that completes it.
    PlantRepository(Target),
    /// Changes what a protected name leads to, as a hook that a setting of git names. It comes beside the change itself.
    ChangeFollowed(FollowedChange),
    /// Runs a command.
    Run(CommandLine),
    /// One thing that a part of a command would do, as far as its words tell. It comes beside the `Run` of the command.
    Step(CommandStep),
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

/// A change of what a protected name leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FollowedChange {
    /// What is changed.
    pub target: Target,
    /// What leads there: a link, or a setting and its file.
    pub leader: Arc<str>,
    /// Why the name that leads there is protected.
    pub why: &'static str,
}

/// The way in which a target would be changed.
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

/// One thing that a part of a command would do.
///
/// It is read out of words and is advice: whatever the words say, the sandbox holds the command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandStep {
    /// The whole command.
    pub command: Arc<str>,
    /// The folder that the command starts in, from the root of the workspace; empty for the root.
    pub folder: Arc<str>,
    /// Which bytes of the command are the part that does this.
    pub part: (usize, usize),
    /// The words of the part as values, the program first and by its last path component. Gaps are shown as `…`.
    pub words: Arc<[String]>,
    /// What the part does.
    pub does: StepEffect,
}

/// What a part of a command does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepEffect {
    /// Only computes or prints. Each simple command has at least one step, so that rules see its words.
    Nothing,
    /// Says of the whole command that it does nothing but what its other steps say. Whatever else it changes is not kept.
    NothingElse,
    /// Reads the content of a file or a tree.
    Read(Target),
    /// Reads names and facts, no content.
    List(Target),
    /// Reads something that is known only when it runs.
    ReadUnknown,
    /// Changes a file or a tree.
    Change(Target, Change),
    /// Changes something that is known only when it runs.
    ChangeUnknown(Change),
    /// Opens a connection; to which host, where it is known.
    Connect(Option<Host>),
    /// Sends something out for others to see or take, such as a push or an upload; in words.
    Publish(String),
    /// Listens at a port, so that other machines can connect where they reach this one; in words.
    Serve(String),
    /// Sends something to a server on this machine; in words.
    SendHere(String),
    /// Runs code of the workspace, such as a build, tests or a script; in words.
    Code(String),
    /// Runs a program that the table does not know; its name.
    Program(String),
    /// Cannot be understood before it runs; why.
    Unknown(String),
    /// Changes settings that later commands follow; in words.
    Settings(String),
    /// Changes the state of the shell for the rest of the command; in words.
    ShellState(String),
    /// Adds to the history of version control or moves in it; in words.
    History(String),
    /// Acts on other processes; in words.
    Process(String),
    /// Does something that is refused; in words.
    Danger(Danger, String),
}

/// What is refused in commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// Gains rights or leaves the sandbox.
    Rights,
    /// Touches a device or a file system as a whole.
    Device,
    /// Stops or changes the system, or all processes.
    System,
    /// Runs text that comes from the network.
    DownloadedCode,
    /// Runs text that is hidden by an encoding.
    HiddenCode,
    /// Prints or sends secrets.
    Secret,
    /// Plants something that runs later.
    PlantedCode,
    /// Loses history that nothing else holds.
    HistoryLost,
    /// Touches haft itself: its rules, its state, its processes.
    Haft,
    /// Uses up the machine.
    Exhaustion,
}

/// What stands open to a command that should not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Exposure {
    /// The system does not give the level of confinement that the settings require.
    BelowRequired {
        /// The level that the settings require.
        required: ConfinementLevel,
        /// The level that there is.
        reached: ConfinementLevel,
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

/// How the names of state begin that keeps the calls of a tool apart.
const ALONE: &str = "alone:";

/// Names a piece of session state, such as `todo` or `spill:ID`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateKey(pub String);

impl StateKey {
    /// The list of the session's change sets. Every change adds to it.
    pub fn change_sets() -> Self {
        Self("change sets".to_owned())
    }

    /// The calls of a tool that runs alone in its workspace.
    pub fn alone(tool: &str) -> Self {
        Self(format!("{ALONE}{tool}"))
    }

    /// Returns whether all sessions of a workspace share it.
    pub fn is_of_workspace(&self) -> bool {
        *self == Self::change_sets() || self.0.starts_with(ALONE)
    }

    /// The session's jobs: every call about them has it.
    pub fn jobs() -> Self {
        Self("jobs".to_owned())
    }

    /// How the session's jobs stand, where a call waits for that or changes it. Later commands of the turn build on it.
    pub fn job_states() -> Self {
        Self("job states".to_owned())
    }
}

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
            // What a command changes is said by its `Run`.
            Effect::Read(_) | Effect::Session(_) | Effect::Step(_) => false,
            Effect::Remote(claim) => claim.claims == Claim::MayChange,
            Effect::Change(..)
            | Effect::PlantRepository(_)
            | Effect::ChangeFollowed(_)
            | Effect::Run(_)
            | Effect::Expose(_)
            | Effect::Connect(_)
            | Effect::Delegate(_) => true,
        }
    }

    /// Returns whether a door notes it: every command before it starts, and every change.
    pub fn is_noted(&self) -> bool {
        let is_beside = matches!(self, Effect::PlantRepository(_) | Effect::ChangeFollowed(_));
        is_beside || matches!(self, Effect::Change(..) | Effect::Run(_) | Effect::Expose(_))
    }

    /// Returns what it changes and how: by a tool itself, or by a command as far as its words tell.
    pub fn changed(&self) -> Option<(&Target, Change)> {
        match self {
            Effect::Change(target, change)
            | Effect::Step(CommandStep { does: StepEffect::Change(target, change), .. }) => Some((target, *change)),
            _ => None,
        }
    }

    /// Returns whether a command with this part gets the network, once it is approved.
    pub fn gives_network(&self) -> bool {
        matches!(self, Effect::Step(CommandStep { does, .. }) if does.uses_network())
    }

    /// Returns whether a call that planned this effect may also do the other one without planning it.
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
            Effect::PlantRepository(folder) => {
                write!(f, "make git treat {folder} as a repository, whose settings and hooks run programs")
            }
            Effect::ChangeFollowed(FollowedChange { target, leader, why }) => {
                write!(f, "change {target}, to which {leader} leads ({why})")
            }
            Effect::Run(command) => write!(f, "run {}", command.0),
            Effect::Step(step) => step.does.fmt(f),
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

impl StepEffect {
    /// Returns whether it uses the network.
    pub fn uses_network(&self) -> bool {
        matches!(self, StepEffect::Connect(_) | StepEffect::Publish(_) | StepEffect::Serve(_) | StepEffect::SendHere(_))
    }

    /// Returns whether it changes nothing: it computes, prints, reads or lists.
    pub fn only_looks(&self) -> bool {
        matches!(
            self,
            StepEffect::Nothing
                | StepEffect::NothingElse
                | StepEffect::Read(_)
                | StepEffect::List(_)
                | StepEffect::ReadUnknown
        )
    }

    /// Returns whether it uses the network, but reaches no other machine where this one has a network of its own.
    pub fn stays_here(&self) -> bool {
        match self {
            StepEffect::Connect(Some(host)) => host.is_here(),
            StepEffect::Serve(_) | StepEffect::SendHere(_) => true,
            _ => false,
        }
    }
}

/// Ends of names that are given to machines of a network of its own.
const OWN_NETWORK: [&str; 6] = ["localhost", "local", "internal", "intranet", "lan", "home.arpa"];

impl Host {
    /// Returns whether its name is one of this machine or its network, whatever it resolves to: `localhost`, a name without
    /// a dot, or one that ends as names of such networks do.
    pub fn is_of_own_network(&self) -> bool {
        let name = self.0.trim_end_matches('.').to_ascii_lowercase();
        let ends =
            |end: &&str| name.strip_suffix(*end).is_some_and(|before| before.is_empty() || before.ends_with('.'));
        OWN_NETWORK.iter().any(ends) || name == "metadata.goog" || !name.contains(['.', ':'])
    }

    /// Returns whether it is the machine itself: `localhost`, or an address that never leaves it.
    pub fn is_here(&self) -> bool {
        let name = self.0.trim_end_matches('.').to_ascii_lowercase();
        let name = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(&name);
        let is_own = |address: IpAddr| {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        };
        name == "localhost" || name.ends_with(".localhost") || name.parse().is_ok_and(is_own)
    }
}

/// Says in words what a part of a command does, as the end of "it would …".
impl fmt::Display for StepEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepEffect::Nothing => f.write_str("only compute or print"),
            StepEffect::NothingElse => f.write_str("discard all its other changes"),
            StepEffect::Read(target) => write!(f, "read {target}"),
            StepEffect::List(target) => write!(f, "list {target}"),
            StepEffect::ReadUnknown => f.write_str("read something that is known only when it runs"),
            StepEffect::Change(target, Change::Create) => write!(f, "create {target}"),
            StepEffect::Change(target, Change::Replace) => write!(f, "change {target}"),
            StepEffect::Change(target, Change::Remove) => write!(f, "remove {target}"),
            StepEffect::ChangeUnknown(Change::Create) => {
                f.write_str("create something that is known only when it runs")
            }
            StepEffect::ChangeUnknown(Change::Replace) => {
                f.write_str("change something that is known only when it runs")
            }
            StepEffect::ChangeUnknown(Change::Remove) => {
                f.write_str("remove something that is known only when it runs")
            }
            StepEffect::Connect(Some(host)) => write!(f, "connect to {}", host.0),
            StepEffect::Connect(None) => f.write_str("use the network"),
            StepEffect::Program(name) => write!(f, "run {}, which is not in the table of programs", one_line(name)),
            StepEffect::Unknown(why) => {
                write!(f, "do something that cannot be understood before it runs: {}", one_line(why))
            }
            StepEffect::Publish(words)
            | StepEffect::Serve(words)
            | StepEffect::SendHere(words)
            | StepEffect::Code(words)
            | StepEffect::Settings(words)
            | StepEffect::ShellState(words)
            | StepEffect::History(words)
            | StepEffect::Process(words)
            | StepEffect::Danger(_, words) => f.write_str(&one_line(words)),
        }
    }
}
