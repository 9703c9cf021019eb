//! Runs one call of a server for a waiting caller: shows progress, answers questions and passes on a stop.

use std::sync::Arc;

use haft_contract::context::RunContext;
use haft_contract::effect::RemoteClaim;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::client::calls::CallEars;
use crate::client::questions::asked::InputResponder;
use crate::client::server::{RemoteCall, RemoteRequest, RemoteResult, RemoteServer};

/// Words of progress, and questions, that wait.
const WAITING: usize = 16;

/// Asks a server; returns what came of it, and what the caller should know of the questions that it had.
pub(crate) async fn attended(
    (server, claim): (&Arc<RemoteServer>, &RemoteClaim),
    wanted: RemoteRequest,
    cx: &RunContext<'_>,
) -> Result<(RemoteResult, Vec<String>), ToolError> {
    cx.go_on()?;
    let (progress, mut heard) = mpsc::channel(WAITING);
    let (questions, mut asked) = mpsc::channel(WAITING);
    let stopped = CancellationToken::new();
    // When the call is given up, the server is told.
    let _guard = stopped.clone().drop_guard();
    let call = RemoteCall {
        wanted,
        name: claim.tool.clone(),
        most: cx.limits().time_within_call(),
        ears: CallEars { progress, questions },
        stopped: stopped.clone(),
    };
    cx.note_remote_call(claim)?;
    let mut answering = InputResponder::new(&claim.server, server.scope(), &server.budget);
    let mut calling = Box::pin(server.clone().call(call));
    loop {
        tokio::select! {
            biased;
            () = cx.stopped(), if !stopped.is_cancelled() => stopped.cancel(),
            Some(words) = heard.recv() => cx.chunk(&words),
            Some(question) = asked.recv() => {
                tokio::select! {
                    biased;
                    () = cx.stopped() => stopped.cancel(),
                    () = answering.answer(question, cx) => {}
                    // The server may give up first.
                    done = &mut calling => return finished(done, (answering, &stopped)),
                }
            }
            done = &mut calling => return finished(done, (answering, &stopped)),
        }
    }
}

fn finished(
    done: Result<RemoteResult, ToolError>,
    (answering, stopped): (InputResponder<'_>, &CancellationToken),
) -> Result<(RemoteResult, Vec<String>), ToolError> {
    let returned = done?;
    match stopped.is_cancelled() {
        true => Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped.")),
        false => Ok((returned, answering.into_notes())),
    }
}

/// The error where a server answers a request with the result of another one.
pub(crate) fn no_such_result(claim: &RemoteClaim) -> ToolError {
    let what =
        format!("The MCP server \"{}\" answered \"{}\" with a result of another kind.", claim.server, claim.tool);
    ToolError::new(ErrorKind::Failed, what, Next::DoNotRetry("do without this tool".to_owned()))
}
