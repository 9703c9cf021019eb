//! `haft jobs`: shows and controls the jobs that sessions of other haft processes run in this workspace.

mod control;
mod list;
mod open;
mod output;

use clap::{Args, Subcommand};
use haft_host::host::block_on;

use crate::arguments::Common;
use crate::exit::Exit;

#[derive(Args)]
#[command(after_help = "Examples:
  haft jobs
  haft jobs output server --follow
  haft jobs wait server --port 5173 --timeout 60
  haft jobs stop call-3f9a:2
  haft jobs restart server
  haft jobs open 5173

JOB is the name or the number of a job; SESSION:JOB if several sessions have one.
A job belongs to a running \"haft call -\", \"haft run\", \"haft mcp serve\" or \"haft exec --session\", and ends with that session.")]
pub(crate) struct JobsArguments {
    #[command(subcommand)]
    command: Option<JobsCommand>,
}

#[derive(Subcommand)]
enum JobsCommand {
    /// List the jobs of all running sessions (the default)
    List,
    /// Show the last output of a job; the model still gets this output as new
    Output(output::JobsOutputArguments),
    /// Wait until a job has ended, has printed a text, or listens on a port
    Wait(control::JobsWaitArguments),
    /// Send a signal to all processes of a job
    Signal(control::Signal),
    /// Stop a job; haft commits its changes as a change set
    Stop(control::OfJob),
    /// Stop a job and start its command again, as a new job of the same name
    Restart(control::OfJob),
    /// Commit what a running job has changed so far, as a separate change set
    Sync(control::OfJob),
    /// Make a port of a job reachable on 127.0.0.1 of this machine, until Ctrl-C
    Open(open::Open),
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &JobsArguments) -> anyhow::Result<Exit> {
    block_on(async {
        match arguments.command.as_ref().unwrap_or(&JobsCommand::List) {
            JobsCommand::List => list::run(common).await,
            JobsCommand::Output(output) => output::run(common, output).await,
            JobsCommand::Wait(wait) => control::wait(common, wait).await,
            JobsCommand::Signal(signal) => control::signal(common, signal).await,
            JobsCommand::Stop(stop) => control::stop(common, stop).await,
            JobsCommand::Restart(restart) => control::restart(common, restart).await,
            JobsCommand::Sync(sync) => control::sync(common, sync).await,
            JobsCommand::Open(open) => open::run(common, open).await,
        }
    })?
}
