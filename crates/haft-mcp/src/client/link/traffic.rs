//! Tracks the traffic between haft and a server, for the transport and for its users.
//!
//! It knows which requests have no answer yet, whether the list of tools changed, and which lines were not messages.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::text::visible::visible;
use rmcp::model::RequestId;

/// Most characters of a line that is no message that are kept.
const LONGEST_SAMPLE: usize = 200;

/// Most lines of a server's log that are kept.
const MOST_LOG: usize = 50;

/// The traffic with one server.
#[derive(Debug, Default)]
pub(crate) struct ServerTraffic {
    waiting: Mutex<HashSet<RequestId>>,
    has_new_tools: AtomicBool,
    is_modern: AtomicBool,
    noise: AtomicUsize,
    strays: AtomicUsize,
    sample: Mutex<Option<String>>,
    refusal: Mutex<Option<String>>,
    flood: Mutex<Option<&'static str>>,
    log: Mutex<VecDeque<String>>,
}

impl ServerTraffic {
    /// Notes a request that waits for an answer.
    pub(crate) fn ask(&self, id: RequestId) {
        self.waiting().insert(id);
    }

    /// Takes a request whose answer came; returns whether anybody waited for it.
    pub(crate) fn answered(&self, id: &RequestId) -> bool {
        let is_awaited = self.waiting().remove(id);
        if !is_awaited {
            self.strays.fetch_add(1, Ordering::Relaxed);
        }
        is_awaited
    }

    /// Forgets a request: it was cancelled, or the server gave up.
    pub(crate) fn forget(&self, id: &RequestId) -> bool {
        self.waiting().remove(id)
    }

    /// Takes all requests that wait.
    pub(crate) fn take_all(&self) -> Vec<RequestId> {
        self.waiting().drain().collect()
    }

    /// Notes that the server says that its tools changed.
    pub(crate) fn note_new_tools(&self) {
        self.has_new_tools.store(true, Ordering::SeqCst);
    }

    /// Returns whether the server said that its tools changed since the last time.
    pub(crate) fn take_new_tools(&self) -> bool {
        self.has_new_tools.swap(false, Ordering::SeqCst)
    }

    /// Notes a line that is no message.
    pub(crate) fn note_noise(&self, line: &[u8]) {
        if self.noise.fetch_add(1, Ordering::Relaxed) == 0 {
            let text: String = String::from_utf8_lossy(line).chars().take(LONGEST_SAMPLE).collect();
            *self.sample.lock().unwrap_or_else(PoisonError::into_inner) = Some(visible(text.trim()).into_owned());
        }
    }

    /// Notes that the server refuses haft, and that only the user can help: a sentence without its end.
    pub(crate) fn note_refusal(&self, what: &str) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(what.to_owned());
    }

    /// Returns why the server refuses haft, if only the user can help.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes why haft ended a server that flooded it: a sentence.
    pub(crate) fn note_flood(&self, what: &'static str) {
        *self.flood.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Returns why haft ended the server, if it flooded haft.
    pub(crate) fn flood(&self) -> Option<&'static str> {
        *self.flood.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a line of the server's log; the last ones are kept.
    pub(crate) fn note_log(&self, line: String) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() == MOST_LOG {
            log.pop_front();
        }
        log.push_back(line);
    }

    /// Returns the last lines of the server's log.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns why the server refused haft the last time, and forgets it.
    pub(crate) fn take_refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Says what came that is no message, a sentence; nothing where all was in order.
    pub(crate) fn odd(&self) -> Option<String> {
        let (noise, strays) = (self.noise.load(Ordering::Relaxed), self.strays.load(Ordering::Relaxed));
        let sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        let of_noise = (noise > 0).then(|| {
            format!("It printed {noise} lines to its standard output that are not messages; haft skipped them. The first: {sample}")
        });
        let of_strays =
            (strays > 0).then(|| format!("It sent {strays} answers that fit no open request; haft dropped them."));
        let told: Vec<String> = of_noise.into_iter().chain(of_strays).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// Notes that the server has no handshake, though there is no connection yet.
    pub(crate) fn note_modern(&self) {
        self.is_modern.store(true, Ordering::SeqCst);
    }

    /// Returns whether the server said too late, or with an error, that it has no handshake.
    pub(crate) fn is_late_modern(&self) -> bool {
        self.is_modern.load(Ordering::SeqCst)
    }

    fn waiting(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_only_where_somebody_waits() {
        let traffic = ServerTraffic::default();
        traffic.ask(RequestId::Number(1));
        assert!(!traffic.answered(&RequestId::String("1".into())));
        assert!(traffic.answered(&RequestId::Number(1)));
        assert!(!traffic.answered(&RequestId::Number(1)));
        assert!(traffic.odd().is_some_and(|told| told.contains("2 answers")));
    }

    #[test]
    fn noise_is_counted_and_its_beginning_shown_without_commands_to_a_terminal() {
        let traffic = ServerTraffic::default();
        traffic.note_noise(b"\x1b[2Jstarting\r");
        traffic.note_noise(b"more");
        let told = traffic.odd().expect("there was noise");
        assert!(told.contains("2 lines") && told.contains("\\u{1b}[2Jstarting") && !told.contains('\u{1b}'), "{told}");
    }
}
