//! Runs calls of other agents that `haft guard` has judged and rewritten to `haft exec --ticket`.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use haft_config::environment::current_folder;
use haft_config::settings::Settings;
use haft_host::calling::exec::mode_name;
use haft_host::calling::exec::ticket::{TicketRun, mode_of_agent, request_of, use_ticket};
use haft_net::exec::{CommandRequest, ExecOutcome};
use haft_policy::policy::Mode;
use haft_sandbox::run_in_place;
use haft_workspace::state::{JudgedCall, WorkspaceState, real_path_of};

use super::Exec;
use super::client::ClientEnd;
use crate::arguments::Common;
use crate::screen;

/// Returns the judged call, if the command line names a ticket.
pub(super) fn call(common: &Common, exec: &Exec, settings: &Settings) -> anyhow::Result<Option<Box<JudgedCall>>> {
    let Some(id) = &exec.ticket else { return Ok(None) };
    let state = WorkspaceState::new(&settings.environment.state_folder, &real_path_of(common.options().folder()));
    let here = real_path_of(&current_folder().unwrap_or_default());
    match use_ticket(&state, id, exec.given_line()?.as_deref(), &here)? {
        TicketRun::Contained(call) => Ok(Some(call)),
        TicketRun::AsTheAgent(line, why) => Err(as_the_agent(&line, &why)),
    }
}

/// Puts the call into the request: whose it is, its variables, and that it keeps nothing where the agent changes nothing.
pub(super) fn note(call: &JudgedCall, request: &mut CommandRequest, settings: &Settings) {
    let bytes = |text: &OsString| text.as_bytes().to_vec();
    let variables = &settings.surroundings.environment_of_agent;
    request.environment = variables.iter().map(|(name, value)| (bytes(name), bytes(value))).collect();
    request.agent = Some(request_of(call));
    // What covers the call is in the ticket; flags that an agent writes beside it do not count.
    (request.paper, request.yes) = (None, None);
    request.mode = mode_name(Mode::Normal).to_owned();
    if let Some(mode) = mode_of_agent() {
        request.mode = mode_name(mode).to_owned();
    }
}

/// Says why changes were discarded.
pub(super) fn explain(outcome: &ExecOutcome) {
    if mode_of_agent().is_some() && !outcome.differences.is_empty() {
        screen::talk("haft: the agent lets its commands change nothing");
    }
}

/// Runs the call as the agent would have run it, if the agent's own sandbox kept haft from its session.
pub(super) fn or_as_the_agent(
    ended: anyhow::Result<ClientEnd>,
    judged: Option<&JudgedCall>,
) -> anyhow::Result<ClientEnd> {
    let (Err(error), Some(call)) = (&ended, judged) else { return ended };
    // Nothing was run: a holder that has taken a command answers, and does not refuse the connection.
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    match refused.filter(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        Some(why) => Err(as_the_agent(&call.line, why)),
        None => ended,
    }
}

/// Replaces this process; returns only if that fails.
fn as_the_agent(line: &str, why: &io::Error) -> anyhow::Error {
    screen::talk(&format!(
        "haft: the agent's own sandbox keeps haft from its state ({why}), so haft has only judged this command: it cannot be undone. \"haft setup\" shows what to change"
    ));
    run_in_place(line).into()
}
