//! `haft completions`: prints a script that completes haft's commands in a shell.

use std::io::Write;

use clap::CommandFactory;

use crate::arguments::CliArguments;
use crate::exit::Exit;

/// Runs the command.
pub(crate) fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CliArguments::command(), "haft", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Ok)
}
