//! One conversation from the first line to the end of everything that it has begun.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_host::options::Options;
use rmcp::service::serve_directly_with_ct;
use tokio_util::sync::CancellationToken;

use crate::asking::Asking;
use crate::in_flight::InFlight;
use crate::lines::Lines;
use crate::outbox::Outbox;
use crate::server::{Front, Server};
use crate::toolbox::Workspace;
use crate::transport::Pipes;

/// How long calls have to end when they are stopped.
const LAST_CALLS: Duration = Duration::from_millis(600);
/// How long it may take to bring in what background jobs have changed. The jobs themselves end at once.
const LAST_JOBS: Duration = Duration::from_secs(5);
/// How long the last messages have to be written.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Serves one client until its input ends, its output is closed, or `ended` is told. What runs then is stopped.
///
/// # Errors
///
/// Fails where the system has no more files.
pub async fn serve(
    (options, workspace): (Options, Workspace),
    asking: Asking,
    (input, output): (OwnedFd, OwnedFd),
    ended: CancellationToken,
) -> io::Result<()> {
    let (outbox, written) = Outbox::open(output, ended.clone())?;
    let in_flight = Arc::new(InFlight::default());
    let server = Server::new((options, workspace), (asking, outbox.clone(), ended.clone()));
    let (notes, opened) = (server.notes.clone(), server.opened());
    let pipes = Pipes {
        lines: Lines::of(input),
        outbox,
        opened: opened.clone(),
        in_flight: in_flight.clone(),
        ended: ended.clone(),
        owed: VecDeque::new(),
        until: None,
    };
    // Not the handshake of the protocol's crate: it ends the server when anything else comes first.
    let running = serve_directly_with_ct(Front::new(server, in_flight), pipes, None, CancellationToken::new());
    let too_late = async {
        ended.cancelled().await;
        tokio::time::sleep(LAST_CALLS).await;
    };
    tokio::select! {
        // However it ended, there is nothing more to serve.
        _ = running.waiting() => {}
        () = too_late => {}
    }
    if let Some(toolbox) = opened.get() {
        let _ = tokio::time::timeout(LAST_JOBS, toolbox.session().end_jobs()).await;
    }
    let _ = tokio::time::timeout(LAST_WORDS, written).await;
    let _ = tokio::time::timeout(LAST_WORDS, tokio::task::spawn_blocking(move || notes.write_down())).await;
    Ok(())
}
