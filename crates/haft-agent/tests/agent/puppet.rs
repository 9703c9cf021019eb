//! A model that follows a script: turns as data, what it was asked noted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_model::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, Usage};
use haft_model::provider::{LanguageModel, ModelError, ModelErrorKind, ModelRequest, ReplyEvent, ReplyListener};
use haft_model::wire::Wire;
use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

use crate::valid::assert_valid;

/// One turn of the script.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Replies like this.
    Says(Vec<ReplyPart>, StopReason),
    /// Says this, then breaks off for this reason.
    BreaksOff(Vec<ReplyPart>, String),
    /// Cannot reply.
    Fails(ModelErrorKind),
    /// Is asked again by the client, then replies.
    AskedAgain(Vec<ReplyPart>),
    /// Says this and then nothing more, until it is told to stop.
    Hangs(Vec<ReplyPart>),
    /// Does not even listen to that.
    IsDeaf,
}

/// A model that follows a script, then says "done".
pub struct Puppet {
    turns: Mutex<VecDeque<Turn>>,
    asked: Mutex<Vec<Vec<Message>>>,
    /// Which of the times it had to call something.
    forced: Mutex<Vec<bool>>,
    usage: Usage,
}

impl Puppet {
    pub fn of(turns: impl IntoIterator<Item = Turn>) -> Self {
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        let turns = Mutex::new(turns.into_iter().collect());
        Self { turns, asked: Mutex::default(), forced: Mutex::default(), usage }
    }

    /// Costs so many tokens each time.
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Returns the conversations it was shown.
    pub fn asked(&self) -> Vec<Vec<Message>> {
        lock(&self.asked).clone()
    }

    /// Returns for each time whether it had to call something.
    pub fn forced(&self) -> Vec<bool> {
        lock(&self.forced).clone()
    }

    fn reply_of(&self, parts: Vec<ReplyPart>, stop: StopReason) -> Reply {
        Reply { usage: self.usage, ..reply(parts, stop) }
    }

    /// Tells parts piece by piece, until told to stop.
    fn tell(&self, parts: &[ReplyPart], heard: ReplyListener<'_>, stop: &CancellationToken) -> Result<(), ModelError> {
        let mut calls = 0;
        for part in parts {
            for piece in pieces(part, &mut calls) {
                if stop.is_cancelled() {
                    return Err(error(ModelErrorKind::Stopped));
                }
                heard(piece);
            }
        }
        if stop.is_cancelled() { Err(error(ModelErrorKind::Stopped)) } else { Ok(()) }
    }
}

fn pieces<'p>(part: &'p ReplyPart, calls: &mut usize) -> Vec<ReplyEvent<'p>> {
    match part {
        ReplyPart::Text(text) | ReplyPart::Refusal(text) => {
            let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
            vec![ReplyEvent::Text(first), ReplyEvent::Text(rest)]
        }
        ReplyPart::Thinking(text) => vec![ReplyEvent::Thinking(text)],
        ReplyPart::Call(call) => {
            *calls += 1;
            vec![ReplyEvent::CallBegins(*calls - 1, &call.name), ReplyEvent::Arguments(*calls - 1, &call.arguments)]
        }
    }
}

impl LanguageModel for Puppet {
    fn name(&self) -> &str {
        "puppet"
    }

    fn wire(&self) -> Wire {
        Wire::Chat
    }

    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest<'a>,
        heard: ReplyListener<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        assert_valid(request.messages);
        lock(&self.asked).push(request.messages.to_vec());
        lock(&self.forced).push(request.must_call);
        let turn = lock(&self.turns).pop_front().unwrap_or_else(|| says("done"));
        Box::pin(async move {
            let mut why_cut = None;
            let (parts, reason) = match turn {
                Turn::BreaksOff(parts, why) => {
                    why_cut = Some(why);
                    (parts, StopReason::Cut)
                }
                Turn::Fails(kind) => return Err(error(kind)),
                Turn::IsDeaf => std::future::pending().await,
                Turn::AskedAgain(parts) => {
                    heard(ReplyEvent::Again(Duration::from_secs(2), "too many requests"));
                    (parts, StopReason::Finished)
                }
                Turn::Says(parts, reason) => (parts, reason),
                Turn::Hangs(parts) => {
                    let _told = self.tell(&parts, heard, stop);
                    stop.cancelled().await;
                    (parts, StopReason::Cut)
                }
            };
            match self.tell(&parts, heard, stop) {
                Ok(()) => Ok(Reply { why_cut, ..self.reply_of(parts, reason) }),
                // What came before is kept, with the call that was being written.
                Err(stopped) => match so_far(parts) {
                    parts if parts.is_empty() => Err(stopped),
                    parts => Ok(self.reply_of(parts, StopReason::Cut)),
                },
            }
        })
    }
}

/// All but the last part, whose call is cut.
fn so_far(mut parts: Vec<ReplyPart>) -> Vec<ReplyPart> {
    match parts.pop() {
        Some(ReplyPart::Call(call)) => {
            let arguments = call.arguments[..call.arguments.floor_char_boundary(call.arguments.len() / 2)].to_owned();
            parts.push(ReplyPart::Call(ModelToolCall { arguments, is_cut: true, ..call }));
        }
        Some(ReplyPart::Text(_) | ReplyPart::Thinking(_) | ReplyPart::Refusal(_)) | None => {}
    }
    parts
}

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError { kind, what: format!("It is {kind:?}."), next: "wait".into() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reply that costs nothing.
pub fn reply(parts: Vec<ReplyPart>, stop: StopReason) -> Reply {
    let json = to_raw_value(&parts).expect("parts can be written");
    Reply {
        parts,
        native: Native { wire: Wire::Chat, model: "puppet".into(), json },
        stop,
        usage: Usage::default(),
        why_cut: None,
    }
}

/// A last word.
pub fn says(text: &str) -> Turn {
    Turn::Says(vec![ReplyPart::Text(text.to_owned())], StopReason::Finished)
}

/// A word that ends for this reason.
pub fn says_until(text: &str, stop: StopReason) -> Turn {
    Turn::Says(vec![ReplyPart::Text(text.to_owned())], stop)
}

/// A word after which the reply breaks off for this reason.
pub fn breaks_off(text: &str, why: &str) -> Turn {
    Turn::BreaksOff(vec![ReplyPart::Text(text.to_owned())], why.to_owned())
}

/// Some calls.
pub fn calls(calls: impl IntoIterator<Item = ReplyPart>) -> Turn {
    Turn::Says(calls.into_iter().collect(), StopReason::Calls)
}

/// A call with an object.
pub fn call(id: &str, name: &str, arguments: Value) -> ReplyPart {
    call_text(id, name, &arguments.to_string())
}

/// A call with whatever the model wrote.
pub fn call_text(id: &str, name: &str, arguments: &str) -> ReplyPart {
    ReplyPart::Call(ModelToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), is_cut: false })
}

/// A call that the end of the reply cut.
pub fn cut_call(id: &str, name: &str, arguments: &str) -> ReplyPart {
    ReplyPart::Call(ModelToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), is_cut: true })
}
