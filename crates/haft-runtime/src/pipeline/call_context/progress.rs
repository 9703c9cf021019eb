//! Passes on what a tool tells while it runs, without secrets, and says so if a tool is silent.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use haft_contract::context::{Hiding, ProgressSink};
use haft_contract::doors::door::Permit;
use haft_contract::effect::Effect;

use super::CallContext;
use crate::events::{CallEventContent, EventKind};
use crate::redaction::redact::{ChunkRedactor, Redactor};

impl ProgressSink for CallContext<'_> {
    fn chunk(&self, text: &str) {
        self.spoke.store(true, Ordering::Relaxed);
        let shown = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).take(&self.redactor, text);
        if !shown.is_empty() {
            self.tell(EventKind::OutputChunk, || CallEventContent::OutputChunk(shown));
        }
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact(text)
    }

    fn is_first_hint(&self, hint: &str) -> bool {
        self.session.memory.is_first_time("", hint.to_owned())
    }

    fn hiding(&self) -> Box<dyn Hiding> {
        Box::new(HidingPieces { redactor: self.redactor.clone(), held: ChunkRedactor::default() })
    }
}

impl CallContext<'_> {
    /// Tells for a tool that says nothing itself that it still runs. What a command prints stays as it is.
    pub(crate) fn tell_that_it_runs(&self, since: Duration) {
        let is_command = |permit: &Arc<Permit>| permit.effects().iter().any(|effect| matches!(effect, Effect::Run(_)));
        if !self.permit.get().is_some_and(is_command) && !self.spoke.load(Ordering::Relaxed) {
            let text = || format!("still running after {} s\n", since.as_secs());
            self.tell(EventKind::OutputChunk, || CallEventContent::OutputChunk(text()));
        }
    }
}

/// A text that comes in pieces, kept apart from what the call tells while it runs.
struct HidingPieces {
    redactor: Redactor,
    held: ChunkRedactor,
}

impl Hiding for HidingPieces {
    fn take(&mut self, piece: &str) -> String {
        self.held.take(&self.redactor, piece)
    }

    fn rest(&mut self) -> String {
        self.held.rest(&self.redactor)
    }
}
