//! The format of Google Gemini, as `streamGenerateContent` implements it.
//!
//! Later requests contain a reply as its original content, part by part. A signature belongs to its part, and a model
//! refuses a conversation in which a signature is missing or misplaced. haft joins only plain text that arrived in
//! several parts.
//!
//! Not here: how a stream is read (`gemini/reading.rs`), how schemas are written (`lower/gemini.rs`).

mod reading;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::conversation::{Image, Message, ModelToolCall, Reply, ReplyPart, ToolAnswer};
use crate::form::{ReplyReader, WireFormat};
use crate::provider::ModelRequest;
use crate::reading::raw_json::Object;
use crate::wire::Wire;
use crate::writing::effort::Effort;
use crate::writing::offered_names::OfferedNames;

/// What stands for the signature of a call that another model made. From its documentation of signatures.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The wire format of Google Gemini.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gemini;

impl WireFormat for Gemini {
    fn path(&self, model: &str) -> String {
        let folder = if model.contains('/') { "" } else { "models/" };
        format!("/v1beta/{folder}{}:streamGenerateContent?alt=sse", in_address(model))
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn request(&self, model: &str, request: &ModelRequest<'_>) -> Vec<u8> {
        let body = GeminiRequest { rest: members(model, request), contents: contents(model, request) };
        serde_json::to_vec(&body).expect("texts, numbers and JSON that was read before can be written")
    }

    fn reading(&self, model: &str, request: &ModelRequest<'_>) -> Box<dyn ReplyReader> {
        Box::new(reading::GeminiReading::new(model, request))
    }
}

#[derive(Serialize)]
struct GeminiRequest {
    #[serde(flatten)]
    rest: Map<String, Value>,
    contents: Vec<Box<RawValue>>,
}

fn members(model: &str, request: &ModelRequest<'_>) -> Map<String, Value> {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    if !request.instructions.is_empty() {
        put("systemInstruction", json!({ "parts": [{ "text": request.instructions }] }));
    }
    if !request.tools.tools.is_empty() {
        put("tools", request.tools.request_value());
        if request.must_call {
            put("toolConfig", json!({ "functionCallingConfig": { "mode": "ANY" } }));
        }
    }
    let mut generation = Map::new();
    if let Some(most) = request.most_tokens {
        generation.insert("maxOutputTokens".to_owned(), json!(most));
    }
    if let Some(effort) = request.effort {
        generation.insert("thinkingConfig".to_owned(), thinking(model, effort));
    }
    if !generation.is_empty() {
        put("generationConfig", Value::Object(generation));
    }
    members
}

/// Says how much to think: as a level from version 3 on, before that as a number of tokens.
fn thinking(model: &str, effort: Effort) -> Value {
    if is_before_version_3(model) {
        // What Google itself makes of the words where it speaks as OpenAI does.
        let tokens = match effort {
            Effort::Low => 1_024,
            Effort::Medium => 8_192,
            Effort::High => 24_576,
        };
        return json!({ "thinkingBudget": tokens });
    }
    let level = match effort {
        Effort::Low => "LOW",
        // The first of this version has nothing between.
        Effort::Medium if model.contains("gemini-3-pro") => "HIGH",
        Effort::Medium => "MEDIUM",
        Effort::High => "HIGH",
    };
    json!({ "thinkingLevel": level })
}

fn is_before_version_3(model: &str) -> bool {
    ["gemini-1", "gemini-2"].iter().any(|old| model.contains(old))
}

fn is_from_version_3_on(model: &str) -> bool {
    model.contains("gemini-") && !is_before_version_3(model)
}

fn contents(model: &str, request: &ModelRequest<'_>) -> Vec<Box<RawValue>> {
    let names = OfferedNames::of(request.tools);
    let mut contents = Vec::new();
    let mut asked: Vec<CallReference> = Vec::new();
    for message in request.messages {
        match message {
            Message::User { text, images } => {
                let parts: Vec<Value> = images.iter().map(inline).chain([json!({ "text": text })]).collect();
                contents.push(raw(&json!({ "role": "user", "parts": parts })));
            }
            Message::Model(reply) if reply.native.wire == Wire::Gemini && reply.native.model == model => {
                asked = asked_in(&reply.native.json);
                // A content without parts is refused.
                if has_parts(&reply.native.json) {
                    contents.push(reply.native.json.clone());
                }
            }
            Message::Model(reply) => {
                asked = reply.calls().map(|call| CallReference::again(call, &names)).collect();
                contents.extend(plain(model, reply, &names).as_ref().map(raw));
            }
            Message::Tools { answers } => {
                let seen = ImagePlacement::of(model);
                let said_back = |(at, answer)| said_back(answer, asked.get(at), &names, seen);
                let parts: Vec<Value> = answers.iter().enumerate().flat_map(said_back).collect();
                contents.push(raw(&json!({ "role": "user", "parts": parts })));
            }
        }
    }
    contents
}

/// Identifies the call that an answer refers to: by its id where the call had one, else by name and order.
struct CallReference {
    id: Option<String>,
    name: String,
}

impl CallReference {
    fn again(call: &ModelToolCall, names: &OfferedNames) -> CallReference {
        CallReference { id: Some(call.id.clone()), name: names.wire(&call.name) }
    }
}

fn asked_in(native: &RawValue) -> Vec<CallReference> {
    let parts = Object::read(native.get()).map(|content| content.objects("parts")).unwrap_or_default();
    let calls = parts.iter().filter_map(|part| part.object("functionCall"));
    let asked = calls.filter_map(|call| Some(CallReference { id: call.text("id"), name: call.text("name")? }));
    asked.collect()
}

fn has_parts(native: &RawValue) -> bool {
    let parts = Object::read(native.get()).and_then(|content| content.list("parts"));
    parts.is_some_and(|parts| !parts.is_empty())
}

/// Where the images of a tool result are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImagePlacement {
    /// In it, where the published types have them; they do not say for which models, so only for those from version 3 on.
    Inside,
    /// Right behind it, as parts of their own.
    Behind,
}

impl ImagePlacement {
    fn of(model: &str) -> ImagePlacement {
        if is_from_version_3_on(model) { ImagePlacement::Inside } else { ImagePlacement::Behind }
    }
}

fn said_back(
    answer: &ToolAnswer,
    asked: Option<&CallReference>,
    names: &OfferedNames,
    seen: ImagePlacement,
) -> Vec<Value> {
    let member = if answer.is_error { "error" } else { "output" };
    let name = asked.map_or_else(|| names.wire(&answer.name), |asked| asked.name.clone());
    let mut response = Map::new();
    if let Some(id) = asked.and_then(|asked| asked.id.as_ref()) {
        response.insert("id".to_owned(), json!(id));
    }
    response.insert("name".to_owned(), json!(name));
    response.insert("response".to_owned(), json!({ member: answer.text }));
    let mut images: Vec<Value> = answer.images.iter().map(inline).collect();
    if seen == ImagePlacement::Inside && !images.is_empty() {
        response.insert("parts".to_owned(), Value::Array(std::mem::take(&mut images)));
    }
    images.insert(0, json!({ "functionResponse": response }));
    images
}

fn inline(image: &Image) -> Value {
    json!({ "inlineData": { "mimeType": image.media_type, "data": image.base64 } })
}

/// Returns a reply of another model; nothing where it says nothing.
fn plain(model: &str, reply: &Reply, names: &OfferedNames) -> Option<Value> {
    let mut parts = Vec::new();
    // From version 3 on the first call of a reply must have a signature.
    let mut needs_signature = is_from_version_3_on(model);
    for part in &reply.parts {
        match part {
            ReplyPart::Text(text) | ReplyPart::Refusal(text) if !text.is_empty() => parts.push(json!({ "text": text })),
            ReplyPart::Text(_) | ReplyPart::Refusal(_) | ReplyPart::Thinking(_) => {}
            ReplyPart::Call(call) => {
                let function = json!({ "id": call.id, "name": names.wire(&call.name), "args": arguments(call) });
                let mut part = json!({ "functionCall": function });
                if std::mem::take(&mut needs_signature) {
                    part["thoughtSignature"] = json!(NO_SIGNATURE);
                }
                parts.push(part);
            }
        }
    }
    (!parts.is_empty()).then(|| json!({ "role": "model", "parts": parts }))
}

fn arguments(call: &ModelToolCall) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        // What was cut is left out: its answer says so.
        _ if call.is_cut || call.arguments.trim().is_empty() => json!({}),
        _ => json!({ "not_json": call.arguments }),
    }
}

/// Returns the name of a model as it may stand in an address.
fn in_address(model: &str) -> String {
    let mut written = String::new();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) {
            written.push(char::from(byte));
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
    }
    written
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value can be written")
}
