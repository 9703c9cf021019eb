//! Reads what a reply says beside its calls: text, a refusal, and thoughts.
//!
//! Thoughts arrive in a member that depends on the server, sometimes in two members together, and go back in the same
//! member. DeepSeek refuses a conversation with calls without it, and OpenRouter passes it on to such providers.
//! Thoughts inside the text itself (`thought_aloud`) stay in the text that goes back.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::thought_aloud::{self, SortedText, ThoughtAloud};
use crate::provider::{ReplyEvent, ReplyListener};
use crate::reading::raw_json::{Object, compact, list, text};
use crate::reading::written_calls::hold_back::HoldBack;

/// The content of a reply so far, without its calls.
#[derive(Debug, Default)]
pub(super) struct ChatReplyContent {
    blocks: Vec<ChatBlock>,
    refusal: String,
    /// What was thought, as people read it.
    thinking: String,
    reasoning_content: String,
    reasoning: String,
    reasoning_details: Vec<Value>,
    /// Where the text may begin with what was thought.
    thought_aloud: Option<ThoughtAloud>,
    /// Where the text may hold calls.
    hold_back: Option<HoldBack>,
}

/// A block of content. Most servers send only text; Mistral also sends its thinking as content.
#[derive(Debug)]
enum ChatBlock {
    Text(String),
    Thinking { text: String, more: Map<String, Value> },
    Other(Value),
}

impl ChatReplyContent {
    /// Begins a reply whose text may begin with what was thought.
    pub(super) fn with_thoughts_in_text() -> ChatReplyContent {
        ChatReplyContent { thought_aloud: Some(ThoughtAloud::default()), ..ChatReplyContent::default() }
    }

    /// Lets the text hold calls.
    pub(super) fn and_calls(self) -> ChatReplyContent {
        ChatReplyContent { hold_back: Some(HoldBack::new()), ..self }
    }

    /// Says whether the text may hold calls.
    pub(super) fn may_hold_calls(&self) -> bool {
        self.hold_back.is_some()
    }

    /// Tells what was not told because it might have become a tag: nothing more comes.
    pub(super) fn end_text(&mut self, heard: ReplyListener<'_>) {
        if let Some(sorted) = self.thought_aloud.as_mut().and_then(ThoughtAloud::end) {
            self.tell(sorted, heard);
        }
    }

    /// Tells the text that was held back and is no call.
    pub(super) fn release(&mut self, heard: ReplyListener<'_>) {
        if let Some(hold_back) = &mut self.hold_back {
            hold_back.release(heard);
        }
    }

    /// Returns how much of the text was told.
    pub(super) fn length_told(&self) -> usize {
        let untold = self.hold_back.as_ref().map_or(0, |hold_back| hold_back.untold().len());
        self.text().len().saturating_sub(untold)
    }

    /// Adds what a piece of the message says.
    pub(super) fn add(&mut self, delta: &Object, heard: ReplyListener<'_>) {
        self.add_reasoning(delta, heard);
        if let Some(refusal) = delta.text("refusal").filter(|refusal| !refusal.is_empty()) {
            self.refusal.push_str(&refusal);
            heard(ReplyEvent::Text(&refusal));
        }
        let Some(content) = delta.raw("content") else { return };
        match text(content) {
            Some(text) => self.add_text(&text, heard),
            None => {
                for block in list(content.get()).unwrap_or_default() {
                    self.add_block(&block, heard);
                }
            }
        }
    }

    fn add_text(&mut self, more: &str, heard: ReplyListener<'_>) {
        let sorted = match &mut self.thought_aloud {
            Some(thought_aloud) => thought_aloud.add(more),
            None => vec![SortedText::Text(more.to_owned())],
        };
        for piece in sorted {
            self.tell(piece, heard);
        }
        match self.blocks.last_mut() {
            Some(ChatBlock::Text(text)) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.blocks.push(ChatBlock::Text(more.to_owned())),
        }
    }

    fn tell(&mut self, piece: SortedText, heard: ReplyListener<'_>) {
        match (piece, &mut self.hold_back) {
            (SortedText::Thought(thought), _) => self.think(&thought, heard),
            (SortedText::Text(text), Some(hold_back)) => hold_back.add(&text, heard),
            (SortedText::Text(text), None) if text.is_empty() => {}
            (SortedText::Text(text), None) => heard(ReplyEvent::Text(&text)),
        }
    }

    fn add_block(&mut self, raw: &RawValue, heard: ReplyListener<'_>) {
        let block = Object::read(raw.get()).unwrap_or_default();
        match block.text("type").as_deref() {
            Some("text") => self.add_text(&block.text("text").unwrap_or_default(), heard),
            Some("thinking") => self.add_thinking(&block, heard),
            _ => self.blocks.push(ChatBlock::Other(value(raw))),
        }
    }

    fn add_thinking(&mut self, block: &Object, heard: ReplyListener<'_>) {
        let thought: String = block.objects("thinking").iter().filter_map(|part| part.text("text")).collect();
        self.think(&thought, heard);
        let rest = block.members().filter(|(name, _)| !matches!(*name, "type" | "thinking"));
        let rest: Map<String, Value> = rest.map(|(name, raw)| (name.to_owned(), value(raw))).collect();
        match self.blocks.last_mut() {
            Some(ChatBlock::Thinking { text, more }) => {
                text.push_str(&thought);
                more.extend(rest);
            }
            _ => self.blocks.push(ChatBlock::Thinking { text: thought, more: rest }),
        }
    }

    fn add_reasoning(&mut self, delta: &Object, heard: ReplyListener<'_>) {
        let content = delta.text("reasoning_content").unwrap_or_default();
        let reasoning = delta.text("reasoning").unwrap_or_default();
        let details = delta.list("reasoning_details").unwrap_or_default();
        self.reasoning_content.push_str(&content);
        self.reasoning.push_str(&reasoning);
        let mut detailed = String::new();
        for detail in &details {
            detailed.push_str(&self.add_detail(value(detail)));
        }
        // The same thought in several members is told once.
        let thought = [content, reasoning, detailed].into_iter().find(|thought| !thought.is_empty());
        self.think(thought.as_deref().unwrap_or_default(), heard);
    }

    /// Adds a detail; pieces of one text become one. Returns what it says.
    fn add_detail(&mut self, detail: Value) -> String {
        let member = match detail["type"].as_str() {
            Some("reasoning.text") => "text",
            Some("reasoning.summary") => "summary",
            _ => "",
        };
        let thought = detail[member].as_str().unwrap_or_default().to_owned();
        let last = self
            .reasoning_details
            .last_mut()
            .filter(|last| !member.is_empty() && last["type"] == detail["type"] && last["index"] == detail["index"]);
        match (last, detail) {
            (Some(Value::Object(last)), Value::Object(detail)) => {
                let rest = detail.into_iter().filter(|(name, value)| name != member && !value.is_null());
                last.extend(rest);
                match last.get_mut(member) {
                    Some(Value::String(text)) => text.push_str(&thought),
                    _ => drop(last.insert(member.to_owned(), Value::String(thought.clone()))),
                }
            }
            (_, detail) => self.reasoning_details.push(detail),
        }
        thought
    }

    fn think(&mut self, thought: &str, heard: ReplyListener<'_>) {
        if !thought.is_empty() {
            self.thinking.push_str(thought);
            heard(ReplyEvent::Thinking(thought));
        }
    }

    pub(super) fn thinking(&self) -> &str {
        &self.thinking
    }

    pub(super) fn refusal(&self) -> &str {
        &self.refusal
    }

    /// Returns the text without everything else, and without what was thought in it.
    pub(super) fn text(&self) -> String {
        let mut text = self.whole_text();
        text.split_off(self.length_of_thoughts(&text))
    }

    fn length_of_thoughts(&self, text: &str) -> usize {
        self.thought_aloud.as_ref().map_or(0, |_| thought_aloud::length(text))
    }

    fn whole_text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ChatBlock::Text(text) => Some(text.as_str()),
            ChatBlock::Thinking { .. } | ChatBlock::Other(_) => None,
        });
        texts.collect()
    }

    /// Replaces the text, where calls were found in it. What was thought before it stays.
    pub(super) fn set_text(&mut self, text: &str) {
        let mut whole = self.whole_text();
        whole.truncate(self.length_of_thoughts(&whole));
        let text = whole + text;
        self.blocks = if text.is_empty() { Vec::new() } else { vec![ChatBlock::Text(text)] };
    }

    /// Returns the message without its calls.
    pub(super) fn native(self) -> Map<String, Value> {
        let mut message = Map::new();
        let mut put = |name: &str, value: Value| message.insert(name.to_owned(), value);
        put("role", json!("assistant"));
        put("content", content(self.blocks));
        if !self.refusal.is_empty() {
            put("refusal", json!(self.refusal));
        }
        if !self.reasoning_details.is_empty() {
            put("reasoning_details", json!(self.reasoning_details));
        } else if !self.reasoning_content.is_empty() {
            put("reasoning_content", json!(self.reasoning_content));
        } else if !self.reasoning.is_empty() {
            put("reasoning", json!(self.reasoning));
        }
        message
    }
}

fn content(blocks: Vec<ChatBlock>) -> Value {
    match blocks.as_slice() {
        [] => Value::Null,
        [ChatBlock::Text(text)] => json!(text),
        _ => blocks.into_iter().map(native_block).collect(),
    }
}

fn native_block(block: ChatBlock) -> Value {
    match block {
        ChatBlock::Text(text) => json!({ "type": "text", "text": text }),
        ChatBlock::Thinking { text, more } => {
            let mut block = json!({ "type": "thinking", "thinking": [{ "type": "text", "text": text }] });
            for (name, value) in more {
                block[name] = value;
            }
            block
        }
        ChatBlock::Other(value) => value,
    }
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(compact(raw).get()).unwrap_or_default()
}
