//! Reads a reply of OpenAI's Responses, item by item.

use serde_json::json;
use serde_json::value::RawValue;

use crate::conversation::{Call, Native, Part, Reply, Stop, Usage};
use crate::form::{Progress, Reading};
use crate::made_ids::Ids;
use crate::offered_names::OfferedNames;
use crate::provider::{Heard, ModelError, Piece, Request};
use crate::raw_json::{Object, compact};
use crate::refused::{broke_off, unreadable};
use crate::wire::Wire;

/// A reply that is read.
pub(super) struct ItemsReading {
    model: String,
    names: OfferedNames,
    ids: Ids,
    items: Vec<Item>,
    usage: Usage,
    end: Option<End>,
}

/// How the provider said that the reply ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Completed,
    Length,
    Filtered,
}

/// One item while it comes.
struct Item {
    index: u64,
    /// What the provider calls it. What was thought before belongs to the item with this id.
    id: Option<String>,
    kind: Kind,
    /// The item as it was sent when it was whole.
    done: Option<Box<RawValue>>,
}

enum Kind {
    /// Texts by their place in the item; those that say why there is no answer are marked.
    Message(Vec<(u64, Said, String)>),
    Reasoning(String),
    Call(Making),
    /// Something that only the provider understands.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
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
}

impl ItemsReading {
    pub(super) fn new(model: &str, request: &Request<'_>) -> Self {
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
    fn item(&mut self, index: u64, sent: &Object, heard: Heard<'_>) -> &mut Item {
        if let Some(at) = self.items.iter().rposition(|item| item.index == index && item.done.is_none()) {
            return &mut self.items[at];
        }
        let kind = match sent.text("type").unwrap_or_default().as_str() {
            "message" => Kind::Message(Vec::new()),
            "reasoning" => Kind::Reasoning(String::new()),
            "function_call" => {
                let nth = self.items.iter().filter(|item| matches!(item.kind, Kind::Call(_))).count();
                let name = sent.text("name").unwrap_or_default();
                heard(Piece::CallBegins(nth, self.names.native(&name)));
                let id = self.ids.take(&sent.text("call_id").unwrap_or_default());
                Kind::Call(Making { nth, id, name, arguments: String::new(), is_cut: true })
            }
            _ => Kind::Other,
        };
        self.items.push(Item { index, id: sent.text("id"), kind, done: None });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    /// Takes more of a text. Nothing where the event is none of those.
    fn grow(&mut self, sort: &str, event: &Object, heard: Heard<'_>) -> Option<()> {
        let index = event.number("output_index")?;
        let item = self.items.iter_mut().rfind(|item| item.index == index && item.done.is_none())?;
        let place = event.number("content_index").unwrap_or_default();
        match (sort, &mut item.kind) {
            ("response.output_text.delta", Kind::Message(texts)) => {
                grow_text(texts, (place, Said::Text), &event.text("delta")?, heard);
            }
            ("response.refusal.delta", Kind::Message(texts)) => {
                grow_text(texts, (place, Said::Refusal), &event.text("delta")?, heard);
            }
            ("response.reasoning_summary_text.delta" | "response.reasoning_text.delta", Kind::Reasoning(text)) => {
                let more = event.text("delta").filter(|more| !more.is_empty())?;
                heard(Piece::Thinking(&more));
                text.push_str(&more);
            }
            ("response.reasoning_summary_part.added", Kind::Reasoning(text)) if !text.is_empty() => {
                heard(Piece::Thinking("\n\n"));
                text.push_str("\n\n");
            }
            ("response.function_call_arguments.delta", Kind::Call(making)) => {
                making.grow(&event.text("delta")?, heard);
            }
            ("response.function_call_arguments.done", Kind::Call(making)) => {
                making.complete(&event.text("arguments")?, heard);
            }
            _ => {}
        }
        Some(())
    }

    /// Takes an item that is whole: what it says counts, whatever came before. What was not told yet is told now.
    fn finish(&mut self, index: u64, raw: &RawValue, heard: Heard<'_>) -> Result<(), ModelError> {
        let sent = Object::read(raw.get()).ok_or_else(|| unreadable(raw.get()))?;
        let item = self.item(index, &sent, heard);
        let mut native = raw.to_owned();
        match &mut item.kind {
            Kind::Message(texts) => {
                for (place, content) in (0..).zip(sent.objects("content")) {
                    let text = content.text("text").map(|text| (Said::Text, text));
                    let refusal = || content.text("refusal").map(|text| (Said::Refusal, text));
                    if let Some((said, text)) = text.or_else(refusal) {
                        complete_text(texts, (place, said), text, heard);
                    }
                }
            }
            Kind::Reasoning(told) => {
                let lists = ["summary", "content"].map(|list| sent.objects(list));
                let texts = lists.iter().flatten().filter_map(|part| part.text("text"));
                let whole = texts.collect::<Vec<_>>().join("\n\n");
                if told.is_empty() && !whole.is_empty() {
                    heard(Piece::Thinking(&whole));
                }
                if !whole.is_empty() {
                    *told = whole;
                }
            }
            Kind::Call(making) => {
                making.complete(&sent.text("arguments").unwrap_or_default(), heard);
                making.is_cut = sent.text("status").as_deref() == Some("incomplete");
                if sent.text("call_id").as_deref() != Some(&making.id) || making.is_cut {
                    native = making.written(item.id.as_deref());
                }
            }
            Kind::Other => {}
        }
        item.done = Some(native);
        Ok(())
    }

    /// Reads what is said of the whole reply at its end.
    fn close(&mut self, response: &Object, heard: Heard<'_>) -> Result<Progress, ModelError> {
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
            heard(Piece::Usage(self.usage));
        }
        let status = response.text("status").unwrap_or_default();
        if let Some(error) = response.raw("error") {
            return Err(broke_off(error));
        }
        let why = response.object("incomplete_details").and_then(|details| details.text("reason"));
        self.end = match (status.as_str(), why.as_deref()) {
            ("incomplete", Some("content_filter")) => Some(End::Filtered),
            ("incomplete", Some("max_output_tokens" | "max_messages")) => Some(End::Length),
            ("incomplete" | "failed" | "cancelled", _) => None,
            _ => Some(End::Completed),
        };
        Ok(Progress::Whole)
    }

    fn stop(&self) -> Stop {
        let has_call = self.items.iter().any(|item| matches!(item.kind, Kind::Call(_)));
        match self.end {
            None => Stop::Cut,
            Some(End::Length) => Stop::Length,
            Some(End::Filtered) => Stop::Refused,
            Some(End::Completed) if has_call => Stop::Calls,
            Some(End::Completed) if self.items.iter().any(Item::is_refusal) => Stop::Refused,
            Some(End::Completed) => Stop::Finished,
        }
    }

    /// Returns the items that stand for the reply in later requests.
    fn native(&self) -> Vec<String> {
        let mut kept: Vec<&Item> = self.items.iter().filter(|item| item.written().is_some()).collect();
        // What was thought is refused without what came of it.
        while self.end != Some(End::Completed)
            && kept.last().is_some_and(|item| matches!(item.kind, Kind::Reasoning(_)))
        {
            kept.pop();
        }
        kept.into_iter().filter_map(Item::written).collect()
    }
}

impl Reading for ItemsReading {
    fn event(&mut self, name: &str, data: &str, heard: Heard<'_>) -> Result<Progress, ModelError> {
        // Not of this form, but said by servers that speak Chat too.
        if data.trim() == "[DONE]" {
            return Ok(Progress::More);
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
        Ok(Progress::More)
    }

    fn end(self: Box<Self>) -> Option<Reply> {
        let stop = self.stop();
        if stop == Stop::Cut && self.items.is_empty() {
            return None;
        }
        let json = compact(&raw(&format!("[{}]", self.native().join(",")))?);
        let parts = self.items.iter().flat_map(|item| item.parts(&self.names)).collect();
        let native = Native { wire: Wire::Responses, model: self.model, json };
        Some(Reply { parts, native, stop, usage: self.usage, why_cut: None })
    }
}

impl Item {
    fn is_refusal(&self) -> bool {
        matches!(&self.kind, Kind::Message(texts) if texts.iter().any(|(_, said, _)| *said == Said::Refusal))
    }

    fn parts(&self, names: &OfferedNames) -> Vec<Part> {
        let has = |text: &&String| !text.is_empty();
        match &self.kind {
            Kind::Message(texts) => {
                let spoken = texts.iter().filter(|(_, _, text)| !text.is_empty());
                spoken
                    .map(|(_, said, text)| match said {
                        Said::Text => Part::Text(text.clone()),
                        Said::Refusal => Part::Refusal(text.clone()),
                    })
                    .collect()
            }
            Kind::Reasoning(text) => Some(text).filter(has).cloned().map(Part::Thinking).into_iter().collect(),
            Kind::Call(making) => vec![Part::Call(Call {
                id: making.id.clone(),
                name: names.native(&making.name).to_owned(),
                arguments: making.arguments.clone(),
                is_cut: making.is_cut,
            })],
            Kind::Other => Vec::new(),
        }
    }

    /// Returns what stands for it in later requests; for what is not whole, what can be said of it.
    fn written(&self) -> Option<String> {
        if let Some(done) = &self.done {
            return Some(done.get().to_owned());
        }
        match &self.kind {
            Kind::Message(texts) => {
                let text: String = texts.iter().map(|(_, _, text)| text.as_str()).collect();
                let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                let message = match &self.id {
                    Some(id) => json!({
                        "type": "message", "id": id, "role": "assistant", "status": "incomplete", "content": content,
                    }),
                    None => json!({ "role": "assistant", "content": text }),
                };
                (!text.trim().is_empty()).then(|| message.to_string())
            }
            Kind::Call(making) => Some(making.written(self.id.as_deref()).get().to_owned()),
            Kind::Reasoning(_) | Kind::Other => None,
        }
    }
}

impl Making {
    fn grow(&mut self, more: &str, heard: Heard<'_>) {
        if !more.is_empty() {
            heard(Piece::Arguments(self.nth, more));
            self.arguments.push_str(more);
        }
    }

    /// Takes the whole arguments, and tells what was not told yet.
    fn complete(&mut self, whole: &str, heard: Heard<'_>) {
        match whole.strip_prefix(self.arguments.as_str()) {
            Some(more) => self.grow(more, heard),
            None => whole.clone_into(&mut self.arguments),
        }
    }

    /// Writes the call anew, without arguments where it was cut.
    fn written(&self, id: Option<&str>) -> Box<RawValue> {
        let arguments = if self.is_cut { "{}" } else { &self.arguments };
        let mut item =
            json!({ "type": "function_call", "call_id": self.id, "name": self.name, "arguments": arguments });
        if let Some(id) = id {
            item["id"] = id.into();
        }
        serde_json::value::to_raw_value(&item).expect("a value can be written")
    }
}

fn grow_text(texts: &mut Vec<(u64, Said, String)>, place: (u64, Said), more: &str, heard: Heard<'_>) {
    if more.is_empty() {
        return;
    }
    heard(Piece::Text(more));
    match texts.iter_mut().find(|(at, said, _)| (*at, *said) == place) {
        Some((_, _, text)) => text.push_str(more),
        None => texts.push((place.0, place.1, more.to_owned())),
    }
}

fn complete_text(texts: &mut Vec<(u64, Said, String)>, place: (u64, Said), whole: String, heard: Heard<'_>) {
    match texts.iter_mut().find(|(at, said, _)| (*at, *said) == place) {
        Some((_, _, text)) => *text = whole,
        None => grow_text(texts, place, &whole, heard),
    }
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}
