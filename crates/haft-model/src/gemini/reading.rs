//! Reads the stream of a reply: each event is an answer with the new parts.

use std::time::Duration;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::conversation::{ModelToolCall, Native, Reply, ReplyPart, StopReason, Usage};
use crate::form::{FAREWELL, ReplyProgress, ReplyReader};
use crate::lower::names::safe_name;
use crate::provider::{ModelError, ModelErrorKind, ModelRequest, ReplyEvent, ReplyListener};
use crate::reading::made_ids::Ids;
use crate::reading::raw_json::{Object, compact, joined, list};
use crate::reading::refused::{broke_off, unreadable};
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// More calls in one reply are an endless loop of the model.
const MOST_CALLS: usize = 512;

/// The same for models that may say in each event why they ended, and go on.
const FAREWELL_OF_OLD_MODELS: Duration = Duration::from_secs(15);

/// The longest name of a tool that is taken.
const LONGEST_NAME: usize = 64;

/// A reply that is read.
#[derive(Debug)]
pub(super) struct GeminiReading {
    model: String,
    names: OfferedNames,
    ids: Ids,
    kept: Vec<NativePart>,
    parts: Vec<ReplyPart>,
    calls: usize,
    usage: Usage,
    stop: Option<StopReason>,
    has_begun: bool,
    /// Whether there was an event that did not say why the reply ended.
    says_so_at_the_end: bool,
}

/// A part of a reply, in the form in which it is sent back to the provider.
#[derive(Debug)]
enum NativePart {
    /// Plain text, which may be put together.
    Text(String),
    /// A thought without a signature, which may be put together.
    Thought(String),
    /// Everything else, as it came.
    AsItCame(Box<RawValue>),
}

/// To whom a text is said.
#[derive(Clone, Copy, Debug)]
enum Voice {
    Aloud,
    Thinking,
}

impl GeminiReading {
    pub(super) fn new(model: &str, request: &ModelRequest<'_>) -> GeminiReading {
        GeminiReading {
            model: model.to_owned(),
            names: OfferedNames::of(request.tools),
            ids: Ids::of(request),
            kept: Vec::new(),
            parts: Vec::new(),
            calls: 0,
            usage: Usage::default(),
            stop: None,
            has_begun: false,
            says_so_at_the_end: false,
        }
    }
}

impl ReplyReader for GeminiReading {
    fn event(&mut self, _name: &str, data: &str, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(ReplyProgress::More);
        }
        if let Some(answer) = Object::read(data) {
            self.answer(&answer, heard)?;
            // Which event is the last is not said: old models say why they ended in each of them.
            return Ok(ReplyProgress::More);
        }
        // Without `alt=sse` the whole stream is one list.
        let Some(answers) = list(data) else {
            return if self.stop.is_some() { Ok(ReplyProgress::More) } else { Err(unreadable(data)) };
        };
        for answer in &answers {
            self.answer(&Object::read(answer.get()).ok_or_else(|| unreadable(data))?, heard)?;
        }
        Ok(ReplyProgress::Whole)
    }

    fn farewell(&self) -> Option<Duration> {
        let wait = if self.says_so_at_the_end { FAREWELL } else { FAREWELL_OF_OLD_MODELS };
        self.stop.is_some().then_some(wait)
    }

    fn end(self: Box<Self>) -> Option<Reply> {
        if !self.has_begun {
            return None;
        }
        let stop = match self.stop {
            Some(StopReason::Finished) if self.calls > 0 => StopReason::Calls,
            Some(stop) => stop,
            None => StopReason::Cut,
        };
        let kept: Vec<Box<RawValue>> = self.kept.into_iter().map(NativePart::native).collect();
        let json = format!(r#"{{"role":"model","parts":{}}}"#, joined(kept.iter().map(Box::as_ref)));
        let json = RawValue::from_string(json).expect("a list of JSON values is JSON");
        let native = Native { wire: Wire::Gemini, model: self.model, json };
        Some(Reply { parts: self.parts, native, stop, usage: self.usage, why_cut: None })
    }
}

impl GeminiReading {
    fn answer(&mut self, answer: &Object, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        if let Some(error) = answer.raw("error") {
            return Err(broke_off(error));
        }
        self.add_usage(answer, heard);
        let feedback = answer.object("promptFeedback").unwrap_or_default();
        if let Some(reason) = feedback.text("blockReason") {
            let why = feedback.text("blockReasonMessage");
            self.refuse(&refusal("The request was refused before the model saw it", &reason, why), heard);
            return Ok(());
        }
        let Some(candidate) = answer.objects("candidates").into_iter().next() else { return Ok(()) };
        let content = candidate.object("content").unwrap_or_default();
        for part in content.list("parts").unwrap_or_default() {
            self.part(&part, heard)?;
        }
        match candidate.text("finishReason") {
            Some(reason) => self.finish(&reason, candidate.text("finishMessage"), heard),
            None => {
                self.says_so_at_the_end |= self.stop.is_none();
                Ok(())
            }
        }
    }

    fn part(&mut self, raw: &RawValue, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        let Some(part) = Object::read(raw.get()) else { return Ok(()) };
        self.has_begun = true;
        let voice = if part.is_true("thought") { Voice::Thinking } else { Voice::Aloud };
        if let Some(text) = part.text("text") {
            self.say(&text, voice, heard);
            let is_plain = part.members().all(|(name, _)| matches!(name, "text" | "thought"));
            if is_plain {
                self.keep_text(&text, voice);
                return Ok(());
            }
        }
        if part.raw("functionCall").is_some() {
            let call = part.object("functionCall").unwrap_or_default();
            // A call without a name cannot be answered, and the provider refuses a call without an answer.
            let Some(name) = call.text("name").filter(|name| !name.is_empty()) else { return Ok(()) };
            self.call(&name, &call, heard)?;
            if !is_taken_back(&name) {
                let call = call.with("name", &safe_name(&name)).to_raw();
                self.kept.push(NativePart::AsItCame(part.with_raw("functionCall", call).to_raw()));
                return Ok(());
            }
        }
        self.kept.push(NativePart::AsItCame(compact(raw)));
        Ok(())
    }

    fn say(&mut self, text: &str, voice: Voice, heard: ReplyListener<'_>) {
        if text.is_empty() {
            return;
        }
        heard(match voice {
            Voice::Aloud => ReplyEvent::Text(text),
            Voice::Thinking => ReplyEvent::Thinking(text),
        });
        match (self.parts.last_mut(), voice) {
            (Some(ReplyPart::Text(said)), Voice::Aloud) | (Some(ReplyPart::Thinking(said)), Voice::Thinking) => {
                said.push_str(text);
            }
            (_, Voice::Aloud) => self.parts.push(ReplyPart::Text(text.to_owned())),
            (_, Voice::Thinking) => self.parts.push(ReplyPart::Thinking(text.to_owned())),
        }
    }

    fn keep_text(&mut self, text: &str, voice: Voice) {
        match (self.kept.last_mut(), voice) {
            (Some(NativePart::Text(kept)), Voice::Aloud) | (Some(NativePart::Thought(kept)), Voice::Thinking) => {
                kept.push_str(text);
            }
            // A part with nothing in it is refused.
            _ if text.is_empty() => {}
            (_, Voice::Aloud) => self.kept.push(NativePart::Text(text.to_owned())),
            (_, Voice::Thinking) => self.kept.push(NativePart::Thought(text.to_owned())),
        }
    }

    fn call(&mut self, name: &str, sent: &Object, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        if self.calls == MOST_CALLS {
            return Err(broken(format!("The model makes more than {MOST_CALLS} calls in one reply.")));
        }
        let arguments = sent.raw("args").map_or_else(|| "{}".to_owned(), |raw| compact(raw).get().to_owned());
        let call = ModelToolCall {
            id: self.ids.take(&sent.text("id").unwrap_or_default()),
            name: self.names.native(name).to_owned(),
            arguments,
            // Set only where arguments come in pieces, which are not asked for.
            is_cut: sent.is_true("willContinue"),
        };
        heard(ReplyEvent::CallBegins(self.calls, &call.name));
        heard(ReplyEvent::Arguments(self.calls, &call.arguments));
        self.calls += 1;
        self.parts.push(ReplyPart::Call(call));
        Ok(())
    }

    fn finish(&mut self, reason: &str, message: Option<String>, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        match reason {
            "MAX_TOKENS" | "CONTINUATION" => self.stop = Some(StopReason::Length),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => {
                self.refuse(&refusal("The provider stopped the reply", reason, message), heard);
            }
            // The reply is missing, not wrong: the same request mostly works the next time.
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "OTHER" => {
                let message = message.map(|message| format!(": {message}")).unwrap_or_default();
                return Err(broken(format!("The model's reply could not be used ({reason}){message}")));
            }
            _ => self.stop = Some(StopReason::Finished),
        }
        self.has_begun = true;
        Ok(())
    }

    /// Takes why there is no answer, and tells it. Old models say it in each event.
    fn refuse(&mut self, why: &str, heard: ReplyListener<'_>) {
        if self.stop != Some(StopReason::Refused) {
            if self.parts.iter().any(|part| matches!(part, ReplyPart::Text(_))) {
                heard(ReplyEvent::Text("\n\n"));
            }
            heard(ReplyEvent::Text(why));
            self.parts.push(ReplyPart::Refusal(why.to_owned()));
        }
        self.stop = Some(StopReason::Refused);
        self.has_begun = true;
    }

    /// Takes a usage, which stands for the whole reply so far.
    fn add_usage(&mut self, answer: &Object, heard: ReplyListener<'_>) {
        let Some(sent) = answer.object("usageMetadata") else { return };
        let count = |name: &str| sent.number(name).unwrap_or(0);
        let usage = Usage {
            input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
            output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
            cache_read: count("cachedContentTokenCount"),
            cache_written: 0,
        };
        if usage != self.usage {
            self.usage = usage;
            heard(ReplyEvent::Usage(usage));
        }
    }
}

impl NativePart {
    fn native(self) -> Box<RawValue> {
        let value = match self {
            NativePart::Text(text) => json!({ "text": text }),
            NativePart::Thought(text) => json!({ "text": text, "thought": true }),
            NativePart::AsItCame(raw) => return raw,
        };
        to_raw_value(&value).expect("a value can be written")
    }
}

fn refusal(what: &str, reason: &str, message: Option<String>) -> String {
    let message = message.filter(|message| !message.is_empty()).map(|message| format!(": {message}"));
    format!("{what} ({reason}){}", message.unwrap_or_default())
}

/// Says whether a name may stand in a request: letters, digits and `_.:-`, a letter or `_` first. From the published types.
fn is_taken_back(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '-');
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    begins && name.len() <= LONGEST_NAME && name.chars().all(fits)
}

fn broken(what: String) -> ModelError {
    ModelError { kind: ModelErrorKind::Broken, what, next: "try again, or use another model".to_owned() }
}
