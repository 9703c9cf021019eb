//! Differences between OpenAI and other servers of OpenAI Chat Completions.
//!
//! haft recognizes a server by its address, or by a setting where a proxy hides it. This table contains only what a
//! server's own documentation or published types say; an unknown server gets what all of them accept.
//!
//! Not here: differences in a stream. `chat/reading.rs` reads all of them from every server, because a proxy passes on
//! what it gets.

use std::fmt;

/// A server of OpenAI Chat Completions, as far as haft recognizes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChatServer {
    /// OpenAI itself.
    OpenAi,
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// The server of llama.cpp.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// OpenRouter.
    OpenRouter,
    /// Groq.
    Groq,
    /// DeepSeek.
    DeepSeek,
    /// Mistral.
    Mistral,
    /// xAI.
    Xai,
    /// Anybody else.
    #[default]
    Other,
}

/// Whose address ends in this, or is this port.
const HOSTS: [(&str, ChatServer); 6] = [
    ("api.openai.com", ChatServer::OpenAi),
    ("openrouter.ai", ChatServer::OpenRouter),
    ("api.groq.com", ChatServer::Groq),
    ("api.deepseek.com", ChatServer::DeepSeek),
    ("api.mistral.ai", ChatServer::Mistral),
    ("api.x.ai", ChatServer::Xai),
];
const PORTS: [(&str, ChatServer); 4] = [
    ("11434", ChatServer::Ollama),
    ("1234", ChatServer::LmStudio),
    ("8080", ChatServer::LlamaCpp),
    ("8000", ChatServer::Vllm),
];

impl ChatServer {
    /// All of them.
    pub const ALL: [ChatServer; 11] = [
        ChatServer::OpenAi,
        ChatServer::Ollama,
        ChatServer::LmStudio,
        ChatServer::LlamaCpp,
        ChatServer::Vllm,
        ChatServer::OpenRouter,
        ChatServer::Groq,
        ChatServer::DeepSeek,
        ChatServer::Mistral,
        ChatServer::Xai,
        ChatServer::Other,
    ];

    /// Returns the server at an address, by its host or by the default port of a local server.
    pub fn of(base_url: &str) -> ChatServer {
        let (host, port) = host_and_port(base_url);
        let is_at = |name: &str| host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        let by_host = HOSTS.iter().find(|(name, _)| is_at(name));
        let by_port = || PORTS.iter().find(|(usual, _)| *usual == port);
        by_host.or_else(by_port).map_or(ChatServer::Other, |(_, server)| *server)
    }

    /// Returns the name used in settings.
    pub fn name(self) -> &'static str {
        match self {
            ChatServer::OpenAi => "openai",
            ChatServer::Ollama => "ollama",
            ChatServer::LmStudio => "lm-studio",
            ChatServer::LlamaCpp => "llama.cpp",
            ChatServer::Vllm => "vllm",
            ChatServer::OpenRouter => "openrouter",
            ChatServer::Groq => "groq",
            ChatServer::DeepSeek => "deepseek",
            ChatServer::Mistral => "mistral",
            ChatServer::Xai => "xai",
            ChatServer::Other => "other",
        }
    }
}

impl fmt::Display for ChatServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a server wants otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// The member that says how long a reply may be.
    pub length: LengthMember,
    /// Whose words the instructions are.
    pub instructions: InstructionsRole,
    /// Whether the usage has to be asked for.
    pub usage: UsageComes,
    /// Which ids of calls it takes.
    pub ids: IdForm,
    /// What it wants to read of what another model thought.
    pub foreign_thoughts: ForeignThoughts,
    /// Whether several calls in one reply have to be asked for.
    pub several_calls: SeveralCalls,
    /// Whether a beginning of the conversation is kept only when asked for.
    pub cache: CacheComes,
    /// Where it is said how much to think.
    pub effort: EffortGoes,
    /// What the text of its models may hold.
    pub text: TextMay,
    /// Who may speak right behind results.
    pub after_results: AfterResults,
}

/// The member that says how long a reply may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthMember {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Whose words the instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionsRole {
    /// `system`
    System,
    /// `developer`
    Developer,
}

/// How the usage comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageComes {
    /// When `stream_options.include_usage` is set.
    WhenAsked,
    /// Always; there is no such option.
    Always,
}

/// Which ids of calls a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// Any.
    Any,
    /// Nine letters and digits.
    Nine,
    /// Nine letters and digits for models of Mistral, any for others.
    NineForMistral,
}

/// What a server wants to read of what another model thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignThoughts {
    /// Nothing.
    LeftOut,
    /// Something, in every message with calls.
    WithCalls,
}

/// How several calls in one reply come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeveralCalls {
    /// By themselves.
    ByDefault,
    /// When `parallel_tool_calls` is set.
    WhenAsked,
}

/// How a beginning of the conversation comes to be kept by the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheComes {
    /// By itself, or never.
    ByItself,
    /// With `cache_control` beside the messages, for models of Anthropic.
    WhenAskedForAnthropic,
}

/// Where it is said how much a model shall think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortGoes {
    /// Into `reasoning_effort`.
    IntoTheRequest,
    /// There, and among the values for the template of the conversation.
    IntoTheTemplateToo,
}

/// What the text of a model may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextMay {
    /// Calls, and what was thought: what models write is passed on where the server does not recognise it.
    HoldOthers,
    /// Text and nothing else.
    BeTextOnly,
}

/// Who may speak right behind the results of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterResults {
    /// Anybody.
    Anybody,
    /// Only the model.
    TheModel,
    /// The model for models of Mistral, anybody for others.
    TheModelForMistral,
}

impl Default for Quirks {
    fn default() -> Quirks {
        Quirks {
            length: LengthMember::MaxTokens,
            instructions: InstructionsRole::System,
            usage: UsageComes::WhenAsked,
            ids: IdForm::Any,
            foreign_thoughts: ForeignThoughts::LeftOut,
            several_calls: SeveralCalls::ByDefault,
            cache: CacheComes::ByItself,
            effort: EffortGoes::IntoTheRequest,
            text: TextMay::HoldOthers,
            after_results: AfterResults::Anybody,
        }
    }
}

impl Quirks {
    /// Returns what the server at an address wants.
    pub fn of(base_url: &str) -> Quirks {
        Quirks::of_server(ChatServer::of(base_url))
    }

    /// Returns what a server wants.
    pub fn of_server(server: ChatServer) -> Quirks {
        let usual = Quirks::default();
        match server {
            ChatServer::OpenAi => Quirks {
                // API reference: max_tokens is deprecated and refused by reasoning models.
                length: LengthMember::MaxCompletionTokens,
                // API reference: replaces system messages from o1 on.
                instructions: InstructionsRole::Developer,
                // Published types: calls come in `tool_calls`, and its models are trained to make them there.
                text: TextMay::BeTextOnly,
                ..usual
            },
            ChatServer::LlamaCpp => Quirks {
                // Its function calling guide: several calls are off unless the request asks for them.
                several_calls: SeveralCalls::WhenAsked,
                // Its change 26941: before it, `reasoning_effort` was read only from the values for the template.
                effort: EffortGoes::IntoTheTemplateToo,
                ..usual
            },
            ChatServer::OpenRouter => Quirks {
                // Published types: max_tokens is deprecated.
                length: LengthMember::MaxCompletionTokens,
                // Published types: set beside the messages, it marks the last block that can be kept.
                cache: CacheComes::WhenAskedForAnthropic,
                // It passes requests on as they are.
                ids: IdForm::NineForMistral,
                after_results: AfterResults::TheModelForMistral,
                ..usual
            },
            ChatServer::Groq => Quirks {
                // Published types: max_tokens is deprecated.
                length: LengthMember::MaxCompletionTokens,
                // Published types: no stream_options; the last chunk has the usage in `x_groq`.
                usage: UsageComes::Always,
                ..usual
            },
            ChatServer::Mistral => Quirks {
                // Published types: no stream_options; the last chunk has the usage.
                usage: UsageComes::Always,
                // Its answer to others: "must be a-z, A-Z, 0-9, with a length of 9".
                ids: IdForm::Nine,
                // Its answer, with code 3230: "Unexpected role 'user' after role 'tool'".
                after_results: AfterResults::TheModel,
                ..usual
            },
            // Guide to thinking: a message with calls that does not say what was thought is refused.
            ChatServer::DeepSeek => Quirks { foreign_thoughts: ForeignThoughts::WithCalls, ..usual },
            // Ollama's list of supported members has max_tokens and stream_options, and not the newer name. Of the others
            // nothing was found documented that differs.
            ChatServer::Ollama | ChatServer::LmStudio | ChatServer::Vllm | ChatServer::Xai | ChatServer::Other => usual,
        }
    }
}

fn host_and_port(base_url: &str) -> (String, &str) {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    // The colons inside the brackets of an IPv6 address separate no port.
    let after_brackets = place.rfind(']').map_or(0, |end| end + 1);
    let colon = place.get(after_brackets..).and_then(|rest| rest.find(':')).map(|at| after_brackets + at);
    let (host, port) = match colon {
        Some(colon) => (place.get(..colon).unwrap_or(place), place.get(colon + 1..).unwrap_or_default()),
        None => (place, ""),
    };
    (host.trim_end_matches('.').to_ascii_lowercase(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_address() {
        let cases = [
            ("https://api.openai.com/v1", ChatServer::OpenAi),
            ("https://API.OpenAI.com:443/v1", ChatServer::OpenAi),
            ("https://eu.api.openai.com/v1", ChatServer::OpenAi),
            ("https://openrouter.ai/api/v1", ChatServer::OpenRouter),
            ("https://api.groq.com/openai/v1", ChatServer::Groq),
            ("https://api.deepseek.com", ChatServer::DeepSeek),
            ("https://user:secret@api.mistral.ai/v1", ChatServer::Mistral),
            ("https://api.x.ai/v1", ChatServer::Xai),
            ("http://localhost:11434/v1", ChatServer::Ollama),
            ("http://192.168.1.5:1234/v1", ChatServer::LmStudio),
            ("http://[::1]:8080/v1", ChatServer::LlamaCpp),
            ("127.0.0.1:8000", ChatServer::Vllm),
            ("http://[::1]/v1", ChatServer::Other),
            ("https://notopenrouter.ai/v1", ChatServer::Other),
            ("https://example.com/api.openai.com", ChatServer::Other),
            ("", ChatServer::Other),
            ("://@:", ChatServer::Other),
        ];
        for (base_url, server) in cases {
            assert_eq!(ChatServer::of(base_url), server, "{base_url}");
        }
    }
}
