//! Sends an API key only to the provider or the address that it was configured for.
//!
//! Flags, the environment and a session may name another model or another address than `config.toml`. Then the key and the
//! server of the file do not apply; other settings of the file may still count.

use haft_config::sections::model::ModelSection;
use haft_config::sections::model::server::ServerName;
use haft_model::quirks::ChatServer;

use super::choice::wire_of;
use super::providers::{ModelProvider, PROVIDERS};

/// The owner of the endpoint that requests go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointOwner<'a> {
    /// A provider, at its own host.
    Provider(&'static str),
    /// The server at this address.
    At(&'a str),
    /// Not said.
    Nobody,
}

/// Says whether the key that a file names is for what is spoken to.
pub fn key_of_file_is_for(file: &ModelSection, said: &ModelSection) -> bool {
    let owner = whose(file);
    let variable = file.key_env.as_deref().unwrap_or_default();
    let by_variable = PROVIDERS.iter().find(|provider| provider.variables.contains(&variable));
    // Who writes an address beside the variable of a provider means that address.
    let is_theirs = file.base_url.is_some() || by_variable.is_none_or(|by| owner == EndpointOwner::Provider(by.name));
    is_theirs && whose(said) == owner
}

/// Returns the server that a file names for its address, where that is spoken to.
pub fn server_of_file(file: &ModelSection, said: &ModelSection) -> Option<ChatServer> {
    let named = file.server.filter(|_| file.base_url.is_some() && whose(said) == whose(file))?;
    Some(match named {
        ServerName::OpenAi => ChatServer::OpenAi,
        ServerName::Ollama => ChatServer::Ollama,
        ServerName::LmStudio => ChatServer::LmStudio,
        ServerName::LlamaCpp => ChatServer::LlamaCpp,
        ServerName::Vllm => ChatServer::Vllm,
        ServerName::OpenRouter => ChatServer::OpenRouter,
        ServerName::Groq => ChatServer::Groq,
        ServerName::DeepSeek => ChatServer::DeepSeek,
        ServerName::Mistral => ChatServer::Mistral,
        ServerName::Xai => ChatServer::Xai,
        ServerName::Other => ChatServer::Other,
    })
}

fn whose(section: &ModelSection) -> EndpointOwner<'_> {
    let wire = section.wire.map(wire_of);
    match &section.base_url {
        Some(url) => ModelProvider::at(url).map_or(EndpointOwner::At(url.trim_end_matches('/')), EndpointOwner::of),
        None => ModelProvider::said_by(section.name.as_deref(), wire).map_or(EndpointOwner::Nobody, EndpointOwner::of),
    }
}

impl EndpointOwner<'_> {
    fn of(provider: &'static ModelProvider) -> Self {
        EndpointOwner::Provider(provider.name)
    }
}

#[cfg(test)]
mod tests {
    use haft_config::sections::model::WireName;

    use super::super::choice::over;
    use super::super::providers::host_of;
    use super::*;

    const NAMES: [Option<&str>; 7] = [
        None,
        Some("claude-sonnet-4-5"),
        Some("gpt-5.2"),
        Some("gemini-3-pro"),
        Some("mistral-large"),
        Some("qwen3:8b"),
        Some("anthropic/claude-sonnet-4.5"),
    ];
    const URLS: [Option<&str>; 5] = [
        None,
        Some("https://api.anthropic.com"),
        Some("http://api.anthropic.com"),
        Some("https://api.openai.com/v1"),
        Some("https://proxy.example/v1"),
    ];

    fn wires() -> impl Iterator<Item = Option<WireName>> {
        WireName::ALL.into_iter().map(Some).chain([None])
    }

    fn all() -> Vec<ModelSection> {
        let mut all = Vec::new();
        for name in NAMES {
            for url in URLS {
                all.extend(wires().map(|wire| ModelSection {
                    name: name.map(str::to_owned),
                    wire,
                    base_url: url.map(str::to_owned),
                    ..ModelSection::default()
                }));
            }
        }
        all
    }

    /// Returns scheme and host to which a request goes; nothing where that has to be found out elsewhere.
    fn goes_to(said: &ModelSection) -> Option<String> {
        let by_name =
            || ModelProvider::said_by(said.name.as_deref(), said.wire.map(wire_of)).map(|by| by.base_url.to_owned());
        let url = said.base_url.clone().or_else(by_name)?;
        Some(format!("{} {}", url.split_once("://")?.0, host_of(&url)?))
    }

    #[test]
    fn the_key_of_a_file_goes_where_the_file_means_whatever_is_said_today() {
        let (mut used, mut unused) = (0, 0);
        for variable in ["MY_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
            for file in all() {
                let file = ModelSection { key_env: Some(variable.to_owned()), ..file };
                for today in all() {
                    let said = over(today, file.clone());
                    if !key_of_file_is_for(&file, &said) {
                        unused += 1;
                        continue;
                    }
                    used += 1;
                    assert_eq!(goes_to(&said), goes_to(&file), "{file:?}\n{said:?}");
                    let of_provider = PROVIDERS.iter().find(|provider| provider.variables.contains(&variable));
                    if let Some(provider) = of_provider.filter(|_| file.base_url.is_none()) {
                        let host = host_of(provider.base_url).expect("a provider has a host");
                        assert_eq!(goes_to(&said), Some(format!("https {host}")), "{file:?}\n{said:?}");
                    }
                }
            }
        }
        assert!(used > 1_000 && unused > 1_000, "{used} {unused}");
    }

    #[test]
    fn the_key_of_a_file_is_used_for_what_the_file_says() {
        for file in all() {
            let file = ModelSection { key_env: Some("MY_KEY".to_owned()), ..file };
            assert!(key_of_file_is_for(&file, &file), "{file:?}");
            // A session says where it was spoken to last.
            let provider = ModelProvider::said_by(file.name.as_deref(), file.wire.map(wire_of));
            let url = file.base_url.clone().or_else(|| provider.map(|provider| provider.base_url.to_owned()));
            let session = ModelSection { base_url: url, ..file.clone() };
            assert!(key_of_file_is_for(&file, &session), "{file:?}");
        }
    }

    #[test]
    fn every_server_is_named_in_a_file_as_it_is_named_elsewhere() {
        for server in ChatServer::ALL {
            let named = serde_json::from_value(server.name().into()).expect("the file knows it");
            let base_url = Some("https://proxy.example/v1".to_owned());
            let file = ModelSection { server: Some(named), base_url, ..ModelSection::default() };
            assert_eq!(server_of_file(&file, &file), Some(server));
            let elsewhere = ModelSection { base_url: Some("https://other.example/v1".to_owned()), ..file.clone() };
            assert_eq!(server_of_file(&file, &elsewhere), None);
        }
    }
}
