//! Makes an answer of a turn or of a fault: the bytes that come, and how it ends.
//!
//! Not here: which of them is next (`state`), writing it to anyone (`serve`).

use std::time::Duration;

use haft_model::wire::Wire;
use serde_json::{Value, json};

use super::asked::Asked;
use super::fault::{Fault, RetryAfter};
use super::script::{Turn, Usage};
use super::tongue::{Event, Speech, signature, tongue};

/// What a request is answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// All at once.
    Whole { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// Chunk by chunk.
    Stream { chunks: Vec<Vec<u8>>, ending: Ending, pace: Pace },
    /// Nothing at all.
    Nothing(Ending),
}

/// When the chunks of an answer come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// All at once.
    AtOnce,
    /// Each when it is released.
    Held,
    /// Each so long after the one before.
    Slow(Duration),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As it should.
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// The connection stays, and nothing comes.
    Hang,
}

/// A turn that is about to be told to somebody.
pub(super) struct Telling<'a> {
    pub turn: &'a Turn,
    pub number: usize,
    pub piece_chars: usize,
    pub asked: &'a Asked,
}

impl Answer {
    pub fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".into(), "application/json".into())];
        Self::Whole { status, headers, body: body.to_string().into_bytes() }
    }

    /// Says an error as a provider does.
    pub fn error(wire: Wire, status: u16, message: &str) -> Self {
        Self::json(status, &tongue(wire).error(status, message))
    }

    fn stream(chunks: Vec<Vec<u8>>, ending: Ending) -> Self {
        Self::Stream { chunks, ending, pace: Pace::AtOnce }
    }
}

impl Telling<'_> {
    /// Answers with the reply.
    pub fn reply(&self) -> Answer {
        if !self.wants_stream() {
            return Answer::json(200, &tongue(self.asked.wire).whole(&self.speech()));
        }
        self.told_at(if self.turn.held { Pace::Held } else { Pace::AtOnce })
    }

    fn told_at(&self, pace: Pace) -> Answer {
        let chunks = self.events().iter().map(Event::bytes).collect();
        Answer::Stream { chunks, ending: Ending::Whole, pace }
    }

    /// Answers with a fault of it.
    pub fn fault(&self, fault: &Fault) -> Answer {
        let wire = self.asked.wire;
        let all = || self.events();
        let first = |count: usize| all().iter().take(count).map(Event::bytes).collect::<Vec<_>>();
        match fault {
            Fault::Status(status) => {
                let message = status.message.as_deref().unwrap_or("This is a fault of the script.");
                let mut answer = Answer::error(wire, status.code, message);
                if let Answer::Whole { headers, .. } = &mut answer {
                    headers
                        .extend(status.retry_after.map(RetryAfter::header).map(|value| ("retry-after".into(), value)));
                    headers.extend(status.headers.clone());
                }
                answer
            }
            Fault::TooLong => {
                let (status, message) = tongue(wire).too_long();
                Answer::error(wire, status, message)
            }
            Fault::CutBeforeHeaders => Answer::Nothing(Ending::Cut),
            Fault::HangBeforeHeaders => Answer::Nothing(Ending::Hang),
            Fault::CutAfterBytes(count) => {
                let bytes: Vec<u8> = first(usize::MAX).concat().into_iter().take(*count).collect();
                Answer::stream(vec![bytes], Ending::Cut)
            }
            Fault::CutAfterEvents(count) => Answer::stream(first(*count), Ending::Cut),
            Fault::EndsAfterEvents(count) => Answer::stream(first(*count), Ending::Whole),
            Fault::HangAfterEvents(count) => Answer::stream(first(*count), Ending::Hang),
            Fault::Slow(milliseconds) if self.wants_stream() => {
                self.told_at(Pace::Slow(Duration::from_millis(*milliseconds)))
            }
            Fault::Slow(_) => self.reply(),
            Fault::Empty => Answer::Whole { status: 200, headers: Vec::new(), body: Vec::new() },
            Fault::Page => Answer::Whole {
                status: 200,
                headers: vec![("content-type".into(), "text/html".into())],
                body: b"<!doctype html><title>Sign in</title><p>Please sign in to use this network.".to_vec(),
            },
            Fault::NotStreamed => Answer::json(200, &tongue(wire).whole(&self.speech())),
            Fault::GarbageAfterEvents(count) => {
                let garbage = b"\xff\xfe\x00garbage\ndata\x80\n:::\n\n{]\n\n".to_vec();
                Answer::stream([first(*count), vec![garbage]].concat(), Ending::Whole)
            }
            Fault::BrokenEvent(index) => Answer::stream(broken(all(), *index), Ending::Whole),
            Fault::ErrorAfterEvents(count) => {
                let error = tongue(wire).error_in_stream(*count).bytes();
                Answer::stream([first(*count), vec![error]].concat(), Ending::Whole)
            }
        }
    }

    /// Returns the sign that must come back with the results: that of a reply which thinks and calls.
    pub fn sign(&self) -> Option<String> {
        let speech = self.speech();
        let has_call = speech.calls_before(speech.parts.len()) > 0;
        // Nothing in the types of this form brings a thought back.
        let has_sign = self.asked.wire != Wire::Chat;
        speech.thought().filter(|_| has_call && has_sign).map(signature)
    }

    fn wants_stream(&self) -> bool {
        match self.asked.wire {
            Wire::Gemini => self.asked.path.contains(":streamGenerateContent"),
            Wire::Anthropic | Wire::Responses | Wire::Chat => self.asked.body["stream"] == true,
        }
    }

    fn events(&self) -> Vec<Event> {
        tongue(self.asked.wire).stream(&self.speech())
    }

    fn speech(&self) -> Speech<'_> {
        let bytes: usize = self.turn.reply.iter().map(|part| part.text().len()).sum();
        let tokens = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
        let estimated = Usage { input: tokens(self.asked.text.len()), output: tokens(bytes), ..Usage::default() };
        Speech {
            number: self.number,
            model: self.asked.model(),
            parts: &self.turn.reply,
            stop: self.turn.end(),
            usage: self.turn.usage.unwrap_or(estimated),
            piece_chars: self.piece_chars,
            interleaved: self.turn.interleaved,
            request: &self.asked.body,
        }
    }
}

/// Returns the list of models as all providers would like to read it.
pub(super) fn models() -> Answer {
    Answer::json(
        200,
        &json!({
            "object": "list",
            "data": [{
                "id": "scripted",
                "object": "model",
                "type": "model",
                "display_name": "Scripted",
                "created": 1_750_000_000,
                "created_at": "2025-06-15T15:06:40Z",
                "owned_by": "haft",
            }],
            "has_more": false,
            "first_id": "scripted",
            "last_id": "scripted",
            "models": [{
                "name": "models/scripted",
                "displayName": "Scripted",
                "supportedGenerationMethods": ["generateContent"],
            }],
        }),
    )
}

fn broken(mut events: Vec<Event>, index: usize) -> Vec<Vec<u8>> {
    if let Some(event) = events.get_mut(index) {
        let middle = (event.data.len() / 2..).find(|at| event.data.is_char_boundary(*at)).unwrap_or(0);
        event.data.truncate(middle);
    }
    events.iter().map(Event::bytes).collect()
}
