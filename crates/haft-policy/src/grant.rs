//! Remembered permission: what a person said yes to for the rest of the session.
//!
//! A grant covers exactly what its words say. It is made of effects and not of tool names: a yes
//! to one command is not a yes to the shell.

use std::fmt;

use haft::effect::{AgentName, CommandLine, Effect, Host};
use haft::path::Target;

/// What a grant covers. Its display is the sentence that a person agrees to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// Changes of this one file.
    ChangesTo(Target),
    /// All changes inside the workspace.
    ChangesInside,
    /// This very command.
    Command(CommandLine),
    /// Connections to this host.
    Host(Host),
    /// This tool of this server.
    Remote {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
    },
    /// Work for this agent.
    Agent(AgentName),
}

impl GrantScope {
    /// Returns whether the effect is covered.
    pub fn covers(&self, effect: &Effect) -> bool {
        match (self, effect) {
            (GrantScope::ChangesTo(granted), Effect::Change(target, _)) => target.is_inside() && granted == target,
            (GrantScope::ChangesInside, Effect::Change(target, _)) => target.is_inside(),
            (GrantScope::Command(granted), Effect::Run(command)) => granted == command,
            (GrantScope::Command(granted), Effect::Step(step)) => granted.0 == *step.command,
            (GrantScope::Host(granted), Effect::Connect(host)) => granted == host,
            (GrantScope::Remote { server, tool }, Effect::Remote(claim)) => {
                *server == claim.server && *tool == claim.tool
            }
            (GrantScope::Agent(granted), Effect::Delegate(agent)) => granted == agent,
            _ => false,
        }
    }

    /// Returns the scopes that a person may choose from for this effect, the narrowest first.
    pub fn offered_for(effect: &Effect) -> Vec<GrantScope> {
        match effect {
            Effect::Change(target, _) if target.is_inside() => {
                vec![GrantScope::ChangesTo(target.clone()), GrantScope::ChangesInside]
            }
            Effect::Run(command) => vec![GrantScope::Command(command.clone())],
            Effect::Connect(host) => vec![GrantScope::Host(host.clone())],
            Effect::Remote(claim) => {
                vec![GrantScope::Remote { server: claim.server.clone(), tool: claim.tool.clone() }]
            }
            Effect::Delegate(agent) => vec![GrantScope::Agent(agent.clone())],
            Effect::Step(step) => vec![GrantScope::Command(CommandLine(step.command.as_ref().to_owned()))],
            Effect::Change(..) | Effect::Expose(_) | Effect::Read(_) | Effect::Session(_) => Vec::new(),
        }
    }
}

impl fmt::Display for GrantScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrantScope::ChangesTo(target) => write!(f, "all changes to {target} in this session"),
            GrantScope::ChangesInside => f.write_str("all changes to files of the workspace in this session"),
            GrantScope::Command(command) => write!(f, "exactly this command in this session: {}", command.0),
            GrantScope::Host(host) => write!(f, "all connections to {} in this session", host.0),
            GrantScope::Remote { server, tool } => {
                write!(f, "all calls of {tool} of the server {server} in this session")
            }
            GrantScope::Agent(agent) => write!(f, "all work for {} in this session", agent.0),
        }
    }
}
