//! A scripted model for tests of agents: it needs no network and no key, and records every request that it receives.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, Usage};
use haft_model::provider::{LanguageModel, ModelError, ModelErrorKind, ModelRequest, ReplyEvent, ReplyListener};
use haft_model::wire::Wire;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// A model that follows a script.
#[derive(Default)]
pub struct MockModel {
    replies: Mutex<VecDeque<Vec<ReplyPart>>>,
    requests: Mutex<Vec<MockRequest>>,
    calls: u32,
}

/// A request that a mock model received.
#[derive(Clone, Debug)]
pub struct MockRequest {
    /// What the model is told before everything else.
    pub instructions: String,
    /// The names of the tools it may call.
    pub tools: Vec<String>,
    /// What was said so far.
    pub messages: Vec<Message>,
}

impl MockModel {
    /// Makes a model with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reply with this text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.reply_queue().push_back(vec![ReplyPart::Text(text.into())]);
        self
    }

    /// Adds a reply that calls this tool. Called again right after, the calls share one reply only through
    /// [`MockModel::calls_together`].
    #[must_use]
    pub fn calls(self, tool: &str, arguments: Value) -> Self {
        self.calls_together([(tool, arguments)])
    }

    /// Adds one reply with several calls.
    #[must_use]
    pub fn calls_together<'t>(mut self, calls: impl IntoIterator<Item = (&'t str, Value)>) -> Self {
        let mut parts = Vec::new();
        for (tool, arguments) in calls {
            self.calls += 1;
            let id = format!("call-{}", self.calls);
            parts.push(ReplyPart::Call(ModelToolCall {
                id,
                name: tool.to_owned(),
                arguments: arguments.to_string(),
                is_cut: false,
            }));
        }
        self.reply_queue().push_back(parts);
        self
    }

    /// Returns the requests that came so far.
    #[must_use]
    pub fn requests(&self) -> Vec<MockRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reply_queue(&self) -> MutexGuard<'_, VecDeque<Vec<ReplyPart>>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for MockModel {
    fn name(&self) -> &str {
        "mock"
    }

    fn wire(&self) -> Wire {
        Wire::Chat
    }

    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest<'a>,
        heard: ReplyListener<'a>,
        _stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let kept = MockRequest {
            instructions: request.instructions.to_owned(),
            tools: request.tools.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: request.messages.to_vec(),
        };
        let requests = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(kept);
            requests.len()
        };
        let next = self.reply_queue().pop_front();
        Box::pin(async move {
            let parts = next.ok_or_else(|| ModelError {
                kind: ModelErrorKind::Broken,
                what: format!(
                    "The script of the MockModel has no reply left ({}).",
                    GroupedNumber(u64::try_from(requests).unwrap_or(u64::MAX)).of("request")
                ),
                next: "add a reply to the script with says or calls".to_owned(),
            })?;
            for part in &parts {
                if let ReplyPart::Text(text) = part {
                    heard(ReplyEvent::Text(text));
                }
            }
            let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call(_)));
            let native = Native { wire: Wire::Anthropic, model: "mock".to_owned(), json: RawValue::NULL.to_owned() };
            let stop = if has_calls { StopReason::Calls } else { StopReason::Finished };
            Ok(Reply { parts, native, stop, usage: Usage::default(), why_cut: None })
        })
    }
}
