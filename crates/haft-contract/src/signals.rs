//! Signals: their names, and signals on their way to a command.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Signals by name, as every Linux numbers them.
const NAMES: [(&str, i32); 17] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("TERM", 15),
    ("CONT", 18),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("SYS", 31),
];

/// Returns the number of a signal that is given by name, with or without "SIG", or by number.
pub fn signal_number(given: &str) -> Option<i32> {
    let given = given.trim().to_ascii_uppercase();
    let name = given.strip_prefix("SIG").unwrap_or(&given);
    let by_name = NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    by_name.or_else(|| given.parse().ok().filter(|number| (1..=31).contains(number)))
}

/// Names a signal, as people and models read it.
pub fn signal_words(signal: i32) -> String {
    let Some((name, _)) = NAMES.iter().find(|(_, number)| *number == signal) else { return format!("signal {signal}") };
    let why = match signal {
        25 => ": a file became larger than is allowed",
        31 => ": a system call that the sandbox does not allow",
        _ => "",
    };
    format!("signal {signal} (SIG{name}{why})")
}

/// No signal: what others have changed in the workspace is shown to the processes.
pub const LOOK_AGAIN: i32 = 0;
/// No signal: the terminal of the command is connected, and the command gets hold of it.
pub const TERMINAL_READY: i32 = -1;

/// Signals on their way to the processes of a command.
#[derive(Clone, Debug, Default)]
pub struct PendingSignals(Arc<SignalQueue>);

#[derive(Debug, Default)]
struct SignalQueue {
    signals: Mutex<Vec<i32>>,
    come: Notify,
}

impl PendingSignals {
    /// Sends a signal.
    pub fn send(&self, signal: i32) {
        self.waiting().push(signal);
        self.0.come.notify_one();
    }

    /// Waits for signals. May be dropped while it waits.
    pub async fn next(&self) -> Vec<i32> {
        loop {
            let signals = std::mem::take(&mut *self.waiting());
            if !signals.is_empty() {
                return signals;
            }
            self.0.come.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<i32>> {
        self.0.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_known_by_name_and_by_number() {
        for (given, number) in [("TERM", 15), ("SIGTERM", 15), ("sigint", 2), ("int", 2), ("9", 9), (" USR1 ", 10)] {
            assert_eq!(signal_number(given), Some(number), "{given}");
        }
        for odd in ["", "0", "32", "-1", "SIG", "TERMINATE"] {
            assert_eq!(signal_number(odd), None, "{odd}");
        }
        assert_eq!(signal_words(9), "signal 9 (SIGKILL)");
        assert_eq!(signal_words(29), "signal 29");
    }
}
