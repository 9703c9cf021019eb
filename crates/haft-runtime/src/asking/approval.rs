//! Defines how haft asks for approval: the question, the approver who answers it, and the possible answers.
//!
//! No reply means no. `--yes` and `--yes=all` are an approver around another one, for the ordinary class only.

use std::ops::Range;

use haft_contract::BoxFuture;
use haft_contract::call::CallId;
use haft_contract::doors::user_questions::{UserQuestion, UserReply};
use haft_contract::outcome::error::AdvanceYes;
use haft_contract::plan::Preview;
use haft_policy::decision::{Class, Ruling};
use haft_policy::effect_kind::EffectReach;
use haft_policy::grant::GrantScope;
use haft_policy::hosts::HostSetting;
use serde_json::Value;

/// Answers questions. One at a time per session.
pub trait Approver: Send + Sync {
    /// Answers one question.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict>;

    /// Puts questions of a model to the user. They are not about permission, so no yes beforehand answers them.
    fn ask_user<'a>(&'a self, _questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        Box::pin(async { UserReply::Nobody("no one is here to answer".to_owned()) })
    }
}

/// Questions of a model to its user, secrets hidden.
#[derive(Clone, Debug)]
pub struct Questionnaire {
    /// The call that asks.
    pub call: CallId,
    /// The questions, at least one.
    pub questions: Vec<UserQuestion>,
}

/// The question: exactly the call that would run. Secrets of the user's environment and settings are hidden.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// The call.
    pub call: CallId,
    /// The tool, as shown.
    pub tool: String,
    /// The title of the tool.
    pub title: String,
    /// The arguments.
    pub arguments: Value,
    /// What the call would do, in words; those that need the yes.
    pub effects: Vec<AskedEffect>,
    /// What its command would change besides, in words, which needs no yes.
    pub besides: Vec<String>,
    /// The command, where the call runs one.
    pub command: Option<AskedCommand>,
    /// What to show.
    pub preview: Preview,
    /// The rule that asks, why, and how much is at stake.
    pub ruling: Ruling,
    /// Whether the call runs already: its command waits at a connection, and what it has done so far stays.
    pub is_running: bool,
    /// How far the call reaches.
    pub reach: EffectReach,
    /// Whether `haft undo` can take back everything that needs the yes.
    pub can_be_undone: bool,
    /// What a yes for longer could cover, the narrowest first; empty when only "once" is offered.
    pub offers: Vec<Offer>,
    /// What could be put into `rules.toml` so that this is never asked again; text for a person.
    pub rule_to_paste: Option<String>,
    /// The same for `config.toml`, where only hosts are asked about: the smallest setting that allows them.
    pub setting_to_paste: Option<HostSetting>,
}

/// Something that needs a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedEffect {
    /// What it is, as the end of "it would …".
    pub words: String,
    /// How much is at stake.
    pub class: Class,
}

impl AskedEffect {
    /// Returns whether a yes to it is never given for longer, and never beforehand.
    pub fn is_dangerous(&self) -> bool {
        self.class == Class::Dangerous
    }
}

/// The command of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCommand {
    /// The whole text.
    pub text: String,
    /// The parts that need the yes, in the order of the text; one may lie in another.
    pub parts: Vec<AskedPart>,
    /// What would stand around it, in a line: sandbox, network, undo.
    pub around: String,
}

/// A part of a command that needs the yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPart {
    /// Which bytes of the text.
    pub bytes: Range<usize>,
    /// How much is at stake.
    pub class: Class,
}

/// A yes for longer that a person may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it covers.
    pub scope: GrantScope,
    /// The same in words.
    pub words: String,
    /// Earlier questions of the session that it would have answered, a few of them.
    pub would_have_allowed: Vec<String>,
}

impl ApprovalRequest {
    /// Returns what "always" adds to the user's settings, in words; nothing where it is no answer.
    pub fn always(&self) -> Option<String> {
        let setting = self.setting_to_paste.as_ref()?;
        let names: Vec<String> = setting.names.iter().map(|name| format!("{name:?}")).collect();
        Some(format!("adds {} to [network] allow of your config.toml", names.join(", ")))
    }

    /// Returns the yes that "always" is for this session, which does not read the settings again: to the hosts that are
    /// asked about, or this once where that is not offered.
    pub fn yes_to_hosts(&self) -> Verdict {
        let is_of_hosts = |scope: &GrantScope| scope.parts().iter().all(|part| matches!(part, GrantScope::Host(_)));
        let offer = self.offers.iter().find(|offer| is_of_hosts(&offer.scope));
        offer.map_or(Verdict::AllowOnce, |offer| Verdict::AllowFor(offer.scope.clone()))
    }

    /// Returns the words of the grant that an answer gives.
    pub(crate) fn words_of(&self, verdict: &Verdict) -> Option<String> {
        let Verdict::AllowFor(scope) = verdict else { return None };
        self.offers.iter().find(|offer| offer.scope == *scope).map(|offer| offer.words.clone())
    }
}

/// An approver's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, this once.
    AllowOnce,
    /// Yes, and for whatever this covers.
    AllowFor(GrantScope),
    /// No, perhaps with a word for the model.
    Refuse {
        /// What the model is told.
        note: Option<String>,
    },
    /// No, and the turn is over.
    StopTurn,
    /// No approver answered. The text says how to allow the call.
    NoAnswer {
        /// What would have to be done, for the next step.
        how: String,
    },
    /// No: the user said yes beforehand only to what `haft undo` can take back, and this is something else.
    NotCovered,
}

/// Replaces the approver where no person can answer.
#[derive(Clone, Debug)]
pub struct Nobody {
    how: String,
    how_for_the_rest: Option<String>,
}

impl Nobody {
    /// Says how a call could be allowed all the same.
    pub fn there(how: impl Into<String>) -> Self {
        Self { how: how.into(), how_for_the_rest: None }
    }

    /// Says something else of calls that `haft undo` cannot take back.
    pub fn or_if_not_undoable(self, how: impl Into<String>) -> Self {
        Self { how_for_the_rest: Some(how.into()), ..self }
    }
}

impl Approver for Nobody {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        // What no yes beforehand answers needs a person, and only the rule knows what to do without one.
        let how = match request.ruling.class {
            Class::Ordinary if request.can_be_undone => self.how.clone(),
            Class::Ordinary => self.how_for_the_rest.as_ref().unwrap_or(&self.how).clone(),
            Class::Dangerous => request.ruling.instead.clone(),
        };
        Box::pin(async { Verdict::NoAnswer { how } })
    }
}

/// Says yes to ordinary questions, all or those about what `haft undo` can take back, and passes dangerous ones on.
pub struct YesToOrdinary<A> {
    given: AdvanceYes,
    otherwise: A,
}

impl<A: Approver> YesToOrdinary<A> {
    /// Says yes to every ordinary question: `--yes=all`. Passes dangerous ones on to this approver.
    pub fn or_ask(otherwise: A) -> Self {
        Self { given: AdvanceYes::ToAll, otherwise }
    }

    /// Says yes to ordinary questions about what `haft undo` can take back, and refuses the other ordinary ones: `--yes`.
    /// Passes dangerous ones on to this approver.
    pub fn if_undoable(otherwise: A) -> Self {
        Self { given: AdvanceYes::ToUndoable, otherwise }
    }
}

impl YesToOrdinary<Box<dyn Approver>> {
    /// Puts the yes that the user gave beforehand around an approver, if there is one.
    pub fn given(yes: Option<AdvanceYes>, otherwise: Box<dyn Approver>) -> Box<dyn Approver> {
        match yes {
            Some(given) => Box::new(Self { given, otherwise }),
            None => otherwise,
        }
    }
}

impl<A: Approver> Approver for YesToOrdinary<A> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let is_covered = self.given == AdvanceYes::ToAll || request.can_be_undone;
        match request.ruling.class {
            Class::Ordinary if is_covered => Box::pin(async { Verdict::AllowOnce }),
            Class::Ordinary => Box::pin(async { Verdict::NotCovered }),
            Class::Dangerous => self.otherwise.ask(request),
        }
    }

    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        self.otherwise.ask_user(questionnaire)
    }
}

/// Says yes to every question, because another agent or its user has answered it: without haft, the agent would run the
/// command without a sandbox.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredElsewhere;

impl Approver for AnsweredElsewhere {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::AllowOnce })
    }
}

impl Approver for Box<dyn Approver> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        (**self).ask(request)
    }

    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        (**self).ask_user(questionnaire)
    }
}
