//! `haft rules explain`: what a command would do, and which rule decides.

use clap::Args;

use crate::arguments::Common;
use crate::exit::Exit;

#[derive(Args)]
pub(crate) struct Explain {
    /// The command; or - to read one JSON string per line from stdin
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
}

/// Runs the command.
pub(super) fn run(_common: &Common, explain: &Explain) -> anyhow::Result<Exit> {
    anyhow::bail!("commands are not read yet: {}", explain.commands.join(" "))
}
