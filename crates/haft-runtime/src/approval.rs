//! Asking somebody: the question, who answers it, and the answers there are.
//!
//! No reply means no. `--yes` is an approver around another one, for the ordinary class only.

use std::ops::Range;

use haft_contract::BoxFuture;
use haft_contract::call::CallId;
use haft_contract::plan::Preview;
use haft_policy::decision::{Class, Ruling};
use haft_policy::grant::GrantScope;
use haft_policy::reach::Reach;
use serde_json::Value;

/// Answers questions. One at a time per session.
pub trait Approver: Send + Sync {
    /// Answers one question.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict>;
}

/// The question: exactly the call that would run, secrets hidden.
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
    /// How far the call reaches.
    pub reach: Reach,
    /// What a yes for longer could cover, the narrowest first; empty when only "once" is offered.
    pub offers: Vec<Offer>,
    /// What could be put into `rules.toml` so that this is never asked again; text for a person.
    pub rule_to_paste: Option<String>,
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
    /// Returns whether a yes to it is never given for longer, and never by `--yes`.
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
    /// The same in words, secrets hidden.
    pub words: String,
    /// Earlier questions of the session that it would have answered, a few of them.
    pub would_have_allowed: Vec<String>,
}

impl ApprovalRequest {
    /// Returns the words of the grant that an answer gives.
    pub(crate) fn words_of(&self, verdict: &Verdict) -> Option<String> {
        let Verdict::AllowFor(scope) = verdict else { return None };
        self.offers.iter().find(|offer| offer.scope == *scope).map(|offer| offer.words.clone())
    }
}

/// An answer.
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
    /// Nobody answered; says how it could be allowed.
    NoAnswer {
        /// What would have to be done, for the next step.
        how: String,
    },
}

/// Stands where nobody is.
#[derive(Clone, Debug)]
pub struct Nobody {
    how: String,
}

impl Nobody {
    /// Says how a call could be allowed all the same.
    pub fn there(how: impl Into<String>) -> Self {
        Self { how: how.into() }
    }
}

impl Approver for Nobody {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        // What `--yes` does not answer needs a person, and only the rule knows what to do without one.
        let how = match request.ruling.class {
            Class::Ordinary => self.how.clone(),
            Class::Dangerous => request.ruling.instead.clone(),
        };
        Box::pin(async { Verdict::NoAnswer { how } })
    }
}

/// Says yes to ordinary questions and passes the others on: `--yes`.
pub struct YesToOrdinary<A> {
    otherwise: A,
}

impl<A: Approver> YesToOrdinary<A> {
    /// Passes dangerous questions on to this approver.
    pub fn or_ask(otherwise: A) -> Self {
        Self { otherwise }
    }
}

impl<A: Approver> Approver for YesToOrdinary<A> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        match request.ruling.class {
            Class::Ordinary => Box::pin(async { Verdict::AllowOnce }),
            Class::Dangerous => self.otherwise.ask(request),
        }
    }
}

impl Approver for Box<dyn Approver> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        (**self).ask(request)
    }
}
