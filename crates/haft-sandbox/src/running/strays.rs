//! Ends processes of an unconfined command whose watcher was killed, because no parent waits for them.
//!
//! haft recognises them by a word in the environment that the command was started with. It does not find a process that
//! has cleared its environment: only a namespace covers that case.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use super::process_list;

/// The variable that marks the processes of a command.
const NAME: &str = "HAFT_COMMAND";
/// How long to look for more.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many searches must find no process before haft believes that none is left, and how long to wait in between.
const LOOKS: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What the processes of one command are recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// Makes one that no other command has or had.
    pub(crate) fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(format!("{}-{}-{count}", std::process::id(), now.as_nanos()))
    }

    /// Returns it as a variable of the environment.
    pub(crate) fn variable(&self) -> (OsString, OsString) {
        (NAME.into(), self.0.clone().into())
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Kills every process with the mark until none is left.
pub(crate) fn end(mark: &Mark) {
    let setting = format!("{NAME}={mark}");
    let until = Instant::now() + PATIENCE;
    let mut looks_in_vain = 0;
    // A process that is just about to execute another program has no environment for a moment.
    while looks_in_vain < LOOKS && Instant::now() < until {
        let mut strays = process_list::all();
        strays.retain(|running| running.has_in_environment(OsStr::new(&setting)));
        strays.iter().for_each(|stray| stray.signal(Signal::KILL));
        looks_in_vain = if strays.is_empty() { looks_in_vain + 1 } else { 0 };
        std::thread::sleep(BETWEEN_LOOKS);
    }
}
