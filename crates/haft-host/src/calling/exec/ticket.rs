//! Finds the judged call of another agent that `haft exec --ticket` is to run.
//!
//! The guard wrote the ticket when it judged the call. Some agents run commands in a sandbox of their own, in which haft
//! cannot write its state. There the command runs as the agent would have run it: haft has judged it, and says that it did
//! nothing more.

use std::io;
use std::path::Path;

use anyhow::{Context, ensure};
use haft_config::environment::variable;
use haft_net::exec::AgentCall;
use haft_policy::policy::Mode;
use haft_workspace::state::{Covers, JudgedCall, WorkspaceState};

/// How a judged call is run.
#[derive(Debug)]
pub enum TicketRun {
    /// In haft's sandbox, with undo.
    Contained(Box<JudgedCall>),
    /// As the agent would run it, for this reason.
    AsTheAgent(String, io::Error),
}

/// Where Codex says which sandbox a command has.
const PROFILE_OF_CODEX: &str = "CODEX_PERMISSION_PROFILE";

/// Uses a ticket up in this folder. `line` is the command beside it, which must be the judged one.
///
/// # Errors
///
/// Fails if there is no such ticket, or if it is for another command or another folder.
pub fn use_ticket(state: &WorkspaceState, id: &str, line: Option<&str>, here: &Path) -> anyhow::Result<TicketRun> {
    let calls = state.judged_calls();
    let call = calls
        .find(id)
        .context("this ticket of haft guard is not known, or was used; let the agent make the call again")?;
    ensure!(line.is_none_or(|line| line == call.line), "this ticket of haft guard is for another command");
    ensure!(
        here == call.folder,
        "haft has judged this command in {}, and it was started in {}; let the agent make the call again",
        call.folder.display(),
        here.display()
    );
    match calls.use_up(id) {
        Ok(()) => Ok(TicketRun::Contained(Box::new(call))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => anyhow::bail!("this ticket of haft guard was used"),
        Err(error) => Ok(TicketRun::AsTheAgent(call.line, error)),
    }
}

/// Returns the part of a request that says whose call it is.
#[must_use]
pub fn request_of(call: &JudgedCall) -> AgentCall {
    AgentCall {
        name: call.agent.clone(),
        call: call.call.clone(),
        run: call.run.clone(),
        turn: call.turn,
        covers_all: call.covers == Covers::All,
    }
}

/// Returns what happens to changes where the agent lets its commands change nothing.
#[must_use]
pub fn mode_of_agent() -> Option<Mode> {
    (variable(PROFILE_OF_CODEX).as_deref() == Some(":read-only")).then_some(Mode::Try)
}
