//! Rules: what they match and what they decide.

use std::fmt;

use haft_contract::effect::{Danger, Effect};
use haft_contract::files::guarded::protected;
use haft_contract::files::path::Target;
use serde_json::Value;

use crate::decision::{Class, Decision, Ruling};
use crate::effect_kind::EffectKind;
use crate::rules::conditions::Conditions;
use crate::rules::fit::Fit;
use haft_command::path_class::is_of_haft;

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
    Effect(EffectKind),
    /// Every effect that fits all conditions of a written rule.
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

    /// Returns whether the rule says nothing of the arguments of a call, or these fit.
    pub fn fits_arguments(&self, arguments: Option<&Value>) -> bool {
        match &self.matches {
            Pattern::Tool(_) | Pattern::Effect(_) => true,
            Pattern::Written(conditions) => conditions.fits_arguments(arguments),
        }
    }

    /// Returns the rule's opinion on an effect of this sort of a call of this tool, if it has one.
    pub fn on_effect(&self, tool: &str, effect: &Effect, sort: EffectKind) -> Option<Ruling> {
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

    /// Refuses what belongs to haft itself: wherever it lies, it cannot be added to the workspace.
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
    let rule = |(name, danger, instead)| of_command(name, EffectKind::Dangerous(danger), Decision::Deny, instead);
    dangers.map(rule).into()
}

fn of_command(name: &str, sort: EffectKind, decision: Decision, instead: &str) -> Rule {
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
        rule("commands that print", EffectKind::CommandPrints, Allow, ""),
        rule("commands that read the system", EffectKind::CommandReadsSystem, Allow, ""),
        rule(
            "commands that read elsewhere",
            EffectKind::CommandReadsElsewhere,
            Ask,
            "ask the user to copy it into the workspace",
        ),
        rule("commands that read the unknown", EffectKind::CommandReadsUnknown, Ask, "name the files"),
        Rule {
            reason: SECRET_BY_NAME.to_owned(),
            ..rule(
                "secrets in commands",
                EffectKind::CommandRevealsSecret,
                Deny,
                "do without the secret, or ask the user for the one thing you need; an example without secrets can have a \
                 name such as example.env",
            )
        },
        rule("commands that create", EffectKind::CommandCreatesInside, Allow, ""),
        rule("commands that change", EffectKind::CommandChangesInside, Ask, ask),
        rule("commands that remove", EffectKind::CommandRemovesInside, Ask, ask),
        rule("the workspace itself", EffectKind::CommandRemovesWorkspace, Deny, "name the files and folders to remove"),
        rule("commands that change the unknown", EffectKind::CommandChangesUnknown, Ask, "name the files"),
        rule("temporary files", EffectKind::CommandChangesTemporary, Ask, ask),
        Rule {
            reason: SECRET_BY_NAME.to_owned(),
            ..rule("secrets changed by commands", EffectKind::CommandChangesSecret, Ask, ask)
        },
        rule(
            "protected names in commands",
            EffectKind::CommandChangesProtected,
            Deny,
            "use \"edit_file\" or \"write_file\", so that the user is asked, or do without it",
        ),
        rule("commands that change elsewhere", EffectKind::CommandChangesOutside, Deny, inside),
        rule("network", EffectKind::CommandConnects, Ask, ask),
        rule("publishing", EffectKind::CommandPublishes, Ask, ask),
        rule("code of the workspace", EffectKind::CommandRunsCode, Ask, ask),
        rule("unknown programs", EffectKind::CommandRunsUnknownProgram, Ask, ask),
        rule("not understood", EffectKind::CommandNotUnderstood, Ask, "write it in a plainer form"),
        rule("settings", EffectKind::CommandChangesSettings, Ask, ask),
        rule("shell state", EffectKind::CommandChangesShell, Ask, ask),
        rule("version control", EffectKind::CommandChangesHistory, Ask, ask),
        rule("processes", EffectKind::CommandActsOnProcesses, Ask, ask),
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
        rule("reads inside", EffectKind::ReadInside, Allow, "Reading inside the workspace is allowed.", ""),
        rule("session state", EffectKind::Session, Allow, "It touches only the session's own state.", ""),
        rule("reads outside", EffectKind::ReadOutside, Deny, "It would {}, which is outside the workspace.", outside),
        rule(
            "changes outside",
            EffectKind::ChangeOutside,
            Deny,
            "It would {}, which is outside the workspace.",
            outside,
        ),
        rule("changes", EffectKind::ChangeInside, Ask, "It would {}.", ask),
        dangerous("secret files", EffectKind::ReadSecret, SECRET_BY_NAME),
        dangerous("protected names", EffectKind::ChangeGuarded, "It would {}."),
        dangerous("weak sandbox", EffectKind::Expose, "It would {}."),
        rule("commands", EffectKind::Run, Ask, "It would {}.", ask),
        rule("connections", EffectKind::Connect, Ask, "It would {}.", ask),
        rule("remote reads", EffectKind::RemoteRead, Ask, "It would {}.", ask),
        rule(REMOTE_CHANGES, EffectKind::RemoteChange, Ask, "It would {}.", ask),
        rule("delegation", EffectKind::Delegate, Ask, "It would {}.", ask),
    ]
}
