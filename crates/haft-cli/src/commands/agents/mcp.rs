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
    /// Stop using a server, and remove it from your own config.toml
    Remove(McpServerName),
    /// List the prompts of a server, or show the text of one
    Prompt {
        #[command(flatten)]
        named: McpServerName,
        /// The prompt, then its arguments as name=value
        words: Vec<String>,
    },
    /// Log in to a server that has a URL, through your browser
    Login {
        #[command(flatten)]
        named: McpServerName,
        #[arg(long, help = "Ask you to paste the last address of the browser, because it runs on another machine")]
        paste: bool,
    },
    /// Forget the login to a server
    Logout(McpServerName),
    /// Start a server, show each step with its time, and end it
    Doctor(McpServerName),
}

#[derive(Args)]
struct McpServerName {
    /// The server, as "haft mcp list" names it
    name: String,
}

#[derive(Args)]
#[command(override_usage = "haft mcp add [OPTIONS] <NAME> [-- <COMMAND>...]")]
#[command(after_help = "Example: haft mcp add git --host registries -- uvx mcp-server-git")]
struct Add {
    /// The name of the server
    name: String,
    /// Give the server a variable; repeatable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Let the server reach a host, or the hosts of a group: registries, github, docs; repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// The program and its arguments, or the URL of a server; without them, NAME is a server that "haft mcp list" shows
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
    /// Serve many clients over HTTP at this address, such as 127.0.0.1:8700; port 0 takes a free one. If the variable
    /// HAFT_MCP_TOKEN is set, clients must send its value; haft requires it where other machines reach the address
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Also serve the tools of these MCP servers (see "haft mcp list"), with haft's rules, questions, limits and log
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
        McpCommand::Remove(McpServerName { name }) => commands::remove(scope()?, name, common)?,
        McpCommand::Login { named, paste } => commands::login(scope()?, &named.name, (WayBack::from(*paste), common))?,
        McpCommand::Prompt { named, words } => commands::prompt(scope()?, &named.name, (words, common))?,
        McpCommand::Logout(McpServerName { name }) => commands::logout(scope()?, name, common)?,
        McpCommand::Doctor(McpServerName { name }) => commands::doctor(scope()?, name, common)?,
    };
    Ok(match ending {
        McpCommandOutcome::Done => Exit::Ok,
        McpCommandOutcome::Failed => Exit::Failed,
        McpCommandOutcome::Refused => Exit::Refused,
    })
}
