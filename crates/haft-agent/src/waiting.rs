//! Knows since when an agent waits for its model.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::told::Told;

/// Since when a model is waited for.
#[derive(Debug, Default)]
pub struct Waiting {
    /// `None` while the agent does not wait.
    since: Mutex<Option<Instant>>,
}

impl Waiting {
    /// Notes what is told: the question, or the first sign of life.
    pub fn note(&self, told: &Told<'_>, now: Instant) {
        let since = match told {
            Told::Step(_) => Some(now),
            // Its pause is told by itself.
            Told::Again(after, _) => now.checked_add(*after),
            Told::Text(_)
            | Told::Thinking(_)
            | Told::Writing(_)
            | Told::Arguments(_)
            | Told::Steered(_)
            | Told::Replied { .. }
            | Told::CallBegan { .. }
            | Told::CallEnded { .. }
            | Told::NotRun { .. }
            | Told::GoesOn(_)
            | Told::Finished(_)
            | Told::Unfit(_) => None,
            Told::Compacted(_) => return,
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
        let waiting = Waiting::default();
        let began = Instant::now();
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        let told = |seconds: u64| waiting.words(after(seconds), LONG);
        assert_eq!(told(99), None);
        waiting.note(&Told::Step(1), began);
        assert_eq!(told(9), None);
        assert_eq!(told(12).as_deref(), Some("waiting for the model: no output yet after 12 s"));
        waiting.note(&Told::Thinking("hm"), after(13));
        assert_eq!(told(99), None);

        waiting.note(&Told::Again(Duration::from_secs(60), "too many requests"), after(100));
        assert_eq!(told(165), None);
        assert_eq!(told(170).as_deref(), Some("waiting for the model: no output yet after 10 s"));
        waiting.note(&Told::Again(Duration::MAX, "never"), after(200));
        assert_eq!(told(99_999), None);
    }
}
