//! `haft mcp`: connects haft and other programs over the Model Context Protocol.

mod serve;

use clap::{Args, Subcommand};
use haft_host::opening::servers::ServerScope;
use haft_host::opening::servers::edit::Addition;
use haft_mcp::client::commands::{self, McpCommandOutcome, WayBack};

use crate::{arguments::Common, exit::Exit};

#[derive(Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Subcommand)]
enum McpCommand {
    /// Serve the tools of this workspace on stdin and stdout, or over HTTP
    Serve(Serve),
    /// List the MCP servers that haft and other programs have configured: file, state, tools, last error
    List,
    /// Use the tools of a server: haft shows its command line and its tools, and asks
    Add(Add),
    /// Stop using a server; removes it from your own config.toml
    Remove { name: String },
    /// List the prompts of a server, or show the text of one; its arguments are name=value
    Prompt { name: String, words: Vec<String> },
    /// Log in to a server with an address, through your browser
    Login {
        name: String,
        #[arg(long, help = "Paste the address at which the browser ended, because it runs on another machine")]
        paste: bool,
    },
    /// Forget the login to a server
    Logout { name: String },
    /// Start a server, show each step with its time, and end it
    Doctor { name: String },
}

#[derive(Args)]
#[command(after_help = "Example: haft mcp add git --host registries -- uvx mcp-server-git")]
struct Add {
    /// The server
    name: String,
    /// Give the server a variable; repeatable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Let the server reach a host, or the hosts of a group: registries, github, docs; repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// The program and its arguments, or the address of a server; without them, a server that a file names already
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
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
    /// Serve many clients over HTTP at this address, such as 127.0.0.1:8700; port 0 takes a free one. Clients must send
    /// the secret in the variable HAFT_MCP_TOKEN if it is set; an address that other machines reach needs one
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Also serve the tools of these MCP servers, which "haft mcp list" names: with haft's rules, questions, limits and log
    #[arg(long, value_name = "NAME", num_args = 1..)]
    with: Vec<String>,
    /// Also serve the tools that the official conformance suite calls
    #[arg(long, hide = true, requires = "http", value_parser = ["conformance"])]
    fixture: Option<String>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &McpArguments) -> anyhow::Result<Exit> {
    let scope = || ServerScope::open(&common.options());
    let ending = match &arguments.command {
        McpCommand::Serve(serve) => return serve::run(common, serve),
        McpCommand::List => commands::list(&scope()?, common)?,
        McpCommand::Add(Add { name, variables, hosts, command }) => {
            let (name, variables, hosts) = (name.clone(), variables.clone(), hosts.clone());
            commands::add(scope()?, &Addition { name, command: command.clone(), variables, hosts }, common)?
        }
        McpCommand::Remove { name } => commands::remove(scope()?, name, common)?,
        McpCommand::Login { name, paste } => commands::login(scope()?, name, (WayBack::from(*paste), common))?,
        McpCommand::Prompt { name, words } => commands::prompt(scope()?, name, (words, common))?,
        McpCommand::Logout { name } => commands::logout(scope()?, name, common)?,
        McpCommand::Doctor { name } => commands::doctor(scope()?, name, common)?,
    };
    Ok(match ending {
        McpCommandOutcome::Done => Exit::Ok,
        McpCommandOutcome::Failed => Exit::Failed,
        McpCommandOutcome::Refused => Exit::Refused,
    })
}
