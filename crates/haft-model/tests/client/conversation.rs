//! The conversation that all tests have, and one way to ask.

use std::sync::Mutex;
use std::time::Duration;

use haft_model::client::{Endpoint, ModelConnection, Times};
use haft_model::conversation::{Message, Reply, ReplyPart, ToolAnswer};
use haft_model::lower::{LoweredList, ProviderDialect, ToolOffer, lower_all};
use haft_model::provider::{LanguageModel, ModelError, ModelRequest, ReplyEvent};
use haft_model::quirks::Quirks;
use haft_model::wire::Wire;
use haft_net::HttpClient;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::server::Server;

pub const KEY: &str = "sk-test-0123456789abcdef";

/// Returns the model that a wire is asked for.
pub fn model(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "claude-sonnet-4-5",
        Wire::Responses => "gpt-5.2",
        Wire::Chat | Wire::Gemini => "another",
    }
}

/// Times in which nothing waits for long, and nothing ends early.
pub fn quick() -> Times {
    Times { back_off: Duration::from_millis(1), ..Times::default() }
}

pub fn endpoint(wire: Wire, server: &Server) -> Endpoint {
    endpoint_at(wire, &server.base_url)
}

pub fn endpoint_at(wire: Wire, base_url: &str) -> Endpoint {
    Endpoint {
        wire,
        base_url: base_url.to_owned(),
        model: model(wire).to_owned(),
        key: Some(KEY.into()),
        quirks: Quirks::of(base_url),
        times: quick(),
    }
}

/// What came of asking: the reply or the error, and everything that was told on the way.
pub struct Outcome {
    pub reply: Result<Reply, ModelError>,
    pub told: Vec<String>,
}

impl Outcome {
    /// Returns the pauses that were told.
    pub fn pauses(&self) -> Vec<&str> {
        self.told.iter().filter_map(|piece| piece.strip_prefix("again ")).collect()
    }

    /// Returns the kind of the error and its words.
    pub fn error(&self) -> String {
        match &self.reply {
            Ok(reply) => panic!("there is a reply: {reply:?}"),
            Err(error) => format!("{:?}: {} Next: {}", error.kind, error.what, error.next),
        }
    }

    pub fn text(&self) -> String {
        self.reply.as_ref().unwrap_or_else(|error| panic!("there is no reply: {error:?}")).text()
    }
}

pub fn said(text: &str) -> Message {
    Message::user(text.to_owned())
}

/// Returns the answers that follow a reply, or the next words where it calls nothing.
pub fn next_after(reply: &Reply) -> Vec<Message> {
    let answers: Vec<ToolAnswer> = reply
        .calls()
        .map(|call| ToolAnswer {
            call: call.id.clone(),
            name: call.name.clone(),
            text: if call.is_cut { "The call was cut off.".to_owned() } else { format!("{} worked.", call.name) },
            is_error: call.is_cut,
            images: Vec::new(),
        })
        .collect();
    if answers.is_empty() { vec![said("Go on.")] } else { vec![Message::Tools { answers }] }
}

pub fn tools(wire: Wire) -> LoweredList {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let offered = ["read_file", "fs.list", "bash"].map(|name| ToolOffer {
        name,
        title: None,
        description: "Does it.",
        input_schema: &schema,
        read_only: None,
    });
    let provider = match wire {
        Wire::Anthropic => ProviderDialect::Anthropic,
        Wire::Responses | Wire::Chat => ProviderDialect::OpenAi,
        Wire::Gemini => ProviderDialect::Gemini,
    };
    lower_all(&offered, provider)
}

/// Asks once, without a stop.
pub async fn ask(endpoint: Endpoint, messages: &[Message]) -> Outcome {
    ask_until(&ModelConnection::new(endpoint, HttpClient::new()), messages, &CancellationToken::new(), |_| {}).await
}

/// Asks a connection; each piece that is told is also shown to `seen`.
pub async fn ask_until(
    connection: &ModelConnection,
    messages: &[Message],
    stop: &CancellationToken,
    seen: impl Fn(&str) + Send + Sync,
) -> Outcome {
    let tools = tools(connection.wire());
    let request = ModelRequest {
        instructions: "Be brief.",
        tools: &tools,
        messages,
        most_tokens: None,
        effort: None,
        must_call: false,
    };
    let told = Mutex::new(Vec::new());
    let hear = |piece: ReplyEvent<'_>| {
        let line = line(piece);
        seen(&line);
        told.lock().expect("nobody panics with it").push(line);
    };
    let reply = connection.reply(&request, &hear, stop).await;
    Outcome { reply, told: told.into_inner().expect("nobody panics with it") }
}

fn line(piece: ReplyEvent<'_>) -> String {
    match piece {
        ReplyEvent::Text(text) => format!("text {text:?}"),
        ReplyEvent::Thinking(text) => format!("thinking {text:?}"),
        ReplyEvent::CallBegins(call, name) => format!("call {call} {name}"),
        ReplyEvent::Arguments(call, text) => format!("arguments {call} {text:?}"),
        ReplyEvent::Usage(usage) => format!(
            "usage {} in, {} out, {} read, {} written",
            usage.input, usage.output, usage.cache_read, usage.cache_written
        ),
        ReplyEvent::Again(pause, why) => format!("again {pause:?}: {why}"),
    }
}

/// Writes a part on one line.
pub fn part(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Text(text) => format!("text {text:?}"),
        ReplyPart::Thinking(text) => format!("thinking {text:?}"),
        ReplyPart::Refusal(text) => format!("refusal {text:?}"),
        ReplyPart::Call(call) => {
            let cut = if call.is_cut { ", cut" } else { "" };
            format!("call {} {}({}){cut}", call.id, call.name, call.arguments)
        }
    }
}
