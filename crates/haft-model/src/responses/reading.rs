//! Reads a reply of OpenAI's Responses, item by item.

use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;

use crate::conversation::{ModelToolCall, Native, Reply, ReplyPart, StopReason, Usage};
use crate::form::{FAREWELL, ReplyProgress, ReplyReader};
use crate::lower::names::safe_name;
use crate::provider::{ModelError, ModelRequest, ReplyEvent, ReplyListener};
use crate::reading::made_ids::Ids;
use crate::reading::raw_json::{Object, compact};
use crate::reading::refused::{broke_off, unreadable};
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// A reply that is read.
pub(super) struct ItemsReading {
    model: String,
    names: OfferedNames,
    ids: Ids,
    items: Vec<PartialItem>,
    usage: Usage,
    end: Option<ResponseStatus>,
}

/// How the provider said that the reply ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResponseStatus {
    Completed,
    Length,
    Filtered,
}

/// One output item while it is received.
struct PartialItem {
    index: u64,
    /// What the provider calls it. What was thought before belongs to the item with this id.
    id: Option<String>,
    kind: ItemKind,
    /// The item as it was sent when it was whole.
    done: Option<Box<RawValue>>,
}

enum ItemKind {
    /// Texts by their place in the item; those that say why there is no answer are marked.
    Message(Vec<MessageText>),
    Reasoning(String),
    Call(Making),
    /// Something that only the provider understands.
    Other,
}

struct MessageText {
    index: u64,
    kind: MessageTextKind,
    text: String,
}

impl MessageText {
    fn is_at(&self, other: &MessageText) -> bool {
        (self.index, self.kind) == (other.index, other.kind)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageTextKind {
    Text,
    Refusal,
}

struct Making {
    /// The how-manieth call of the reply it is.
    nth: usize,
    id: String,
    /// As the model wrote it.
    name: String,
    arguments: String,
    is_cut: bool,
    /// Whether the provider says that nothing is missing.
    is_said_whole: bool,
}

impl ItemsReading {
    pub(super) fn new(model: &str, request: &ModelRequest<'_>) -> Self {
        Self {
            model: model.to_owned(),
            names: OfferedNames::of(request.tools),
            ids: Ids::of(request),
            items: Vec::new(),
            usage: Usage::default(),
            end: None,
        }
    }

    /// Returns the item of this place that is not whole yet, begun where it was not announced. Some servers give all
    /// items the same place; then the last one is meant.
    fn item(&mut self, index: u64, sent: &Object, heard: ReplyListener<'_>) -> &mut PartialItem {
        if let Some(at) = self.items.iter().rposition(|item| item.index == index && item.done.is_none()) {
            return &mut self.items[at];
        }
        let kind = match sent.text("type").unwrap_or_default().as_str() {
            "message" => ItemKind::Message(Vec::new()),
            "reasoning" => ItemKind::Reasoning(String::new()),
            "function_call" => {
                let nth = self.items.iter().filter(|item| matches!(item.kind, ItemKind::Call(_))).count();
                let name = sent.text("name").unwrap_or_default();
                heard(ReplyEvent::CallBegins(nth, self.names.native(&name)));
                let id = self.ids.take_safe(&sent.text("call_id").unwrap_or_default());
                ItemKind::Call(Making { nth, id, name, arguments: String::new(), is_cut: true, is_said_whole: false })
            }
            _ => ItemKind::Other,
        };
        self.items.push(PartialItem { index, id: sent.text("id"), kind, done: None });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    /// Takes more of a text. Nothing where the event is none of those.
    fn grow(&mut self, sort: &str, event: &Object, heard: ReplyListener<'_>) -> Option<()> {
        let index = event.number("output_index")?;
        let item = self.items.iter_mut().rfind(|item| item.index == index && item.done.is_none())?;
        let index = event.number("content_index").unwrap_or_default();
        match (sort, &mut item.kind) {
            ("response.output_text.delta", ItemKind::Message(texts)) => {
                let (kind, text) = (MessageTextKind::Text, event.text("delta")?);
                grow_text(texts, MessageText { index, kind, text }, heard);
            }
            ("response.refusal.delta", ItemKind::Message(texts)) => {
                let (kind, text) = (MessageTextKind::Refusal, event.text("delta")?);
                grow_text(texts, MessageText { index, kind, text }, heard);
            }
            ("response.reasoning_summary_text.delta" | "response.reasoning_text.delta", ItemKind::Reasoning(text)) => {
                let more = event.text("delta").filter(|more| !more.is_empty())?;
                heard(ReplyEvent::Thinking(&more));
                text.push_str(&more);
            }
            ("response.reasoning_summary_part.added", ItemKind::Reasoning(text)) if !text.is_empty() => {
                heard(ReplyEvent::Thinking("\n\n"));
                text.push_str("\n\n");
            }
            ("response.function_call_arguments.delta", ItemKind::Call(making)) => {
                making.grow(&event.text("delta")?, heard);
            }
            ("response.function_call_arguments.done", ItemKind::Call(making)) => {
                making.complete(&event.text("arguments")?, heard);
            }
            _ => {}
        }
        Some(())
    }

    /// Takes an item that is whole: what it says counts, whatever came before. What was not told yet is told now.
    fn finish(&mut self, index: u64, raw: &RawValue, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        let sent = Object::read(raw.get()).ok_or_else(|| unreadable(raw.get()))?;
        let item = self.item(index, &sent, heard);
        let mut native = raw.to_owned();
        match &mut item.kind {
            ItemKind::Message(texts) => {
                for (index, content) in (0..).zip(sent.objects("content")) {
                    let text = content.text("text").map(|text| (MessageTextKind::Text, text));
                    let refusal = || content.text("refusal").map(|text| (MessageTextKind::Refusal, text));
                    if let Some((kind, text)) = text.or_else(refusal) {
                        complete_text(texts, MessageText { index, kind, text }, heard);
                    }
                }
            }
            ItemKind::Reasoning(told) => {
                let lists = ["summary", "content"].map(|list| sent.objects(list));
                let texts = lists.iter().flatten().filter_map(|part| part.text("text"));
                let whole = texts.collect::<Vec<_>>().join("\n\n");
                if told.is_empty() && !whole.is_empty() {
                    heard(ReplyEvent::Thinking(&whole));
                }
                if !whole.is_empty() {
                    *told = whole;
                }
            }
            ItemKind::Call(making) => {
                making.complete(&sent.text("arguments").unwrap_or_default(), heard);
                let status = sent.text("status");
                making.is_cut = status.as_deref() == Some("incomplete");
                making.is_said_whole = status.as_deref() == Some("completed");
                let is_refused =
                    sent.text("call_id").as_deref() != Some(&making.id) || safe_name(&making.name) != making.name;
                if is_refused || making.is_cut {
                    native = making.written(item.id.as_deref());
                }
            }
            ItemKind::Other => {}
        }
        item.done = Some(native);
        Ok(())
    }

    /// Reads what is said of the whole reply at its end.
    fn close(&mut self, response: &Object, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        let came = self.items.iter().any(|item| item.done.is_some());
        for (index, item) in (0..).zip(response.list("output").unwrap_or_default()) {
            // Some servers send items only here.
            if !came || self.items.iter().any(|item| item.index == index && item.done.is_none()) {
                self.finish(index, &item, heard)?;
            }
        }
        if let Some(usage) = response.object("usage") {
            let kept = usage.object("input_tokens_details").unwrap_or_default();
            self.usage = Usage {
                input: usage.number("input_tokens").unwrap_or_default(),
                output: usage.number("output_tokens").unwrap_or_default(),
                cache_read: kept.number("cached_tokens").unwrap_or_default(),
                cache_written: kept.number("cache_write_tokens").unwrap_or_default(),
            };
            heard(ReplyEvent::Usage(self.usage));
        }
        let status = response.text("status").unwrap_or_default();
        if let Some(error) = response.raw("error") {
            return Err(broke_off(error));
        }
        let why = response.object("incomplete_details").and_then(|details| details.text("reason"));
        self.end = match (status.as_str(), why.as_deref()) {
            ("incomplete", Some("content_filter")) => Some(ResponseStatus::Filtered),
            ("incomplete", Some("max_output_tokens" | "max_messages")) => Some(ResponseStatus::Length),
            ("incomplete" | "failed" | "cancelled", _) => None,
            _ => Some(ResponseStatus::Completed),
        };
        Ok(ReplyProgress::Whole)
    }

    /// Takes calls as cut that are half there when the reply ended before its time: not every server says so of each.
    fn cut_what_is_half(&mut self) {
        if self.end == Some(ResponseStatus::Completed) {
            return;
        }
        for item in &mut self.items {
            if let ItemKind::Call(making) = &mut item.kind
                && !making.is_said_whole
                && Object::read(&making.arguments).is_none()
            {
                making.is_cut = true;
                item.done = item.done.take().map(|_| making.written(item.id.as_deref()));
            }
        }
    }

    fn stop(&self) -> StopReason {
        let has_call = self.items.iter().any(|item| matches!(item.kind, ItemKind::Call(_)));
        match self.end {
            None => StopReason::Cut,
            Some(ResponseStatus::Length) => StopReason::Length,
            Some(ResponseStatus::Filtered) => StopReason::Refused,
            Some(ResponseStatus::Completed) if has_call => StopReason::Calls,
            Some(ResponseStatus::Completed) if self.items.iter().any(PartialItem::is_refusal) => StopReason::Refused,
            Some(ResponseStatus::Completed) => StopReason::Finished,
        }
    }

    /// Returns the items that stand for the reply in later requests.
    fn native(&self) -> Vec<String> {
        let mut kept: Vec<&PartialItem> = self.items.iter().filter(|item| item.written().is_some()).collect();
        // What was thought is refused without what came of it.
        while kept.pop_if(|item| matches!(item.kind, ItemKind::Reasoning(_))).is_some() {}
        kept.into_iter().filter_map(PartialItem::written).collect()
    }
}

impl ReplyReader for ItemsReading {
    fn event(&mut self, name: &str, data: &str, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        // Not of this form, but said by servers that speak Chat too.
        if data.trim() == "[DONE]" {
            return Ok(ReplyProgress::More);
        }
        let event = Object::read(data).ok_or_else(|| unreadable(data))?;
        let broken = || unreadable(data);
        let sort = event.text("type").unwrap_or_else(|| name.to_owned());
        match sort.as_str() {
            "response.output_item.added" => {
                let index = event.number("output_index").ok_or_else(broken)?;
                self.item(index, &event.object("item").ok_or_else(broken)?, heard);
            }
            "response.output_item.done" => {
                let index = event.number("output_index").ok_or_else(broken)?;
                self.finish(index, event.raw("item").ok_or_else(broken)?, heard)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.close(&event.object("response").ok_or_else(broken)?, heard);
            }
            "error" => {
                return Err(broke_off(event.raw("error").unwrap_or(raw(data).as_deref().unwrap_or(RawValue::NULL))));
            }
            sort if sort.ends_with(".delta") || sort.ends_with(".done") || sort.ends_with(".added") => {
                // Of an item that was never begun nothing can be told; it comes whole at its end.
                let _ = self.grow(sort, &event, heard);
            }
            "" if event.text("object").as_deref() == Some("response") => return self.close(&event, heard),
            "" if event.raw("error").is_some() => return Err(broke_off(event.raw("error").unwrap_or(RawValue::NULL))),
            _ => {}
        }
        Ok(ReplyProgress::More)
    }

    fn farewell(&self) -> Option<Duration> {
        self.end.is_some().then_some(FAREWELL)
    }

    fn end(mut self: Box<Self>) -> Option<Reply> {
        self.cut_what_is_half();
        let stop = self.stop();
        if stop == StopReason::Cut && self.items.is_empty() {
            return None;
        }
        let json = compact(&raw(&format!("[{}]", self.native().join(",")))?);
        let parts = self.items.iter().flat_map(|item| item.parts(&self.names)).collect();
        let native = Native { wire: Wire::Responses, model: self.model, json };
        Some(Reply { parts, native, stop, usage: self.usage, why_cut: None })
    }
}

impl PartialItem {
    fn is_refusal(&self) -> bool {
        matches!(&self.kind, ItemKind::Message(texts) if texts.iter().any(|text| text.kind == MessageTextKind::Refusal))
    }

    fn parts(&self, names: &OfferedNames) -> Vec<ReplyPart> {
        let has = |text: &&String| !text.is_empty();
        match &self.kind {
            ItemKind::Message(texts) => {
                let spoken = texts.iter().filter(|part| !part.text.is_empty());
                spoken
                    .map(|part| match part.kind {
                        MessageTextKind::Text => ReplyPart::Text(part.text.clone()),
                        MessageTextKind::Refusal => ReplyPart::Refusal(part.text.clone()),
                    })
                    .collect()
            }
            ItemKind::Reasoning(text) => Some(text).filter(has).cloned().map(ReplyPart::Thinking).into_iter().collect(),
            ItemKind::Call(making) => vec![ReplyPart::Call(ModelToolCall {
                id: making.id.clone(),
                name: names.native(&making.name).to_owned(),
                arguments: making.arguments.clone(),
                is_cut: making.is_cut,
            })],
            ItemKind::Other => Vec::new(),
        }
    }

    /// Returns what stands for it in later requests; for what is not whole, what can be said of it.
    fn written(&self) -> Option<String> {
        if let Some(done) = &self.done {
            return Some(done.get().to_owned());
        }
        match &self.kind {
            ItemKind::Message(texts) => {
                let text: String = texts.iter().map(|part| part.text.as_str()).collect();
                let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                let message = match &self.id {
                    Some(id) => json!({
                        "type": "message", "id": id, "role": "assistant", "status": "incomplete", "content": content,
                    }),
                    None => json!({ "role": "assistant", "content": text }),
                };
                (!text.trim().is_empty()).then(|| message.to_string())
            }
            ItemKind::Call(making) => Some(making.written(self.id.as_deref()).get().to_owned()),
            ItemKind::Reasoning(_) | ItemKind::Other => None,
        }
    }
}

impl Making {
    fn grow(&mut self, more: &str, heard: ReplyListener<'_>) {
        if !more.is_empty() {
            heard(ReplyEvent::Arguments(self.nth, more));
            self.arguments.push_str(more);
        }
    }

    /// Takes the whole arguments, and tells what was not told yet.
    fn complete(&mut self, whole: &str, heard: ReplyListener<'_>) {
        match whole.strip_prefix(self.arguments.as_str()) {
            Some(more) => self.grow(more, heard),
            None => whole.clone_into(&mut self.arguments),
        }
    }

    /// Writes the call again, without arguments if it was cut, and with a valid name if the provider would refuse its own.
    fn written(&self, id: Option<&str>) -> Box<RawValue> {
        let arguments = if self.is_cut { "{}" } else { &self.arguments };
        let mut item = json!({ "type": "function_call", "call_id": self.id, "name": safe_name(&self.name), "arguments": arguments });
        if let Some(id) = id {
            item["id"] = id.into();
        }
        serde_json::value::to_raw_value(&item).expect("a value can be written")
    }
}

fn grow_text(texts: &mut Vec<MessageText>, more: MessageText, heard: ReplyListener<'_>) {
    if more.text.is_empty() {
        return;
    }
    heard(ReplyEvent::Text(&more.text));
    match texts.iter_mut().find(|part| part.is_at(&more)) {
        Some(part) => part.text.push_str(&more.text),
        None => texts.push(more),
    }
}

fn complete_text(texts: &mut Vec<MessageText>, whole: MessageText, heard: ReplyListener<'_>) {
    match texts.iter_mut().find(|part| part.is_at(&whole)) {
        Some(part) => *part = whole,
        None => grow_text(texts, whole, heard),
    }
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}
