//! Handles the signals that `haft exec` gets: passes most to its command, and applies a stop to both.

use std::io;

use haft_sandbox::ignores_hang_up;
use rustix::process::{Signal as SystemSignal, getpid, getppid, getsid, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens to signals.
pub(super) struct OwnSignals {
    passed_on: Vec<(i32, Signal)>,
    size: Signal,
    stop: Signal,
    resume: Signal,
}

/// A signal that `haft exec` received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExecSignal {
    /// It is for the command.
    ForCommand(i32),
    /// The terminal has another size.
    Size,
    /// Everything shall stop until it goes on.
    Stop,
    /// This process goes on, perhaps in front of the terminal again.
    Resumed,
}

impl OwnSignals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let kinds = [
            Some(SignalKind::interrupt()),
            Some(SignalKind::quit()),
            Some(SignalKind::terminate()),
            Some(SignalKind::user_defined1()),
            Some(SignalKind::user_defined2()),
            (!ignores_hang_up()).then(SignalKind::hangup),
        ];
        let listened = |kind: SignalKind| Ok((kind.as_raw_value(), signal(kind)?));
        Ok(Self {
            passed_on: kinds.into_iter().flatten().map(listened).collect::<io::Result<_>>()?,
            size: signal(SignalKind::window_change())?,
            stop: signal(SignalKind::from_raw(SystemSignal::TSTP.as_raw()))?,
            resume: signal(SignalKind::from_raw(SystemSignal::CONT.as_raw()))?,
        })
    }

    /// Waits for the next one. May be dropped while it waits.
    pub(super) async fn next(&mut self) -> ExecSignal {
        let passed_on = std::future::poll_fn(|cx| {
            for (number, signal) in &mut self.passed_on {
                if signal.poll_recv(cx).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        });
        tokio::select! {
            number = passed_on => ExecSignal::ForCommand(number),
            _ = self.size.recv() => ExecSignal::Size,
            _ = self.stop.recv() => ExecSignal::Stop,
            _ = self.resume.recv() => ExecSignal::Resumed,
        }
    }

    /// Stops this process; returns when it goes on.
    pub(super) async fn stop_here(&mut self) {
        let stops = kill_process(getpid(), SystemSignal::STOP);
        // The kernel may stop this process a moment later.
        if stops.is_ok() {
            self.resume.recv().await;
        }
    }
}

/// Returns whether a shell controls this process, so that it can go on after a stop.
pub(super) fn has_job_control() -> bool {
    getppid().is_some_and(|parent| getsid(Some(parent)).ok() == getsid(None).ok())
}
