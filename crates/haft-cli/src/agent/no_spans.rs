//! Stands for the spans of a run where haft was built without them (feature `otel`): nothing, and free.

use haft_agent::outcome::Outcome;
use haft_agent::told::Told;

use super::work::Work;

/// No spans.
pub(super) struct Spans;

impl Spans {
    pub(super) fn of(_work: &Work<'_>, _prompt: &str) -> Self {
        Self
    }

    pub(super) fn tell(&self, _told: Told<'_>) {}

    pub(super) fn end(&self, _outcome: Option<&Outcome>) {}

    pub(super) async fn send(self) {}
}
