//! OpenAI Chat Completions, as OpenAI's server and many similar ones implement it.
//!
//! Thinking arrives as `reasoning_content`, which servers of open models send and the types of OpenAI do not have.

use serde_json::{Value, json};

use super::asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult};
use super::script::{ScriptedPart, ScriptedStopReason, Usage};
use super::tongue::{Beat, ScriptedEvent, ScriptedWire, Speech, images, list, plain_text};

pub(super) struct Chat;

/// A time that is the same in every run.
pub(super) const CREATED: u64 = 1_750_000_000;

impl ScriptedWire for Chat {
    fn read(&self, body: &Value) -> Result<Conversation, String> {
        if !body["model"].is_string() {
            return Err("you must provide a model parameter".into());
        }
        let tools = list(&body["tools"]).iter().filter_map(|tool| tool["function"]["name"].as_str());
        let mut conversation = Conversation { tools: tools.map(str::to_owned).collect(), ..Conversation::default() };
        for (number, message) in list(&body["messages"]).iter().enumerate() {
            read_message(&mut conversation, message).map_err(|what| format!("messages[{number}]: {what}"))?;
        }
        conversation.images = images(&body["messages"]);
        Ok(conversation)
    }

    fn stream(&self, speech: &Speech<'_>) -> Vec<ScriptedEvent> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas.extend(speech.beats().iter().filter_map(|beat| delta(speech, beat)));
        let choice = |delta: &Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let mut events: Vec<ScriptedEvent> =
            deltas.iter().map(|delta| ScriptedEvent::plain(&chunk(speech, choice(delta, Value::Null)))).collect();
        events.push(ScriptedEvent::plain(&chunk(speech, choice(&json!({}), json!(finish_reason(speech))))));
        if speech.request["stream_options"]["include_usage"] == true {
            let mut last = chunk(speech, json!([]));
            last["usage"] = usage(speech.usage);
            events.push(ScriptedEvent::plain(&last));
        }
        events.push(ScriptedEvent { name: None, data: "[DONE]".into() });
        events
    }

    fn whole(&self, speech: &Speech<'_>) -> Value {
        let joined = |wanted: fn(&ScriptedPart) -> bool| {
            let texts: String = speech.parts.iter().filter(|part| wanted(part)).map(ScriptedPart::text).collect();
            if texts.is_empty() { Value::Null } else { Value::String(texts) }
        };
        let mut message = json!({
            "role": "assistant",
            "content": joined(|part| matches!(part, ScriptedPart::Text(_))),
            "refusal": joined(|part| matches!(part, ScriptedPart::Refusal(_))),
        });
        let thoughts = joined(|part| matches!(part, ScriptedPart::Thinking(_)));
        if !thoughts.is_null() {
            message["reasoning_content"] = thoughts;
        }
        let calls: Vec<Value> = speech
            .parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match part {
                ScriptedPart::Call(call) => {
                    let function = json!({"name": call.name, "arguments": call.arguments});
                    Some(json!({"id": speech.id(index), "type": "function", "function": function}))
                }
                ScriptedPart::Text(_) | ScriptedPart::Thinking(_) | ScriptedPart::Refusal(_) => None,
            })
            .collect();
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        json!({
            "id": format!("chatcmpl-{}", speech.number),
            "object": "chat.completion",
            "created": CREATED,
            "model": speech.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(speech)}],
            "usage": usage(speech.usage),
        })
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let (kind, code) = match status {
            400 if message.contains("maximum context length") => {
                ("invalid_request_error", json!("context_length_exceeded"))
            }
            400 => ("invalid_request_error", Value::Null),
            401 => ("invalid_request_error", json!("invalid_api_key")),
            429 => ("requests", json!("rate_limit_exceeded")),
            _ => ("server_error", Value::Null),
        };
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }

    fn error_in_stream(&self, _events_before: usize) -> ScriptedEvent {
        ScriptedEvent::plain(&self.error(503, "The server is overloaded or not ready yet."))
    }

    fn too_long(&self) -> (u16, &'static str) {
        (400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.")
    }
}

fn chunk(speech: &Speech<'_>, choices: Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", speech.number),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": speech.model,
        "choices": choices,
    })
}

fn delta(speech: &Speech<'_>, beat: &Beat<'_>) -> Option<Value> {
    match beat {
        Beat::Opens(index, ScriptedPart::Call(call)) => {
            let function = json!({"name": call.name, "arguments": ""});
            let place = speech.calls_before(*index);
            Some(
                json!({"tool_calls": [{"index": place, "id": speech.id(*index), "type": "function", "function": function}]}),
            )
        }
        Beat::Opens(_, ScriptedPart::Text(_) | ScriptedPart::Thinking(_) | ScriptedPart::Refusal(_))
        | Beat::Closes(..) => None,
        Beat::Piece(_, ScriptedPart::Text(_), text) => Some(json!({"content": text})),
        Beat::Piece(_, ScriptedPart::Thinking(_), text) => Some(json!({"reasoning_content": text})),
        Beat::Piece(_, ScriptedPart::Refusal(_), text) => Some(json!({"refusal": text})),
        Beat::Piece(index, ScriptedPart::Call(_), text) => {
            Some(json!({"tool_calls": [{"index": speech.calls_before(*index), "function": {"arguments": text}}]}))
        }
    }
}

fn finish_reason(speech: &Speech<'_>) -> &'static str {
    let says_why = speech.parts.iter().any(|part| matches!(part, ScriptedPart::Refusal(_)));
    match speech.stop {
        ScriptedStopReason::Calls => "tool_calls",
        ScriptedStopReason::Length => "length",
        ScriptedStopReason::Refused if !says_why => "content_filter",
        ScriptedStopReason::Finished | ScriptedStopReason::Paused | ScriptedStopReason::Refused => "stop",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    })
}

fn read_message(conversation: &mut Conversation, message: &Value) -> Result<(), String> {
    let text = plain_text(&message["content"]);
    match message["role"].as_str() {
        Some("system" | "developer") => conversation.instructions.push_str(&text),
        Some("user") => conversation.said.push(ConversationEntry::User(text)),
        Some("assistant") => {
            let calls = list(&message["tool_calls"]).iter().map(read_call).collect::<Result<Vec<_>, _>>()?;
            if calls.is_empty() && message["content"].is_null() && !message["refusal"].is_string() {
                return Err("an assistant must have content, a refusal or tool_calls".into());
            }
            conversation.add_model(&text, calls);
        }
        Some("tool") => {
            let id = message["tool_call_id"].as_str().map(str::to_owned);
            if id.is_none() {
                return Err("a tool message must have a tool_call_id".into());
            }
            conversation.add_result(ConversationResult { id, name: None, text });
        }
        _ => return Err("its role is unknown".into()),
    }
    Ok(())
}

fn read_call(call: &Value) -> Result<ConversationCall, String> {
    let function = &call["function"];
    match (call["id"].as_str(), function["name"].as_str(), function["arguments"].as_str()) {
        (Some(id), Some(name), Some(arguments)) => {
            Ok(ConversationCall { id: Some(id.into()), name: name.into(), arguments: arguments.into() })
        }
        _ => Err("a tool call must have an id, a name and arguments, which are a text".into()),
    }
}
