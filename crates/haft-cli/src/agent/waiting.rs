//! Shows that haft waits for a model whose first words take long.
//!
//! Otherwise the user cannot tell whether anything happens. It updates one faint line each second and removes it at the
//! first sign of life. Without a terminal, it shows nothing.

use std::time::Duration;

use anstyle::Style;
use haft_agent::work::waiting::ModelWaitTimer;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use crate::live::LiveLine;

/// After how long it is said.
const LONG: Duration = Duration::from_secs(10);
/// How often the line is written.
const EVERY: Duration = Duration::from_secs(1);

/// Shows it.
pub(super) struct WaitingLine<'a> {
    waiting: &'a ModelWaitTimer,
    line: LiveLine,
    long: Duration,
    /// `None` without a terminal.
    ticks: Option<Interval>,
}

impl<'a> WaitingLine<'a> {
    /// Shows nothing.
    pub(super) fn unseen(waiting: &'a ModelWaitTimer) -> Self {
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
