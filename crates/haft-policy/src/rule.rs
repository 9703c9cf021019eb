//! Rules: what they match and what they decide.

use std::fmt;
use std::sync::LazyLock;

use haft_contract::effect::{Change, Claim, Danger, Does, Effect};
use haft_contract::guarded::{is_secret, may_hold_guarded, protected};
use haft_contract::path::Target;

use crate::decision::{Class, Decision, Ruling};
use crate::rules::conditions::Conditions;
use crate::rules::fit::Fit;
use crate::zone::{Zone, is_of_haft, is_temporary_folder};

/// One rule with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name that refusals and records carry.
    pub name: String,
    /// What it matches.
    pub matches: Pattern,
    /// What it decides.
    pub decision: Decision,
    /// How much is at stake.
    pub class: Class,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do instead.
    pub instead: String,
}

/// What a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every call of the tool with this native name.
    Tool(String),
    /// Every effect of this sort.
    Effect(EffectSort),
    /// Every effect that fits all conditions of a rule that somebody wrote.
    Written(Box<Conditions>),
}

/// Says what a rule is about.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Tool(name) => write!(f, "tool {name}"),
            Pattern::Effect(sort) => write!(f, "effect {}", sort.name()),
            Pattern::Written(conditions) => conditions.fmt(f),
        }
    }
}

/// Sorts of effects that rules speak about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectSort {
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

impl EffectSort {
    /// Sorts an effect. There is no rest: a new effect must be placed here.
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Read(Target::Inside(place)) if is_secret(place.path()) => EffectSort::ReadSecret,
            Effect::Read(Target::Inside(_)) => EffectSort::ReadInside,
            Effect::Read(Target::Outside(_)) => EffectSort::ReadOutside,
            Effect::Change(Target::Inside(place), _)
                if protected(place.path()).is_some() || is_secret(place.path()) || may_hold_guarded(place.path()) =>
            {
                EffectSort::ChangeGuarded
            }
            Effect::PlantRepository(_) | Effect::ChangeFollowed(_) => EffectSort::ChangeGuarded,
            Effect::Change(Target::Inside(_), _) => EffectSort::ChangeInside,
            Effect::Change(Target::Outside(_), _) => EffectSort::ChangeOutside,
            Effect::Run(_) => EffectSort::Run,
            Effect::Step(step) => EffectSort::of_step(&step.does),
            Effect::Expose(_) => EffectSort::Expose,
            Effect::Connect(_) => EffectSort::Connect,
            Effect::Remote(claim) if claim.claims == Claim::OnlyReads => EffectSort::RemoteRead,
            Effect::Remote(_) => EffectSort::RemoteChange,
            Effect::Delegate(_) => EffectSort::Delegate,
            Effect::Session(_) => EffectSort::Session,
        }
    }

    /// Returns whether it is refused where nobody has said anything.
    pub(crate) fn is_refused(self) -> bool {
        static REFUSED: LazyLock<Vec<EffectSort>> = LazyLock::new(|| {
            let refused = |rule: Rule| match rule.matches {
                Pattern::Effect(sort) if rule.decision == Decision::Deny => Some(sort),
                _ => None,
            };
            defaults().into_iter().filter_map(refused).collect()
        });
        REFUSED.contains(&self)
    }

    pub(crate) fn of_step(does: &Does) -> Self {
        match does {
            Does::Nothing | Does::NothingElse => EffectSort::CommandPrints,
            Does::Read(target) => Self::of_command_reading(target),
            Does::List(target) => match Zone::of(target) {
                zone if zone.is_inside() => EffectSort::ReadInside,
                Zone::Secret if target.is_inside() => EffectSort::ReadInside,
                Zone::Sink | Zone::Temporary | Zone::System | Zone::Device => EffectSort::CommandReadsSystem,
                _ => EffectSort::CommandReadsElsewhere,
            },
            Does::ReadUnknown => EffectSort::CommandReadsUnknown,
            Does::Change(target, change) => Self::of_command_changing(target, *change),
            Does::ChangeUnknown(_) => EffectSort::CommandChangesUnknown,
            Does::Connect(_) => EffectSort::CommandConnects,
            Does::Publish(_) | Does::Serve(_) | Does::SendHere(_) => EffectSort::CommandPublishes,
            Does::Code(_) => EffectSort::CommandRunsCode,
            Does::Program(_) => EffectSort::CommandRunsUnknownProgram,
            Does::Unknown(_) => EffectSort::CommandNotUnderstood,
            Does::Settings(_) => EffectSort::CommandChangesSettings,
            Does::ShellState(_) => EffectSort::CommandChangesShell,
            Does::History(_) => EffectSort::CommandChangesHistory,
            Does::Process(_) => EffectSort::CommandActsOnProcesses,
            Does::Danger(danger, _) => EffectSort::Dangerous(*danger),
        }
    }

    fn of_command_reading(target: &Target) -> Self {
        match Zone::of(target) {
            Zone::Root | Zone::Inside | Zone::Protected => EffectSort::ReadInside,
            Zone::Sink | Zone::Temporary | Zone::System => EffectSort::CommandReadsSystem,
            Zone::Device => EffectSort::Dangerous(Danger::Device),
            Zone::Secret => EffectSort::CommandRevealsSecret,
            Zone::Haft => EffectSort::Dangerous(Danger::Haft),
            Zone::Start | Zone::Elsewhere => EffectSort::CommandReadsElsewhere,
        }
    }

    fn of_command_changing(target: &Target, change: Change) -> Self {
        match Zone::of(target) {
            Zone::Root if change == Change::Remove => EffectSort::CommandRemovesWorkspace,
            Zone::Root | Zone::Inside => match change {
                Change::Create => EffectSort::CommandCreatesInside,
                Change::Replace => EffectSort::CommandChangesInside,
                Change::Remove => EffectSort::CommandRemovesInside,
            },
            Zone::Protected => EffectSort::CommandChangesProtected,
            Zone::Sink => EffectSort::CommandReadsSystem,
            // Everything that anybody has put there goes with it, perhaps also the workspace or the home.
            Zone::Temporary if change == Change::Remove && is_temporary_folder(target.place().path()) => {
                EffectSort::CommandChangesOutside
            }
            Zone::Temporary => EffectSort::CommandChangesTemporary,
            Zone::Device => EffectSort::Dangerous(Danger::Device),
            Zone::Haft => EffectSort::Dangerous(Danger::Haft),
            Zone::Start => EffectSort::Dangerous(Danger::PlantedCode),
            // A name may be both, as `.envrc` is: a secret that a shell runs.
            Zone::Secret if target.is_inside() && protected(target.place().path()).is_some() => {
                EffectSort::CommandChangesProtected
            }
            Zone::Secret if target.is_inside() => EffectSort::CommandChangesSecret,
            Zone::System | Zone::Secret | Zone::Elsewhere => EffectSort::CommandChangesOutside,
        }
    }
}

impl Rule {
    /// Returns the rule's opinion on a tool, if it has one whatever the tool would do.
    pub fn on_tool(&self, tool: &str) -> Option<Ruling> {
        let is_meant = match &self.matches {
            Pattern::Tool(name) => name == tool,
            Pattern::Effect(_) => false,
            // What such a rule allows is allowed effect by effect.
            Pattern::Written(conditions) => self.decision != Decision::Allow && conditions.is_of_tool(tool),
        };
        is_meant.then(|| self.ruling(&format!("call {tool}")))
    }

    /// Returns the rule's opinion on an effect of this sort of a call of this tool, if it has one.
    pub fn on_effect(&self, tool: &str, effect: &Effect, sort: EffectSort) -> Option<Ruling> {
        let fit = match &self.matches {
            Pattern::Tool(_) => Fit::Not,
            Pattern::Effect(wanted) => Fit::exactly_if(*wanted == sort),
            Pattern::Written(conditions) => conditions.fit(tool, effect),
        };
        match (fit, self.decision) {
            (Fit::Not, _) | (Fit::Perhaps | Fit::Loosely, Decision::Allow) => None,
            (Fit::Perhaps, Decision::Deny) => Some(self.perhaps(effect)),
            (Fit::Loosely | Fit::Exactly, Decision::Deny)
                if matches!(self.matches, Pattern::Effect(_)) && touches_haft(effect) =>
            {
                Some(self.on_haft(effect))
            }
            (Fit::Perhaps | Fit::Loosely | Fit::Exactly, _) => Some(self.ruling(&said(effect))),
        }
    }

    /// Refuses what belongs to haft itself: wherever it lies, nobody can add it to the workspace.
    fn on_haft(&self, effect: &Effect) -> Ruling {
        Ruling {
            reason: format!("It would {effect}, which belongs to haft itself."),
            instead: BY_HAND.to_owned(),
            ..self.ruling("")
        }
    }

    /// Asks about what would be refused if it is what it may be.
    fn perhaps(&self, effect: &Effect) -> Ruling {
        Ruling {
            decision: Decision::Ask,
            class: Class::Dangerous,
            reason: format!("It would {effect}, which may be what the rule refuses: {}", self.reason),
            ..self.ruling("")
        }
    }

    fn ruling(&self, what: &str) -> Ruling {
        let reason = match &self.matches {
            Pattern::Tool(_) | Pattern::Effect(_) => self.reason.replace("{}", what),
            Pattern::Written(_) if self.reason.is_empty() => format!("It would {what}."),
            Pattern::Written(_) => self.reason.clone(),
        };
        Ruling {
            decision: self.decision,
            class: self.class,
            rule: self.name.clone(),
            reason,
            instead: self.instead.clone(),
        }
    }
}

/// Says whether a tool would touch haft's own settings or state.
fn touches_haft(effect: &Effect) -> bool {
    match effect {
        Effect::Read(Target::Outside(place)) | Effect::Change(Target::Outside(place), _) => is_of_haft(place.path()),
        _ => false,
    }
}

/// Says what an effect is, and what is special about its target.
fn said(effect: &Effect) -> String {
    let why = match effect {
        Effect::Change(Target::Inside(place), _) => protected(place.path()),
        _ => None,
    };
    let words = effect.to_string();
    match (why, words.rsplit_once(' ')) {
        (Some(why), _) => format!("{words} ({why})"),
        // A dot at the end of a sentence is no name.
        (None, Some((does, "."))) => format!("{does} the whole workspace"),
        (None, Some((does, ".."))) => format!("{does} the folder above the workspace"),
        (None, _) => words,
    }
}

/// The name of the default rule that asks about tools of other servers that may change something.
pub const REMOTE_CHANGES: &str = "remote changes";

/// Returns the rules that hold where the user has said nothing.
pub fn defaults() -> Vec<Rule> {
    let mut rules = of_tools();
    rules.extend(of_commands());
    rules.extend(of_dangers());
    rules
}

/// What the refusal of something dangerous proposes.
const BY_HAND: &str = "do without it, or ask the user to do it by hand";

fn of_dangers() -> Vec<Rule> {
    let dangers = [
        ("rights", Danger::Rights, "do it with the rights you have"),
        ("devices", Danger::Device, BY_HAND),
        ("system", Danger::System, BY_HAND),
        ("downloaded code", Danger::DownloadedCode, "download it to a file, read it, and run it after the user agreed"),
        ("hidden code", Danger::HiddenCode, "write the command as plain text"),
        ("secrets", Danger::Secret, "do without the secret, or ask the user for the one thing you need"),
        ("planted code", Danger::PlantedCode, BY_HAND),
        ("lost history", Danger::HistoryLost, "keep the history: work on a new branch"),
        ("haft itself", Danger::Haft, "leave haft's rules and state to the user"),
        ("exhaustion", Danger::Exhaustion, "run it once, with a limit"),
    ];
    let rule = |(name, danger, instead)| of_command(name, EffectSort::Dangerous(danger), Decision::Deny, instead);
    dangers.map(rule).into()
}

fn of_command(name: &str, sort: EffectSort, decision: Decision, instead: &str) -> Rule {
    Rule {
        name: name.to_owned(),
        matches: Pattern::Effect(sort),
        decision,
        class: Class::Ordinary,
        reason: "It would {}.".to_owned(),
        instead: instead.to_owned(),
    }
}

const SECRET_BY_NAME: &str = "It would {}, whose name marks it as a secret.";

fn of_commands() -> Vec<Rule> {
    use Decision::{Allow, Ask, Deny};
    let rule = of_command;
    let ask = "ask the user to allow it";
    let inside = "work inside the workspace, or ask the user to do it by hand";
    vec![
        rule("commands that print", EffectSort::CommandPrints, Allow, ""),
        rule("commands that read the system", EffectSort::CommandReadsSystem, Allow, ""),
        rule(
            "commands that read elsewhere",
            EffectSort::CommandReadsElsewhere,
            Ask,
            "ask the user to copy it into the workspace",
        ),
        rule("commands that read the unknown", EffectSort::CommandReadsUnknown, Ask, "name the files"),
        Rule {
            reason: SECRET_BY_NAME.to_owned(),
            ..rule(
                "secrets in commands",
                EffectSort::CommandRevealsSecret,
                Deny,
                "do without the secret, or ask the user for the one thing you need; an example without secrets can have a \
                 name such as example.env",
            )
        },
        rule("commands that create", EffectSort::CommandCreatesInside, Allow, ""),
        rule("commands that change", EffectSort::CommandChangesInside, Ask, ask),
        rule("commands that remove", EffectSort::CommandRemovesInside, Ask, ask),
        rule("the workspace itself", EffectSort::CommandRemovesWorkspace, Deny, "name the files and folders to remove"),
        rule("commands that change the unknown", EffectSort::CommandChangesUnknown, Ask, "name the files"),
        rule("temporary files", EffectSort::CommandChangesTemporary, Ask, ask),
        Rule {
            reason: SECRET_BY_NAME.to_owned(),
            ..rule("secrets changed by commands", EffectSort::CommandChangesSecret, Ask, ask)
        },
        rule(
            "protected names in commands",
            EffectSort::CommandChangesProtected,
            Deny,
            "use \"edit_file\" or \"write_file\", so that the user is asked, or do without it",
        ),
        rule("commands that change elsewhere", EffectSort::CommandChangesOutside, Deny, inside),
        rule("network", EffectSort::CommandConnects, Ask, ask),
        rule("publishing", EffectSort::CommandPublishes, Ask, ask),
        rule("code of the workspace", EffectSort::CommandRunsCode, Ask, ask),
        rule("unknown programs", EffectSort::CommandRunsUnknownProgram, Ask, ask),
        rule("not understood", EffectSort::CommandNotUnderstood, Ask, "write it in a plainer form"),
        rule("settings", EffectSort::CommandChangesSettings, Ask, ask),
        rule("shell state", EffectSort::CommandChangesShell, Ask, ask),
        rule("version control", EffectSort::CommandChangesHistory, Ask, ask),
        rule("processes", EffectSort::CommandActsOnProcesses, Ask, ask),
    ]
}

fn of_tools() -> Vec<Rule> {
    use Decision::{Allow, Ask, Deny};
    let rule = |name: &str, sort, decision, reason: &str, instead: &str| Rule {
        name: name.to_owned(),
        matches: Pattern::Effect(sort),
        decision,
        class: Class::Ordinary,
        reason: reason.to_owned(),
        instead: instead.to_owned(),
    };
    let dangerous = |name: &str, sort, reason: &str| Rule {
        class: Class::Dangerous,
        ..rule(name, sort, Ask, reason, "do without it, or ask the user, who can answer at a terminal")
    };
    let outside = "ask the user to add that folder, or to copy the file into the workspace";
    let ask = "ask the user to allow it";
    vec![
        rule("reads inside", EffectSort::ReadInside, Allow, "Reading inside the workspace is allowed.", ""),
        rule("session state", EffectSort::Session, Allow, "It touches only the session's own state.", ""),
        rule("reads outside", EffectSort::ReadOutside, Deny, "It would {}, which is outside the workspace.", outside),
        rule(
            "changes outside",
            EffectSort::ChangeOutside,
            Deny,
            "It would {}, which is outside the workspace.",
            outside,
        ),
        rule("changes", EffectSort::ChangeInside, Ask, "It would {}.", ask),
        dangerous("secret files", EffectSort::ReadSecret, SECRET_BY_NAME),
        dangerous("protected names", EffectSort::ChangeGuarded, "It would {}."),
        dangerous("weak sandbox", EffectSort::Expose, "It would {}."),
        rule("commands", EffectSort::Run, Ask, "It would {}.", ask),
        rule("connections", EffectSort::Connect, Ask, "It would {}.", ask),
        rule("remote reads", EffectSort::RemoteRead, Ask, "It would {}.", ask),
        rule(REMOTE_CHANGES, EffectSort::RemoteChange, Ask, "It would {}.", ask),
        rule("delegation", EffectSort::Delegate, Ask, "It would {}.", ask),
    ]
}
