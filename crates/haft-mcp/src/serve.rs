//! Serves one conversation over a pair of pipes, from the first line until all its work has ended.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_host::options::Options;
use rmcp::service::serve_directly_with_ct;
use tokio_util::sync::CancellationToken;

use crate::server::asking::ClientApprover;
use crate::server::client_session::ClientSession;
use crate::server::listeners::Listeners;
use crate::server::workspace_server::{WorkspaceServer, WorkspaceServerParts};
use crate::server::{Front, McpServer};
use crate::toolbox::WorkspaceChoice;
use crate::transport::Pipes;
use crate::transport::in_flight::InFlight;
use crate::transport::lines::Lines;
use crate::transport::outbox::Outbox;

/// How long calls have to end when they are stopped.
pub(crate) const LAST_CALLS: Duration = Duration::from_millis(600);
/// How long the last messages have to be written.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(100);

/// A server for one client.
pub struct PipeServer {
    /// How the workspace is opened.
    pub options: Options,
    /// Who chooses the workspace.
    pub workspace: WorkspaceChoice,
    /// Asks the user through the client.
    pub asking: ClientApprover,
    /// Passes notices to the client.
    pub listeners: Listeners,
}

impl PipeServer {
    /// Serves the client until its input ends, its output is closed, or `ended` is told. What runs then is stopped.
    ///
    /// # Errors
    ///
    /// Fails where the system has no more files.
    pub async fn serve(self, input: OwnedFd, output: OwnedFd, ended: CancellationToken) -> io::Result<()> {
        let Self { options, workspace, asking, listeners } = self;
        let (outbox, written) = Outbox::open(output, ended.clone())?;
        let in_flight = Arc::new(InFlight::default());
        let toolbox = match workspace {
            WorkspaceChoice::User(toolbox) => Some(*toolbox),
            WorkspaceChoice::Client => None,
        };
        let host = toolbox.as_ref().map(|toolbox| toolbox.host().clone());
        let client = Arc::new(ClientSession::of(toolbox));
        let parts = WorkspaceServerParts { options, host, asking, listeners, fixture: None };
        let workspace = WorkspaceServer::new(parts, ended.clone());
        workspace.remember(&client);
        let server = McpServer::of_pipes(workspace.clone(), client.clone(), outbox.clone());
        let pipes = Pipes {
            lines: Lines::of(input),
            outbox,
            client,
            in_flight: in_flight.clone(),
            ended: ended.clone(),
            owed: VecDeque::new(),
            waiting: VecDeque::new(),
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
            () = workspace.keep_looking() => {}
        }
        workspace.end_jobs().await;
        let _ = tokio::time::timeout(LAST_WORDS, written).await;
        let notes = workspace.notes.clone();
        let _ = tokio::time::timeout(LAST_WORDS, tokio::task::spawn_blocking(move || notes.write_down())).await;
        Ok(())
    }
}
