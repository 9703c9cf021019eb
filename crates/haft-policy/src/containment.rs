//! Whether the effects of a command stay in the workspace and can be undone.
//!
//! The doors decide this; the judge only uses it. It describes one command: after a connection is approved, a command
//! has the network, and then nothing that it runs is contained any more.

use std::fmt;

use haft_contract::effect::{Effect, StepEffect};

/// Whether a command is contained, or what is missing. The order is by how much is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Containment {
    /// It is: a full sandbox, no network, and a layer that takes its changes. Rules by themselves speak of this case;
    /// for a call that will run, the doors say what holds.
    #[default]
    Contained,
    /// It has the network, so that what it reads can leave.
    WithNetwork,
    /// The sandbox is not a full one, but what it changes can be undone.
    WeakSandbox,
    /// There is no layer: what it changes cannot be taken back.
    WithoutLayer,
    /// The sandbox is not a full one.
    WithoutSandbox,
}

impl Containment {
    /// Returns what holds for a command with these effects.
    pub fn of_call(self, effects: &[Effect]) -> Self {
        let has_network = effects.iter().any(Effect::gives_network);
        if has_network { self.max(Containment::WithNetwork) } else { self }
    }
}

/// What undo restores of what a command does, where a layer takes its changes. Its display says it, as the end of "it …".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoCoverage {
    /// Whether the command has the network, so that something may be sent.
    pub sends: bool,
}

impl fmt::Display for UndoCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.sends { "changes to files can be undone, sent data cannot" } else { "can be undone" })
    }
}

/// Returns whether all parts of a command only look.
pub fn only_looks(effects: &[Effect]) -> bool {
    let mut parts = effects.iter().filter_map(|effect| match effect {
        Effect::Step(step) => Some(&step.does),
        _ => None,
    });
    let looks = |does: &StepEffect| {
        matches!(does, StepEffect::Nothing | StepEffect::NothingElse | StepEffect::Read(_) | StepEffect::List(_))
    };
    parts.clone().next().is_some() && parts.all(looks)
}

/// Says what is missing, as the end of "it would create a file, and …".
impl fmt::Display for Containment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Containment::Contained => "it stays in the workspace and can be undone",
            Containment::WithNetwork => "the command has the network",
            Containment::WeakSandbox => "its sandbox is only partial",
            Containment::WithoutLayer => "changes of commands cannot be undone here",
            Containment::WithoutSandbox => "there is no full sandbox around it",
        })
    }
}
