//! Shows that a model is waited for when its first words take long: else nobody knows whether anything happens.
//!
//! One faint line that is written over each second and goes with the first sign of life. Without a terminal there is
//! nobody to tell.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstyle::Style;
use haft_agent::told::Told;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use crate::live::LiveLine;

/// After how long it is said.
const LONG: Duration = Duration::from_secs(10);
/// How often the line is written.
const EVERY: Duration = Duration::from_secs(1);

/// Since when a model is waited for.
#[derive(Default)]
pub(super) struct Waiting {
    /// Nothing while nobody waits, or while somebody is not told.
    since: Mutex<Option<Instant>>,
}

impl Waiting {
    /// Notes what is told: the question, or the first sign of life.
    pub(super) fn note(&self, told: &Told<'_>, now: Instant) {
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
    fn words(&self, now: Instant, long: Duration) -> Option<String> {
        let since = (*self.since.lock().unwrap_or_else(PoisonError::into_inner))?;
        let waited = now.saturating_duration_since(since);
        (waited >= long).then(|| format!("waiting for the model: no output yet after {} s", waited.as_secs()))
    }
}

/// Shows it.
pub(super) struct WaitingLine<'a> {
    waiting: &'a Waiting,
    line: LiveLine,
    long: Duration,
    /// Nothing where nobody watches.
    ticks: Option<Interval>,
}

impl<'a> WaitingLine<'a> {
    /// Shows nothing.
    pub(super) fn unseen(waiting: &'a Waiting) -> Self {
        Self { waiting, line: LiveLine::default(), long: LONG, ticks: None }
    }

    /// Shows it on this line, well before the provider is given up.
    pub(super) fn on(self, line: LiveLine, idle: Duration) -> Self {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self { line, long: LONG.min(idle / 3), ticks: Some(ticks), ..self }
    }

    /// Waits a second, and shows what is to be said then.
    pub(super) async fn step(&mut self) {
        let Some(ticks) = &mut self.ticks else { return std::future::pending().await };
        ticks.tick().await;
        if let Some(words) = self.waiting.words(Instant::now(), self.long) {
            self.line.show(&words, Style::new().dimmed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
