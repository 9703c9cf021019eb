//! The interface to a model: one model at one address, in any format.

use std::time::Duration;

use haft_contract::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::conversation::{Message, Reply, Usage};
use crate::lower::LoweredList;
use crate::wire::Wire;
use crate::writing::effort::Effort;

/// A model that can be asked.
pub trait LanguageModel: Send + Sync {
    /// Returns its name at the provider.
    fn name(&self) -> &str;

    /// Returns the form in which it is spoken to.
    fn wire(&self) -> Wire;

    /// Returns why it is shown no images, such as "this model takes none"; nothing where it is. What is found out
    /// while it is asked counts from then on.
    fn why_no_images(&self) -> Option<&'static str> {
        None
    }

    /// Asks for the next reply. What comes is told piece by piece, and the whole is returned.
    ///
    /// Retries what can be retried, as long as no piece of the reply was reported. A stop ends it immediately. A reply
    /// that broke off after a first piece is `Ok`, with [`crate::conversation::StopReason::Cut`] and the reason.
    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest<'a>,
        heard: ReplyListener<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// A callback that receives the events of a reply.
pub type ReplyListener<'a> = &'a (dyn Fn(ReplyEvent<'_>) + Send + Sync);

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest<'a> {
    /// What it is told before everything else.
    pub instructions: &'a str,
    /// What it may call.
    pub tools: &'a LoweredList,
    /// What was said so far. Every call has its answer.
    pub messages: &'a [Message],
    /// How long the reply may be, in tokens; what the provider has as default where nothing is said.
    pub most_tokens: Option<u32>,
    /// How much it shall think; what the provider has as default where nothing is said.
    pub effort: Option<Effort>,
    /// Whether it must call a tool.
    pub must_call: bool,
}

/// One event while a reply is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEvent<'a> {
    /// More text.
    Text(&'a str),
    /// More of what it thinks.
    Thinking(&'a str),
    /// A call begins: the how-manieth of the reply, and the tool's name as haft has it.
    CallBegins(usize, &'a str),
    /// More of the arguments of a call.
    Arguments(usize, &'a str),
    /// What it has cost so far.
    Usage(Usage),
    /// It is asked again after this time, for this reason.
    Again(Duration, &'a str),
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ModelError {
    /// Which sort of thing went wrong.
    pub kind: ModelErrorKind,
    /// What went wrong, a sentence.
    pub what: String,
    /// What to do about it, without a capital and a full stop.
    pub next: String,
}

/// Which sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No server answers at the address.
    Unreachable,
    /// The key is missing or not accepted.
    NotAdmitted,
    /// The provider does not accept the request.
    BadRequest,
    /// The conversation is longer than the model takes.
    TooLong,
    /// Too many requests.
    Limited,
    /// No credit is left, or as much was spent as may be: waiting does not help.
    NoCredit,
    /// The provider broke, or what it sent cannot be read.
    Broken,
    /// It took too long.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}
