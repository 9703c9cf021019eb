//! Reads a reply of Anthropic's Messages, block by block.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

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
pub(super) struct MessageReading {
    model: String,
    names: OfferedNames,
    ids: Ids,
    blocks: Vec<PartialBlock>,
    usage: Tokens,
    stop_reason: Option<String>,
    refusal: Option<String>,
}

/// One content block while it is received.
struct PartialBlock {
    index: u64,
    kind: String,
    /// As it was sent when it began.
    sent: Box<RawValue>,
    /// The same with what came since.
    fields: Map<String, Value>,
    is_changed: bool,
    /// What came of the arguments, as text.
    input: String,
    is_done: bool,
    /// The how-manieth call of the reply it is.
    call: Option<usize>,
    /// What the model wrote as the name of a tool, which may be none that the provider takes back.
    name: String,
}

/// Token counts from the provider: input that it read fresh, and input that it had in its cache.
#[derive(Clone, Copy, Default)]
struct Tokens {
    fresh: u64,
    output: u64,
    cache_read: u64,
    cache_written: u64,
}

impl MessageReading {
    pub(super) fn new(model: &str, request: &ModelRequest<'_>) -> Self {
        Self {
            model: model.to_owned(),
            names: OfferedNames::of(request.tools),
            ids: Ids::of(request),
            blocks: Vec::new(),
            usage: Tokens::default(),
            stop_reason: None,
            refusal: None,
        }
    }

    fn begin(&mut self, index: u64, sent: &RawValue, heard: ReplyListener<'_>) -> Result<(), ModelError> {
        let parsed = serde_json::from_str::<Map<String, Value>>(sent.get());
        let fields = parsed.map_err(|_| unreadable(sent.get()))?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut block = PartialBlock {
            index,
            kind: text("type"),
            sent: sent.to_owned(),
            is_changed: false,
            input: String::new(),
            is_done: false,
            call: None,
            name: text("name"),
            fields: Map::new(),
        };
        match block.kind.as_str() {
            "text" => tell(ReplyEvent::Text(&text("text")), heard),
            "thinking" => tell(ReplyEvent::Thinking(&text("thinking")), heard),
            "tool_use" => {
                let call = self.blocks.iter().filter(|block| block.call.is_some()).count();
                block.call = Some(call);
                heard(ReplyEvent::CallBegins(call, self.names.native(&block.name)));
                if let Some(input) = whole_input(sent) {
                    heard(ReplyEvent::Arguments(call, &input));
                }
            }
            _ => {}
        }
        block.fields = fields;
        if block.call.is_some() {
            let given = block.text("id").to_owned();
            let id = self.ids.take_safe(&given);
            if id != given {
                block.set("id", id.into());
            }
            // Some servers send it only with what comes to it; in a request it has to be there.
            if !block.fields.get("input").is_some_and(Value::is_object) {
                block.set("input", Value::Object(Map::new()));
            }
            let name = safe_name(&block.name);
            if name != block.name {
                block.set("name", name.into());
            }
        }
        self.blocks.push(block);
        Ok(())
    }

    fn grow(&mut self, event: &Object, heard: ReplyListener<'_>) -> Option<()> {
        let index = event.number("index")?;
        let block = self.blocks.iter_mut().rev().find(|block| block.index == index)?;
        let delta = event.object("delta")?;
        match delta.text("type")?.as_str() {
            "text_delta" => {
                let more = delta.text("text")?;
                tell(ReplyEvent::Text(&more), heard);
                block.append("text", &more);
            }
            "thinking_delta" => {
                let more = delta.text("thinking")?;
                tell(ReplyEvent::Thinking(&more), heard);
                block.append("thinking", &more);
            }
            "signature_delta" => block.set("signature", delta.text("signature")?.into()),
            "input_json_delta" => {
                let more = delta.text("partial_json")?;
                if let Some(call) = block.call {
                    tell(ReplyEvent::Arguments(call, &more), heard);
                }
                block.input.push_str(&more);
                block.is_changed |= !more.is_empty();
            }
            "citations_delta" => block.cite(serde_json::from_str(delta.raw("citation")?.get()).ok()?),
            _ => block.take_all(&delta),
        }
        Some(())
    }

    fn count(&mut self, usage: Option<Object>, heard: ReplyListener<'_>) {
        let Some(usage) = usage else { return };
        let Tokens { fresh, output, cache_read, cache_written } = self.usage;
        // Each is what it is so far, not what was added; what is not named has not changed.
        self.usage = Tokens {
            fresh: usage.number("input_tokens").unwrap_or(fresh),
            output: usage.number("output_tokens").unwrap_or(output),
            cache_read: usage.number("cache_read_input_tokens").unwrap_or(cache_read),
            cache_written: usage.number("cache_creation_input_tokens").unwrap_or(cache_written),
        };
        heard(ReplyEvent::Usage(self.usage.into()));
    }

    fn stops(&mut self, at: &Object, heard: ReplyListener<'_>) {
        self.stop_reason = at.text("stop_reason").or(self.stop_reason.take());
        let why = at.object("stop_details").and_then(|details| details.text("explanation"));
        if let Some(why) = why.filter(|why| !why.is_empty() && self.refusal.is_none()) {
            heard(ReplyEvent::Text(&why));
            self.refusal = Some(why);
        }
    }

    /// Reads an answer that came whole, because a server did not stream.
    fn read_whole(&mut self, message: &Object, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        for (index, block) in (0..).zip(message.list("content").unwrap_or_default()) {
            self.begin(index, &block, heard)?;
        }
        self.blocks.iter_mut().for_each(|block| block.is_done = true);
        self.count(message.object("usage"), heard);
        self.stops(message, heard);
        self.stop_reason.get_or_insert_default();
        Ok(ReplyProgress::Whole)
    }

    fn stop(&self) -> StopReason {
        let calls = self.blocks.iter().any(|block| block.call.is_some());
        match self.stop_reason.as_deref() {
            None => StopReason::Cut,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refused,
            Some("pause_turn") => StopReason::Paused,
            Some(_) if calls => StopReason::Calls,
            Some(_) => StopReason::Finished,
        }
    }

    fn part(&self, block: &PartialBlock, stop: StopReason) -> Option<ReplyPart> {
        let text = |name: &str| Some(block.text(name).to_owned()).filter(|text| !text.is_empty());
        match block.kind.as_str() {
            "text" => text("text").map(ReplyPart::Text),
            "thinking" => text("thinking").map(ReplyPart::Thinking),
            "tool_use" => Some(ReplyPart::Call(ModelToolCall {
                id: block.text("id").to_owned(),
                name: self.names.native(&block.name).to_owned(),
                arguments: block.arguments(),
                is_cut: self.is_cut(block, stop),
            })),
            _ => None,
        }
    }

    /// Says whether the reply ended inside of a call. One that is cut by its length is ended like any other.
    fn is_cut(&self, block: &PartialBlock, stop: StopReason) -> bool {
        let is_last = self.blocks.last().is_some_and(|last| last.index == block.index);
        let is_open = block.input.is_empty() && whole_input(&block.sent).is_none();
        !block.is_done || !ended_well(stop) && (!is_object(&block.arguments()) || is_last && is_open)
    }

    /// Returns the text of a block for later requests; nothing where it would be refused.
    fn native(&self, block: &PartialBlock, stop: StopReason) -> Option<String> {
        match block.kind.as_str() {
            "text" if block.text("text").trim().is_empty() => None,
            "text" => Some(block.written(None)),
            // A signature comes last; what has none yet cannot be shown again. Some servers never sign.
            "thinking" if !ended_well(stop) && block.text("signature").is_empty() => None,
            "tool_use" if self.is_cut(block, stop) => Some(block.written(Some("{}"))),
            _ if !block.is_done => None,
            _ => Some(block.written(None)),
        }
    }
}

impl ReplyReader for MessageReading {
    fn event(&mut self, _name: &str, data: &str, heard: ReplyListener<'_>) -> Result<ReplyProgress, ModelError> {
        let event = Object::read(data).ok_or_else(|| unreadable(data))?;
        let broken = || unreadable(data);
        match event.text("type").unwrap_or_default().as_str() {
            "message_start" => self.count(event.object("message").and_then(|message| message.object("usage")), heard),
            "content_block_start" => {
                let index = event.number("index").ok_or_else(broken)?;
                self.begin(index, event.raw("content_block").ok_or_else(broken)?, heard)?;
            }
            "content_block_delta" => self.grow(&event, heard).ok_or_else(broken)?,
            "content_block_stop" => {
                let index = event.number("index").ok_or_else(broken)?;
                let ended = self.blocks.iter_mut().filter(|block| block.index == index);
                ended.for_each(|block| block.is_done = true);
            }
            "message_delta" => {
                self.count(event.object("usage"), heard);
                self.stops(&event.object("delta").unwrap_or_default(), heard);
            }
            "message_stop" => return Ok(ReplyProgress::Whole),
            "message" => return self.read_whole(&event, heard),
            _ => {
                if let Some(error) = event.raw("error") {
                    return Err(broke_off(error));
                }
            }
        }
        Ok(ReplyProgress::More)
    }

    fn farewell(&self) -> Option<Duration> {
        self.stop_reason.is_some().then_some(FAREWELL)
    }

    fn end(self: Box<Self>) -> Option<Reply> {
        let stop = self.stop();
        if stop == StopReason::Cut && self.blocks.is_empty() {
            return None;
        }
        let mut blocks: Vec<(&PartialBlock, String)> =
            self.blocks.iter().filter_map(|block| Some((block, self.native(block, stop)?))).collect();
        // A turn that ends with what was thought is refused in every later request.
        while blocks.pop_if(|(block, _)| block.is_thought()).is_some() {}
        let blocks: Vec<String> = blocks.into_iter().map(|(_, written)| written).collect();
        let json = compact(&RawValue::from_string(format!("[{}]", blocks.join(","))).ok()?);
        let mut parts: Vec<ReplyPart> = self.blocks.iter().filter_map(|block| self.part(block, stop)).collect();
        parts.extend(self.refusal.map(ReplyPart::Refusal));
        let native = Native { wire: Wire::Anthropic, model: self.model, json };
        Some(Reply { parts, native, stop, usage: self.usage.into(), why_cut: None })
    }
}

impl PartialBlock {
    fn is_thought(&self) -> bool {
        matches!(self.kind.as_str(), "thinking" | "redacted_thinking")
    }

    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
        self.is_changed = true;
    }

    fn append(&mut self, name: &str, more: &str) {
        match self.fields.get_mut(name) {
            Some(Value::String(whole)) => whole.push_str(more),
            _ => self.set(name, more.into()),
        }
        self.is_changed = true;
    }

    fn cite(&mut self, citation: Value) {
        let mut citations = match self.fields.get_mut("citations").map(Value::take) {
            Some(Value::Array(citations)) => citations,
            _ => Vec::new(),
        };
        citations.push(citation);
        self.set("citations", citations.into());
    }

    /// Takes a sort of addition that is not known: texts grow, everything else is replaced.
    fn take_all(&mut self, delta: &Object) {
        for (name, value) in delta.members().filter(|(name, _)| *name != "type") {
            match serde_json::from_str(value.get()) {
                Ok(Value::String(more)) => self.append(name, &more),
                Ok(value) => self.set(name, value),
                Err(_) => {}
            }
        }
    }

    /// Returns the arguments exactly as they came.
    fn arguments(&self) -> String {
        if self.input.is_empty() {
            whole_input(&self.sent).unwrap_or_else(|| "{}".to_owned())
        } else {
            self.input.clone()
        }
    }

    /// Writes the block: as it was sent where nothing came to it, else with the arguments as they came, or with these.
    fn written(&self, input: Option<&str>) -> String {
        if !self.is_changed && input.is_none() {
            return self.sent.get().to_owned();
        }
        let arguments = match input {
            Some(input) => input.to_owned(),
            None if self.input.is_empty() => String::new(),
            None if is_object(&self.input) => self.input.clone(),
            // The provider takes nothing but an object; the model is to see what it wrote.
            None => Value::Object(Map::from_iter([("INVALID_JSON".to_owned(), self.input.clone().into())])).to_string(),
        };
        let field = |(name, value): (&String, &Value)| {
            let value = if name == "input" && !arguments.is_empty() { arguments.clone() } else { value.to_string() };
            format!("{}:{value}", Value::from(name.as_str()))
        };
        let fields: Vec<String> = self.fields.iter().map(field).collect();
        format!("{{{}}}", fields.join(","))
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let Tokens { fresh, output, cache_read, cache_written } = tokens;
        let input = fresh.saturating_add(cache_read).saturating_add(cache_written);
        Usage { input, output, cache_read, cache_written }
    }
}

/// Says whether the model ended a reply where it wanted to.
fn ended_well(stop: StopReason) -> bool {
    match stop {
        StopReason::Finished | StopReason::Calls | StopReason::Paused => true,
        StopReason::Length | StopReason::Refused | StopReason::Cut => false,
    }
}

/// Tells a piece that has something in it.
fn tell(piece: ReplyEvent<'_>, heard: ReplyListener<'_>) {
    match piece {
        ReplyEvent::Text("") | ReplyEvent::Thinking("") | ReplyEvent::Arguments(_, "") => {}
        _ => heard(piece),
    }
}

/// Returns the arguments of a block that were there when it began; usually they come afterwards.
fn whole_input(sent: &RawValue) -> Option<String> {
    let block = Object::read(sent.get())?;
    let input = block.raw("input")?.get();
    Object::read(input).filter(|input| input.members().next().is_some()).map(|_| input.to_owned())
}

fn is_object(text: &str) -> bool {
    Object::read(text).is_some()
}
