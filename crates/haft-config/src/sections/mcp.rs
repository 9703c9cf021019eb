//! MCP servers (Model Context Protocol) from the user's file: the section `[mcp.servers.NAME]`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::network::HostSelector;

/// The servers of the user's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpSection {
    /// The servers, by their names.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerSection>,
}

/// One server. It has either a command or an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSection {
    /// The program that haft starts, or the program and its arguments.
    pub command: Option<CommandWords>,
    /// More arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// The address of a server that haft does not start.
    pub url: Option<String>,
    /// Headers of each request to the address.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Variables that the server gets beside a few of the system's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Hosts that the server may reach.
    #[serde(default)]
    pub hosts: Vec<HostSelector>,
    /// How haft logs in to the address.
    #[serde(default)]
    pub oauth: LoginSection,
    /// How many times in a session the server may ask the user's model; never if left out.
    #[serde(default)]
    pub sampling: u32,
    /// How many seconds a call may take without progress.
    #[serde(default, deserialize_with = "seconds")]
    pub timeout: Option<Duration>,
    /// How many seconds the server may take from its start to the list of its tools.
    #[serde(default, deserialize_with = "seconds")]
    pub start_timeout: Option<Duration>,
}

/// How haft logs in to a server with an address. All of it can be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginSection {
    /// The client that the user has registered there.
    pub client_id: Option<String>,
    /// The variable that has the secret of that client.
    pub client_secret_env: Option<String>,
    /// The address of a document that describes the client; its address is the client's id.
    pub client_metadata: Option<String>,
    /// The authorization server that the client belongs to.
    pub issuer: Option<String>,
    /// The rights that are asked for, if the server does not say.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The port of this machine to which the browser comes back.
    pub callback_port: Option<u16>,
}

impl LoginSection {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A command line: a program, or a program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum CommandWords {
    /// A program.
    Program(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

impl ServerSection {
    /// Returns the program and its arguments; nothing for a server that haft does not start.
    pub fn words(&self) -> Option<Vec<String>> {
        let mut words = match self.command.clone()? {
            CommandWords::Program(program) => vec![program],
            CommandWords::Words(words) => words,
        };
        words.extend(self.args.iter().cloned());
        Some(words)
    }

    /// Says what is wrong with it, and the fix.
    fn mistake(&self) -> Option<(&'static str, &'static str)> {
        match (self.words(), &self.url) {
            (Some(_), Some(_)) => Some(("a server has a command or a url, not both", "remove one of them")),
            (None, None) => Some(("a server needs a command or a url", "add command = [\"PROGRAM\", \"ARGUMENT\"]")),
            (Some(words), None) if words.first().is_none_or(String::is_empty) => {
                Some(("the command is empty", "name the program"))
            }
            (None, Some(_)) if !self.args.is_empty() || !self.env.is_empty() || !self.hosts.is_empty() => {
                Some(("args, env and hosts are for servers with a command", "remove them, or write command"))
            }
            (Some(_), None) if !self.headers.is_empty() => Some(("headers are for servers with a url", "remove them")),
            (Some(_), None) if !self.oauth.is_empty() => Some(("oauth is for servers with a url", "remove it")),
            (None, Some(_)) if self.oauth.client_secret_env.is_some() && self.oauth.client_id.is_none() => {
                Some(("a client_secret_env belongs to a client_id", "add client_id"))
            }
            _ => None,
        }
    }
}

impl McpSection {
    /// Returns the name of the first server with a mistake, what is wrong, and the fix.
    pub(crate) fn mistake(&self) -> Option<(String, &'static str, &'static str)> {
        self.servers.iter().find_map(|(name, server)| {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
            let of_name = (!is_name).then_some((
                "the name of a server has only letters, digits, \"-\", \"_\" and \".\"",
                "rename the server",
            ));
            let (problem, fix) = of_name.or_else(|| server.mistake())?;
            Some((name.clone(), problem, fix))
        })
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let is_usual = (0.1..=86_400.0).contains(&number);
    let is_wrong = || serde::de::Error::custom("must be a number of seconds, from 0.1 to 86400");
    is_usual.then(|| Some(Duration::from_secs_f64(number))).ok_or_else(is_wrong)
}

#[cfg(test)]
mod tests {
    use crate::file::{check_config, parse};

    #[test]
    fn a_command_is_a_program_or_a_list_and_arguments_follow() {
        let text = "[mcp.servers.a]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\ntimeout = 5\n\
                    [mcp.servers.b]\ncommand = [\"uvx\", \"y\"]\nhosts = [\"registries\", \"*.example.com\"]\n";
        let section = parse(text).expect("it is in order").mcp;
        let words: Vec<_> = section.servers.values().filter_map(super::ServerSection::words).collect();
        assert_eq!(words, [vec!["npx", "-y", "x"], vec!["uvx", "y"]]);
        assert_eq!(section.servers["a"].timeout, Some(std::time::Duration::from_secs(5)));
    }

    #[test]
    fn a_server_without_command_and_url_or_with_both_is_a_mistake() {
        for (text, expected) in [
            ("[mcp.servers.a]\n", (1, "a server needs a command or a url")),
            (
                "# x\n[mcp.servers.a]\ncommand = \"x\"\nurl = \"https://h\"\n",
                (2, "a server has a command or a url, not both"),
            ),
            ("[mcp.servers.a]\ncommand = []\n", (1, "the command is empty")),
            (
                "[mcp.servers.a]\nurl = \"https://h\"\noauth = { client_secret_env = \"S\" }\n",
                (1, "a client_secret_env belongs to a client_id"),
            ),
            ("[mcp.servers.\"a b\"]\ncommand = \"x\"\n", (1, "the name of a server has only letters")),
        ] {
            let (line, problem, _) = check_config(text).expect_err("there is a mistake");
            assert!(line == expected.0 && problem.starts_with(expected.1), "{line}: {problem}");
        }
    }
}
