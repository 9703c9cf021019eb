//! A model that repeats the replies of a recorded session, whatever it is asked.
//!
//! It returns the replies in their order, and may adapt each one just before. When none is left, it reports that it was
//! stopped.
//!
//! Not here: where the replies were stored (the program that runs the agent).

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::BoxFuture;
use haft_model::conversation::Reply;
use haft_model::provider::{LanguageModel, ModelError, ModelErrorKind, ModelRequest, ReplyListener};
use haft_model::wire::Wire;
use tokio_util::sync::CancellationToken;

/// Changes a reply before it is said.
pub type Adapt<'a> = Box<dyn Fn(Reply) -> Reply + Send + Sync + 'a>;

/// A model that says again what was said.
pub struct RecordedModel<'a> {
    name: String,
    wire: Wire,
    replies: Mutex<VecDeque<Reply>>,
    adapt: Adapt<'a>,
}

impl<'a> RecordedModel<'a> {
    /// Makes a model that says these, as a model of this name said them in this form.
    pub fn new(name: impl Into<String>, wire: Wire, replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies = Mutex::new(replies.into_iter().collect());
        Self { name: name.into(), wire, replies, adapt: Box::new(|reply| reply) }
    }

    /// Adapts each reply just before it is said.
    pub fn adapted(mut self, adapt: Adapt<'a>) -> Self {
        self.adapt = adapt;
        self
    }

    /// Returns how many replies are left.
    pub fn left(&self) -> usize {
        self.replies().len()
    }

    fn replies(&self) -> MutexGuard<'_, VecDeque<Reply>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for RecordedModel<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn wire(&self) -> Wire {
        self.wire
    }

    fn reply<'a>(
        &'a self,
        _request: &'a ModelRequest<'a>,
        _heard: ReplyListener<'a>,
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let next = self.replies().pop_front();
        Box::pin(async move {
            next.map(|reply| (self.adapt)(reply)).ok_or_else(|| ModelError {
                kind: ModelErrorKind::Stopped,
                what: "There are no more recorded replies.".to_owned(),
                next: "record a longer session".to_owned(),
            })
        })
    }
}
