//! Standard streams of a command that its caller provides, instead of pipes that haft reads.
//!
//! Files, pipes and sockets go to the command unchanged: every byte, the end of a pipe and a position in a file are the
//! same as without haft. A terminal never does: a program could type into it. The command gets another terminal, and the
//! caller connects its other end with its own terminal.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::signals::PendingSignals;

/// The standard streams of a command, and the line to its caller while it runs.
#[derive(Clone)]
pub struct CallerStreams(Arc<CallerSide>);

/// The caller's side of a command: its streams, signals, time limit and environment.
pub struct CallerSide {
    /// Its input, output and errors. One that is missing is the terminal.
    pub descriptors: [Option<OwnedFd>; 3],
    /// When the command gets hold of the terminal.
    pub foreground: Foreground,
    /// Is told what the caller must do.
    pub news: UnboundedSender<StreamNews>,
    /// Signals from the caller.
    pub signals: PendingSignals,
    /// How long the command may run; without it, as long as it likes.
    pub time: Option<Duration>,
    /// The whole environment of the command.
    pub environment: Vec<(OsString, OsString)>,
}

/// When a command gets hold of its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreground {
    /// From the start.
    AtOnce,
    /// When it first reads from it or sets its modes: until then another program of a pipeline may read the user's keys.
    OnDemand,
}

/// What the caller of a command must do.
#[derive(Debug)]
pub enum StreamNews {
    /// Nothing: the command is being started, and gets the signals that come from now on.
    Started,
    /// Connect this end of the command's terminal, set its modes and its size, then send
    /// [`TERMINAL_READY`](crate::signals::TERMINAL_READY): the command waits for that.
    Terminal(OwnedFd),
    /// The command was stopped by this signal; it goes on with SIGCONT.
    Suspended(i32),
    /// The command waits for the terminal; it goes on with [`TERMINAL_READY`](crate::signals::TERMINAL_READY).
    WantsTerminal,
}

impl CallerStreams {
    /// Makes the streams from the caller's side of a command.
    pub fn new(side: CallerSide) -> Self {
        Self(Arc::new(side))
    }

    /// Returns which of the three streams are the terminal.
    pub fn terminals(&self) -> [bool; 3] {
        [0, 1, 2].map(|number: usize| self.0.descriptors[number].is_none())
    }

    /// Returns copies of the descriptors that are not the terminal, in their order.
    ///
    /// # Errors
    ///
    /// Fails where too many files are open.
    pub fn copies(&self) -> std::io::Result<Vec<OwnedFd>> {
        self.0.descriptors.iter().flatten().map(OwnedFd::try_clone).collect()
    }

    /// Returns when the command gets hold of the terminal.
    pub fn foreground(&self) -> Foreground {
        self.0.foreground
    }

    /// Tells the caller something. One that is gone is noticed elsewhere.
    pub fn tell(&self, news: StreamNews) {
        let _ = self.0.news.send(news);
    }

    /// Returns the signals from the caller.
    pub fn signals(&self) -> &PendingSignals {
        &self.0.signals
    }

    /// Returns how long the command may run.
    pub fn time(&self) -> Duration {
        self.0.time.unwrap_or(Duration::MAX)
    }

    /// Returns the whole environment of the command.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.0.environment
    }
}

impl PartialEq for CallerStreams {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CallerStreams {}

impl fmt::Debug for CallerStreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug output must not show the environment.
        f.debug_struct("CallerStreams").field("terminals", &self.terminals()).finish_non_exhaustive()
    }
}
