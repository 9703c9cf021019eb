//! Reads the stream of a reply, chunk by chunk, from any server with this format.
//!
//! If a server sends the whole reply in one piece, this reads its message as one big chunk.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::to_raw_value;

use super::calls::{Calls, native};
use super::said::ChatReplyContent;
use crate::conversation::{ModelToolCall, Native, Reply, ReplyPart, StopReason, Usage};
use crate::form::{FAREWELL, ReplyProgress, ReplyReader};
use crate::provider::{ModelError, ModelErrorKind, ModelRequest, ReplyEvent, ReplyListener};
use crate::quirks::{Quirks, TextMay};
use crate::reading::made_ids::Ids;
use crate::reading::raw_json::{Object, list};
use crate::reading::refused::{broke_off, unreadable};
use crate::reading::written_calls;
use crate::reading::written_calls::ReplySegment;
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// A reply that is read.
#[derive(Debug)]
pub(super) struct ChatReading {
    model: String,
    names: OfferedNames,
    ids: Ids,
    said: ChatReplyContent,
    calls: Calls,
    usage: Usage,
    /// Whether any piece of a message came, be it empty.
    has_begun: bool,
    finish: Option<String>,
    is_done: bool,
    /// Whether it is told what the text turned out to be.
    is_settled: bool,
}

impl ChatReading {
    pub(super) fn new(quirks: Quirks, model: &str, request: &ModelRequest<'_>) -> ChatReading {
        let names = OfferedNames::of(request.tools);
        let said = match quirks.text {
            TextMay::BeTextOnly => ChatReplyContent::default(),
            TextMay::HoldOthers if names.is_empty() => ChatReplyContent::with_thoughts_in_text(),
            TextMay::HoldOthers => ChatReplyContent::with_thoughts_in_text().and_calls(),
        };
        ChatReading {
            model: model.to_owned(),
            names,
            ids: Ids::of(request),
            said,
            calls: Calls::default(),
            usage: Usage::default(),
            has_begun: false,
            finish: None,
            is_done: false,
            is_settled: false,
        }
    }
}

impl ReplyReader for ChatReading {
    fn event(&mut self, name: &str, data: &str, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        let data = data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            self.settle(heard);
            return Ok(ReplyProgress::Whole);
        }
        if data.is_empty() {
            return Ok(ReplyProgress::More);
        }
        let Some(chunk) = Object::read(data).or_else(|| first_of_list(data)) else {
            // A reply that has ended is whole without whatever comes behind it.
            return if self.finish.is_some() { Ok(ReplyProgress::More) } else { Err(unreadable(data)) };
        };
        self.chunk(name, &chunk, heard)
    }

    fn farewell(&self) -> Option<Duration> {
        self.finish.is_some().then_some(FAREWELL)
    }

    fn end(self: Box<Self>) -> Option<Reply> {
        if !self.has_begun {
            return None;
        }
        Some(self.reply())
    }
}

impl ChatReading {
    fn chunk(&mut self, name: &str, chunk: &Object, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        if let Some(error) = error_in(name, chunk) {
            return Err(error);
        }
        let mut progress = ReplyProgress::More;
        // There is one choice unless more are asked for.
        if let Some(choice) = chunk.objects("choices").iter().find(|choice| choice.number("index").unwrap_or(0) == 0) {
            progress = self.choice(choice, heard)?;
            self.add_usage(choice, heard);
        }
        self.add_usage(chunk, heard);
        if let Some(groq) = chunk.object("x_groq") {
            self.add_usage(&groq, heard);
        }
        if progress == ReplyProgress::Whole {
            self.is_done = true;
            self.settle(heard);
        }
        Ok(progress)
    }

    fn choice(&mut self, choice: &Object, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        let whole = choice.object("message");
        let progress = if whole.is_some() { ReplyProgress::Whole } else { ReplyProgress::More };
        if let Some(message) = whole.or_else(|| choice.object("delta")) {
            self.has_begun = true;
            self.said.add(&message, heard);
            for call in message.objects("tool_calls") {
                self.calls.add(&call, &self.names, heard)?;
            }
            if let Some(call) = message.object("function_call") {
                self.calls.add_single(&call, &self.names, heard)?;
            }
        }
        match choice.text("finish_reason").filter(|reason| !reason.is_empty()) {
            // The second is DeepSeek's word for a server that has too much to do.
            Some(reason) if reason == "error" || reason == "insufficient_system_resource" => Err(gave_up(&reason)),
            Some(reason) => {
                self.has_begun = true;
                self.finish = Some(reason);
                self.settle(heard);
                Ok(progress)
            }
            None => Ok(progress),
        }
    }

    /// Takes a usage, which stands for the whole reply so far wherever it comes.
    fn add_usage(&mut self, holder: &Object, heard: ReplyListener<'_>) {
        let Some(sent) = holder.object("usage") else { return };
        let details = sent.object("prompt_tokens_details").unwrap_or_default();
        let input = sent.number("prompt_tokens").unwrap_or(0);
        // Some count what was thought in the total only.
        let thought_too = sent.number("total_tokens").unwrap_or(0).saturating_sub(input);
        let cache_read = details.number("cached_tokens").or_else(|| sent.number("prompt_cache_hit_tokens"));
        let usage = Usage {
            input,
            output: sent.number("completion_tokens").unwrap_or(0).max(thought_too),
            cache_read: cache_read.unwrap_or(0),
            cache_written: details.number("cache_write_tokens").unwrap_or(0),
        };
        if usage != self.usage && usage != Usage::default() {
            self.usage = usage;
            heard(ReplyEvent::Usage(usage));
        }
    }

    /// Tells what the text that was held back turned out to be.
    fn settle(&mut self, heard: ReplyListener<'_>) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        self.said.end_text(heard);
        let Some(written) = self.written() else { return self.said.release(heard) };
        let mut calls = 0;
        for piece in &written {
            match piece {
                ReplySegment::Call { name, arguments, .. } => {
                    heard(ReplyEvent::CallBegins(calls, self.names.native(name)));
                    heard(ReplyEvent::Arguments(calls, arguments));
                    calls += 1;
                }
                ReplySegment::Text(text) if calls > 0 => heard(ReplyEvent::Text(text)),
                // Most of what stands before the first call was told as it came, but not what only looked like one.
                ReplySegment::Text(text) => {
                    if let Some(untold) = text.get(self.said.length_told()..).filter(|untold| !untold.is_empty()) {
                        heard(ReplyEvent::Text(untold));
                    }
                }
            }
        }
    }

    fn stop(&self) -> StopReason {
        let has_calls = !self.calls.is_empty();
        match self.finish.as_deref() {
            None if !self.is_done => StopReason::Cut,
            // vLLM ends so what it was told to drop.
            Some("abort") => StopReason::Cut,
            // `model_length` is Mistral's word for a conversation that is full.
            Some("length" | "max_tokens" | "model_length") => StopReason::Length,
            Some("content_filter") => StopReason::Refused,
            _ if has_calls => StopReason::Calls,
            _ if !self.said.refusal().is_empty() => StopReason::Refused,
            _ => StopReason::Finished,
        }
    }

    fn reply(mut self) -> Reply {
        let mut stop = self.stop();
        let mut parts = Vec::new();
        if !self.said.thinking().is_empty() {
            parts.push(ReplyPart::Thinking(self.said.thinking().to_owned()));
        }
        let mut natives = Vec::new();
        match self.written() {
            Some(written) => {
                let text = self.take_written(written, &mut parts, &mut natives);
                self.said.set_text(&text);
                stop = if stop == StopReason::Finished { StopReason::Calls } else { stop };
            }
            None => {
                parts.extend(Some(self.said.text()).filter(|text| !text.is_empty()).map(ReplyPart::Text));
                parts.extend(
                    Some(self.said.refusal().to_owned()).filter(|text| !text.is_empty()).map(ReplyPart::Refusal),
                );
                for (call, native) in self.calls.end(&mut self.ids, &self.names, stop) {
                    parts.push(ReplyPart::Call(call));
                    natives.push(native);
                }
            }
        }
        let mut message = self.said.native();
        if natives.is_empty() {
            // Only a message with calls may go without content.
            message.entry("content").and_modify(|content| *content = text_of(content));
        } else {
            message.insert("tool_calls".to_owned(), Value::Array(natives));
        }
        let json = to_raw_value(&message).expect("a value can be written");
        let native = Native { wire: Wire::Chat, model: self.model, json };
        Reply { parts, native, stop, usage: self.usage, why_cut: None }
    }

    /// Returns the text with the calls that the model wrote into it, where it made no other.
    fn written(&self) -> Option<Vec<ReplySegment>> {
        let may_hold = self.said.may_hold_calls() && self.calls.is_empty() && self.stop() != StopReason::Refused;
        may_hold.then(|| written_calls::find(&self.said.text(), &self.names)).flatten()
    }

    fn take_written(
        &mut self,
        written: Vec<ReplySegment>,
        parts: &mut Vec<ReplyPart>,
        natives: &mut Vec<Value>,
    ) -> String {
        let mut said = String::new();
        for piece in written {
            match piece {
                ReplySegment::Text(text) => {
                    said.push_str(&text);
                    parts.push(ReplyPart::Text(text));
                }
                ReplySegment::Call { name, arguments, is_cut } => {
                    let native_name = self.names.native(&name).to_owned();
                    let call = ModelToolCall { id: self.ids.take(""), name: native_name, arguments, is_cut };
                    natives.push(native(&call, &name));
                    parts.push(ReplyPart::Call(call));
                }
            }
        }
        said
    }
}

fn text_of(content: &Value) -> Value {
    if content.is_null() { Value::String(String::new()) } else { content.clone() }
}

fn gave_up(reason: &str) -> ModelError {
    ModelError {
        kind: ModelErrorKind::Broken,
        what: format!("The provider ended the reply early, without a message ({reason})."),
        next: "try again later, or use another model".to_owned(),
    }
}

/// Returns the error that a chunk says.
fn error_in(name: &str, chunk: &Object) -> Option<ModelError> {
    let groq = chunk.object("x_groq");
    let error = chunk.raw("error").or_else(|| groq.as_ref()?.raw("error"));
    if let Some(error) = error {
        return Some(broke_off(error));
    }
    // Mistral and vLLM send the error without a wrapping.
    let is_bare = name == "error" || chunk.text("object").as_deref() == Some("error");
    is_bare.then(|| broke_off(&chunk.to_raw()))
}

/// Gemini sends errors of this form in a list.
fn first_of_list(data: &str) -> Option<Object> {
    list(data)?.first().and_then(|first| Object::read(first.get()))
}
