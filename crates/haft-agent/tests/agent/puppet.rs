//! A model that follows a script: turns as data, what it was asked noted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_model::conversation::{Call, Message, Native, Part, Reply, Stop, Usage};
use haft_model::provider::{Heard, LanguageModel, ModelError, ModelErrorKind, Piece, Request};
use haft_model::wire::Wire;
use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

use crate::valid::assert_valid;

/// One turn of the script.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Replies like this.
    Says(Vec<Part>, Stop),
    /// Says this, then breaks off for this reason.
    BreaksOff(Vec<Part>, String),
    /// Cannot reply.
    Fails(ModelErrorKind),
    /// Is asked again by the client, then replies.
    AskedAgain(Vec<Part>),
    /// Says this and then nothing more, until it is told to stop.
    Hangs(Vec<Part>),
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

    fn reply_of(&self, parts: Vec<Part>, stop: Stop) -> Reply {
        Reply { usage: self.usage, ..reply(parts, stop) }
    }

    /// Tells parts piece by piece, until told to stop.
    fn tell(&self, parts: &[Part], heard: Heard<'_>, stop: &CancellationToken) -> Result<(), ModelError> {
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

fn pieces<'p>(part: &'p Part, calls: &mut usize) -> Vec<Piece<'p>> {
    match part {
        Part::Text(text) | Part::Refusal(text) => {
            let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
            vec![Piece::Text(first), Piece::Text(rest)]
        }
        Part::Thinking(text) => vec![Piece::Thinking(text)],
        Part::Call(call) => {
            *calls += 1;
            vec![Piece::CallBegins(*calls - 1, &call.name), Piece::Arguments(*calls - 1, &call.arguments)]
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
        request: &'a Request<'a>,
        heard: Heard<'a>,
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
                    (parts, Stop::Cut)
                }
                Turn::Fails(kind) => return Err(error(kind)),
                Turn::IsDeaf => std::future::pending().await,
                Turn::AskedAgain(parts) => {
                    heard(Piece::Again(Duration::from_secs(2), "too many requests"));
                    (parts, Stop::Finished)
                }
                Turn::Says(parts, reason) => (parts, reason),
                Turn::Hangs(parts) => {
                    let _told = self.tell(&parts, heard, stop);
                    stop.cancelled().await;
                    (parts, Stop::Cut)
                }
            };
            match self.tell(&parts, heard, stop) {
                Ok(()) => Ok(Reply { why_cut, ..self.reply_of(parts, reason) }),
                // What came before is kept, with the call that was being written.
                Err(stopped) => match so_far(parts) {
                    parts if parts.is_empty() => Err(stopped),
                    parts => Ok(self.reply_of(parts, Stop::Cut)),
                },
            }
        })
    }
}

/// All but the last part, whose call is cut.
fn so_far(mut parts: Vec<Part>) -> Vec<Part> {
    match parts.pop() {
        Some(Part::Call(call)) => {
            let arguments = call.arguments[..call.arguments.floor_char_boundary(call.arguments.len() / 2)].to_owned();
            parts.push(Part::Call(Call { arguments, is_cut: true, ..call }));
        }
        Some(Part::Text(_) | Part::Thinking(_) | Part::Refusal(_)) | None => {}
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
pub fn reply(parts: Vec<Part>, stop: Stop) -> Reply {
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
    Turn::Says(vec![Part::Text(text.to_owned())], Stop::Finished)
}

/// A word that ends for this reason.
pub fn says_until(text: &str, stop: Stop) -> Turn {
    Turn::Says(vec![Part::Text(text.to_owned())], stop)
}

/// A word after which the reply breaks off for this reason.
pub fn breaks_off(text: &str, why: &str) -> Turn {
    Turn::BreaksOff(vec![Part::Text(text.to_owned())], why.to_owned())
}

/// Some calls.
pub fn calls(calls: impl IntoIterator<Item = Part>) -> Turn {
    Turn::Says(calls.into_iter().collect(), Stop::Calls)
}

/// A call with an object.
pub fn call(id: &str, name: &str, arguments: Value) -> Part {
    call_text(id, name, &arguments.to_string())
}

/// A call with whatever the model wrote.
pub fn call_text(id: &str, name: &str, arguments: &str) -> Part {
    Part::Call(Call { id: id.into(), name: name.into(), arguments: arguments.into(), is_cut: false })
}

/// A call that the end of the reply cut.
pub fn cut_call(id: &str, name: &str, arguments: &str) -> Part {
    Part::Call(Call { id: id.into(), name: name.into(), arguments: arguments.into(), is_cut: true })
}
