//! Names the kind of server when its address does not show it: behind a proxy, or on an unusual port.
//!
//! Not here: how the servers differ (`haft-model`).

use serde::Deserialize;

use super::ModelSection;

/// A server that speaks OpenAI Chat Completions, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ServerName {
    /// OpenAI itself.
    #[serde(rename = "openai")]
    OpenAi,
    /// Ollama.
    #[serde(rename = "ollama")]
    Ollama,
    /// LM Studio.
    #[serde(rename = "lm-studio")]
    LmStudio,
    /// The server of llama.cpp.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    /// vLLM.
    #[serde(rename = "vllm")]
    Vllm,
    /// OpenRouter.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Groq.
    #[serde(rename = "groq")]
    Groq,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Mistral.
    #[serde(rename = "mistral")]
    Mistral,
    /// xAI.
    #[serde(rename = "xai")]
    Xai,
    /// Anybody else: nothing special is sent.
    #[serde(rename = "other")]
    Other,
}

/// Says what is wrong where a server is named that is nowhere.
pub(super) fn is_nowhere(model: &ModelSection) -> Option<(String, String)> {
    let is_nowhere = model.server.is_some() && model.base_url.is_none();
    is_nowhere.then(|| {
        let problem = "server names the program at base_url, and there is no base_url".to_owned();
        (problem, "add base_url under [model], or remove this line".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{check_config, parse};

    #[test]
    fn a_server_is_named_beside_its_address() {
        let text = |name: &str| format!("[model]\nbase_url = \"http://h/v1\"\nserver = \"{name}\"\n");
        let model = parse(&text("llama.cpp")).expect("it is in order").model;
        assert_eq!(model.server, Some(ServerName::LlamaCpp));
        let (line, _, fix) = check_config(&text("vlm")).expect_err("there is no such server");
        assert_eq!((line, fix.as_str()), (3, "did you mean `vllm`?"));
        let (line, _, fix) = check_config(&text("something")).expect_err("there is no such server");
        assert!(line == 3 && fix.contains("`lm-studio`") && fix.contains("`other`"), "{fix}");
        let (line, problem, _) = check_config("[model]\nserver = \"vllm\"\n").expect_err("it is nowhere");
        assert_eq!((line, problem.as_str()), (2, "server names the program at base_url, and there is no base_url"));
    }
}
