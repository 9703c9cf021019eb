//! Which model haft uses, from `config.toml` and the environment.
//!
//! Not here: flags, finding a model when none is set (`haft-cli`), keys (`keys`).

pub mod server;
pub mod tuning;

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::patience::{Tries, WaitTime};
use crate::environment::variable;
use server::ServerName;
use tuning::{EffortName, ReplyTokens, Window};

/// What may be said about the model: `[model]` in `config.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    /// Its name at the provider.
    pub name: Option<String>,
    /// The form in which it is spoken to.
    pub wire: Option<WireName>,
    /// The address of the provider, up to the path of the form.
    pub base_url: Option<String>,
    /// Who answers there, where the address does not say so.
    pub server: Option<ServerName>,
    /// The variable, or the name in `keys.toml`, that holds the key.
    pub key_env: Option<String>,
    /// How long is waited for the next sign of life.
    pub idle_seconds: Option<WaitTime>,
    /// How long a whole reply may take, with all tries.
    pub total_seconds: Option<WaitTime>,
    /// How often a reply is asked for, the first time counted.
    pub tries: Option<Tries>,
    /// How much it shall think.
    pub effort: Option<EffortName>,
    /// How many tokens it takes in one request, with its reply.
    pub window: Option<Window>,
    /// How long a reply may be, in tokens.
    pub reply_tokens: Option<ReplyTokens>,
    /// Whether its first reply to a task must call a tool.
    pub call_first: Option<bool>,
    /// Whether it is shown images.
    pub images: Option<bool>,
}

impl ModelSection {
    /// Reads what the environment says: `HAFT_MODEL`, `HAFT_WIRE` and `HAFT_BASE_URL`.
    pub fn of_environment() -> Result<Self, BadVariable> {
        Self::of_variables(&variable)
    }

    /// Says what is wrong where a reply would leave no room for what it replies to.
    pub(crate) fn no_room(&self) -> Option<(String, String)> {
        tuning::no_room(self.window, self.reply_tokens)
    }

    /// Says what is wrong where a server is named that is nowhere.
    pub(crate) fn server_is_nowhere(&self) -> Option<(String, String)> {
        server::is_nowhere(self)
    }

    fn of_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, BadVariable> {
        // A variable that is set to nothing is how shells unset one for a single command.
        let said = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let wire = said("HAFT_WIRE").map(|name| name.parse().map_err(BadVariable)).transpose()?;
        Ok(Self { name: said("HAFT_MODEL"), wire, base_url: said("HAFT_BASE_URL"), ..Self::default() })
    }
}

/// A form in which models are spoken to, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireName {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Google Gemini.
    Gemini,
}

impl WireName {
    /// All of them.
    pub const ALL: [WireName; 4] = [WireName::Anthropic, WireName::Responses, WireName::Chat, WireName::Gemini];
}

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireName::Anthropic => "anthropic",
            WireName::Responses => "responses",
            WireName::Chat => "chat",
            WireName::Gemini => "gemini",
        })
    }
}

impl FromStr for WireName {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        WireName::ALL.into_iter().find(|wire| wire.to_string() == name).ok_or_else(|| UnknownWire(name.to_owned()))
    }
}

/// The name of a form that haft does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no wire {0:?}; use anthropic, responses, chat or gemini")]
pub struct UnknownWire(String);

/// Says that a variable has a value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HAFT_WIRE: {0}")]
pub struct BadVariable(UnknownWire);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{check_config, parse};

    #[test]
    fn the_file_says_it_all_and_mistakes_have_their_line() {
        let text = "[model]\nname = \"m\"\nwire = \"chat\"\nbase_url = \"http://h/v1\"\nkey_env = \"MY_KEY\"\n";
        let model = parse(text).expect("it is in order").model;
        assert_eq!((model.name.as_deref(), model.wire), (Some("m"), Some(WireName::Chat)));
        let (line, problem, fix) = check_config("[model]\nwire = \"chats\"\n").expect_err("there is no such wire");
        assert_eq!((line, fix.as_str()), (2, "did you mean `chat`?"), "{problem}");
        let (line, _, fix) = check_config("[model]\nmodel = \"m\"\n").expect_err("it is called name");
        assert_eq!(line, 2, "{fix}");
    }

    #[test]
    fn variables_that_are_empty_say_nothing() {
        let variables = |name: &str| match name {
            "HAFT_MODEL" => Some(" m ".to_owned()),
            "HAFT_BASE_URL" => Some(String::new()),
            _ => None,
        };
        let said = ModelSection::of_variables(&variables).expect("they are in order");
        assert_eq!((said.name.as_deref(), said.base_url, said.wire), (Some("m"), None, None));
        let wrong = ModelSection::of_variables(&|name| (name == "HAFT_WIRE").then(|| "x".to_owned()));
        let told = wrong.expect_err("there is no such wire").to_string();
        assert_eq!(told, "HAFT_WIRE: there is no wire \"x\"; use anthropic, responses, chat or gemini");
    }
}
