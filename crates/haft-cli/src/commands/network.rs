//! `haft network`: shows which hosts commands may reach, and edits that list in the user's `config.toml`.

mod edit;
mod learn;
mod list;

use clap::{Args, Subcommand};

use crate::arguments::Common;
use crate::exit::Exit;

#[derive(Args)]
#[command(after_help = "Examples:
  haft network list
  haft network allow registries api.example.com '*.internal:8443'
  haft network learn -- npm install

haft writes only to your own config.toml. A project cannot allow hosts; its .haft/config.toml can deny them.")]
pub(crate) struct NetworkArguments {
    #[command(subcommand)]
    command: NetworkCommand,
}

#[derive(Subcommand)]
enum NetworkCommand {
    /// List the groups, the source of each host, and the hosts that the settings allow and deny
    List,
    /// Run a command with every host allowed, and add the hosts that it reached to a group
    Learn(learn::Learn),
    /// Let commands reach a host or a group without a question
    Allow(edit::Hosts),
    /// Never let commands reach a host or a group
    Deny(edit::Hosts),
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &NetworkArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        NetworkCommand::List => list::run(common),
        NetworkCommand::Learn(learn) => learn::run(common, learn),
        NetworkCommand::Allow(hosts) => edit::allow(common, hosts),
        NetworkCommand::Deny(hosts) => edit::deny(common, hosts),
    }
}
