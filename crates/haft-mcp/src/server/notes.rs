//! Writes notes about ended calls, after a short delay.
//!
//! Waking a thread for each note takes longer than writing the note, and the client waits. So haft collects notes: the first
//! one starts a timer, and then a thread writes all of them together.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_contract::outcome::result::ToolResult;

use haft_host::host::Host;

/// How long a note waits for others.
const A_MOMENT: Duration = Duration::from_millis(100);
/// Most notes that wait. They hold what was shown, which is bounded but not small.
const MOST: usize = 64;

/// Notes about ended calls that wait to be written down. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct CallNoteQueue {
    waiting: Arc<Mutex<Vec<Note>>>,
}

/// A call that has ended, and where that is written down.
struct Note {
    host: Arc<Host>,
    result: ToolResult,
}

impl CallNoteQueue {
    /// Adds a note; it is written down soon.
    pub(crate) fn add(&self, host: Arc<Host>, result: ToolResult) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Note { host, result });
        let (count, notes) = (waiting.len(), self.clone());
        drop(waiting);
        if count == 1 {
            tokio::spawn(async move {
                tokio::time::sleep(A_MOMENT).await;
                tokio::task::spawn_blocking(move || notes.write_down());
            });
        } else if count == MOST {
            tokio::task::spawn_blocking(move || notes.write_down());
        }
    }

    /// Writes down what waits. May take a while.
    pub(crate) fn write_down(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for Note { host, result } in waiting {
            host.note_call(&result);
        }
    }
}
