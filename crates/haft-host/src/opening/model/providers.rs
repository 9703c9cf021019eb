//! Lists the providers that haft finds by their keys, and the local servers that it finds by their ports.

use haft_config::environment::NotText;
use haft_config::keys::{ApiKey, ApiKeys};
use haft_model::wire::Wire;

/// A provider that requires a key.
#[derive(Debug)]
pub struct ModelProvider {
    pub name: &'static str,
    /// Where its key is, the first that is set.
    pub variables: &'static [&'static str],
    /// The form of its requests by default.
    pub wire: Wire,
    pub base_url: &'static str,
    /// How the names of its models begin.
    begins: &'static [&'static str],
}

/// In the order in which they are taken where nothing else decides.
pub const PROVIDERS: [ModelProvider; 8] = [
    ModelProvider {
        name: "Anthropic",
        variables: &["ANTHROPIC_API_KEY"],
        wire: Wire::Anthropic,
        base_url: "https://api.anthropic.com",
        begins: &["claude"],
    },
    ModelProvider {
        name: "OpenAI",
        variables: &["OPENAI_API_KEY"],
        wire: Wire::Responses,
        base_url: "https://api.openai.com/v1",
        begins: &["gpt-", "chatgpt", "codex", "o1", "o3", "o4"],
    },
    ModelProvider {
        name: "Gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        wire: Wire::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        begins: &["gemini", "gemma"],
    },
    ModelProvider {
        name: "OpenRouter",
        variables: &["OPENROUTER_API_KEY"],
        wire: Wire::Chat,
        base_url: "https://openrouter.ai/api/v1",
        begins: &[],
    },
    ModelProvider {
        name: "Groq",
        variables: &["GROQ_API_KEY"],
        wire: Wire::Chat,
        base_url: "https://api.groq.com/openai/v1",
        begins: &[],
    },
    ModelProvider {
        name: "DeepSeek",
        variables: &["DEEPSEEK_API_KEY"],
        wire: Wire::Chat,
        base_url: "https://api.deepseek.com/v1",
        begins: &["deepseek-"],
    },
    ModelProvider {
        name: "Mistral",
        variables: &["MISTRAL_API_KEY"],
        wire: Wire::Chat,
        base_url: "https://api.mistral.ai/v1",
        begins: &["mistral", "ministral", "magistral", "codestral", "devstral", "pixtral"],
    },
    ModelProvider {
        name: "xAI",
        variables: &["XAI_API_KEY"],
        wire: Wire::Chat,
        base_url: "https://api.x.ai/v1",
        begins: &["grok"],
    },
];

/// Servers on this machine, on their default ports. All speak Chat.
pub const LOCAL: [(&str, &str); 4] = [
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];

impl ModelProvider {
    /// Returns its key, where one is set.
    pub fn key(&self, keys: &ApiKeys) -> Result<Option<ApiKey>, NotText> {
        self.variables.iter().find_map(|name| keys.find(name).transpose()).transpose()
    }

    /// Returns whether it can be spoken to in this form.
    pub fn speaks(&self, wire: Wire) -> bool {
        self.wire == wire || self.wire == Wire::Responses && wire == Wire::Chat
    }

    /// Returns whether the name of a model says that it is one of its own.
    pub fn has(&self, model: &str) -> bool {
        // A name with a maker before it is what a provider of many makers has.
        if model.contains('/') {
            self.name == "OpenRouter"
        } else {
            self.begins.iter().any(|begin| model.starts_with(begin))
        }
    }

    /// Finds the provider that the name of a model says, or else a form that only one speaks.
    pub fn said_by(name: Option<&str>, wire: Option<Wire>) -> Option<&'static ModelProvider> {
        let mut fitting = PROVIDERS.iter().filter(|provider| wire.is_none_or(|wire| provider.speaks(wire)));
        let by_name = fitting.clone().find(|provider| name.is_some_and(|name| provider.has(name)));
        let is_telling = wire.is_some_and(|wire| wire != Wire::Chat);
        by_name.or_else(|| fitting.next().filter(|_| is_telling))
    }

    /// Finds the provider at an address. Only its own host is: a key must not reach another.
    pub fn at(base_url: &str) -> Option<&'static ModelProvider> {
        let secure = |url: &str| {
            url.split_once("://").filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https")).and(host_of(url))
        };
        let host = secure(base_url)?;
        PROVIDERS.iter().find(|provider| secure(provider.base_url).as_ref() == Some(&host))
    }
}

/// Returns the host of an address, in small letters, with its port where one is named.
pub fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    Some(authority.to_ascii_lowercase()).filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_its_own_host_alone() {
        let name = |url: &str| ModelProvider::at(url).map(|provider| provider.name);
        assert_eq!(name("https://API.anthropic.com/v1"), Some("Anthropic"));
        assert_eq!(name("HTTPS://api.anthropic.com/v1"), Some("Anthropic"));
        assert_eq!(name("https://api.openai.com"), Some("OpenAI"));
        for url in [
            "http://api.anthropic.com",
            "https://api.anthropic.com.example.org",
            "https://api.anthropic.com@example.org/",
            "https://example.org/api.anthropic.com",
            "https://example.org\\@api.anthropic.com",
            "https://api.anthropic.com:8443",
            "api.anthropic.com",
        ] {
            assert_eq!(name(url), None, "{url}");
        }
    }

    #[test]
    fn a_name_says_whose_it_is() {
        let whose = |model: &str| PROVIDERS.iter().find(|provider| provider.has(model)).map(|provider| provider.name);
        assert_eq!(whose("claude-sonnet-4-5"), Some("Anthropic"));
        assert_eq!(whose("gpt-5.2"), Some("OpenAI"));
        assert_eq!(whose("anthropic/claude-sonnet-4.5"), Some("OpenRouter"));
        assert_eq!(whose("qwen3:8b"), None);
    }
}
