//! Writes a request of OpenAI's Responses.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversation::{Image, Message, Reply, ReplyPart, ToolAnswer};
use crate::provider::ModelRequest;
use crate::reading::foreign::{arguments_or_nothing, safe_id};
use crate::reading::raw_json::list;
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// Beginnings of the names of models that do not think, and refuse to be asked for what they thought.
const DO_NOT_THINK: [&str; 5] = ["gpt-3", "gpt-4", "gpt-5-chat", "chatgpt-", "ft:gpt-4"];

#[derive(Serialize)]
struct ResponsesRequest<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<ResponsesItem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesItem<'a> {
    Native(Box<RawValue>),
    Words { role: &'static str, content: &'a str },
    Shown { role: &'static str, content: Vec<ResponsesContent<'a>> },
    Call { r#type: &'static str, call_id: String, name: String, arguments: String },
    Answer { r#type: &'static str, call_id: String, output: ResponsesOutput<'a> },
}

/// The output of a call.
#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesOutput<'a> {
    Text(&'a str),
    Pieces(Vec<ResponsesContent<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsesContent<'a> {
    InputText { text: &'a str },
    InputImage { image_url: String },
}

impl<'a> ResponsesContent<'a> {
    fn of(images: &'a [Image]) -> impl Iterator<Item = Self> {
        images.iter().map(|image| ResponsesContent::InputImage { image_url: image.data_url() })
    }
}

impl<'a> ResponsesOutput<'a> {
    fn of(answer: &'a ToolAnswer) -> Self {
        if answer.images.is_empty() {
            return ResponsesOutput::Text(&answer.text);
        }
        let images = ResponsesContent::of(&answer.images);
        ResponsesOutput::Pieces(
            [ResponsesContent::InputText { text: &answer.text }].into_iter().chain(images).collect(),
        )
    }
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a Value,
    parameters: &'a Value,
    strict: bool,
}

/// Whether a model is asked to send what it thought, encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoughts {
    /// So that it can be sent back.
    AskedFor,
    /// It has none, and would refuse.
    LeftOut,
}

impl Thoughts {
    /// Returns what is known of a model by its name.
    pub(super) fn of(model: &str) -> Thoughts {
        let thinks = !DO_NOT_THINK.iter().any(|beginning| model.starts_with(beginning));
        if thinks { Thoughts::AskedFor } else { Thoughts::LeftOut }
    }
}

/// Writes a request.
pub(super) fn written(model: &str, thoughts: Thoughts, request: &ModelRequest<'_>) -> Vec<u8> {
    let tools: Vec<ResponsesTool<'_>> = request.tools.tools.iter().filter_map(|tool| offered(&tool.value)).collect();
    let body = ResponsesRequest {
        model,
        instructions: request.instructions,
        input: items(model, request),
        tool_choice: (request.must_call && !tools.is_empty()).then_some("required"),
        tools,
        max_output_tokens: request.most_tokens,
        reasoning: request.effort.map(|effort| Reasoning { effort: effort.name() }),
        include: match thoughts {
            Thoughts::AskedFor => &["reasoning.encrypted_content"],
            Thoughts::LeftOut => &[],
        },
        store: false,
        stream: true,
    };
    serde_json::to_vec(&body).expect("keys are texts and nothing in it fails to be written")
}

/// Takes a tool out of the wrapping that the form of Chat has around it. Whether the schema is enforced has to be said:
/// this form enforces it where nothing is said.
fn offered(tool: &Value) -> Option<ResponsesTool<'_>> {
    let function = tool.get("function")?;
    Some(ResponsesTool {
        r#type: "function",
        name: function.get("name")?.as_str()?,
        description: &function["description"],
        parameters: &function["parameters"],
        strict: function.get("strict").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn items<'a>(model: &str, request: &ModelRequest<'a>) -> Vec<ResponsesItem<'a>> {
    let names = OfferedNames::of(request.tools);
    let mut items = Vec::new();
    for message in request.messages {
        match message {
            Message::User { text, images } if images.is_empty() => {
                items.push(ResponsesItem::Words { role: "user", content: text });
            }
            Message::User { text, images } => {
                let content = ResponsesContent::of(images).chain([ResponsesContent::InputText { text }]).collect();
                items.push(ResponsesItem::Shown { role: "user", content });
            }
            Message::Tools { answers } => items.extend(answers.iter().map(|answer| ResponsesItem::Answer {
                r#type: "function_call_output",
                call_id: safe_id(&answer.call),
                output: ResponsesOutput::of(answer),
            })),
            Message::Model(reply) => items.extend(items_of(model, reply, &names)),
        }
    }
    items
}

fn items_of<'a>(model: &str, reply: &'a Reply, names: &OfferedNames) -> Vec<ResponsesItem<'a>> {
    let native = &reply.native;
    if native.wire == Wire::Responses && native.model == model {
        return list(native.json.get()).unwrap_or_default().into_iter().map(ResponsesItem::Native).collect();
    }
    let item = |part: &'a ReplyPart| match part {
        ReplyPart::Text(text) | ReplyPart::Refusal(text) if text.trim().is_empty() => None,
        ReplyPart::Text(text) | ReplyPart::Refusal(text) => {
            Some(ResponsesItem::Words { role: "assistant", content: text })
        }
        // It is encrypted for those who said it.
        ReplyPart::Thinking(_) => None,
        ReplyPart::Call(call) => Some(ResponsesItem::Call {
            r#type: "function_call",
            call_id: safe_id(&call.id),
            name: names.wire(&call.name),
            arguments: arguments_or_nothing(call).to_string(),
        }),
    };
    reply.parts.iter().filter_map(item).collect()
}
