//! What stands around a command here, as the doors say it: for the judge, and in a line for whoever is asked.

use std::path::PathBuf;

use haft_contract::door::Doors;
use haft_contract::effect::Effect;
use haft_contract::process::Level;
use haft_policy::containment::{Containment, Undo};
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Mode, Situation};

/// What stands around commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The level of the sandbox.
    pub level: Level,
    /// Why what commands change could not be taken back with the full sandbox, where that is known.
    pub uncovered: Option<String>,
    /// Whether all commands have the network.
    pub network: bool,
    /// Whether commands reach hosts by name, and each connection is decided about when it is made.
    pub supervised: bool,
    /// The home, where what commands see there is the session's own.
    pub own_home: Option<PathBuf>,
}

impl Surroundings {
    /// Asks the doors.
    pub fn of(doors: &Doors) -> Self {
        let confinement = doors.processes.confinement();
        // Where the level could not be tried, nothing is taken for granted.
        let level = if confinement.untried.is_some() { Level::None } else { confinement.reached };
        // Below the full level there is no layer at all, so nothing is looked up about one.
        let uncovered = if level == Level::Full { doors.files.uncovered() } else { None };
        let supervised = confinement.supervised && level == Level::Full;
        let own_home = doors.look.home().filter(|_| level == Level::Full);
        Self { level, uncovered, network: confinement.network, supervised, own_home }
    }

    /// Returns whether a command would be contained, apart from what it does itself.
    pub fn containment(&self) -> Containment {
        match self {
            Self { level: Level::None | Level::Partial, .. } => Containment::WithoutSandbox,
            Self { uncovered: Some(_), .. } => Containment::WithoutLayer,
            Self { network: true, .. } => Containment::WithNetwork,
            Self { level: Level::Full, .. } => Containment::Contained,
        }
    }

    /// Returns what holds for a call here.
    pub fn situation<'a>(&'a self, mode: Mode, grants: &'a [GrantScope]) -> Situation<'a> {
        let (contained, by_name) = (self.containment(), self.is_supervised());
        Situation { mode, grants, contained, by_name, own_home: self.own_home.as_deref() }
    }

    /// Returns whether each connection of a command is decided about when it is made.
    pub fn is_supervised(&self) -> bool {
        self.supervised && !self.network
    }

    /// Returns whether a layer takes what a command changes, as the line says.
    pub fn can_be_undone(&self) -> bool {
        self.level == Level::Full && self.uncovered.is_none()
    }

    /// Says in a line what would stand around a command with these effects.
    pub fn line(&self, effects: &[Effect]) -> String {
        let sandbox = match self.level {
            Level::None => "no sandbox",
            Level::Partial => "partial sandbox",
            Level::Full => "full sandbox",
        };
        let gives_network = effects.iter().any(Effect::gives_network);
        let has_network = self.network || self.level == Level::None || gives_network;
        let network = match has_network {
            true if self.is_supervised() => "network to the hosts that you allow",
            true => "with the network, to any host",
            false if self.is_supervised() => "network only to hosts that you allow",
            false => "no network",
        };
        let undo = match (&self.uncovered, self.level) {
            (Some(reason), Level::Full) => format!("cannot be undone: {reason}"),
            (_, Level::None | Level::Partial) => "cannot be undone".to_owned(),
            (None, Level::Full) => Undo { sends: has_network }.to_string(),
        };
        format!("{sandbox}, {network}, {undo}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{Does, Step};

    fn around(level: Level, uncovered: Option<&str>, network: bool) -> Surroundings {
        Surroundings { level, uncovered: uncovered.map(str::to_owned), network, supervised: false, own_home: None }
    }

    #[test]
    fn a_command_is_contained_only_where_everything_holds() {
        let contained = |level, uncovered, network| around(level, uncovered, network).containment();
        assert_eq!(contained(Level::Full, None, false), Containment::Contained);
        assert_eq!(contained(Level::Full, None, true), Containment::WithNetwork);
        assert_eq!(contained(Level::Full, Some("a mount"), true), Containment::WithoutLayer);
        assert_eq!(contained(Level::Partial, None, false), Containment::WithoutSandbox);
        assert_eq!(contained(Level::None, None, false), Containment::WithoutSandbox);
    }

    #[test]
    fn the_line_says_what_holds_and_what_does_not() {
        let step =
            Step { command: "x".into(), folder: "".into(), part: (0, 1), words: [].into(), does: Does::Connect(None) };
        let connects = [Effect::Step(step)];
        let full = around(Level::Full, None, false);
        assert_eq!(full.line(&[]), "full sandbox, no network, can be undone");
        assert_eq!(
            full.line(&connects),
            "full sandbox, with the network, to any host, changes to files can be undone, sent data cannot"
        );
        let mount = around(Level::Full, Some("a mount"), false);
        assert_eq!(mount.line(&[]), "full sandbox, no network, cannot be undone: a mount");
        assert_eq!(around(Level::Partial, None, false).line(&[]), "partial sandbox, no network, cannot be undone");
        assert_eq!(
            around(Level::None, None, false).line(&[]),
            "no sandbox, with the network, to any host, cannot be undone"
        );
    }
}
