//! `haft rules`: lists the rules, tests their examples, and explains what they say about a command.

use clap::{Args, Subcommand};

use crate::arguments::Common;
use crate::exit::Exit;

mod explain;
mod list;
mod test;

#[derive(Args)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Subcommand)]
enum RulesCommand {
    /// Show what a command would do, and which rule decides
    Explain(explain::Explain),
    /// List the rules that apply, strictest first
    List,
    /// Run the examples of all rules
    Test,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &RulesArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        RulesCommand::Explain(explain) => explain::run(common, explain),
        RulesCommand::List => list::run(common),
        RulesCommand::Test => test::run(common),
    }
}
