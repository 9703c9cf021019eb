//! OpenAI Responses, as its server implements it.
//!
//! Thinking is a reasoning item with a summary; its encrypted content signs it and must come back unchanged.

use serde_json::{Value, json};

use super::asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult};
use super::chat::{CREATED, Chat};
use super::script::{ScriptedPart, ScriptedStopReason};
use super::tongue::{Beat, ScriptedEvent, ScriptedWire, Speech, images, list, plain_text, signature};

pub(super) struct Responses;

impl ScriptedWire for Responses {
    fn read(&self, body: &Value) -> Result<Conversation, String> {
        if !body["model"].is_string() {
            return Err("Missing required parameter: 'model'.".into());
        }
        let tools = list(&body["tools"]).iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
        let instructions = body["instructions"].as_str().unwrap_or_default().to_owned();
        let mut conversation = Conversation { instructions, tools: tools.collect(), ..Conversation::default() };
        if let Some(text) = body["input"].as_str() {
            conversation.said.push(ConversationEntry::User(text.into()));
        }
        let items = list(&body["input"]);
        for (number, item) in items.iter().enumerate() {
            if item["type"] == "reasoning" && !is_said_by_model(items.get(number + 1)) {
                return Err(format!("input[{number}]: a `reasoning` item was provided without what follows it"));
            }
            read_item(&mut conversation, item).map_err(|what| format!("input[{number}]: {what}"))?;
        }
        conversation.images = images(&body["input"]);
        Ok(conversation)
    }

    fn stream(&self, speech: &Speech<'_>) -> Vec<ScriptedEvent> {
        let begun = response(speech, "in_progress", json!([]));
        let mut said = vec![
            json!({"type": "response.created", "response": begun}),
            json!({"type": "response.in_progress", "response": begun}),
        ];
        for beat in speech.beats() {
            said.extend(say(speech, &beat));
        }
        let status = status(speech);
        said.push(json!({"type": format!("response.{status}"), "response": self.whole(speech)}));
        let numbered = said.into_iter().enumerate().map(|(number, mut data)| {
            data["sequence_number"] = json!(number);
            let name = data["type"].as_str().unwrap_or_default().to_owned();
            ScriptedEvent::named(&name, &data)
        });
        numbered.collect()
    }

    fn whole(&self, speech: &Speech<'_>) -> Value {
        let whole = speech.parts.iter().map(ScriptedPart::text);
        let items = (0..).zip(speech.parts).zip(whole).map(|((index, part), text)| item(speech, (index, part), text));
        response(speech, status(speech), items.collect())
    }

    fn error(&self, status: u16, message: &str) -> Value {
        Chat.error(status, message)
    }

    fn error_in_stream(&self, events_before: usize) -> ScriptedEvent {
        let data = json!({
            "type": "error",
            "code": "server_error",
            "message": "The server is overloaded.",
            "param": null,
            "sequence_number": events_before,
        });
        ScriptedEvent::named("error", &data)
    }

    fn too_long(&self) -> (u16, &'static str) {
        Chat.too_long()
    }
}

fn status(speech: &Speech<'_>) -> &'static str {
    let says_why = speech.parts.iter().any(|part| matches!(part, ScriptedPart::Refusal(_)));
    match speech.stop {
        ScriptedStopReason::Length => "incomplete",
        ScriptedStopReason::Refused if !says_why => "incomplete",
        ScriptedStopReason::Finished
        | ScriptedStopReason::Calls
        | ScriptedStopReason::Refused
        | ScriptedStopReason::Paused => "completed",
    }
}

fn response(speech: &Speech<'_>, status: &str, output: Value) -> Value {
    let usage = speech.usage;
    let reason = if speech.stop == ScriptedStopReason::Length { "max_output_tokens" } else { "content_filter" };
    json!({
        "id": format!("resp_{}", speech.number),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": null,
        "incomplete_details": if status == "incomplete" { json!({"reason": reason}) } else { Value::Null },
        "instructions": speech.request["instructions"],
        "metadata": {},
        "model": speech.model,
        "output": output,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "store": false,
        "usage": if status == "in_progress" { Value::Null } else { json!({
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_written},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input.saturating_add(usage.output),
        }) },
    })
}

/// Writes one part as an item with this much of its text; without any it is in progress.
fn item(speech: &Speech<'_>, (index, part): (usize, &ScriptedPart), text: &str) -> Value {
    let is_last = index + 1 == speech.parts.len();
    let state = match text.is_empty() {
        true => "in_progress",
        false if is_last && speech.stop == ScriptedStopReason::Length => "incomplete",
        false => "completed",
    };
    let id = |prefix: &str| format!("{prefix}_{}_{index}", speech.number);
    let message = |content: Value| {
        let content = if text.is_empty() { json!([]) } else { json!([content]) };
        json!({"id": id("msg"), "type": "message", "status": state, "role": "assistant", "content": content})
    };
    match part {
        ScriptedPart::Text(_) | ScriptedPart::Refusal(_) => message(content_part(part, text)),
        ScriptedPart::Thinking(_) => {
            let summary = if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
            let sealed = if text.is_empty() { Value::Null } else { json!(signature(text)) };
            json!({"id": id("rs"), "type": "reasoning", "summary": summary, "encrypted_content": sealed})
        }
        ScriptedPart::Call(call) => json!({
            "id": id("fc"),
            "type": "function_call",
            "status": if call.arguments.is_empty() { "completed" } else { state },
            "arguments": text,
            "call_id": speech.id(index),
            "name": call.name,
        }),
    }
}

fn content_part(part: &ScriptedPart, text: &str) -> Value {
    match part {
        ScriptedPart::Refusal(_) => json!({"type": "refusal", "refusal": text}),
        ScriptedPart::Text(_) | ScriptedPart::Thinking(_) | ScriptedPart::Call(_) => {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        }
    }
}

fn say(speech: &Speech<'_>, beat: &Beat<'_>) -> Vec<Value> {
    match beat {
        Beat::Opens(index, part) => {
            let begun = item(speech, (*index, part), "");
            let place = OutputPosition { index: *index, id: begun["id"].clone() };
            let added = json!({"type": "response.output_item.added", "output_index": index, "item": begun});
            let inner = match part {
                ScriptedPart::Text(_) | ScriptedPart::Refusal(_) => {
                    Some(place.of("response.content_part.added", ("content_index", "part"), content_part(part, "")))
                }
                ScriptedPart::Thinking(_) => {
                    let part = json!({"type": "summary_text", "text": ""});
                    Some(place.of("response.reasoning_summary_part.added", ("summary_index", "part"), part))
                }
                ScriptedPart::Call(_) => None,
            };
            [added].into_iter().chain(inner).collect()
        }
        Beat::Piece(index, part, text) => {
            let place = OutputPosition { index: *index, id: item(speech, (*index, part), "")["id"].clone() };
            vec![place.piece(part, text)]
        }
        Beat::Closes(index, part) => {
            let whole = item(speech, (*index, part), part.text());
            let place = OutputPosition { index: *index, id: whole["id"].clone() };
            let done = json!({"type": "response.output_item.done", "output_index": index, "item": whole});
            place.closing(part).into_iter().chain([done]).collect()
        }
    }
}

/// The index and the id of an item of the output.
struct OutputPosition {
    index: usize,
    id: Value,
}

impl OutputPosition {
    /// Says something about the only part of the item: which of its numbers is given, and under which key.
    fn of(&self, kind: &str, (number, key): (&str, &str), value: Value) -> Value {
        let mut data = json!({"type": kind, "item_id": self.id, "output_index": self.index, key: value});
        if !number.is_empty() {
            data[number] = json!(0);
        }
        data
    }

    fn piece(&self, part: &ScriptedPart, text: &str) -> Value {
        match part {
            ScriptedPart::Text(_) => {
                let mut data = self.of("response.output_text.delta", ("content_index", "delta"), json!(text));
                data["logprobs"] = json!([]);
                data
            }
            ScriptedPart::Refusal(_) => self.of("response.refusal.delta", ("content_index", "delta"), json!(text)),
            ScriptedPart::Thinking(_) => {
                self.of("response.reasoning_summary_text.delta", ("summary_index", "delta"), json!(text))
            }
            ScriptedPart::Call(_) => self.of("response.function_call_arguments.delta", ("", "delta"), json!(text)),
        }
    }

    fn closing(&self, part: &ScriptedPart) -> Vec<Value> {
        let text = json!(part.text());
        match part {
            ScriptedPart::Text(_) => {
                let mut done = self.of("response.output_text.done", ("content_index", "text"), text);
                done["logprobs"] = json!([]);
                let whole = content_part(part, part.text());
                vec![done, self.of("response.content_part.done", ("content_index", "part"), whole)]
            }
            ScriptedPart::Refusal(_) => {
                let whole = content_part(part, part.text());
                vec![
                    self.of("response.refusal.done", ("content_index", "refusal"), text),
                    self.of("response.content_part.done", ("content_index", "part"), whole),
                ]
            }
            ScriptedPart::Thinking(_) => {
                let whole = json!({"type": "summary_text", "text": text});
                vec![
                    self.of("response.reasoning_summary_text.done", ("summary_index", "text"), text),
                    self.of("response.reasoning_summary_part.done", ("summary_index", "part"), whole),
                ]
            }
            ScriptedPart::Call(_) => vec![self.of("response.function_call_arguments.done", ("", "arguments"), text)],
        }
    }
}

fn is_said_by_model(item: Option<&Value>) -> bool {
    let by_others = |item: &Value| item["type"] == "function_call_output" || item["role"] == "user";
    item.is_some_and(|item| !by_others(item))
}

fn read_item(conversation: &mut Conversation, item: &Value) -> Result<(), String> {
    let text = |key: &str| item[key].as_str().map(str::to_owned);
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("message") | None, Some("user")) => {
            conversation.said.push(ConversationEntry::User(plain_text(&item["content"])))
        }
        (Some("message") | None, Some("system" | "developer")) => {
            conversation.instructions.push_str(&plain_text(&item["content"]));
        }
        (Some("message") | None, Some("assistant")) => {
            conversation.add_model(&plain_text(&item["content"]), Vec::new());
        }
        (Some("reasoning"), _) => {
            let thought: String = list(&item["summary"]).iter().filter_map(|part| part["text"].as_str()).collect();
            if item["encrypted_content"].as_str().is_some_and(|sealed| sealed != signature(&thought)) {
                return Err("encrypted_content: it is not that of this reasoning".into());
            }
            conversation.add_model("", Vec::new());
        }
        (Some("function_call"), _) => match (text("call_id"), text("name"), text("arguments")) {
            (Some(id), Some(name), Some(arguments)) => {
                conversation.add_model("", vec![ConversationCall { id: Some(id), name, arguments }]);
            }
            _ => return Err("a function_call must have call_id, name and arguments, which are texts".into()),
        },
        (Some("function_call_output"), _) => {
            let text = plain_text(&item["output"]);
            conversation.add_result(ConversationResult {
                id: item["call_id"].as_str().map(str::to_owned),
                name: None,
                text,
            });
        }
        _ => return Err("its type is unknown here".into()),
    }
    Ok(())
}
