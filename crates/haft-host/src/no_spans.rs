//! Replaces spans with empty functions when haft is built without the feature `otel`.

use std::sync::Arc;

use haft_agent::outcome::AgentOutcome;
use haft_agent::work::told::RunEvent;
use haft_model::client::Endpoint;
use haft_runtime::runtime::Runtime;

use crate::notices::Notices;

/// No spans.
pub struct Spans;

/// The run that the spans would be about.
pub struct TracedRun<'a> {
    /// Its runtime.
    pub runtime: &'a Runtime,
    /// The name of its session.
    pub session: String,
    /// The model that is asked.
    pub endpoint: &'a Endpoint,
    /// Receives why spans are not sent.
    pub notices: Arc<dyn Notices>,
}

impl Spans {
    /// Begins nothing.
    #[must_use]
    pub fn of(_run: TracedRun<'_>, _prompt: &str) -> Self {
        Self
    }

    /// Notes nothing.
    pub fn tell(&self, _told: RunEvent<'_>) {}

    /// Ends nothing.
    pub fn end(&self, _outcome: Option<&AgentOutcome>) {}

    /// Sends nothing.
    pub async fn send(self) {}
}
