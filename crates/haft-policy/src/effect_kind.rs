//! Kinds of effects, and the facts about each: one row per kind.
//!
//! The names are a contract: a rules file of a user holds them. A new kind gets a row, or the build breaks.
//!
//! Not here: what the default rules decide about a kind, and their sentences (`rule`).

use std::sync::LazyLock;

use haft_command::path_class::{PathClass, is_temporary_folder};
use haft_contract::effect::{Change, Claim, Danger, Effect, StepEffect};
use haft_contract::files::guarded::{is_secret, may_hold_guarded, protected};
use haft_contract::files::path::Target;

use crate::containment::Containment;
use crate::decision::Decision;
use crate::rule::{Pattern, Rule, defaults};

/// A kind of effect that rules speak about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Reads inside the workspace.
    ReadInside,
    /// Reads a file inside the workspace whose content is a secret.
    ReadSecret,
    /// Reads anywhere else.
    ReadOutside,
    /// Changes inside the workspace.
    ChangeInside,
    /// Changes something inside the workspace whose name is protected, whose content is a secret, or that may hold such.
    ChangeGuarded,
    /// Changes anywhere else.
    ChangeOutside,
    /// Runs a command.
    Run,
    /// Runs a command with less in its way than there should be.
    Expose,
    /// Opens a connection.
    Connect,
    /// A remote tool that says it only reads.
    RemoteRead,
    /// A remote tool that may change something.
    RemoteChange,
    /// Hands work to another agent.
    Delegate,
    /// Touches the session's own state.
    Session,
    /// A command that only computes or prints.
    CommandPrints,
    /// A command that reads what the system shows to everybody, or writes where nothing is kept.
    CommandReadsSystem,
    /// A command that reads outside the workspace and the system, or lists names there.
    CommandReadsElsewhere,
    /// A command that reads something known only when it runs.
    CommandReadsUnknown,
    /// A command that reveals a secret.
    CommandRevealsSecret,
    /// A command that creates something inside the workspace.
    CommandCreatesInside,
    /// A command that changes something inside the workspace.
    CommandChangesInside,
    /// A command that removes something inside the workspace.
    CommandRemovesInside,
    /// A command that removes the workspace itself.
    CommandRemovesWorkspace,
    /// A command that changes something known only when it runs.
    CommandChangesUnknown,
    /// A command that writes into a folder for temporary files.
    CommandChangesTemporary,
    /// A command that changes a file of the workspace whose content is a secret.
    CommandChangesSecret,
    /// A command that changes a name that makes programs run, or the folder of version control.
    CommandChangesProtected,
    /// A command that changes something anywhere else.
    CommandChangesOutside,
    /// A command that uses the network.
    CommandConnects,
    /// A command that sends something out for others.
    CommandPublishes,
    /// A command that runs code of the workspace.
    CommandRunsCode,
    /// A command with a program that is not in the table.
    CommandRunsUnknownProgram,
    /// A command that cannot be understood before it runs.
    CommandNotUnderstood,
    /// A command that changes settings.
    CommandChangesSettings,
    /// A command that changes the state of its shell.
    CommandChangesShell,
    /// A command that adds to the history of version control or moves in it.
    CommandChangesHistory,
    /// A command that acts on other processes.
    CommandActsOnProcesses,
    /// A command that does something dangerous.
    Dangerous(Danger),
}

/// What is known of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectFacts {
    pub(crate) name: &'static str,
    pub(crate) source: EffectSource,
    pub(crate) touches: Touches,
    pub(crate) reach: EffectReach,
    /// When undo can take it back, or there is nothing to take back.
    pub(crate) undo: LayerNeed,
    /// When the journal may record it.
    pub(crate) journal: LayerNeed,
    pub(crate) grant: GrantClass,
    pub(crate) written_rule: RuleAnswer,
}

/// What has effects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectSource {
    /// Tools, but not the one that runs commands.
    Tools,
    /// Tools; and the call of a command by itself, such as one in a folder outside.
    ToolsAndCommandCalls,
    /// Tools, and parts of commands.
    ToolsAndCommands,
    /// The call of a command by itself.
    CommandCalls,
    /// Parts of commands.
    CommandParts,
}

/// What an effect of a kind touches, so that a rule that asks for more can be told to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// A path.
    Path,
    /// A host.
    Host,
    /// Neither.
    Neither,
}

/// How far an effect reaches, for callers that let calls run in a copy of the workspace. A command is taken by its words:
/// that it stays where they say is the sandbox's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectReach {
    /// The files of the workspace, and what only the session or a confined command has.
    Workspace,
    /// Other files, other machines, or something unknown.
    Beyond,
}

/// Whether something holds only where a layer takes the changes of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerNeed {
    /// It holds everywhere: haft's own tools record what they change.
    Always,
    /// It holds where a layer takes the changes.
    WithLayer,
    /// It never holds: what has left the machine cannot be taken back.
    Never,
}

/// Which grant covers effects of a kind as a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrantClass {
    /// The one for commands that stay in the workspace, given that the sandbox, the layer and the absence of a network hold.
    InWorkspace,
    /// The one for the history of version control.
    OfHistory,
    /// None.
    Nothing,
}

/// Whether a rule of the user may answer the question about effects of a kind once and for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleAnswer {
    /// It may, and haft offers one to paste.
    Offered,
    /// It may.
    Possible,
    /// It may not: what the effect touches is known only when it runs.
    Never,
}

/// Every kind, the tools' own first, then what commands do, then what is dangerous in them.
pub const ALL: [EffectKind; 46] = [
    EffectKind::ReadInside,
    EffectKind::ReadSecret,
    EffectKind::ReadOutside,
    EffectKind::ChangeInside,
    EffectKind::ChangeGuarded,
    EffectKind::ChangeOutside,
    EffectKind::Run,
    EffectKind::Expose,
    EffectKind::Connect,
    EffectKind::RemoteRead,
    EffectKind::RemoteChange,
    EffectKind::Delegate,
    EffectKind::Session,
    EffectKind::CommandPrints,
    EffectKind::CommandReadsSystem,
    EffectKind::CommandReadsElsewhere,
    EffectKind::CommandReadsUnknown,
    EffectKind::CommandRevealsSecret,
    EffectKind::CommandCreatesInside,
    EffectKind::CommandChangesInside,
    EffectKind::CommandRemovesInside,
    EffectKind::CommandRemovesWorkspace,
    EffectKind::CommandChangesUnknown,
    EffectKind::CommandChangesTemporary,
    EffectKind::CommandChangesSecret,
    EffectKind::CommandChangesProtected,
    EffectKind::CommandChangesOutside,
    EffectKind::CommandConnects,
    EffectKind::CommandPublishes,
    EffectKind::CommandRunsCode,
    EffectKind::CommandRunsUnknownProgram,
    EffectKind::CommandNotUnderstood,
    EffectKind::CommandChangesSettings,
    EffectKind::CommandChangesShell,
    EffectKind::CommandChangesHistory,
    EffectKind::CommandActsOnProcesses,
    EffectKind::Dangerous(Danger::Rights),
    EffectKind::Dangerous(Danger::Device),
    EffectKind::Dangerous(Danger::System),
    EffectKind::Dangerous(Danger::DownloadedCode),
    EffectKind::Dangerous(Danger::HiddenCode),
    EffectKind::Dangerous(Danger::Secret),
    EffectKind::Dangerous(Danger::PlantedCode),
    EffectKind::Dangerous(Danger::HistoryLost),
    EffectKind::Dangerous(Danger::Haft),
    EffectKind::Dangerous(Danger::Exhaustion),
];

impl EffectKind {
    /// Returns what is known of the kind.
    #[rustfmt::skip]
    pub(crate) fn facts(self) -> EffectFacts {
        use EffectSource::*;
        use {EffectKind as Kind, GrantClass::*, LayerNeed::*, EffectReach::*, Touches::*};
        use RuleAnswer::{Never as Unwritten, Offered, Possible};
        // The name, what has it, what it touches and reaches, undo, journal, grant, and a rule of the user.
        let (name, source, touches, reach, undo, journal, grant, written_rule) = match self {
            Kind::ReadInside => ("read", ToolsAndCommands, Path, Workspace, Always, Never, Nothing, Possible),
            Kind::ReadSecret => ("read-secret", Tools, Path, Workspace, Always, Never, Nothing, Possible),
            Kind::ReadOutside => ("read-outside", ToolsAndCommandCalls, Path, Beyond, Never, Never, Nothing, Possible),
            Kind::ChangeInside => ("change", Tools, Path, Workspace, Always, Always, Nothing, Possible),
            Kind::ChangeGuarded => ("change-protected", Tools, Path, Workspace, Always, Always, Nothing, Possible),
            Kind::ChangeOutside => ("change-outside", Tools, Path, Beyond, Never, Never, Nothing, Possible),
            Kind::Run => ("run", CommandCalls, Neither, Workspace, WithLayer, WithLayer, Nothing, Possible),
            Kind::Expose => ("weak-sandbox", CommandCalls, Neither, Beyond, Never, Never, Nothing, Possible),
            Kind::Connect => ("connect", Tools, Host, Beyond, Never, Never, Nothing, Possible),
            Kind::RemoteRead => ("remote-read", Tools, Neither, Beyond, Never, Never, Nothing, Possible),
            Kind::RemoteChange => ("remote-change", Tools, Neither, Beyond, Never, Never, Nothing, Possible),
            Kind::Delegate => ("delegate", Tools, Neither, Beyond, Always, Never, Nothing, Possible),
            Kind::Session => ("session", Tools, Neither, Workspace, Always, Never, Nothing, Possible),
            Kind::CommandPrints => ("print", CommandParts, Neither, Workspace, WithLayer, Never, Nothing, Possible),
            Kind::CommandReadsSystem => ("read-system", CommandParts, Path, Workspace, WithLayer, Never, Nothing, Possible),
            Kind::CommandReadsElsewhere => ("read-elsewhere", CommandParts, Path, Beyond, WithLayer, Never, Nothing, Offered),
            Kind::CommandReadsUnknown => ("read-unknown", CommandParts, Path, Workspace, WithLayer, Never, InWorkspace, Unwritten),
            Kind::CommandRevealsSecret => ("reveal-secret", CommandParts, Path, Beyond, Never, Never, Nothing, Possible),
            Kind::CommandCreatesInside => ("create-by-command", CommandParts, Path, Workspace, WithLayer, WithLayer, InWorkspace, Offered),
            Kind::CommandChangesInside => ("change-by-command", CommandParts, Path, Workspace, WithLayer, WithLayer, InWorkspace, Offered),
            Kind::CommandRemovesInside => ("remove-by-command", CommandParts, Path, Workspace, WithLayer, WithLayer, InWorkspace, Offered),
            Kind::CommandRemovesWorkspace => ("remove-workspace", CommandParts, Path, Workspace, WithLayer, WithLayer, Nothing, Possible),
            Kind::CommandChangesUnknown => ("change-unknown", CommandParts, Path, Workspace, WithLayer, WithLayer, InWorkspace, Unwritten),
            Kind::CommandChangesTemporary => ("change-temporary", CommandParts, Path, Workspace, WithLayer, Never, InWorkspace, Offered),
            Kind::CommandChangesSecret => ("change-secret-by-command", CommandParts, Path, Workspace, WithLayer, WithLayer, Nothing, Possible),
            Kind::CommandChangesProtected => ("change-protected-by-command", CommandParts, Path, Workspace, WithLayer, WithLayer, Nothing, Possible),
            Kind::CommandChangesOutside => ("change-elsewhere", CommandParts, Path, Beyond, Never, Never, Nothing, Possible),
            Kind::CommandConnects => ("network", CommandParts, Host, Beyond, Never, WithLayer, Nothing, Offered),
            Kind::CommandPublishes => ("publish", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Offered),
            Kind::CommandRunsCode => ("run-workspace-code", CommandParts, Neither, Workspace, WithLayer, WithLayer, InWorkspace, Offered),
            Kind::CommandRunsUnknownProgram => ("run-unknown-program", CommandParts, Neither, Workspace, WithLayer, WithLayer, InWorkspace, Offered),
            Kind::CommandNotUnderstood => ("not-understood", CommandParts, Neither, Workspace, WithLayer, WithLayer, Nothing, Unwritten),
            Kind::CommandChangesSettings => ("change-settings", CommandParts, Neither, Workspace, WithLayer, WithLayer, Nothing, Possible),
            Kind::CommandChangesShell => ("change-shell", CommandParts, Neither, Workspace, WithLayer, Never, InWorkspace, Possible),
            Kind::CommandChangesHistory => ("change-history", CommandParts, Neither, Workspace, WithLayer, WithLayer, OfHistory, Offered),
            Kind::CommandActsOnProcesses => ("act-on-processes", CommandParts, Neither, Workspace, WithLayer, Never, InWorkspace, Possible),
            Kind::Dangerous(Danger::Rights) => ("gain-rights", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::Device) => ("touch-device", CommandParts, Path, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::System) => ("change-system", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::DownloadedCode) => ("run-downloaded-code", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::HiddenCode) => ("run-hidden-code", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::Secret) => ("send-secret", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::PlantedCode) => ("plant-code", CommandParts, Path, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::HistoryLost) => ("lose-history", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::Haft) => ("touch-haft", CommandParts, Path, Beyond, Never, WithLayer, Nothing, Possible),
            Kind::Dangerous(Danger::Exhaustion) => ("exhaust-machine", CommandParts, Neither, Beyond, Never, WithLayer, Nothing, Possible),
        };
        EffectFacts { name, source, touches, reach, undo, journal, grant, written_rule }
    }

    /// Sorts an effect. There is no rest: a new effect must be placed here.
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Read(Target::Inside(place)) if is_secret(place.path()) => EffectKind::ReadSecret,
            Effect::Read(Target::Inside(_)) => EffectKind::ReadInside,
            Effect::Read(Target::Outside(_)) => EffectKind::ReadOutside,
            Effect::Change(Target::Inside(place), _)
                if protected(place.path()).is_some() || is_secret(place.path()) || may_hold_guarded(place.path()) =>
            {
                EffectKind::ChangeGuarded
            }
            Effect::PlantRepository(_) | Effect::ChangeFollowed(_) => EffectKind::ChangeGuarded,
            Effect::Change(Target::Inside(_), _) => EffectKind::ChangeInside,
            Effect::Change(Target::Outside(_), _) => EffectKind::ChangeOutside,
            Effect::Run(_) => EffectKind::Run,
            Effect::Step(step) => EffectKind::of_step(&step.does),
            Effect::Expose(_) => EffectKind::Expose,
            Effect::Connect(_) => EffectKind::Connect,
            Effect::Remote(claim) if claim.claims == Claim::OnlyReads => EffectKind::RemoteRead,
            Effect::Remote(_) => EffectKind::RemoteChange,
            Effect::Delegate(_) => EffectKind::Delegate,
            Effect::Session(_) => EffectKind::Session,
        }
    }

    pub(crate) fn of_step(does: &StepEffect) -> Self {
        match does {
            StepEffect::Nothing | StepEffect::NothingElse => EffectKind::CommandPrints,
            StepEffect::Read(target) => Self::of_command_reading(target),
            StepEffect::List(target) => match PathClass::of(target) {
                zone if zone.is_inside() => EffectKind::ReadInside,
                PathClass::Secret if target.is_inside() => EffectKind::ReadInside,
                PathClass::Sink | PathClass::Temporary | PathClass::System | PathClass::Device => {
                    EffectKind::CommandReadsSystem
                }
                _ => EffectKind::CommandReadsElsewhere,
            },
            StepEffect::ReadUnknown => EffectKind::CommandReadsUnknown,
            StepEffect::Change(target, change) => Self::of_command_changing(target, *change),
            StepEffect::ChangeUnknown(_) => EffectKind::CommandChangesUnknown,
            StepEffect::Connect(_) => EffectKind::CommandConnects,
            StepEffect::Publish(_) | StepEffect::Serve(_) | StepEffect::SendHere(_) => EffectKind::CommandPublishes,
            StepEffect::Code(_) => EffectKind::CommandRunsCode,
            StepEffect::Program(_) => EffectKind::CommandRunsUnknownProgram,
            StepEffect::Unknown(_) => EffectKind::CommandNotUnderstood,
            StepEffect::Settings(_) => EffectKind::CommandChangesSettings,
            StepEffect::ShellState(_) => EffectKind::CommandChangesShell,
            StepEffect::History(_) => EffectKind::CommandChangesHistory,
            StepEffect::Process(_) => EffectKind::CommandActsOnProcesses,
            StepEffect::Danger(danger, _) => EffectKind::Dangerous(*danger),
        }
    }

    fn of_command_reading(target: &Target) -> Self {
        match PathClass::of(target) {
            PathClass::Root | PathClass::Inside | PathClass::Protected => EffectKind::ReadInside,
            PathClass::Sink | PathClass::Temporary | PathClass::System => EffectKind::CommandReadsSystem,
            PathClass::Device => EffectKind::Dangerous(Danger::Device),
            PathClass::Secret => EffectKind::CommandRevealsSecret,
            PathClass::Haft => EffectKind::Dangerous(Danger::Haft),
            PathClass::Start | PathClass::Elsewhere => EffectKind::CommandReadsElsewhere,
        }
    }

    fn of_command_changing(target: &Target, change: Change) -> Self {
        match PathClass::of(target) {
            PathClass::Root if change == Change::Remove => EffectKind::CommandRemovesWorkspace,
            PathClass::Root | PathClass::Inside => match change {
                Change::Create => EffectKind::CommandCreatesInside,
                Change::Replace => EffectKind::CommandChangesInside,
                Change::Remove => EffectKind::CommandRemovesInside,
            },
            PathClass::Protected => EffectKind::CommandChangesProtected,
            PathClass::Sink => EffectKind::CommandReadsSystem,
            // Everything that anybody has put there goes with it, perhaps also the workspace or the home.
            PathClass::Temporary if change == Change::Remove && is_temporary_folder(target.place().path()) => {
                EffectKind::CommandChangesOutside
            }
            PathClass::Temporary => EffectKind::CommandChangesTemporary,
            PathClass::Device => EffectKind::Dangerous(Danger::Device),
            PathClass::Haft => EffectKind::Dangerous(Danger::Haft),
            PathClass::Start => EffectKind::Dangerous(Danger::PlantedCode),
            // A name may be both, as `.envrc` is: a secret that a shell runs.
            PathClass::Secret if target.is_inside() && protected(target.place().path()).is_some() => {
                EffectKind::CommandChangesProtected
            }
            PathClass::Secret if target.is_inside() => EffectKind::CommandChangesSecret,
            PathClass::System | PathClass::Secret | PathClass::Elsewhere => EffectKind::CommandChangesOutside,
        }
    }

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether the default rules refuse it.
    pub(crate) fn is_refused(self) -> bool {
        static REFUSED: LazyLock<Vec<EffectKind>> = LazyLock::new(|| {
            let refused = |rule: Rule| match rule.matches {
                Pattern::Effect(sort) if rule.decision == Decision::Deny => Some(sort),
                _ => None,
            };
            defaults().into_iter().filter_map(refused).collect()
        });
        REFUSED.contains(&self)
    }

    /// Returns whether the default rules refuse a step of a command.
    pub fn refuses_step(does: &StepEffect) -> bool {
        Self::of_step(does).is_refused()
    }

    /// Returns whether commands have effects of this kind.
    pub fn is_of_commands(self) -> bool {
        matches!(self.facts().source, EffectSource::ToolsAndCommands | EffectSource::CommandParts)
    }

    /// Returns whether a call that runs a command can have effects of this kind: its own, and those of its parts.
    pub fn is_of_command_calls(self) -> bool {
        self.facts().source != EffectSource::Tools
    }

    /// Returns whether only calls that run commands have effects of this kind.
    pub fn is_only_of_command_calls(self) -> bool {
        matches!(self.facts().source, EffectSource::CommandCalls | EffectSource::CommandParts)
    }

    /// Returns whether a rule may answer the question about it once and for ever.
    pub fn is_answerable(self) -> bool {
        self.facts().written_rule != RuleAnswer::Never
    }

    /// Returns what effects of this kind touch.
    pub fn touches(self) -> Touches {
        self.facts().touches
    }
}

impl LayerNeed {
    /// Returns whether it holds where commands are contained like this.
    pub(crate) fn holds(self, contained: Containment) -> bool {
        match self {
            LayerNeed::Always => true,
            LayerNeed::WithLayer => contained < Containment::WithoutLayer,
            LayerNeed::Never => false,
        }
    }
}

impl EffectReach {
    /// Says how far an effect reaches.
    pub fn of(effect: &Effect) -> Self {
        EffectKind::of(effect).facts().reach
    }
}

/// Returns whether undo can take back an effect where commands are contained like this, so that a yes beforehand (`--yes`)
/// may answer for it. A dangerous question needs a person, whether undo covers it or not.
pub fn can_be_undone(effect: &Effect, contained: Containment) -> bool {
    EffectKind::of(effect).facts().undo.holds(contained)
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{CommandLine, CommandStep, Exposure, Host};
    use haft_contract::files::path::{Extent, FileLocation};

    fn step(does: StepEffect) -> Effect {
        let words = std::sync::Arc::from(["x".to_owned()]);
        Effect::Step(CommandStep { command: "x".into(), folder: "".into(), part: (0, 1), words, does })
    }

    fn inside(path: &str) -> Target {
        Target::Inside(FileLocation::new(path, Extent::Entry))
    }

    #[test]
    fn undo_covers_tools_everywhere_commands_with_a_layer_and_nothing_that_leaves_the_machine() {
        use Containment::{Contained, WeakSandbox, WithNetwork, WithoutLayer, WithoutSandbox};
        let host = || Host("x.example".into());
        let by_tools = [Effect::Change(inside("a"), Change::Replace), Effect::Read(inside("a"))];
        let by_commands = [
            Effect::Run(CommandLine("make".into())),
            step(StepEffect::Change(inside("a"), Change::Remove)),
            step(StepEffect::Code("run the tests".into())),
            step(StepEffect::History("commit".into())),
            step(StepEffect::Unknown("it is odd".into())),
        ];
        let gone = [
            Effect::Connect(host()),
            step(StepEffect::Connect(Some(host()))),
            step(StepEffect::Connect(None)),
            step(StepEffect::Publish("push commits to another repository".into())),
            step(StepEffect::Serve("let other machines connect".into())),
            Effect::Expose(Exposure::WideWorkspace("/".into())),
        ];
        for contained in [Contained, WithNetwork, WeakSandbox, WithoutLayer, WithoutSandbox] {
            let has_layer = contained < WithoutLayer;
            assert!(by_tools.iter().all(|effect| can_be_undone(effect, contained)), "{contained:?}");
            assert!(by_commands.iter().all(|effect| can_be_undone(effect, contained) == has_layer), "{contained:?}");
            assert!(!gone.iter().any(|effect| can_be_undone(effect, contained)), "{contained:?}");
        }
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_that_leads_back_to_it() {
        for kind in ALL {
            assert_eq!(EffectKind::named(kind.name()), Some(kind));
        }
    }

    #[test]
    fn every_kind_has_exactly_one_default_rule() {
        for kind in ALL {
            let rules = defaults().into_iter().filter(|rule| rule.matches == Pattern::Effect(kind));
            assert_eq!(rules.count(), 1, "{}", kind.name());
        }
        assert_eq!(defaults().len(), ALL.len());
    }

    #[test]
    fn commands_read_inside_as_tools_do_and_have_no_state_of_a_session() {
        assert!(EffectKind::CommandPrints.is_of_commands() && EffectKind::ReadInside.is_of_commands());
        assert!(!EffectKind::Session.is_of_commands());
    }
}
