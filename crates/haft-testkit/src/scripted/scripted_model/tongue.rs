//! The interface of a format of requests and replies, and the order in which pieces of a reply arrive.
//!
//! The formats here follow the types of the official SDKs and share nothing with `haft-model`, which reads them: a
//! mistake in one must not hide the same mistake in the other.

use haft_model::wire::Wire;
use serde_json::Value;

use super::asked::Conversation;
use super::script::{ScriptedPart, ScriptedStopReason, Usage};
use super::{anthropic::Anthropic, chat::Chat, gemini::GeminiWire, responses::Responses};

/// Reads and writes one provider's form, as its server does.
pub(super) trait ScriptedWire: Sync {
    /// Reads a request; what is wrong with it is the error.
    fn read(&self, body: &Value) -> Result<Conversation, String>;

    /// Says a reply as a stream.
    fn stream(&self, speech: &Speech<'_>) -> Vec<ScriptedEvent>;

    /// Says a reply as one value.
    fn whole(&self, speech: &Speech<'_>) -> Value;

    /// Says an error as one value, beside its status.
    fn error(&self, status: u16, message: &str) -> Value;

    /// Says in the middle of a stream that the provider has too much to do.
    fn error_in_stream(&self, events_before: usize) -> ScriptedEvent;

    /// Returns the status and the words for a conversation that is longer than the model takes.
    fn too_long(&self) -> (u16, &'static str);
}

/// Returns the form.
pub(super) fn tongue(wire: Wire) -> &'static dyn ScriptedWire {
    match wire {
        Wire::Anthropic => &Anthropic,
        Wire::Responses => &Responses,
        Wire::Chat => &Chat,
        Wire::Gemini => &GeminiWire,
    }
}

/// A reply that is about to be said.
pub(super) struct Speech<'a> {
    /// The how-manieth reply this is, for ids.
    pub number: usize,
    /// The model that was asked for.
    pub model: &'a str,
    pub parts: &'a [ScriptedPart],
    pub stop: ScriptedStopReason,
    pub usage: Usage,
    pub piece_chars: usize,
    pub interleaved: bool,
    /// What was asked.
    pub request: &'a Value,
}

/// One server-sent event of a streamed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptedEvent {
    pub name: Option<String>,
    pub data: String,
}

impl ScriptedEvent {
    pub fn named(name: &str, data: &Value) -> Self {
        Self { name: Some(name.into()), data: data.to_string() }
    }

    pub fn plain(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let name = self.name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data).into_bytes()
    }
}

/// One step of a reply that comes in pieces. The number is that of the part.
pub(super) enum Beat<'a> {
    Opens(usize, &'a ScriptedPart),
    Piece(usize, &'a ScriptedPart, &'a str),
    Closes(usize, &'a ScriptedPart),
}

impl Speech<'_> {
    /// Returns the steps in which it is said: part by part, calls that stand together in turns where they are interleaved.
    pub fn beats(&self) -> Vec<Beat<'_>> {
        let mut beats = Vec::new();
        let mut next = 0;
        while next < self.parts.len() {
            let calls = self.parts[next..].iter().take_while(|part| matches!(part, ScriptedPart::Call(_))).count();
            let together = if self.interleaved { calls.max(1) } else { 1 };
            let group: Vec<(usize, &ScriptedPart)> = (next..).zip(&self.parts[next..next + together]).collect();
            beats.extend(group.iter().map(|(index, part)| Beat::Opens(*index, part)));
            let pieces: Vec<Vec<&str>> = group.iter().map(|(_, part)| cut(part.text(), self.piece_chars)).collect();
            let most = pieces.iter().map(Vec::len).max().unwrap_or(0);
            for turn in 0..most {
                let each = group.iter().zip(&pieces).filter_map(|((index, part), pieces)| {
                    pieces.get(turn).map(|piece| Beat::Piece(*index, part, piece))
                });
                beats.extend(each);
            }
            beats.extend(group.iter().map(|(index, part)| Beat::Closes(*index, part)));
            next += together;
        }
        beats
    }

    /// Returns the id of the call that is this part.
    pub fn id(&self, index: usize) -> String {
        match &self.parts[index] {
            ScriptedPart::Call(call) => call.id.clone().unwrap_or_else(|| format!("call_{}_{index}", self.number)),
            ScriptedPart::Text(_) | ScriptedPart::Thinking(_) | ScriptedPart::Refusal(_) => {
                format!("part_{}_{index}", self.number)
            }
        }
    }

    /// Returns what it thinks first, where it thinks.
    pub fn thought(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            ScriptedPart::Thinking(thought) => Some(thought.as_str()),
            ScriptedPart::Text(_) | ScriptedPart::Refusal(_) | ScriptedPart::Call(_) => None,
        })
    }

    /// Returns how many calls stand before this part.
    pub fn calls_before(&self, index: usize) -> usize {
        self.parts[..index].iter().filter(|part| matches!(part, ScriptedPart::Call(_))).count()
    }
}

impl ScriptedPart {
    /// Returns what comes of it in pieces.
    pub(super) fn text(&self) -> &str {
        match self {
            ScriptedPart::Text(text) | ScriptedPart::Thinking(text) | ScriptedPart::Refusal(text) => text,
            ScriptedPart::Call(call) => &call.arguments,
        }
    }
}

/// Returns the sign by which a thought is known again. Its length and letters are those of Base64.
pub(super) fn signature(thought: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("haft{:016x}", thought.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Returns the object that a text of arguments stands for; nothing when it is none.
pub(super) fn object(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(arguments).ok().filter(Value::is_object)
}

/// Returns the text of a content that is a text, or a list of parts of which some have a text.
pub(super) fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Returns the images anywhere in what was said, as addresses that hold all of them.
pub(super) fn images(said: &Value) -> Vec<String> {
    let inline = |of: &Value, kind: &str| Some(format!("data:{};base64,{}", of[kind].as_str()?, of["data"].as_str()?));
    let found = match said["type"].as_str() {
        Some("image") => inline(&said["source"], "media_type"),
        Some("input_image") => said["image_url"].as_str().map(str::to_owned),
        Some("image_url") => said["image_url"]["url"].as_str().map(str::to_owned),
        _ => inline(&said["inlineData"], "mimeType"),
    };
    match (found, said) {
        (Some(image), _) => vec![image],
        (None, Value::Array(items)) => items.iter().flat_map(images).collect(),
        (None, Value::Object(members)) => members.values().flat_map(images).collect(),
        (None, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Vec::new(),
    }
}

/// Returns the elements of a list; none where there is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn cut(text: &str, chars: usize) -> Vec<&str> {
    let starts = text.char_indices().map(|(at, _)| at).step_by(chars.max(1));
    let ends = starts.clone().skip(1).chain([text.len()]);
    starts.zip(ends).map(|(from, to)| &text[from..to]).collect()
}
