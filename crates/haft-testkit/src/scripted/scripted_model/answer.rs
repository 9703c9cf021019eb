//! Builds the answer of a turn or of a fault: its bytes, and how it ends.
//!
//! Not here: which answer is next (`state`), sending it (`serve`).

use std::time::Duration;

use haft_model::wire::Wire;
use serde_json::{Value, json};

use super::asked::ReplyRequest;
use super::fault::{Fault, RetryAfter};
use super::script::{ScriptedTurn, Usage};
use super::tongue::{ScriptedEvent, Speech, signature, tongue};

/// The bytes that answer a request, and how they are sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScriptedAnswer {
    /// All together.
    Whole { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// Chunk by chunk.
    Stream { chunks: Vec<Vec<u8>>, ending: AnswerEnding, pace: Pace },
    /// Nothing at all.
    Nothing(AnswerEnding),
}

/// When the chunks of an answer come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// All together.
    AtOnce,
    /// Each when it is released.
    Held,
    /// Each so long after the one before.
    Slow(Duration),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerEnding {
    /// As it should.
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// The connection stays, and nothing comes.
    Hang,
}

/// Builds the answer to a request from a turn of the script.
pub(super) struct AnswerBuilder<'a> {
    pub turn: &'a ScriptedTurn,
    pub number: usize,
    pub piece_chars: usize,
    pub asked: &'a ReplyRequest,
}

impl ScriptedAnswer {
    pub fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".into(), "application/json".into())];
        Self::Whole { status, headers, body: body.to_string().into_bytes() }
    }

    /// Says an error as a provider does.
    pub fn error(wire: Wire, status: u16, message: &str) -> Self {
        Self::json(status, &tongue(wire).error(status, message))
    }

    fn stream(chunks: Vec<Vec<u8>>, ending: AnswerEnding) -> Self {
        Self::Stream { chunks, ending, pace: Pace::AtOnce }
    }
}

impl AnswerBuilder<'_> {
    /// Answers with the reply.
    pub fn reply(&self) -> ScriptedAnswer {
        if !self.wants_stream() {
            return ScriptedAnswer::json(200, &tongue(self.asked.wire).whole(&self.speech()));
        }
        self.told_at(if self.turn.held { Pace::Held } else { Pace::AtOnce })
    }

    fn told_at(&self, pace: Pace) -> ScriptedAnswer {
        let chunks = self.events().iter().map(ScriptedEvent::bytes).collect();
        ScriptedAnswer::Stream { chunks, ending: AnswerEnding::Whole, pace }
    }

    /// Answers with a fault of it.
    pub fn fault(&self, fault: &Fault) -> ScriptedAnswer {
        let wire = self.asked.wire;
        let all = || self.events();
        let first = |count: usize| all().iter().take(count).map(ScriptedEvent::bytes).collect::<Vec<_>>();
        match fault {
            Fault::Status(status) => {
                let message = status.message.as_deref().unwrap_or("This is a fault of the script.");
                let mut answer = ScriptedAnswer::error(wire, status.code, message);
                if let ScriptedAnswer::Whole { headers, .. } = &mut answer {
                    headers
                        .extend(status.retry_after.map(RetryAfter::header).map(|value| ("retry-after".into(), value)));
                    headers.extend(status.headers.clone());
                }
                answer
            }
            Fault::TooLong => {
                let (status, message) = tongue(wire).too_long();
                ScriptedAnswer::error(wire, status, message)
            }
            Fault::CutBeforeHeaders => ScriptedAnswer::Nothing(AnswerEnding::Cut),
            Fault::HangBeforeHeaders => ScriptedAnswer::Nothing(AnswerEnding::Hang),
            Fault::CutAfterBytes(count) => {
                let bytes: Vec<u8> = first(usize::MAX).concat().into_iter().take(*count).collect();
                ScriptedAnswer::stream(vec![bytes], AnswerEnding::Cut)
            }
            Fault::CutAfterEvents(count) => ScriptedAnswer::stream(first(*count), AnswerEnding::Cut),
            Fault::EndsAfterEvents(count) => ScriptedAnswer::stream(first(*count), AnswerEnding::Whole),
            Fault::HangAfterEvents(count) => ScriptedAnswer::stream(first(*count), AnswerEnding::Hang),
            Fault::Slow(milliseconds) if self.wants_stream() => {
                self.told_at(Pace::Slow(Duration::from_millis(*milliseconds)))
            }
            Fault::Slow(_) => self.reply(),
            Fault::Empty => ScriptedAnswer::Whole { status: 200, headers: Vec::new(), body: Vec::new() },
            Fault::Page => ScriptedAnswer::Whole {
                status: 200,
                headers: vec![("content-type".into(), "text/html".into())],
                body: b"<!doctype html><title>Sign in</title><p>Please sign in to use this network.".to_vec(),
            },
            Fault::NotStreamed => ScriptedAnswer::json(200, &tongue(wire).whole(&self.speech())),
            Fault::GarbageAfterEvents(count) => {
                let garbage = b"\xff\xfe\x00garbage\ndata\x80\n:::\n\n{]\n\n".to_vec();
                ScriptedAnswer::stream([first(*count), vec![garbage]].concat(), AnswerEnding::Whole)
            }
            Fault::BrokenEvent(index) => ScriptedAnswer::stream(broken(all(), *index), AnswerEnding::Whole),
            Fault::ErrorAfterEvents(count) => {
                let error = tongue(wire).error_in_stream(*count).bytes();
                ScriptedAnswer::stream([first(*count), vec![error]].concat(), AnswerEnding::Whole)
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

    fn events(&self) -> Vec<ScriptedEvent> {
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
pub(super) fn models() -> ScriptedAnswer {
    ScriptedAnswer::json(
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

fn broken(mut events: Vec<ScriptedEvent>, index: usize) -> Vec<Vec<u8>> {
    if let Some(event) = events.get_mut(index) {
        let middle = (event.data.len() / 2..).find(|at| event.data.is_char_boundary(*at)).unwrap_or(0);
        event.data.truncate(middle);
    }
    events.iter().map(ScriptedEvent::bytes).collect()
}
