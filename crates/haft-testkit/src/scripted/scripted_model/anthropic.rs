//! Anthropic Messages, as its server implements it.

use serde_json::{Value, json};

use super::asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult};
use super::script::{ScriptedPart, ScriptedStopReason};
use super::tongue::{Beat, ScriptedEvent, ScriptedWire, Speech, images, list, object, plain_text, signature};

pub(super) struct Anthropic;

impl ScriptedWire for Anthropic {
    fn read(&self, body: &Value) -> Result<Conversation, String> {
        if !body["max_tokens"].is_u64() {
            return Err("max_tokens: Field required".into());
        }
        let tools = list(&body["tools"]).iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
        let mut conversation = Conversation {
            instructions: plain_text(&body["system"]),
            tools: tools.collect(),
            ..Conversation::default()
        };
        for (number, message) in list(&body["messages"]).iter().enumerate() {
            let read = match message["role"].as_str() {
                Some("user") => read_user(&mut conversation, &message["content"]),
                Some("assistant") => read_assistant(&mut conversation, &message["content"]),
                _ => Err("role: it must be `user` or `assistant`".into()),
            };
            read.map_err(|what| format!("messages.{number}.{what}"))?;
        }
        if body["thinking"]["type"] == "enabled" && answers_calls_without_thoughts(list(&body["messages"])) {
            return Err("messages: with thinking, calls that are answered last must begin with a thinking block".into());
        }
        conversation.images = images(&body["messages"]);
        Ok(conversation)
    }

    fn stream(&self, speech: &Speech<'_>) -> Vec<ScriptedEvent> {
        let mut message = message(speech, json!([]), Value::Null);
        message["usage"]["output_tokens"] = json!(1);
        let mut events =
            vec![event(json!({"type": "message_start", "message": message})), event(json!({"type": "ping"}))];
        for beat in speech.beats() {
            events.extend(say(speech, &beat).into_iter().map(event));
        }
        let usage = &self.whole(speech)["usage"];
        let delta = json!({"stop_reason": stop_reason(speech.stop), "stop_sequence": null});
        events.push(event(json!({"type": "message_delta", "delta": delta, "usage": usage})));
        events.push(event(json!({"type": "message_stop"})));
        events
    }

    fn whole(&self, speech: &Speech<'_>) -> Value {
        let content = speech.parts.iter().enumerate().map(|(index, part)| match part {
            ScriptedPart::Text(text) | ScriptedPart::Refusal(text) => json!({"type": "text", "text": text}),
            ScriptedPart::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": signature(text)}),
            ScriptedPart::Call(call) => {
                let input = object(&call.arguments).unwrap_or_else(|| json!({}));
                json!({"type": "tool_use", "id": speech.id(index), "name": call.name, "input": input})
            }
        });
        message(speech, content.collect(), json!(stop_reason(speech.stop)))
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
    }

    fn error_in_stream(&self, _events_before: usize) -> ScriptedEvent {
        ScriptedEvent::named("error", &self.error(529, "Overloaded"))
    }

    fn too_long(&self) -> (u16, &'static str) {
        (400, "prompt is too long: 210000 tokens > 200000 maximum")
    }
}

fn event(data: Value) -> ScriptedEvent {
    let name = data["type"].as_str().unwrap_or_default().to_owned();
    ScriptedEvent::named(&name, &data)
}

fn message(speech: &Speech<'_>, content: Value, stop_reason: Value) -> Value {
    let usage = speech.usage;
    let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_written);
    json!({
        "id": format!("msg_{}", speech.number),
        "type": "message",
        "role": "assistant",
        "model": speech.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": fresh,
            "cache_creation_input_tokens": usage.cache_written,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": usage.output,
        },
    })
}

fn say(speech: &Speech<'_>, beat: &Beat<'_>) -> Vec<Value> {
    let delta = |index: &usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    match beat {
        Beat::Opens(index, part) => {
            let block = match part {
                ScriptedPart::Text(_) | ScriptedPart::Refusal(_) => json!({"type": "text", "text": ""}),
                ScriptedPart::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
                ScriptedPart::Call(call) => {
                    json!({"type": "tool_use", "id": speech.id(*index), "name": call.name, "input": {}})
                }
            };
            let start = json!({"type": "content_block_start", "index": index, "content_block": block});
            // The provider begins the arguments with an empty piece, which is all of them where there are none.
            let empty = matches!(part, ScriptedPart::Call(_))
                .then(|| delta(index, json!({"type": "input_json_delta", "partial_json": ""})));
            [start].into_iter().chain(empty).collect()
        }
        Beat::Piece(index, part, text) => vec![delta(
            index,
            match part {
                ScriptedPart::Text(_) | ScriptedPart::Refusal(_) => json!({"type": "text_delta", "text": text}),
                ScriptedPart::Thinking(_) => json!({"type": "thinking_delta", "thinking": text}),
                ScriptedPart::Call(_) => json!({"type": "input_json_delta", "partial_json": text}),
            },
        )],
        Beat::Closes(index, part) => {
            let signed = match part {
                ScriptedPart::Thinking(text) => {
                    Some(delta(index, json!({"type": "signature_delta", "signature": signature(text)})))
                }
                ScriptedPart::Text(_) | ScriptedPart::Refusal(_) | ScriptedPart::Call(_) => None,
            };
            signed.into_iter().chain([json!({"type": "content_block_stop", "index": index})]).collect()
        }
    }
}

fn stop_reason(stop: ScriptedStopReason) -> &'static str {
    match stop {
        ScriptedStopReason::Finished => "end_turn",
        ScriptedStopReason::Calls => "tool_use",
        ScriptedStopReason::Length => "max_tokens",
        ScriptedStopReason::Refused => "refusal",
        ScriptedStopReason::Paused => "pause_turn",
    }
}

fn answers_calls_without_thoughts(messages: &[Value]) -> bool {
    let [.., called, last] = messages else { return false };
    let has_results = list(&last["content"]).iter().any(|block| block["type"] == "tool_result");
    let begin = &called["content"][0]["type"];
    has_results && begin != "thinking" && begin != "redacted_thinking"
}

fn read_user(conversation: &mut Conversation, content: &Value) -> Result<(), String> {
    if let Some(text) = content.as_str() {
        if text.is_empty() {
            return Err("content: it is empty".into());
        }
        conversation.said.push(ConversationEntry::User(text.into()));
        return Ok(());
    }
    let mut texts = String::new();
    for (index, block) in list(content).iter().enumerate() {
        match block["type"].as_str() {
            Some("tool_result") if texts.is_empty() => {
                let id = block["tool_use_id"].as_str().map(str::to_owned);
                conversation.add_result(ConversationResult { id, name: None, text: plain_text(&block["content"]) });
            }
            Some("tool_result") => {
                return Err(format!("content.{index}: a `tool_result` must come before every other block"));
            }
            Some("text") => texts.push_str(text_of(index, block)?),
            Some("image" | "document") => texts.push_str("[not text]"),
            _ => return Err(format!("content.{index}.type: a user cannot say this")),
        }
    }
    match (texts.is_empty(), list(content).is_empty()) {
        (false, _) => conversation.said.push(ConversationEntry::User(texts)),
        (true, false) => {}
        (true, true) => return Err("content: it is empty".into()),
    }
    Ok(())
}

fn read_assistant(conversation: &mut Conversation, content: &Value) -> Result<(), String> {
    if let Some(text) = content.as_str() {
        conversation.add_model(text, Vec::new());
        return Ok(());
    }
    match list(content).last() {
        None => return Err("content: it is empty".into()),
        Some(last) if last["type"] == "thinking" || last["type"] == "redacted_thinking" => {
            return Err("content: the final block in an assistant message cannot be `thinking`".into());
        }
        Some(_) => {}
    }
    for (index, block) in list(content).iter().enumerate() {
        match block["type"].as_str() {
            Some("text") => conversation.add_model(text_of(index, block)?, Vec::new()),
            Some("thinking") => {
                let thought = block["thinking"].as_str().unwrap_or_default();
                if block["signature"] != signature(thought).as_str() {
                    return Err(format!("content.{index}.signature: it is not that of this thinking"));
                }
                conversation.add_model("", Vec::new());
            }
            Some("redacted_thinking") => conversation.add_model("", Vec::new()),
            Some("tool_use") if block["input"].is_object() => {
                let text = |key: &str| block[key].as_str().map(str::to_owned);
                let name = text("name").unwrap_or_default();
                let made = ConversationCall { id: text("id"), name, arguments: block["input"].to_string() };
                conversation.add_model("", vec![made]);
            }
            Some("tool_use") => return Err(format!("content.{index}.input: it must be an object")),
            _ => return Err(format!("content.{index}.type: a model cannot say this")),
        }
    }
    Ok(())
}

fn text_of(index: usize, block: &Value) -> Result<&str, String> {
    let text = block["text"].as_str().filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("content.{index}.text: text content blocks must be non-empty"))
}
