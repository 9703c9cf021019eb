//! Measures how long an agent waits for its model.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::told::RunEvent;

/// Remembers since when the agent waits for its model.
#[derive(Debug, Default)]
pub struct ModelWaitTimer {
    /// `None` while the agent does not wait.
    since: Mutex<Option<Instant>>,
}

impl ModelWaitTimer {
    /// Notes what is told: the question, or the first sign of life.
    pub fn note(&self, told: &RunEvent<'_>, now: Instant) {
        let since = match told {
            RunEvent::Step(_) => Some(now),
            // Its pause is told by itself.
            RunEvent::Again(after, _) => now.checked_add(*after),
            RunEvent::Text(_)
            | RunEvent::Thinking(_)
            | RunEvent::Writing(_)
            | RunEvent::Arguments(_)
            | RunEvent::Steered(_)
            | RunEvent::Replied { .. }
            | RunEvent::CallBegan { .. }
            | RunEvent::CallEnded { .. }
            | RunEvent::NotRun { .. }
            | RunEvent::GoesOn(_)
            | RunEvent::Finished(_)
            | RunEvent::Unfit(_) => None,
            RunEvent::Compacted(_) => return,
        };
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Returns what to say, where it has taken so long by now.
    pub fn words(&self, now: Instant, long: Duration) -> Option<String> {
        let since = (*self.since.lock().unwrap_or_else(PoisonError::into_inner))?;
        let waited = now.saturating_duration_since(since);
        (waited >= long).then(|| format!("waiting for the model: no output yet after {} s", waited.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn who_waits_for_long_is_told_until_something_comes() {
        let waiting = ModelWaitTimer::default();
        let began = Instant::now();
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        let told = |seconds: u64| waiting.words(after(seconds), LONG);
        assert_eq!(told(99), None);
        waiting.note(&RunEvent::Step(1), began);
        assert_eq!(told(9), None);
        assert_eq!(told(12).as_deref(), Some("waiting for the model: no output yet after 12 s"));
        waiting.note(&RunEvent::Thinking("hm"), after(13));
        assert_eq!(told(99), None);

        waiting.note(&RunEvent::Again(Duration::from_secs(60), "too many requests"), after(100));
        assert_eq!(told(165), None);
        assert_eq!(told(170).as_deref(), Some("waiting for the model: no output yet after 10 s"));
        waiting.note(&RunEvent::Again(Duration::MAX, "never"), after(200));
        assert_eq!(told(99_999), None);
    }
}
