//! Prepares for the first command before it is known, while this process does other work.
//!
//! A process that runs one command and ends must start a launcher and look through folders. Neither depends on the
//! command. On a second processor they cost no time.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::launcher::Launcher;
use crate::running::standby::Standby;

/// The launcher that was started ahead, until a command takes it. It ends with this process.
static AHEAD: Mutex<Option<JoinHandle<Option<Standby>>>> = Mutex::new(None);

/// Starts a launcher ahead of the first command. Call it where a command is about to run, as early as possible.
pub fn launcher_ahead() {
    let thread = beside("haft-launch", || Standby::start(&Launcher::own()).ok());
    *AHEAD.lock().unwrap_or_else(PoisonError::into_inner) = thread;
}

/// Returns whether a launcher was started ahead because a command is about to run.
pub(crate) fn is_wanted() -> bool {
    AHEAD.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Takes the launcher that was started ahead, if it is of this kind.
pub(crate) fn take(launcher: &Launcher) -> Option<Standby> {
    if *launcher != Launcher::own() {
        return None;
    }
    let thread = AHEAD.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    thread.join().ok().flatten()
}

/// Does something on a thread of its own; where there is none to be had, it is done later.
pub(crate) fn beside<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work).ok()
}
