//! Remembered permission: what a person approved for the rest of the session.
//!
//! A grant covers exactly what its words say. It is made of effects and not of tool names: a yes
//! to one command is not a yes to the shell.
//!
//! Not here: the strength of a grant. It answers ordinary questions, and the judge applies it (`policy`).

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use haft_contract::effect::{AgentName, CommandLine, CommandStep, Effect, Host, StepEffect};
use haft_contract::files::path::{Target, one_line};

use crate::containment::Containment;
use crate::effect_kind::EffectKind;
use crate::effect_kind::GrantClass;

/// Most scopes of one offer: a sentence that is longer is not read.
const MOST_TOGETHER: usize = 3;

/// What a grant covers. Its display is the sentence that a person agrees to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// Changes of this one file.
    ChangesTo(Target),
    /// All changes inside the workspace.
    ChangesInside,
    /// This very command, started in this very folder.
    Command {
        /// The command.
        command: CommandLine,
        /// The folder, from the root of the workspace; empty for the root.
        folder: Arc<str>,
    },
    /// Commands whose changes stay in the workspace and can be taken back.
    Contained,
    /// Commands that add to the history of version control, or move in it.
    History,
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
    /// All of these, as one answer.
    Several(Vec<GrantScope>),
}

impl GrantScope {
    /// Returns whether the effect is covered, where a command is contained like this.
    pub fn covers(&self, effect: &Effect, contained: Containment) -> bool {
        match (self, effect) {
            (GrantScope::ChangesTo(granted), Effect::Change(target, _)) => target.is_inside() && granted == target,
            (GrantScope::ChangesInside, Effect::Change(target, _)) => target.is_inside(),
            // A command that no parts are told of starts at the root.
            (GrantScope::Command { command: granted, folder }, Effect::Run(command)) => {
                granted == command && folder.is_empty()
            }
            (GrantScope::Command { command, folder }, Effect::Step(step)) => {
                command.0 == *step.command && *folder == step.folder
            }
            (GrantScope::Contained, Effect::Step(_)) => {
                contained == Containment::Contained && EffectKind::of(effect).facts().grant == GrantClass::InWorkspace
            }
            (GrantScope::History, Effect::Step(_)) => EffectKind::of(effect).facts().grant == GrantClass::OfHistory,
            (GrantScope::Host(granted), Effect::Connect(host)) => granted == host,
            (GrantScope::Host(granted), Effect::Step(CommandStep { does: StepEffect::Connect(Some(host)), .. })) => {
                granted == host
            }
            (GrantScope::Remote { server, tool }, Effect::Remote(claim)) => {
                *server == claim.server && *tool == claim.tool
            }
            (GrantScope::Agent(granted), Effect::Delegate(agent)) => granted == agent,
            (GrantScope::Several(scopes), effect) => scopes.iter().any(|scope| scope.covers(effect, contained)),
            _ => false,
        }
    }

    /// Returns whether it is about the very command that the effect is a part of.
    pub fn is_of_command(&self, effect: &Effect) -> bool {
        self.parts()
            .iter()
            .any(|scope| matches!(scope, GrantScope::Command { .. }) && scope.covers(effect, Containment::default()))
    }

    /// Returns the scopes from which a person may choose to answer all these questions together, the narrowest first.
    pub fn offered_for(open: &[&Effect], contained: Containment) -> Vec<GrantScope> {
        let covers_all = |scope: &GrantScope| open.iter().all(|effect| scope.covers(effect, contained));
        let first = open.first().map(|effect| scopes_of(effect)).unwrap_or_default();
        let mut offered: Vec<GrantScope> = first.into_iter().filter(covers_all).collect();
        offered.extend(together(open).filter(covers_all));
        offered
    }

    /// Returns the scopes that this one is made of.
    pub fn parts(&self) -> &[GrantScope] {
        match self {
            GrantScope::Several(scopes) => scopes,
            one => std::slice::from_ref(one),
        }
    }
}

/// Returns the scopes that cover one effect, the narrowest first.
fn scopes_of(effect: &Effect) -> Vec<GrantScope> {
    match effect {
        Effect::Change(target, _) if target.is_inside() => {
            vec![GrantScope::ChangesTo(target.clone()), GrantScope::ChangesInside]
        }
        Effect::Run(command) => vec![GrantScope::Command { command: command.clone(), folder: "".into() }],
        Effect::Connect(host) => vec![GrantScope::Host(host.clone())],
        Effect::Remote(claim) => {
            vec![GrantScope::Remote { server: claim.server.clone(), tool: claim.tool.clone() }]
        }
        Effect::Delegate(agent) => vec![GrantScope::Agent(agent.clone())],
        Effect::Step(step) => {
            let command = CommandLine(step.command.as_ref().to_owned());
            let exactly = GrantScope::Command { command, folder: step.folder.clone() };
            std::iter::once(exactly).chain(class_of(step)).collect()
        }
        Effect::Change(..)
        | Effect::PlantRepository(_)
        | Effect::ChangeFollowed(_)
        | Effect::Expose(_)
        | Effect::Read(_)
        | Effect::Session(_) => Vec::new(),
    }
}

/// Returns the scope that covers a part of a command and others like it.
fn class_of(step: &CommandStep) -> Option<GrantScope> {
    if let StepEffect::Connect(Some(host)) = &step.does {
        return Some(GrantScope::Host(host.clone()));
    }
    match EffectKind::of_step(&step.does).facts().grant {
        GrantClass::OfHistory => Some(GrantScope::History),
        GrantClass::InWorkspace => Some(GrantScope::Contained),
        GrantClass::Nothing => None,
    }
}

/// Returns the scope that takes several classes together, where each question is of one of a few.
fn together(open: &[&Effect]) -> impl Iterator<Item = GrantScope> {
    let mut scopes = Vec::new();
    let mut all_have_one = true;
    for effect in open {
        let Effect::Step(step) = effect else { return None.into_iter() };
        match class_of(step) {
            Some(scope) if !scopes.contains(&scope) => scopes.push(scope),
            Some(_) => {}
            None => all_have_one = false,
        }
    }
    let is_worth_it = all_have_one && (2..=MOST_TOGETHER).contains(&scopes.len());
    is_worth_it.then_some(GrantScope::Several(scopes)).into_iter()
}

impl fmt::Display for GrantScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.within_session(f)?;
        f.write_str(" in this session")?;
        match self {
            GrantScope::Command { command, .. } => write!(f, ": {}", command.0),
            scope if scope.parts().iter().any(|part| matches!(part, GrantScope::Host(_))) => {
                f.write_str(" (a command that has the network could reach any other host, too)")
            }
            _ => Ok(()),
        }
    }
}

impl GrantScope {
    /// Returns its sentence where commands reach hosts by name, and so no host but those that are allowed.
    pub fn by_name(&self) -> String {
        match self {
            GrantScope::Command { .. } => self.to_string(),
            _ => self.without_text(),
        }
    }

    /// Returns its sentence for a person who sees the text of the command.
    pub fn without_text(&self) -> String {
        let mut words = String::new();
        self.within_session(&mut words).expect("a string takes everything");
        words + " in this session"
    }

    fn within_session(&self, f: &mut impl fmt::Write) -> fmt::Result {
        match self {
            GrantScope::ChangesTo(target) => write!(f, "all changes to {target}"),
            GrantScope::ChangesInside => f.write_str("all changes to files of the workspace"),
            GrantScope::Command { folder, .. } if folder.is_empty() => f.write_str("exactly this command"),
            GrantScope::Command { folder, .. } => write!(f, "exactly this command in the folder {}", one_line(folder)),
            GrantScope::Contained => f.write_str(
                "commands whose changes stay in this workspace and can be undone (build, test, format, create, move, \
                 delete; no network)",
            ),
            GrantScope::History => f.write_str("git commits, branches, merges and stashes in this workspace,"),
            GrantScope::Host(host) => write!(f, "all connections to {}", host.0),
            GrantScope::Remote { server, tool } => write!(f, "all calls of {tool} of the server {server}"),
            GrantScope::Agent(agent) => write!(f, "all work for {}", agent.0),
            GrantScope::Several(scopes) => scopes.iter().enumerate().try_for_each(|(number, scope)| {
                f.write_str(if number == 0 { "" } else { " and " })?;
                scope.within_session(f)
            }),
        }
    }
}
