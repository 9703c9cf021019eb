//! Writes a request of Anthropic's Messages.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::thinking::Thinking;
use crate::conversation::{Answer, Image, Message, Part, Reply};
use crate::foreign::{arguments_or_nothing, safe_id};
use crate::offered_names::OfferedNames;
use crate::provider::Request;
use crate::wire::Wire;

/// How long a reply may be where nobody says: a limit has to be named, and a model takes no larger one than its own.
const MOST_TOKENS: u32 = 32_000;
/// The same for families of models that take less.
const MOST_TOKENS_OF: [(&str, u32); 4] =
    [("claude-3-7", 32_000), ("claude-3-5", 8_192), ("claude-3", 4_096), ("claude-2", 4_096)];

/// Said where somebody said nothing: an empty text is refused.
const NOTHING: &str = "(empty)";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "is_empty")]
    tools: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(flatten)]
    thinking: Thinking,
    messages: Vec<Turn<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Native(&'a RawValue),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
struct Block<'a> {
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
        source: Source<'a>,
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
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: &'a str },
    Image { source: Source<'a> },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> Source<'a> {
    fn of(image: &'a Image) -> Self {
        Source { r#type: "base64", media_type: &image.media_type, data: &image.base64 }
    }
}

impl<'a> ResultContent<'a> {
    fn of(answer: &'a Answer) -> Self {
        let text = if answer.text.trim().is_empty() { NOTHING } else { &answer.text };
        if answer.images.is_empty() {
            return ResultContent::Text(if answer.text.is_empty() { NOTHING } else { &answer.text });
        }
        let image = |image: &'a Image| Piece::Image { source: Source::of(image) };
        ResultContent::Pieces([Piece::Text { text }].into_iter().chain(answer.images.iter().map(image)).collect())
    }
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

impl<'a> Block<'a> {
    fn text(text: &'a str) -> Block<'a> {
        let text = if text.trim().is_empty() { NOTHING } else { text };
        Block { says: Says::Text { text }, cache_control: None }
    }

    fn image(image: &'a Image) -> Block<'a> {
        Block { says: Says::Image { source: Source::of(image) }, cache_control: None }
    }

    fn result(answer: &'a Answer) -> Block<'a> {
        let says = Says::ToolResult {
            tool_use_id: safe_id(&answer.call),
            content: ResultContent::of(answer),
            // Its answer to others: "all content must be type text if is_error is true". The text says what failed.
            is_error: answer.is_error && answer.images.is_empty(),
        };
        Block { says, cache_control: None }
    }

    fn is_result(&self) -> bool {
        matches!(self.says, Says::ToolResult { .. })
    }

    fn keep_until_here(&mut self) {
        self.cache_control = Some(CacheControl { r#type: "ephemeral" });
    }
}

/// Writes a request.
pub(super) fn written(model: &str, request: &Request<'_>) -> Vec<u8> {
    let mut system = Vec::new();
    if !request.instructions.trim().is_empty() {
        system.push(Block::text(request.instructions));
        // Tools stand before the instructions, so one mark keeps both.
        system.iter_mut().for_each(Block::keep_until_here);
    }
    let tools = request.tools.request_value();
    let must_call = request.must_call && !is_empty(&tools);
    let max_tokens = request.most_tokens.unwrap_or_else(|| most_tokens(model));
    let messages = turns(model, request);
    let thinking = request.effort.map(|effort| Thinking::of(model, effort, max_tokens)).unwrap_or_default();
    let thinking = thinking.not_in_a_turn_without(answers_calls_without_thoughts(&messages));
    let body = Body {
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

fn turns<'a>(model: &str, request: &Request<'a>) -> Vec<Turn<'a>> {
    let names = OfferedNames::of(request.tools);
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in request.messages {
        match message {
            Message::User { text, images } => {
                add_to_user(&mut turns, images.iter().map(Block::image).chain([Block::text(text)]).collect());
            }
            Message::Tools { answers } => add_to_user(&mut turns, answers.iter().map(Block::result).collect()),
            Message::Model(reply) => {
                let content = content(model, reply, &names);
                turns.extend(content.map(|content| Turn { role: "assistant", content }));
            }
        }
    }
    mark_for_cache(&mut turns);
    turns
}

/// Returns whether the request ends with the results of calls before which nothing was thought.
fn answers_calls_without_thoughts(turns: &[Turn<'_>]) -> bool {
    let [.., called, last] = turns else { return false };
    let has_results = matches!(&last.content, Content::Blocks(blocks) if blocks.iter().any(Block::is_result));
    let begins_with_thought = match &called.content {
        Content::Native(json) => {
            let begin: Vec<Kind<'_>> = serde_json::from_str(json.get()).unwrap_or_default();
            begin.first().is_some_and(|first| first.r#type.ends_with("thinking"))
        }
        Content::Blocks(_) => false,
    };
    has_results && !begins_with_thought
}

/// Which sort of block one is.
#[derive(serde::Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    r#type: std::borrow::Cow<'a, str>,
}

/// Puts blocks into the user's turn, results before everything else.
fn add_to_user<'a>(turns: &mut Vec<Turn<'a>>, mut blocks: Vec<Block<'a>>) {
    if let Some(Turn { role: "user", content: Content::Blocks(before) }) = turns.last_mut() {
        before.append(&mut blocks);
        before.sort_by_key(|block| !block.is_result());
    } else if !blocks.is_empty() {
        turns.push(Turn { role: "user", content: Content::Blocks(blocks) });
    }
}

/// Returns what stands for a reply; nothing where it would be empty, because an empty turn is refused.
fn content<'a>(model: &str, reply: &'a Reply, names: &OfferedNames) -> Option<Content<'a>> {
    let native = &reply.native;
    if native.wire == Wire::Anthropic && native.model == model {
        return (native.json.get() != "[]").then_some(Content::Native(&native.json));
    }
    let blocks: Vec<Block<'a>> = reply.parts.iter().filter_map(|part| block(part, names)).collect();
    (!blocks.is_empty()).then_some(Content::Blocks(blocks))
}

fn block<'a>(part: &'a Part, names: &OfferedNames) -> Option<Block<'a>> {
    let says = match part {
        Part::Text(text) | Part::Refusal(text) => return (!text.trim().is_empty()).then(|| Block::text(text)),
        // It is signed for those who said it.
        Part::Thinking(_) => return None,
        Part::Call(call) => {
            Says::ToolUse { id: safe_id(&call.id), name: names.wire(&call.name), input: arguments_or_nothing(call) }
        }
    };
    Some(Block { says, cache_control: None })
}

/// Marks where the provider is to keep what it has read: at the end, for the next request, and at the end of the turn
/// before, which is where the last request ended.
fn mark_for_cache(turns: &mut [Turn<'_>]) {
    let of_user = turns.iter_mut().rev().filter_map(|turn| match &mut turn.content {
        Content::Blocks(blocks) if turn.role == "user" => blocks.last_mut(),
        Content::Blocks(_) | Content::Native(_) => None,
    });
    of_user.take(2).for_each(Block::keep_until_here);
}

fn is_empty(tools: &Value) -> bool {
    tools.as_array().is_none_or(Vec::is_empty)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
