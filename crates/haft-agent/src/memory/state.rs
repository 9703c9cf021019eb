//! The part of an agent that its tools may see.
//!
//! Tools borrow the conversation while calls run. It is not copied, because it may be long and few tools read it.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::doors::session_state::{AgentState, FinishReport, FinishScope};
use haft_contract::outcome::error::ToolError;
use haft_model::conversation::{Message, ReplyPart};
use serde_json::{Value, json};

use crate::work::finishing::FinishDesk;

/// What tools see of one agent.
#[derive(Default)]
pub(crate) struct ShownState {
    step: AtomicU32,
    messages: Mutex<Vec<Message>>,
    pub(crate) finish: FinishDesk,
}

impl ShownState {
    /// Says at which step the agent is.
    pub(crate) fn at_step(&self, step: u32) {
        self.step.store(step, Ordering::Release);
    }

    /// Shows the conversation until what is returned is dropped.
    pub(crate) fn lend<'l>(&'l self, messages: &'l mut Vec<Message>) -> Lent<'l> {
        *self.lent() = std::mem::take(messages);
        Lent { state: self, owner: messages }
    }

    fn lent(&self) -> MutexGuard<'_, Vec<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conversation that tools can see. It goes back to its owner whatever happens.
pub(crate) struct Lent<'l> {
    state: &'l ShownState,
    owner: &'l mut Vec<Message>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        *self.owner = std::mem::take(&mut self.state.lent());
    }
}

impl AgentState for ShownState {
    fn current_iteration(&self) -> u64 {
        u64::from(self.step.load(Ordering::Acquire).max(1))
    }

    fn history_length(&self) -> usize {
        self.lent().len()
    }

    fn history(&self, range: Range<usize>) -> Vec<Value> {
        let messages = self.lent();
        let end = range.end.min(messages.len());
        messages.get(range.start.min(end)..end).unwrap_or_default().iter().map(shown).collect()
    }

    fn finish(&self, finished: FinishReport) -> BoxFuture<'_, Result<FinishScope, ToolError>> {
        Box::pin(async move { self.finish.accept(finished).await.map(|()| FinishScope::OfRun) })
    }
}

fn shown(message: &Message) -> Value {
    match message {
        Message::User { text, .. } => json!({ "role": "user", "content": text }),
        Message::Model(reply) => {
            let calls = reply.parts.iter().filter_map(|part| match part {
                ReplyPart::Call(call) => Some(json!({ "id": call.id, "name": call.name, "arguments": call.arguments })),
                ReplyPart::Text(_) | ReplyPart::Thinking(_) | ReplyPart::Refusal(_) => None,
            });
            json!({ "role": "assistant", "content": reply.text(), "tool_calls": calls.collect::<Vec<_>>() })
        }
        Message::Tools { answers } => {
            let answers = answers.iter().map(|answer| {
                json!({ "call": answer.call, "name": answer.name, "text": answer.text, "is_error": answer.is_error })
            });
            json!({ "role": "tool", "content": answers.collect::<Vec<_>>() })
        }
    }
}
