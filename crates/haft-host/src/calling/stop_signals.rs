//! Receives the signals that stop a run: Ctrl-C, the end of a service, a closed terminal.
//!
//! Each of them stops the run in good order. Only a second Ctrl-C ends it immediately: a closing terminal and its shell both
//! send a signal, and mean one request.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Listens for those who ask. One for the whole run: a signal between two looks must not be lost.
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    /// Nothing if the program that started the run wants it to outlive the terminal.
    hang_up: Option<Signal>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// To stop in good order.
    Stop,
    /// To end immediately.
    End,
}

impl StopSignals {
    /// Listens from now on.
    ///
    /// # Errors
    ///
    /// Fails when the system has no more signal handlers.
    pub fn listen() -> io::Result<Self> {
        #[cfg(feature = "sandbox")]
        let outlives = haft_sandbox::ignores_hang_up();
        #[cfg(not(feature = "sandbox"))]
        let outlives = false;
        let hang_up = (!outlives).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    /// Waits for the next who asks.
    pub async fn next(&mut self, stop: &CancellationToken) -> StopRequest {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => if stop.is_cancelled() { StopRequest::End } else { StopRequest::Stop },
            _ = self.terminate.recv() => StopRequest::Stop,
            _ = hang_up => StopRequest::Stop,
        }
    }
}
