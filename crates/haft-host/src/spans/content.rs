//! Adds what was said and done to spans, if the user wants it: bounded, and without secrets.
//!
//! Each span has only its own content, not the whole conversation: the run has the prompt and the answer, each step its
//! reply, and each call its arguments and result.

use haft_model::conversation::{ModelToolCall, Reply, ReplyPart};
use haft_runtime::redaction::redact::Redactor;
use opentelemetry::KeyValue;
use serde_json::{Value, json};

use super::names;
use crate::conversations::agent_records::arguments;

/// Most characters of one text: collectors refuse requests that are too large.
const MOST: usize = 16_000;

/// Makes the content of spans, bounded and without secrets, where content is wanted.
pub(super) struct SpanContentFilter {
    /// Hides secrets; nothing where no content is wanted.
    pub(super) redactor: Option<Redactor>,
}

impl SpanContentFilter {
    /// Returns the prompt of a run.
    pub(super) fn prompt(&self, prompt: &str) -> Option<KeyValue> {
        self.made(names::INPUT_MESSAGES, |redactor| message("user", vec![text(redactor, "text", prompt)]))
    }

    /// Returns the last words of a run.
    pub(super) fn answer(&self, answer: &str) -> Option<KeyValue> {
        self.made(names::OUTPUT_MESSAGES, |redactor| message("assistant", vec![text(redactor, "text", answer)]))
    }

    /// Returns what the model said.
    pub(super) fn reply(&self, reply: &Reply) -> Option<KeyValue> {
        let part = |redactor: &Redactor, part: &ReplyPart| match part {
            ReplyPart::Text(words) | ReplyPart::Refusal(words) => text(redactor, "text", words),
            ReplyPart::Thinking(words) => text(redactor, "reasoning", words),
            ReplyPart::Call(call) => json!({
                "type": "tool_call", "id": call.id, "name": call.name, "arguments": hidden(redactor, call)
            }),
        };
        self.made(names::OUTPUT_MESSAGES, |redactor| {
            message("assistant", reply.parts.iter().map(|said| part(redactor, said)).collect())
        })
    }

    /// Returns what a call was given.
    pub(super) fn arguments(&self, call: &ModelToolCall) -> Option<KeyValue> {
        self.made(names::TOOL_ARGUMENTS, |redactor| cut(&hidden(redactor, call).to_string()))
    }

    /// Returns what the model reads of a call.
    pub(super) fn result(&self, words: &str) -> Option<KeyValue> {
        self.made(names::TOOL_RESULT, |redactor| cut(&redactor.redact(words)))
    }

    fn made(&self, name: &'static str, value: impl FnOnce(&Redactor) -> String) -> Option<KeyValue> {
        self.redactor.as_ref().map(|redactor| KeyValue::new(name, value(redactor)))
    }
}

fn message(role: &str, parts: Vec<Value>) -> String {
    json!([{ "role": role, "parts": parts }]).to_string()
}

fn text(redactor: &Redactor, kind: &str, words: &str) -> Value {
    json!({ "type": kind, "content": cut(&redactor.redact(words)) })
}

/// The arguments without secrets; those that are long as a text that is cut.
fn hidden(redactor: &Redactor, call: &ModelToolCall) -> Value {
    let mut value = arguments(call);
    redactor.redact_value(&mut value);
    if call.arguments.len() > MOST { cut(&value.to_string()).into() } else { value }
}

fn cut(words: &str) -> String {
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.to_owned(),
    }
}
