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
    /// Serve the tools of this workspace on stdin and stdout
    Serve(Serve),
}

#[derive(Args)]
#[command(
    after_help = "A client starts this command itself; in its configuration that is the command \"haft\" with the arguments
[\"-C\", \"/path/to/the/project\", \"mcp\", \"serve\"]. Questions go to the client where it can ask somebody (elicitation);
else what needs a yes is refused, with the rule that would allow it."
)]
struct Serve {
    /// Let the client name the workspace (its root, where it has exactly one); else its roots are not used
    #[arg(long)]
    roots: bool,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &McpArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        McpCommand::Serve(serve) => serve::run(common, serve),
    }
}
