//! Watches and stops the process of a server that haft started; a remote server has no process here.

use haft_host::opening::servers::process::ServerProcess;

/// The life of a server, from haft's side.
pub(crate) enum Life {
    /// haft started it.
    Process(ServerProcess),
    /// It runs elsewhere.
    Elsewhere,
}

impl Life {
    /// Returns the end of what it wrote to its errors.
    pub(crate) fn last_errors(&self) -> String {
        match self {
            Life::Process(process) => process.last_errors(),
            Life::Elsewhere => String::new(),
        }
    }

    /// Waits until it has ended; returns how, as a sentence.
    pub(crate) async fn ended(&self) -> String {
        match self {
            Life::Process(process) => process.ended().await,
            Life::Elsewhere => std::future::pending().await,
        }
    }

    /// Returns whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Life::Process(process) => process.how_it_ended().is_some(),
            Life::Elsewhere => false,
        }
    }

    /// Asks all its processes to end, and kills those that do not end soon.
    pub(crate) fn stop(&self) {
        if let Life::Process(process) = self {
            process.stop();
        }
    }

    /// Says where it runs.
    pub(crate) fn place(&self) -> String {
        match self {
            Life::Process(process) => format!("sandbox {}", process.level().code()),
            Life::Elsewhere => "not started by haft".to_owned(),
        }
    }
}
