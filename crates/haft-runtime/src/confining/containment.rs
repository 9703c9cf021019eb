//! Describes what surrounds a command here, as the doors report it: for the judge, and in one line for the approver.

use std::path::{Path, PathBuf};

use haft_contract::doors::door::Doors;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::{Change, CommandStep, Effect, StepEffect};
use haft_policy::containment::{Containment, UndoCoverage};
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Mode, Situation};

/// The sandbox, the network and the home that surround commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandContainment {
    /// The level of the sandbox, whether or not it has a layer.
    pub level: ConfinementLevel,
    /// Why what commands change could not be taken back with the full sandbox, where that is known.
    pub uncovered: Option<String>,
    /// Whether all commands have the network.
    pub network: bool,
    /// Whether commands reach hosts by name, and each connection is decided about when it is made.
    pub supervised: bool,
    /// The home, where what commands see there is the session's own.
    pub own_home: Option<PathBuf>,
    /// Paths that a call would remove from there and that the user's own home does not have.
    pub not_in_home: Vec<PathBuf>,
    /// Whether each command has a layer of its own.
    pub layered: bool,
}

impl CommandContainment {
    /// The full sandbox, in which nothing is open.
    #[cfg(test)]
    pub(crate) const SEALED: Self = Self {
        level: ConfinementLevel::Full,
        uncovered: None,
        network: false,
        supervised: false,
        own_home: None,
        not_in_home: Vec::new(),
        layered: true,
    };

    /// Asks the doors.
    pub fn of(doors: &Doors) -> Self {
        let confinement = doors.confinement();
        // Where the level could not be tried, nothing is taken for granted.
        let level = if confinement.untried.is_some() { ConfinementLevel::None } else { confinement.reached };
        let uncovered = match level {
            ConfinementLevel::Full => doors.files.uncovered(),
            ConfinementLevel::Partial if confinement.watches => doors.files.uncovered(),
            ConfinementLevel::Partial | ConfinementLevel::None => Some(confinement.why_no_layer()),
        };
        let layered = level == ConfinementLevel::Full && confinement.layerless.is_none();
        let supervised = confinement.supervised && level != ConfinementLevel::None;
        let own_home = doors.look.home().filter(|_| level == ConfinementLevel::Full);
        Self { level, uncovered, network: confinement.network, supervised, own_home, not_in_home: Vec::new(), layered }
    }

    /// Notes what a call would remove from the session's home that is not in the user's.
    pub fn removing(mut self, effects: &[Effect], doors: &Doors) -> Self {
        let Some(home) = &self.own_home else { return self };
        let removed = effects.iter().filter_map(|effect| match effect {
            Effect::Step(CommandStep { does: StepEffect::Change(target, Change::Remove), .. })
                if !target.is_inside() =>
            {
                Some(target.place().path())
            }
            _ => None,
        });
        let is_missing = |path: &&Path| {
            let below = path.strip_prefix("~").or_else(|_| path.strip_prefix(home));
            below.is_ok_and(|below| below.components().next().is_some() && !doors.look.is_there(&home.join(below)))
        };
        self.not_in_home = removed.filter(is_missing).map(Path::to_owned).collect();
        self
    }

    /// Returns whether a command would be contained, apart from what it does itself.
    pub fn containment(&self) -> Containment {
        match self {
            Self { level: ConfinementLevel::None, .. }
            | Self { level: ConfinementLevel::Partial, uncovered: Some(_), .. } => Containment::WithoutSandbox,
            Self { uncovered: Some(_), .. } => Containment::WithoutLayer,
            Self { level: ConfinementLevel::Partial, .. } | Self { layered: false, .. } => Containment::WeakSandbox,
            Self { network: true, .. } => Containment::WithNetwork,
            Self { level: ConfinementLevel::Full, .. } => Containment::Contained,
        }
    }

    /// Returns what holds for a call here.
    pub fn situation<'a>(&'a self, mode: Mode, grants: &'a [GrantScope]) -> Situation<'a> {
        let (contained, by_name) = (self.containment(), self.is_supervised());
        let (own_home, not_in_home) = (self.own_home.as_deref(), self.not_in_home.as_slice());
        Situation {
            mode,
            grants,
            contained,
            by_name,
            own_home,
            not_in_home,
            eviction: None,
            last_taint: None,
            arguments: None,
        }
    }

    /// Returns whether each connection of a command is decided about when it is made.
    pub fn is_supervised(&self) -> bool {
        self.supervised && !self.network
    }

    /// Returns whether undo covers what a command changes, as the line says.
    pub fn can_be_undone(&self) -> bool {
        self.level != ConfinementLevel::None && self.uncovered.is_none()
    }

    /// Returns whether each command works on a layer of its own, so that others do not see what it does before it ends.
    pub fn is_layered(&self) -> bool {
        self.can_be_undone() && self.layered
    }

    /// Says in a line what would stand around a command with these effects.
    pub fn line(&self, effects: &[Effect]) -> String {
        let sandbox = match self.level {
            ConfinementLevel::None => "no sandbox",
            ConfinementLevel::Full if self.layered => "full sandbox",
            ConfinementLevel::Partial | ConfinementLevel::Full => "partial sandbox",
        };
        let gives_network = effects.iter().any(Effect::gives_network);
        let has_network = self.network || self.level == ConfinementLevel::None || gives_network;
        let network = match has_network {
            true if self.is_supervised() => "network to the hosts that you allow",
            true => "with the network, to any host",
            false if self.is_supervised() => "network only to hosts that you allow",
            false => "no network",
        };
        let undo = match (&self.uncovered, self.level) {
            (Some(reason), ConfinementLevel::Full) => format!("cannot be undone: {reason}"),
            (_, ConfinementLevel::None) | (Some(_), ConfinementLevel::Partial) => "cannot be undone".to_owned(),
            (None, ConfinementLevel::Full | ConfinementLevel::Partial) => {
                UndoCoverage { sends: has_network }.to_string()
            }
        };
        format!("{sandbox}, {network}, {undo}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{CommandStep, StepEffect};

    fn around(level: ConfinementLevel, uncovered: Option<&str>, network: bool) -> CommandContainment {
        CommandContainment {
            level,
            uncovered: uncovered.map(str::to_owned),
            network,
            supervised: false,
            own_home: None,
            not_in_home: Vec::new(),
            layered: level == ConfinementLevel::Full,
        }
    }

    #[test]
    fn a_command_is_contained_only_where_everything_holds() {
        let contained = |level, uncovered, network| around(level, uncovered, network).containment();
        assert_eq!(contained(ConfinementLevel::Full, None, false), Containment::Contained);
        assert_eq!(contained(ConfinementLevel::Full, None, true), Containment::WithNetwork);
        assert_eq!(contained(ConfinementLevel::Full, Some("a mount"), true), Containment::WithoutLayer);
        let mount = CommandContainment { layered: false, ..around(ConfinementLevel::Full, None, false) };
        assert_eq!(mount.containment(), Containment::WeakSandbox);
        assert_eq!(contained(ConfinementLevel::Partial, None, false), Containment::WeakSandbox);
        assert_eq!(contained(ConfinementLevel::Partial, None, true), Containment::WeakSandbox);
        assert_eq!(contained(ConfinementLevel::Partial, Some("nobody watches"), false), Containment::WithoutSandbox);
        assert_eq!(contained(ConfinementLevel::None, None, false), Containment::WithoutSandbox);
    }

    #[test]
    fn the_line_says_what_holds_and_what_does_not() {
        let step = CommandStep {
            command: "x".into(),
            folder: "".into(),
            part: (0, 1),
            words: [].into(),
            does: StepEffect::Connect(None),
        };
        let connects = [Effect::Step(step)];
        let full = around(ConfinementLevel::Full, None, false);
        assert_eq!(full.line(&[]), "full sandbox, no network, can be undone");
        assert_eq!(
            full.line(&connects),
            "full sandbox, with the network, to any host, changes to files can be undone, sent data cannot"
        );
        let mount = around(ConfinementLevel::Full, Some("a mount"), false);
        assert_eq!(mount.line(&[]), "full sandbox, no network, cannot be undone: a mount");
        let watched = CommandContainment { layered: false, ..around(ConfinementLevel::Full, None, false) };
        assert_eq!(watched.line(&[]), "partial sandbox, no network, can be undone");
        assert_eq!(
            around(ConfinementLevel::Partial, None, false).line(&[]),
            "partial sandbox, no network, can be undone"
        );
        let unwatched = around(ConfinementLevel::Partial, Some("nobody watches"), false);
        assert_eq!(unwatched.line(&[]), "partial sandbox, no network, cannot be undone");
        assert_eq!(
            around(ConfinementLevel::None, None, false).line(&[]),
            "no sandbox, with the network, to any host, cannot be undone"
        );
    }
}
