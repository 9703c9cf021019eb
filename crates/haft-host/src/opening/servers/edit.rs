//! Adds servers to the user's `config.toml` and removes them, for `haft mcp add` and `haft mcp remove`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use haft_config::edits::mcp_edit::{with_server, without_server};
use haft_config::file::Mistake;
use haft_config::sections::mcp::{CommandWords, ServerSection};
use haft_config::settings::Settings;
use haft_workspace::state::{read_config_file, replace_own_file};

use super::ServerScope;

/// A server as a person adds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addition {
    /// Its name.
    pub name: String,
    /// The program and its arguments, or one address; empty for a server that a file names already.
    pub command: Vec<String>,
    /// Variables, each as `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Hosts that it may reach.
    pub hosts: Vec<String>,
}

/// Adds a server to the user's file if its command line is given; returns the servers as they are then.
///
/// # Errors
///
/// Fails if the file has another server of that name, has a mistake, or cannot be written.
pub fn add_to_file(scope: ServerScope, addition: &Addition) -> anyhow::Result<ServerScope> {
    let hosts: Result<Vec<_>, String> = addition.hosts.iter().map(|host| host.parse()).collect();
    let hosts = hosts.map_err(|why| anyhow!("a host cannot be granted: {why}"))?;
    if addition.command.is_empty() {
        if !addition.variables.is_empty() {
            bail!("--env needs a command line: haft mcp add {} --env NAME=VALUE -- COMMAND", addition.name);
        }
        return Ok(scope);
    }
    let url = match &addition.command[..] {
        [word] if word.starts_with("http://") || word.starts_with("https://") => Some(word.clone()),
        _ => None,
    };
    let command = url.is_none().then(|| CommandWords::Words(addition.command.clone()));
    let env = variables(&addition.variables)?;
    let section = ServerSection { command, url, env, hosts, ..ServerSection::default() };
    let own = scope.settings.mcp.servers.get(&addition.name);
    // A person who types the same line again means the same server.
    let is_there = own.is_some_and(|own| {
        own.words() == section.words() && own.url == section.url && own.env == section.env && own.hosts == section.hosts
    });
    if is_there {
        return Ok(scope);
    }
    edit(&scope.settings.config_file, |text| with_server(text, &addition.name, &section).map(Some))?;
    let settings = Settings::read(Some(scope.settings.profile))?;
    Ok(ServerScope { settings, ..scope })
}

/// Removes a server from the user's file; returns whether it was there.
///
/// # Errors
///
/// Fails if the file has a mistake, or cannot be written.
pub fn remove_from_file(scope: &ServerScope, name: &str) -> anyhow::Result<bool> {
    edit(&scope.settings.config_file, |text| without_server(text, name))
}

fn edit(
    file: &Path,
    change: impl FnOnce(&str) -> Result<Option<String>, (usize, String, String)>,
) -> anyhow::Result<bool> {
    let text = read_config_file(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let mistake = |(line, problem, fix)| Mistake { file: file.to_owned(), line, problem, fix };
    let Some(new) = change(&text.unwrap_or_default()).map_err(mistake)? else { return Ok(false) };
    replace_own_file(file, &new).map_err(|error| anyhow!("{} cannot be written: {error}", file.display()))?;
    Ok(true)
}

fn variables(written: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let one = |written: &String| match written.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(anyhow!("--env {written:?} has no value; write --env NAME=VALUE")),
    };
    written.iter().map(one).collect()
}
