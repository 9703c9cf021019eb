//! Google Gemini, as its server implements it.
//!
//! Calls arrive whole. The provider calls one whose arguments are no object a malformed function call, and omits one
//! that is cut by the length. A call has an id if the script gives one. The first call of a reply that thinks carries
//! the signature.

use serde_json::{Value, json};

use super::asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult};
use super::script::{ScriptedPart, ScriptedStopReason};
use super::tongue::{Beat, ScriptedEvent, ScriptedWire, Speech, images, list, object, signature};

/// Speaks the Gemini form of requests and replies.
pub(super) struct GeminiWire;

impl ScriptedWire for GeminiWire {
    fn read(&self, body: &Value) -> Result<Conversation, String> {
        let declared = list(&body["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
        let tools = declared.filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
        let instructions = texts(&body["systemInstruction"]["parts"]);
        let mut conversation = Conversation { instructions, tools: tools.collect(), ..Conversation::default() };
        for (number, content) in list(&body["contents"]).iter().enumerate() {
            let parts = list(&content["parts"]);
            if parts.is_empty() {
                return Err(format!("contents[{number}].parts: must not be empty"));
            }
            for (index, part) in parts.iter().enumerate() {
                let read = match content["role"].as_str() {
                    Some("model") => read_model(&mut conversation, part),
                    Some("user") | None => read_user(&mut conversation, part),
                    Some(role) => Err(format!("the role {role:?} is unknown; valid are user and model")),
                };
                read.map_err(|what| format!("contents[{number}].parts[{index}]: {what}"))?;
            }
        }
        conversation.images = images(&body["contents"]);
        Ok(conversation)
    }

    fn stream(&self, speech: &Speech<'_>) -> Vec<ScriptedEvent> {
        let mut parts: Vec<Value> = Vec::new();
        for beat in speech.beats() {
            match beat {
                Beat::Piece(_, ScriptedPart::Text(_) | ScriptedPart::Refusal(_), text) => {
                    parts.push(json!({"text": text}))
                }
                Beat::Piece(_, ScriptedPart::Thinking(_), text) => parts.push(json!({"text": text, "thought": true})),
                Beat::Closes(index, part @ ScriptedPart::Call(_)) => parts.extend(call(speech, index, part)),
                Beat::Piece(_, ScriptedPart::Call(_), _) | Beat::Opens(..) | Beat::Closes(..) => {}
            }
        }
        let mut events: Vec<ScriptedEvent> =
            parts.iter().map(|part| ScriptedEvent::plain(&chunk(speech, &json!([part]), Ends::Later))).collect();
        events.push(ScriptedEvent::plain(&chunk(speech, &json!([{"text": ""}]), Ends::Here)));
        events
    }

    fn whole(&self, speech: &Speech<'_>) -> Value {
        let parts = speech.parts.iter().enumerate().filter_map(|(index, part)| match part {
            ScriptedPart::Text(text) | ScriptedPart::Refusal(text) => Some(json!({"text": text})),
            ScriptedPart::Thinking(text) => Some(json!({"text": text, "thought": true})),
            ScriptedPart::Call(_) => call(speech, index, part),
        });
        chunk(speech, &parts.collect(), Ends::Here)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 | 529 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }

    fn error_in_stream(&self, _events_before: usize) -> ScriptedEvent {
        ScriptedEvent::plain(&self.error(503, "The model is overloaded. Please try again later."))
    }

    fn too_long(&self) -> (u16, &'static str) {
        (400, "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).")
    }
}

enum Ends {
    Here,
    Later,
}

fn chunk(speech: &Speech<'_>, parts: &Value, ends: Ends) -> Value {
    let usage = speech.usage;
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if matches!(ends, Ends::Here) {
        candidate["finishReason"] = json!(finish_reason(speech));
        if finish_reason(speech) == MALFORMED {
            candidate["finishMessage"] = json!("Malformed function call");
        }
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output,
            "cachedContentTokenCount": usage.cache_read,
            "totalTokenCount": usage.input.saturating_add(usage.output),
        },
        "modelVersion": speech.model,
        "responseId": format!("reply-{}", speech.number),
    })
}

const MALFORMED: &str = "MALFORMED_FUNCTION_CALL";

fn finish_reason(speech: &Speech<'_>) -> &'static str {
    let is_malformed =
        |part: &ScriptedPart| matches!(part, ScriptedPart::Call(call) if object(&call.arguments).is_none());
    match speech.stop {
        ScriptedStopReason::Length => "MAX_TOKENS",
        ScriptedStopReason::Refused => "SAFETY",
        ScriptedStopReason::Finished | ScriptedStopReason::Calls | ScriptedStopReason::Paused
            if speech.parts.iter().any(is_malformed) =>
        {
            MALFORMED
        }
        ScriptedStopReason::Finished | ScriptedStopReason::Calls | ScriptedStopReason::Paused => "STOP",
    }
}

fn call(speech: &Speech<'_>, index: usize, part: &ScriptedPart) -> Option<Value> {
    let ScriptedPart::Call(call) = part else { return None };
    let mut function = json!({"name": call.name, "args": object(&call.arguments)?});
    if let Some(id) = &call.id {
        function["id"] = json!(id);
    }
    let mut part = json!({"functionCall": function});
    if let Some(thought) = speech.thought().filter(|_| speech.calls_before(index) == 0) {
        part["thoughtSignature"] = json!(signature(thought));
    }
    Some(part)
}

fn read_user(conversation: &mut Conversation, part: &Value) -> Result<(), String> {
    let response = &part["functionResponse"];
    if response.is_object() {
        if !response["response"].is_object() {
            return Err("functionResponse.response: it must be an object".into());
        }
        let text = |key: &str| response[key].as_str().map(str::to_owned);
        let said = response["response"].as_object().into_iter().flatten().map(|(_, value)| match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        });
        let said: Vec<String> = said.collect();
        conversation.add_result(ConversationResult { id: text("id"), name: text("name"), text: said.join("\n") });
        return Ok(());
    }
    match part["text"].as_str() {
        Some(text) => match conversation.said.last_mut() {
            Some(ConversationEntry::User(said)) => said.push_str(text),
            Some(ConversationEntry::Model(..) | ConversationEntry::Results(_)) | None => {
                conversation.said.push(ConversationEntry::User(text.into()))
            }
        },
        None if part["inlineData"].is_object() => {}
        None => return Err("a user cannot say this".into()),
    }
    Ok(())
}

fn read_model(conversation: &mut Conversation, part: &Value) -> Result<(), String> {
    let call = &part["functionCall"];
    match (call["name"].as_str(), part["text"].as_str()) {
        (Some(name), _) => {
            let id = call["id"].as_str().map(str::to_owned);
            let made = ConversationCall { id, name: name.into(), arguments: call["args"].to_string() };
            conversation.add_model("", vec![made]);
        }
        (None, Some(text)) => conversation.add_model(if part["thought"] == true { "" } else { text }, Vec::new()),
        (None, None) => return Err("a model cannot say this".into()),
    }
    Ok(())
}

fn texts(parts: &Value) -> String {
    list(parts).iter().filter_map(|part| part["text"].as_str()).collect()
}
