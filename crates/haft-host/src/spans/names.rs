//! The names of the OpenTelemetry conventions for generative AI, and haft's own beside them.
//!
//! The conventions are still marked as in development, so only this file contains the names. They come from the published
//! packages opentelemetry-semantic-conventions 0.66b2 and opentelemetry-util-genai 1.3b0.

use haft_model::client::Endpoint;
use haft_model::conversation::StopReason;
use haft_model::provider::ModelErrorKind;
use haft_model::wire::Wire;

use crate::opening::model::providers::ModelProvider;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
pub(super) const CHAT: &str = "chat";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";

pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const AGENT_VERSION: &str = "gen_ai.agent.version";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const STREAM: &str = "gen_ai.request.stream";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// In seconds.
pub(super) const FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITTEN_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const SERVER: &str = "server.address";
pub(super) const PORT: &str = "server.port";
pub(super) const ERROR: &str = "error.type";

/// How a run ended, as the record `ended` says it.
pub(super) const HOW: &str = "haft.how";
pub(super) const STEPS: &str = "haft.steps";
/// How often the provider was asked again.
pub(super) const AGAIN: &str = "haft.again";
pub(super) const STATUS: &str = "haft.status";
/// The answer to the question about a call.
pub(super) const VERDICT: &str = "haft.verdict";
pub(super) const RULE: &str = "haft.rule";
pub(super) const EXIT_CODE: &str = "haft.exit_code";
pub(super) const SANDBOX: &str = "haft.sandbox";
pub(super) const DID: &str = "haft.did";
pub(super) const CHANGE_SET: &str = "haft.change_set";

/// Names the provider: by its own host, else by the form in which it is spoken to.
pub(super) fn provider(endpoint: &Endpoint) -> &'static str {
    let known = ModelProvider::at(&endpoint.base_url).and_then(|provider| of_provider(provider.name));
    known.unwrap_or(match endpoint.wire {
        Wire::Anthropic => "anthropic",
        Wire::Responses | Wire::Chat => "openai",
        Wire::Gemini => "gcp.gemini",
    })
}

fn of_provider(name: &str) -> Option<&'static str> {
    match name {
        "Anthropic" => Some("anthropic"),
        "OpenAI" => Some("openai"),
        "Gemini" => Some("gcp.gemini"),
        "OpenRouter" => Some("openrouter"),
        "Groq" => Some("groq"),
        "DeepSeek" => Some("deepseek"),
        "Mistral" => Some("mistral_ai"),
        "xAI" => Some("x_ai"),
        _ => None,
    }
}

/// Names why a reply ended.
pub(super) fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Finished => "stop",
        StopReason::Calls => "tool_call",
        StopReason::Length => "length",
        StopReason::Refused => "content_filter",
        StopReason::Paused => "pause",
        StopReason::Cut => "error",
    }
}

/// Names why there is no reply.
pub(super) fn model_error(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Unreachable => "unreachable",
        ModelErrorKind::NotAdmitted => "not_admitted",
        ModelErrorKind::BadRequest => "bad_request",
        ModelErrorKind::TooLong => "too_long",
        ModelErrorKind::Limited => "limited",
        ModelErrorKind::NoCredit => "no_credit",
        ModelErrorKind::Broken => "broken",
        ModelErrorKind::TimedOut => "timed_out",
        ModelErrorKind::Stopped => "stopped",
    }
}

/// Returns host and port of an address.
pub(super) fn server(base_url: &str) -> Option<(String, i64)> {
    let (scheme, rest) = base_url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let usual = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    // An address of IPv6 has colons inside of its brackets.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().unwrap_or(usual)),
        Some(_) | None => (authority, usual),
    };
    Some((host.trim_matches(['[', ']']).to_ascii_lowercase(), port)).filter(|(host, _)| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::model::providers::PROVIDERS;

    #[test]
    fn every_provider_that_haft_knows_has_its_name() {
        for provider in &PROVIDERS {
            assert!(of_provider(provider.name).is_some(), "{}", provider.name);
        }
    }

    #[test]
    fn a_server_is_named_by_host_and_port_and_by_nothing_else() {
        let check = |url: &str, host: &str, port| assert_eq!(server(url), Some((host.to_owned(), port)), "{url}");
        check("https://API.example.org/v1", "api.example.org", 443);
        check("http://127.0.0.1:11434/v1", "127.0.0.1", 11434);
        check("http://[::1]:8080", "::1", 8080);
        check("http://[::1]/v1", "::1", 80);
        check("https://user:key@host:1/v1", "host", 1);
        assert_eq!(server("https:///v1"), None);
    }
}
