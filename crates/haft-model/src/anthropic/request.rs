//! Writes a request of Anthropic's Messages.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::thinking::Thinking;
use crate::conversation::{Image, Message, Reply, ReplyPart, ToolAnswer};
use crate::provider::ModelRequest;
use crate::reading::foreign::{arguments_or_nothing, safe_id};
use crate::wire::Wire;
use crate::writing::offered_names::OfferedNames;

/// The default length of a reply: a request must name a limit, and a model takes no larger one than its own.
const MOST_TOKENS: u32 = 32_000;
/// The same for families of models that take less.
const MOST_TOKENS_OF: [(&str, u32); 4] =
    [("claude-3-7", 32_000), ("claude-3-5", 8_192), ("claude-3", 4_096), ("claude-2", 4_096)];

/// Replaces an empty text, which the provider refuses.
const NOTHING: &str = "(empty)";

#[derive(Serialize)]
struct AnthropicRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<AnthropicBlock<'a>>,
    #[serde(skip_serializing_if = "is_empty")]
    tools: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(flatten)]
    thinking: Thinking,
    messages: Vec<AnthropicMessage<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: AnthropicContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnthropicContent<'a> {
    Native(&'a RawValue),
    Blocks(Vec<AnthropicBlock<'a>>),
}

#[derive(Serialize)]
struct AnthropicBlock<'a> {
    #[serde(flatten)]
    says: Says<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Says<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: ImageSource<'a>,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultContent<'a> {
    Text(&'a str),
    Pieces(Vec<ResultBlock<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResultBlock<'a> {
    Text { text: &'a str },
    Image { source: ImageSource<'a> },
}

#[derive(Serialize)]
struct ImageSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> ImageSource<'a> {
    fn of(image: &'a Image) -> Self {
        ImageSource { r#type: "base64", media_type: &image.media_type, data: &image.base64 }
    }
}

impl<'a> ResultContent<'a> {
    fn of(answer: &'a ToolAnswer) -> Self {
        let text = if answer.text.trim().is_empty() { NOTHING } else { &answer.text };
        if answer.images.is_empty() {
            return ResultContent::Text(if answer.text.is_empty() { NOTHING } else { &answer.text });
        }
        let image = |image: &'a Image| ResultBlock::Image { source: ImageSource::of(image) };
        ResultContent::Pieces([ResultBlock::Text { text }].into_iter().chain(answer.images.iter().map(image)).collect())
    }
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

impl<'a> AnthropicBlock<'a> {
    fn text(text: &'a str) -> AnthropicBlock<'a> {
        let text = if text.trim().is_empty() { NOTHING } else { text };
        AnthropicBlock { says: Says::Text { text }, cache_control: None }
    }

    fn image(image: &'a Image) -> AnthropicBlock<'a> {
        AnthropicBlock { says: Says::Image { source: ImageSource::of(image) }, cache_control: None }
    }

    fn result(answer: &'a ToolAnswer) -> AnthropicBlock<'a> {
        let says = Says::ToolResult {
            tool_use_id: safe_id(&answer.call),
            content: ResultContent::of(answer),
            // Its answer to others: "all content must be type text if is_error is true". The text says what failed.
            is_error: answer.is_error && answer.images.is_empty(),
        };
        AnthropicBlock { says, cache_control: None }
    }

    fn is_result(&self) -> bool {
        matches!(self.says, Says::ToolResult { .. })
    }

    fn keep_until_here(&mut self) {
        self.cache_control = Some(CacheControl { r#type: "ephemeral" });
    }
}

/// Writes a request.
pub(super) fn written(model: &str, request: &ModelRequest<'_>) -> Vec<u8> {
    let mut system = Vec::new();
    if !request.instructions.trim().is_empty() {
        system.push(AnthropicBlock::text(request.instructions));
        // Tools stand before the instructions, so one mark keeps both.
        system.iter_mut().for_each(AnthropicBlock::keep_until_here);
    }
    let tools = request.tools.request_value();
    let must_call = request.must_call && !is_empty(&tools);
    let max_tokens = request.most_tokens.unwrap_or_else(|| most_tokens(model));
    let messages = turns(model, request);
    let mut thinking = request.effort.map(|effort| Thinking::of(model, effort, max_tokens)).unwrap_or_default();
    if answers_calls_without_thoughts(&messages) {
        thinking = thinking.in_turn_without_thoughts();
    }
    let body = AnthropicRequest {
        model,
        max_tokens,
        system,
        tool_choice: must_call.then_some(ToolChoice { r#type: "any" }),
        thinking: if must_call { thinking.without_asking() } else { thinking },
        tools,
        messages,
        stream: true,
    };
    serde_json::to_vec(&body).expect("keys are texts and nothing in it fails to be written")
}

fn most_tokens(model: &str) -> u32 {
    let family = MOST_TOKENS_OF.into_iter().find(|(family, _)| model.contains(family));
    family.map_or(MOST_TOKENS, |(_, most)| most)
}

fn turns<'a>(model: &str, request: &ModelRequest<'a>) -> Vec<AnthropicMessage<'a>> {
    let names = OfferedNames::of(request.tools);
    let mut turns: Vec<AnthropicMessage<'a>> = Vec::new();
    for message in request.messages {
        match message {
            Message::User { text, images } => {
                add_to_user(
                    &mut turns,
                    images.iter().map(AnthropicBlock::image).chain([AnthropicBlock::text(text)]).collect(),
                );
            }
            Message::Tools { answers } => add_to_user(&mut turns, answers.iter().map(AnthropicBlock::result).collect()),
            Message::Model(reply) => {
                let content = content(model, reply, &names);
                turns.extend(content.map(|content| AnthropicMessage { role: "assistant", content }));
            }
        }
    }
    mark_for_cache(&mut turns);
    turns
}

/// Returns whether the request ends with the results of calls before which nothing was thought.
fn answers_calls_without_thoughts(turns: &[AnthropicMessage<'_>]) -> bool {
    let [.., called, last] = turns else { return false };
    let has_results =
        matches!(&last.content, AnthropicContent::Blocks(blocks) if blocks.iter().any(AnthropicBlock::is_result));
    let begins_with_thought = match &called.content {
        AnthropicContent::Native(json) => {
            let begin: Vec<BlockType<'_>> = serde_json::from_str(json.get()).unwrap_or_default();
            begin.first().is_some_and(|first| first.r#type.ends_with("thinking"))
        }
        AnthropicContent::Blocks(_) => false,
    };
    has_results && !begins_with_thought
}

/// The type of a content block.
#[derive(serde::Deserialize)]
struct BlockType<'a> {
    #[serde(borrow)]
    r#type: std::borrow::Cow<'a, str>,
}

/// Puts blocks into the user's turn, results before everything else.
fn add_to_user<'a>(turns: &mut Vec<AnthropicMessage<'a>>, mut blocks: Vec<AnthropicBlock<'a>>) {
    if let Some(AnthropicMessage { role: "user", content: AnthropicContent::Blocks(before) }) = turns.last_mut() {
        before.append(&mut blocks);
        before.sort_by_key(|block| !block.is_result());
    } else if !blocks.is_empty() {
        turns.push(AnthropicMessage { role: "user", content: AnthropicContent::Blocks(blocks) });
    }
}

/// Returns what stands for a reply; nothing where it would be empty, because an empty turn is refused.
fn content<'a>(model: &str, reply: &'a Reply, names: &OfferedNames) -> Option<AnthropicContent<'a>> {
    let native = &reply.native;
    if native.wire == Wire::Anthropic && native.model == model {
        return (native.json.get() != "[]").then_some(AnthropicContent::Native(&native.json));
    }
    let blocks: Vec<AnthropicBlock<'a>> = reply.parts.iter().filter_map(|part| block(part, names)).collect();
    (!blocks.is_empty()).then_some(AnthropicContent::Blocks(blocks))
}

fn block<'a>(part: &'a ReplyPart, names: &OfferedNames) -> Option<AnthropicBlock<'a>> {
    let says = match part {
        ReplyPart::Text(text) | ReplyPart::Refusal(text) => {
            return (!text.trim().is_empty()).then(|| AnthropicBlock::text(text));
        }
        // It is signed for those who said it.
        ReplyPart::Thinking(_) => return None,
        ReplyPart::Call(call) => {
            Says::ToolUse { id: safe_id(&call.id), name: names.wire(&call.name), input: arguments_or_nothing(call) }
        }
    };
    Some(AnthropicBlock { says, cache_control: None })
}

/// Marks where the provider is to keep what it has read: at the end, for the next request, and at the end of the turn
/// before, which is where the last request ended.
fn mark_for_cache(turns: &mut [AnthropicMessage<'_>]) {
    let of_user = turns.iter_mut().rev().filter_map(|turn| match &mut turn.content {
        AnthropicContent::Blocks(blocks) if turn.role == "user" => blocks.last_mut(),
        AnthropicContent::Blocks(_) | AnthropicContent::Native(_) => None,
    });
    of_user.take(2).for_each(AnthropicBlock::keep_until_here);
}

fn is_empty(tools: &Value) -> bool {
    tools.as_array().is_none_or(Vec::is_empty)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
