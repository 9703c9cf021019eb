//! `haft mcp`: haft and other programs, over the Model Context Protocol.

mod serve;

use clap::{Args, Subcommand};

use crate::arguments::Common;
use crate::exit::Exit;

#[derive(Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Subcommand)]
enum McpCommand {
    /// Serve the tools of this workspace on stdin and stdout, or over HTTP
    Serve(Serve),
}

#[derive(Args)]
#[command(
    after_help = "A client starts this command itself. In the client's configuration, set the command to \"haft\" and the arguments to
  [\"-C\", \"/path/to/the/project\", \"mcp\", \"serve\"]

haft sends its questions to a client that can ask the user (elicitation). For any other client, haft refuses a call that needs a \
yes, and names the rule that would allow it."
)]
struct Serve {
    /// Use the client's root as the workspace if it has exactly one; without this flag, haft ignores its roots
    #[arg(long, conflicts_with = "http")]
    roots: bool,
    /// Serve many clients over HTTP at this address, such as 127.0.0.1:8700; port 0 takes a free one
    ///
    /// Clients must send the secret in the variable HAFT_MCP_TOKEN if it is set. An address that other machines reach
    /// needs one.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Also serve the tools that the official conformance suite calls
    #[arg(long, hide = true, requires = "http", value_parser = ["conformance"])]
    fixture: Option<String>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &McpArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        McpCommand::Serve(serve) => serve::run(common, serve),
    }
}
