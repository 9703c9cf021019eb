//! The names under which rules and reports speak of sorts of effects.
//!
//! They are a contract: a rules file of a user holds them. A new sort gets a name here or the build breaks.

use haft_contract::effect::Danger;

use crate::rule::EffectSort;

/// Every sort, the tools' own first, then what commands do, then what is dangerous in them.
pub const ALL: [EffectSort; 46] = [
    EffectSort::ReadInside,
    EffectSort::ReadSecret,
    EffectSort::ReadOutside,
    EffectSort::ChangeInside,
    EffectSort::ChangeGuarded,
    EffectSort::ChangeOutside,
    EffectSort::Run,
    EffectSort::Expose,
    EffectSort::Connect,
    EffectSort::RemoteRead,
    EffectSort::RemoteChange,
    EffectSort::Delegate,
    EffectSort::Session,
    EffectSort::CommandPrints,
    EffectSort::CommandReadsSystem,
    EffectSort::CommandReadsElsewhere,
    EffectSort::CommandReadsUnknown,
    EffectSort::CommandRevealsSecret,
    EffectSort::CommandCreatesInside,
    EffectSort::CommandChangesInside,
    EffectSort::CommandRemovesInside,
    EffectSort::CommandRemovesWorkspace,
    EffectSort::CommandChangesUnknown,
    EffectSort::CommandChangesTemporary,
    EffectSort::CommandChangesSecret,
    EffectSort::CommandChangesProtected,
    EffectSort::CommandChangesOutside,
    EffectSort::CommandConnects,
    EffectSort::CommandPublishes,
    EffectSort::CommandRunsCode,
    EffectSort::CommandRunsUnknownProgram,
    EffectSort::CommandNotUnderstood,
    EffectSort::CommandChangesSettings,
    EffectSort::CommandChangesShell,
    EffectSort::CommandChangesHistory,
    EffectSort::CommandActsOnProcesses,
    EffectSort::Dangerous(Danger::Rights),
    EffectSort::Dangerous(Danger::Device),
    EffectSort::Dangerous(Danger::System),
    EffectSort::Dangerous(Danger::DownloadedCode),
    EffectSort::Dangerous(Danger::HiddenCode),
    EffectSort::Dangerous(Danger::Secret),
    EffectSort::Dangerous(Danger::PlantedCode),
    EffectSort::Dangerous(Danger::HistoryLost),
    EffectSort::Dangerous(Danger::Haft),
    EffectSort::Dangerous(Danger::Exhaustion),
];

/// What an effect of a sort touches, so that a rule that asks for more can be told to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// A path.
    Path,
    /// A host.
    Host,
    /// Neither.
    Neither,
}

impl EffectSort {
    /// Returns the name of the sort.
    pub fn name(self) -> &'static str {
        match self {
            EffectSort::ReadInside => "read",
            EffectSort::ReadSecret => "read-secret",
            EffectSort::ReadOutside => "read-outside",
            EffectSort::ChangeInside => "change",
            EffectSort::ChangeGuarded => "change-protected",
            EffectSort::ChangeOutside => "change-outside",
            EffectSort::Run => "run",
            EffectSort::Expose => "weak-sandbox",
            EffectSort::Connect => "connect",
            EffectSort::RemoteRead => "remote-read",
            EffectSort::RemoteChange => "remote-change",
            EffectSort::Delegate => "delegate",
            EffectSort::Session => "session",
            EffectSort::CommandPrints => "print",
            EffectSort::CommandReadsSystem => "read-system",
            EffectSort::CommandReadsElsewhere => "read-elsewhere",
            EffectSort::CommandReadsUnknown => "read-unknown",
            EffectSort::CommandRevealsSecret => "reveal-secret",
            EffectSort::CommandCreatesInside => "create-by-command",
            EffectSort::CommandChangesInside => "change-by-command",
            EffectSort::CommandRemovesInside => "remove-by-command",
            EffectSort::CommandRemovesWorkspace => "remove-workspace",
            EffectSort::CommandChangesUnknown => "change-unknown",
            EffectSort::CommandChangesTemporary => "change-temporary",
            EffectSort::CommandChangesSecret => "change-secret-by-command",
            EffectSort::CommandChangesProtected => "change-protected-by-command",
            EffectSort::CommandChangesOutside => "change-elsewhere",
            EffectSort::CommandConnects => "network",
            EffectSort::CommandPublishes => "publish",
            EffectSort::CommandRunsCode => "run-workspace-code",
            EffectSort::CommandRunsUnknownProgram => "run-unknown-program",
            EffectSort::CommandNotUnderstood => "not-understood",
            EffectSort::CommandChangesSettings => "change-settings",
            EffectSort::CommandChangesShell => "change-shell",
            EffectSort::CommandChangesHistory => "change-history",
            EffectSort::CommandActsOnProcesses => "act-on-processes",
            EffectSort::Dangerous(danger) => name_of_danger(danger),
        }
    }

    /// Returns the sort with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|sort| sort.name() == name)
    }

    /// Returns whether commands have effects of this sort.
    pub fn is_of_commands(self) -> bool {
        match self {
            // Tools and commands both read inside.
            EffectSort::ReadInside => true,
            sort => ALL.iter().position(|other| *other == sort) >= FIRST_OF_COMMANDS,
        }
    }

    /// Returns whether a call that runs a command can have effects of this sort: its own, and those of its parts.
    pub fn is_of_command_calls(self) -> bool {
        // It reads outside when its folder lies there.
        let is_own = matches!(self, EffectSort::Run | EffectSort::Expose | EffectSort::ReadOutside);
        is_own || self.is_of_commands()
    }

    /// Returns whether only calls that run commands have effects of this sort.
    pub fn is_only_of_command_calls(self) -> bool {
        self.is_of_command_calls() && !matches!(self, EffectSort::ReadInside | EffectSort::ReadOutside)
    }

    /// Returns whether a rule may answer the question about it once and for ever.
    ///
    /// Nobody can agree beforehand to what is known only when it runs.
    pub fn is_answerable(self) -> bool {
        !matches!(
            self,
            EffectSort::CommandNotUnderstood | EffectSort::CommandReadsUnknown | EffectSort::CommandChangesUnknown
        )
    }

    /// Returns what effects of this sort touch.
    pub fn touches(self) -> Touches {
        match self {
            EffectSort::ReadInside
            | EffectSort::ReadSecret
            | EffectSort::ReadOutside
            | EffectSort::ChangeInside
            | EffectSort::ChangeGuarded
            | EffectSort::ChangeOutside
            | EffectSort::CommandReadsSystem
            | EffectSort::CommandReadsElsewhere
            | EffectSort::CommandReadsUnknown
            | EffectSort::CommandRevealsSecret
            | EffectSort::CommandCreatesInside
            | EffectSort::CommandChangesInside
            | EffectSort::CommandRemovesInside
            | EffectSort::CommandRemovesWorkspace
            | EffectSort::CommandChangesUnknown
            | EffectSort::CommandChangesTemporary
            | EffectSort::CommandChangesSecret
            | EffectSort::CommandChangesProtected
            | EffectSort::CommandChangesOutside
            // A path in such a place makes the danger.
            | EffectSort::Dangerous(Danger::Device | Danger::Haft | Danger::PlantedCode) => Touches::Path,
            EffectSort::Connect | EffectSort::CommandConnects => Touches::Host,
            EffectSort::Run
            | EffectSort::Expose
            | EffectSort::RemoteRead
            | EffectSort::RemoteChange
            | EffectSort::Delegate
            | EffectSort::Session
            | EffectSort::CommandPrints
            | EffectSort::CommandPublishes
            | EffectSort::CommandRunsCode
            | EffectSort::CommandRunsUnknownProgram
            | EffectSort::CommandNotUnderstood
            | EffectSort::CommandChangesSettings
            | EffectSort::CommandChangesShell
            | EffectSort::CommandChangesHistory
            | EffectSort::CommandActsOnProcesses
            | EffectSort::Dangerous(_) => Touches::Neither,
        }
    }
}

/// Where the sorts of commands begin in the list.
const FIRST_OF_COMMANDS: Option<usize> = Some(13);

fn name_of_danger(danger: Danger) -> &'static str {
    match danger {
        Danger::Rights => "gain-rights",
        Danger::Device => "touch-device",
        Danger::System => "change-system",
        Danger::DownloadedCode => "run-downloaded-code",
        Danger::HiddenCode => "run-hidden-code",
        Danger::Secret => "send-secret",
        Danger::PlantedCode => "plant-code",
        Danger::HistoryLost => "lose-history",
        Danger::Haft => "touch-haft",
        Danger::Exhaustion => "exhaust-machine",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Pattern, defaults};

    #[test]
    fn every_sort_has_a_name_of_its_own_that_leads_back_to_it() {
        for sort in ALL {
            assert_eq!(EffectSort::named(sort.name()), Some(sort));
        }
    }

    #[test]
    fn every_sort_has_exactly_one_default_rule() {
        for sort in ALL {
            let rules = defaults().into_iter().filter(|rule| rule.matches == Pattern::Effect(sort));
            assert_eq!(rules.count(), 1, "{}", sort.name());
        }
        assert_eq!(defaults().len(), ALL.len());
    }

    #[test]
    fn the_sorts_of_commands_begin_with_printing() {
        assert!(EffectSort::CommandPrints.is_of_commands() && EffectSort::ReadInside.is_of_commands());
        assert!(!EffectSort::Session.is_of_commands());
    }
}
