//! The format of OpenAI Chat Completions, as OpenAI and most other servers implement it.
//!
//! Later requests contain a reply as the assistant message that its stream adds up to, with everything else that the
//! server sent beside the text: thoughts (in the member in which they arrived), signatures at calls, blocks of content.
//! A reply of another model or format uses only the plain members that every server accepts.
//!
//! Not here: deviations of servers (`quirks`), how a stream is read (`chat/reading.rs`).

mod calls;
mod images;
mod reading;
mod said;
#[cfg(test)]
mod tests;
mod thought_aloud;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::conversation::{Image, Message, ModelToolCall, Reply, ReplyPart, ToolAnswer};
use crate::form::{ReplyReader, WireFormat};
use crate::provider::ModelRequest;
use crate::quirks::{
    AfterResults, CacheComes, EffortGoes, ForeignThoughts, IdForm, InstructionsRole, LengthMember, Quirks,
    SeveralCalls, UsageComes,
};
use crate::reading::made_ids::{is_nine, nine};
use crate::reading::raw_json::Object;
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// Said for the model between results and the user's next words where the provider wants to hear it there.
const NO_ANSWER: &str = "(no answer)";

/// The form, as one server wants it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chat {
    pub(crate) quirks: Quirks,
}

impl WireFormat for Chat {
    fn path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn request(&self, model: &str, request: &ModelRequest<'_>) -> Vec<u8> {
        let body = ChatRequest { messages: self.messages(model, request), rest: self.members(model, request) };
        serde_json::to_vec(&body).expect("texts, numbers and JSON that was read before can be written")
    }

    fn reading(&self, model: &str, request: &ModelRequest<'_>) -> Box<dyn ReplyReader> {
        Box::new(reading::ChatReading::new(self.quirks, model, request))
    }
}

#[derive(Serialize)]
struct ChatRequest {
    #[serde(flatten)]
    rest: Map<String, Value>,
    messages: Vec<Box<RawValue>>,
}

impl Chat {
    fn members(&self, model: &str, request: &ModelRequest<'_>) -> Map<String, Value> {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("model", json!(model));
        put("stream", json!(true));
        if self.quirks.usage == UsageComes::WhenAsked {
            put("stream_options", json!({ "include_usage": true }));
        }
        if let Some(most) = request.most_tokens {
            let name = match self.quirks.length {
                LengthMember::MaxTokens => "max_tokens",
                LengthMember::MaxCompletionTokens => "max_completion_tokens",
            };
            put(name, json!(most));
        }
        if let Some(effort) = request.effort {
            put("reasoning_effort", json!(effort.name()));
            if self.quirks.effort == EffortGoes::IntoTheTemplateToo {
                put("chat_template_kwargs", json!({ "reasoning_effort": effort.name() }));
            }
        }
        if self.quirks.cache == CacheComes::WhenAskedForAnthropic && model.starts_with("anthropic/") {
            put("cache_control", json!({ "type": "ephemeral" }));
        }
        // An empty list of tools is refused, and so is a choice without tools.
        if !request.tools.tools.is_empty() {
            put("tools", request.tools.request_value());
            if request.must_call {
                put("tool_choice", json!("required"));
            }
            if self.quirks.several_calls == SeveralCalls::WhenAsked {
                put("parallel_tool_calls", json!(true));
            }
        }
        members
    }

    fn messages(&self, model: &str, request: &ModelRequest<'_>) -> Vec<Box<RawValue>> {
        let plainly = Plainly { quirks: self.quirks, model, names: OfferedNames::of(request.tools) };
        let mut said = Vec::new();
        if !request.instructions.is_empty() {
            let role = match self.quirks.instructions {
                InstructionsRole::System => "system",
                InstructionsRole::Developer => "developer",
            };
            said.push(raw(&json!({ "role": role, "content": request.instructions })));
        }
        let model_answers = plainly.model_answers_results();
        let mut is_behind_results = false;
        let mut unshown = images::Unshown::default();
        let mut rest = request.messages;
        while let Some((message, later)) = rest.split_first() {
            rest = later;
            match message {
                Message::User { text, images } => {
                    let (text, images, later) = plainly.with_what_follows(text, images, later);
                    rest = later;
                    unshown.show(&images);
                    if is_behind_results && model_answers {
                        said.push(raw(&json!({ "role": "assistant", "content": NO_ANSWER })));
                    }
                    said.push(raw(&unshown.before(text)));
                }
                // A message without anything in it is refused by many.
                Message::Model(reply) if plainly.is_empty(reply) => {}
                Message::Model(reply) => {
                    said.extend(unshown.alone().as_ref().map(raw));
                    said.push(plainly.reply(reply));
                }
                Message::Tools { answers } => {
                    said.extend(answers.iter().map(|answer| plainly.answer(answer)));
                    if !model_answers {
                        answers.iter().for_each(|answer| unshown.add(plainly.called(answer), answer));
                    }
                }
            }
            is_behind_results = match message {
                Message::Tools { answers } => !answers.is_empty(),
                Message::Model(reply) => is_behind_results && plainly.is_empty(reply),
                Message::User { .. } => false,
            };
        }
        said.extend(unshown.alone().as_ref().map(raw));
        said
    }
}

/// Writes replies of other models in the members that every server accepts.
struct Plainly<'a> {
    quirks: Quirks,
    model: &'a str,
    names: OfferedNames,
}

impl Plainly<'_> {
    /// Says whether a reply can be sent as it is kept.
    fn is_its_own(&self, reply: &Reply) -> bool {
        // The same model may have answered at another address.
        let fits = reply.calls().all(|call| self.id(&call.id) == call.id);
        reply.native.wire == Wire::Chat && reply.native.model == self.model && fits
    }

    /// Says whether nothing would stand for a reply. What was only thought is nothing, but where it stands in the text.
    fn is_empty(&self, reply: &Reply) -> bool {
        let says_nothing = reply.parts.iter().all(|part| match part {
            ReplyPart::Text(text) | ReplyPart::Refusal(text) => text.is_empty(),
            ReplyPart::Thinking(_) => true,
            ReplyPart::Call(_) => false,
        });
        says_nothing && !(self.is_its_own(reply) && has_text(&reply.native.json))
    }

    /// Puts what a user said in several messages into one: templates of local models want the roles to alternate.
    fn with_what_follows<'a>(
        &self,
        text: &str,
        images: &[Image],
        mut rest: &'a [Message],
    ) -> (String, Vec<Image>, &'a [Message]) {
        let (mut text, mut images) = (text.to_owned(), images.to_vec());
        loop {
            match rest.split_first() {
                Some((Message::User { text: more, images: others }, later)) => {
                    text = format!("{text}\n\n{more}");
                    images.extend(others.iter().cloned());
                    rest = later;
                }
                Some((Message::Model(reply), later)) if self.is_empty(reply) => rest = later,
                _ => return (text, images, rest),
            }
        }
    }

    fn reply(&self, reply: &Reply) -> Box<RawValue> {
        if self.is_its_own(reply) {
            return reply.native.json.clone();
        }
        let text = reply.text();
        let content = if text.is_empty() { Value::Null } else { Value::String(text) };
        let calls: Vec<Value> = reply
            .calls()
            .map(|call| {
                let function = json!({ "name": self.names.wire(&call.name), "arguments": arguments_of(call) });
                json!({ "id": self.id(&call.id), "type": "function", "function": function })
            })
            .collect();
        let mut message = json!({ "role": "assistant", "content": content });
        if !calls.is_empty() {
            if self.quirks.foreign_thoughts == ForeignThoughts::WithCalls {
                message["reasoning_content"] = Value::String(thoughts(reply));
            }
            message["tool_calls"] = Value::Array(calls);
        }
        raw(&message)
    }

    fn answer(&self, answer: &ToolAnswer) -> Box<RawValue> {
        let content = match answer.images.is_empty() || !self.model_answers_results() {
            true => json!(answer.text),
            false => images::inside(answer),
        };
        raw(&json!({ "role": "tool", "tool_call_id": self.id(&answer.call), "content": content }))
    }

    /// Returns by which name and id the call of an answer goes.
    fn called(&self, answer: &ToolAnswer) -> (String, String) {
        (self.names.wire(&answer.name), self.id(&answer.call))
    }

    /// Says whether only the model may speak after results.
    fn model_answers_results(&self) -> bool {
        match self.quirks.after_results {
            AfterResults::Anybody => false,
            AfterResults::TheModel => true,
            AfterResults::TheModelForMistral => self.is_mistral(),
        }
    }

    fn is_mistral(&self) -> bool {
        self.model.starts_with("mistralai/")
    }

    fn id(&self, id: &str) -> String {
        let wants_nine = match self.quirks.ids {
            IdForm::Any => false,
            IdForm::Nine => true,
            IdForm::NineForMistral => self.is_mistral(),
        };
        if wants_nine && !is_nine(id) { nine(id) } else { id.to_owned() }
    }
}

fn thoughts(reply: &Reply) -> String {
    let thoughts = reply.parts.iter().filter_map(|part| match part {
        ReplyPart::Thinking(thought) => Some(thought.as_str()),
        ReplyPart::Text(_) | ReplyPart::Refusal(_) | ReplyPart::Call(_) => None,
    });
    thoughts.collect()
}

fn has_text(native: &RawValue) -> bool {
    let text = Object::read(native.get()).and_then(|message| message.text("content"));
    text.is_some_and(|text| !text.is_empty())
}

/// Returns arguments as the text of an object. vLLM, Ollama and llama.cpp read them in every later request, and one text
/// that is no object would end the conversation. What was cut is left out: its answer says so.
fn arguments_of(call: &ModelToolCall) -> String {
    if call.is_cut || call.arguments.trim().is_empty() {
        "{}".to_owned()
    } else if Object::read(&call.arguments).is_some() {
        call.arguments.clone()
    } else {
        json!({ "not_json": call.arguments }).to_string()
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value can be written")
}
