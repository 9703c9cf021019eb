//! Rules: what they match and what they decide.

use haft::effect::{Claim, Effect};
use haft::guarded::{is_secret, may_hold_guarded, protected};
use haft::path::Target;

use crate::decision::{Class, Decision, Ruling};

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
            Effect::Change(Target::Inside(_), _) => EffectSort::ChangeInside,
            Effect::Change(Target::Outside(_), _) => EffectSort::ChangeOutside,
            Effect::Run(_) => EffectSort::Run,
            Effect::Expose(_) => EffectSort::Expose,
            Effect::Connect(_) => EffectSort::Connect,
            Effect::Remote(claim) if claim.claims == Claim::OnlyReads => EffectSort::RemoteRead,
            Effect::Remote(_) => EffectSort::RemoteChange,
            Effect::Delegate(_) => EffectSort::Delegate,
            Effect::Session(_) => EffectSort::Session,
        }
    }
}

impl Rule {
    /// Returns the rule's opinion on a tool, if it has one.
    pub fn on_tool(&self, tool: &str) -> Option<Ruling> {
        matches!(&self.matches, Pattern::Tool(name) if name == tool).then(|| self.ruling(&format!("call {tool}")))
    }

    /// Returns the rule's opinion on an effect, if it has one.
    pub fn on_effect(&self, effect: &Effect) -> Option<Ruling> {
        matches!(self.matches, Pattern::Effect(sort) if sort == EffectSort::of(effect))
            .then(|| self.ruling(&said(effect)))
    }

    fn ruling(&self, what: &str) -> Ruling {
        Ruling {
            decision: self.decision,
            class: self.class,
            rule: self.name.clone(),
            reason: self.reason.replace("{}", what),
            instead: self.instead.clone(),
        }
    }
}

/// Says what an effect is, and what is special about its target.
fn said(effect: &Effect) -> String {
    let why = match effect {
        Effect::Change(Target::Inside(place), _) => protected(place.path()),
        _ => None,
    };
    match why {
        Some(why) => format!("{effect} ({why})"),
        None => effect.to_string(),
    }
}

/// Returns the rules that hold where the user has said nothing.
pub fn defaults() -> Vec<Rule> {
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
        dangerous("secret files", EffectSort::ReadSecret, "It would {}, which is a secret by its name."),
        dangerous("protected names", EffectSort::ChangeGuarded, "It would {}."),
        dangerous("weak sandbox", EffectSort::Expose, "It would {}."),
        rule("commands", EffectSort::Run, Ask, "It would {}.", ask),
        rule("connections", EffectSort::Connect, Ask, "It would {}.", ask),
        rule("remote reads", EffectSort::RemoteRead, Ask, "It would {}.", ask),
        rule("remote changes", EffectSort::RemoteChange, Ask, "It would {}.", ask),
        rule("delegation", EffectSort::Delegate, Ask, "It would {}.", ask),
    ]
}
