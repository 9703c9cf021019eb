//! The shape of requests, as the providers' own libraries publish it (PyPI `anthropic` 2.8.0 and `openai` 3.49.0).
//!
//! Only what haft may send is here, and nothing else is let through: a member that the published types do not have is
//! refused by the provider too.

use haft_model::wire::Wire;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Fails where a request is none of this wire.
pub fn check(wire: Wire, body: &str) {
    let fits = match wire {
        Wire::Anthropic => serde_json::from_str(body).map(|request: MessageCreateParams| request.check()),
        Wire::Responses => serde_json::from_str(body).map(|request: ResponseCreateParams| request.check()),
        Wire::Chat | Wire::Gemini => panic!("not of this test"),
    };
    if let Err(error) = fits {
        panic!("the request does not fit the published types: {error}\n{body}");
    }
}

/// What both providers say of names in their refusals: `^[a-zA-Z0-9_-]{1,64}$`.
fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageCreateParams {
    #[expect(dead_code, reason = "it has to be there")]
    model: String,
    max_tokens: u32,
    messages: Vec<MessageParam>,
    system: Vec<BlockParam>,
    tools: Vec<ToolParam>,
    #[expect(dead_code, reason = "it may be there")]
    tool_choice: Option<Value>,
    thinking: Option<ThinkingConfigParam>,
    #[expect(dead_code, reason = "it may be there")]
    output_config: Option<WithEffort>,
    stream: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ThinkingConfigParam {
    Adaptive {},
    Enabled { budget_tokens: u32 },
}

/// `OutputConfigParam` of one, `Reasoning` of the other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithEffort {
    #[expect(dead_code, reason = "it has to be there")]
    effort: EffortParam,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EffortParam {
    Low,
    Medium,
    High,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageParam {
    role: Role,
    content: Vec<BlockParam>,
}

#[derive(Deserialize, PartialEq, Eq, Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolParam {
    #[expect(dead_code, reason = "it has to be there")]
    name: String,
    #[expect(dead_code, reason = "it has to be there")]
    description: String,
    #[expect(dead_code, reason = "it has to be there")]
    input_schema: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum BlockParam {
    Known(KnownBlock),
    /// Of the provider's own tools, and of sorts that are not published yet.
    Other(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum KnownBlock {
    Text {
        text: String,
        cache_control: Option<CacheControl>,
        citations: Option<Vec<Value>>,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Map<String, Value>,
        caller: Option<Value>,
    },
    ToolResult {
        tool_use_id: String,
        content: ResultContent,
        #[serde(default)]
        is_error: bool,
        cache_control: Option<CacheControl>,
    },
}

/// What a result holds: a text, or texts and images.
#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum ResultContent {
    Text(String),
    Pieces(Vec<ResultPiece>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum ResultPiece {
    Text { text: String },
    Image { source: Base64ImageSource },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
struct Base64ImageSource {
    r#type: Base64,
    media_type: ImageMediaType,
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Base64 {
    Base64,
}

#[derive(Deserialize)]
enum ImageMediaType {
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/webp")]
    Webp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheControl {
    r#type: String,
}

impl MessageCreateParams {
    /// What the types do not say, and the provider asks for.
    fn check(&self) {
        assert!(self.stream && self.max_tokens > 0 && !self.tools.is_empty());
        if let Some(ThinkingConfigParam::Enabled { budget_tokens }) = self.thinking {
            assert!((1024..self.max_tokens).contains(&budget_tokens), "{budget_tokens}");
        }
        let marks = self.system.iter().chain(self.messages.iter().flat_map(|message| &message.content));
        let marks = marks.filter_map(BlockParam::cache_control).inspect(|mark| assert_eq!(mark.r#type, "ephemeral"));
        assert!(marks.count() <= 4, "at most four marks for the cache");
        let mut open: Vec<&str> = Vec::new();
        for message in &self.messages {
            assert!(!message.content.is_empty(), "no turn is empty");
            let mut results_are_over = false;
            for block in &message.content {
                match (block, message.role) {
                    (BlockParam::Known(KnownBlock::ToolResult { tool_use_id, content, is_error, .. }), Role::User) => {
                        assert!(!results_are_over, "results come first");
                        let has_pieces = matches!(content, ResultContent::Pieces(_));
                        assert!(!(has_pieces && *is_error), "what failed is text only");
                        let at = open.iter().position(|id| id == tool_use_id);
                        open.remove(at.expect("a result belongs to a call of the turn before"));
                    }
                    (BlockParam::Known(KnownBlock::ToolUse { id, name, .. }), Role::Assistant) => {
                        assert!(is_name(name), "{name}");
                        assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{id}");
                        assert!(!id.is_empty() && id.len() <= 64, "{id}");
                        open.push(id);
                    }
                    (BlockParam::Known(KnownBlock::Text { text, .. }), _) => {
                        assert!(!text.trim().is_empty(), "no text is empty");
                        results_are_over = true;
                    }
                    (BlockParam::Known(KnownBlock::Thinking { signature, .. }), Role::Assistant) => {
                        assert!(!signature.is_empty(), "what was thought is signed");
                    }
                    (BlockParam::Known(KnownBlock::RedactedThinking { .. }), Role::Assistant) => {}
                    (BlockParam::Other(block), Role::Assistant) => {
                        let known = ["text", "thinking", "redacted_thinking", "tool_use", "tool_result"];
                        let kind = block["type"].as_str().expect("a block has a type");
                        assert!(!known.contains(&kind), "this block does not fit: {block:?}");
                    }
                    (_, role) => panic!("a block that {role:?} does not say"),
                }
            }
            assert!(message.role == Role::Assistant || open.is_empty(), "calls without a result: {open:?}");
            assert!(!message.content.last().is_some_and(BlockParam::is_thought), "no turn ends with what was thought");
        }
    }
}

impl BlockParam {
    fn is_thought(&self) -> bool {
        matches!(self, BlockParam::Known(KnownBlock::Thinking { .. } | KnownBlock::RedactedThinking { .. }))
    }

    fn cache_control(&self) -> Option<&CacheControl> {
        match self {
            BlockParam::Known(
                KnownBlock::Text { cache_control, .. } | KnownBlock::ToolResult { cache_control, .. },
            ) => cache_control.as_ref(),
            BlockParam::Known(_) | BlockParam::Other(_) => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
struct ResponseCreateParams {
    model: String,
    instructions: Option<String>,
    input: Vec<InputItem>,
    tools: Vec<FunctionToolParam>,
    tool_choice: Option<String>,
    max_output_tokens: Option<u32>,
    reasoning: Option<WithEffort>,
    include: Vec<String>,
    store: bool,
    stream: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
struct FunctionToolParam {
    r#type: String,
    name: String,
    description: String,
    parameters: Map<String, Value>,
    strict: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InputItem {
    Easy(EasyInputMessage),
    Known(KnownItem),
    Other(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EasyInputMessage {
    role: Role,
    content: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum KnownItem {
    Message {
        id: String,
        role: Role,
        status: String,
        content: Vec<OutputContent>,
        phase: Option<String>,
    },
    Reasoning {
        id: String,
        summary: Vec<Value>,
        content: Option<Vec<Value>>,
        encrypted_content: Option<String>,
        status: Option<String>,
    },
    FunctionCall {
        id: Option<String>,
        call_id: String,
        name: String,
        arguments: String,
        status: Option<String>,
    },
    FunctionCallOutput {
        call_id: String,
        output: OutputParam,
    },
}

/// What came of a call: a text, or texts and images.
#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum OutputParam {
    Text(String),
    Pieces(Vec<InputContent>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum InputContent {
    InputText { text: String },
    InputImage { image_url: String },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[expect(dead_code, reason = "what is there is checked by being read")]
enum OutputContent {
    OutputText { text: String, annotations: Vec<Value>, logprobs: Option<Vec<Value>> },
    Refusal { refusal: String },
}

impl ResponseCreateParams {
    /// What the types do not say, and the provider asks for.
    fn check(&self) {
        assert!(self.stream && !self.store && self.include == ["reasoning.encrypted_content"]);
        let mut open: Vec<&str> = Vec::new();
        for (at, item) in self.input.iter().enumerate() {
            match item {
                InputItem::Known(KnownItem::FunctionCall { call_id, name, .. }) => {
                    assert!(is_name(name), "{name}");
                    assert!(!call_id.is_empty() && call_id.len() <= 64, "{call_id}");
                    open.push(call_id);
                }
                InputItem::Known(KnownItem::FunctionCallOutput { call_id, .. }) => {
                    let at = open.iter().position(|id| id == call_id);
                    open.remove(at.expect("an output belongs to a call before it"));
                }
                InputItem::Known(KnownItem::Reasoning { .. }) => {
                    let follows = self.input.get(at + 1);
                    let is_reply =
                        !matches!(follows, None | Some(InputItem::Easy(EasyInputMessage { role: Role::User, .. })));
                    assert!(is_reply, "what was thought is followed by what came of it");
                }
                InputItem::Easy(message) => {
                    assert!(message.role == Role::Assistant || open.is_empty(), "calls without an output: {open:?}");
                    assert!(!message.content.is_empty());
                }
                InputItem::Known(KnownItem::Message { .. }) => {}
                InputItem::Other(item) => {
                    let known = ["message", "reasoning", "function_call", "function_call_output"];
                    let kind = item["type"].as_str().expect("an item has a type");
                    assert!(!known.contains(&kind), "this item does not fit: {item:?}");
                }
            }
        }
        assert!(open.is_empty(), "calls without an output: {open:?}");
    }
}
