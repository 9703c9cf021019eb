//! Exports a run as spans to an OpenTelemetry collector, by its conventions for generative AI.
//!
//! haft builds them from the events of the agent, so neither the loop nor a stage knows about spans. It sets up nothing
//! unless the environment names a collector. A collector that is down, slow or silent delays a run by at most [`FLUSH`] at
//! the end, after the answer was printed, and causes one faint note.
//!
//! Not here: the variables (`wanted`), the transport (`export`), the content of a span (`tree`, `names`).

mod content;
mod export;
mod names;
mod tree;
mod wanted;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_agent::outcome::AgentOutcome;
use haft_agent::work::told::RunEvent;
use haft_config::environment::variable;
use haft_model::client::Endpoint;
use haft_runtime::events::EventKind;
use haft_runtime::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::conversations::agent_records::name_of_end;
use crate::notices::Notices;
use content::SpanContentFilter;
use export::Export;
use tree::{RunSpanContext, SpanTree};
use wanted::SpanExportSettings;

/// How long the end of a run waits for the last spans to arrive.
const FLUSH: Duration = Duration::from_secs(2);
/// The same for a person who ends the run immediately.
const FLUSH_AT_ONCE: Duration = Duration::from_millis(200);

/// The spans of one run; nothing if the environment names no collector.
pub struct Spans(Option<Sending>);

/// The run that the spans are about.
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

struct Sending {
    export: Export,
    tree: Mutex<SpanTree>,
    ends_at_once: AtomicBool,
    notices: Arc<dyn Notices>,
}

impl Spans {
    /// Begins the span of a run, where the environment names a collector.
    #[must_use]
    pub fn of(run: TracedRun<'_>, prompt: &str) -> Self {
        let wanted = match SpanExportSettings::of(&variable) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return Self(None),
            Err(why) => return Self::without(&why, &*run.notices),
        };
        // With the collector's keys a model could write there.
        run.runtime.also_hide(wanted.secrets.clone());
        let export = match Export::to(&wanted) {
            Ok(export) => export,
            Err(why) => return Self::without(&why, &*run.notices),
        };
        let runtime = run.runtime;
        let about = RunSpanContext {
            session: run.session,
            verdicts: runtime.events().subscribe_only(EventKind::ApprovalGiven),
            content: SpanContentFilter { redactor: wanted.has_content.then(|| runtime.redactor().clone()) },
        };
        let tree = Mutex::new(SpanTree::begin(export.tracer(), about, run.endpoint, prompt));
        Self(Some(Sending { export, tree, ends_at_once: AtomicBool::new(false), notices: run.notices }))
    }

    fn without(why: &str, notices: &dyn Notices) -> Self {
        notices.note(&format!("note: haft sends no spans: {why}"));
        Self(None)
    }

    /// Makes of what is told what belongs into a span.
    pub fn tell(&self, told: RunEvent<'_>) {
        let Some(sending) = &self.0 else { return };
        let mut tree = sending.tree();
        match told {
            RunEvent::Step(_) => tree.ask(),
            RunEvent::Text(_) | RunEvent::Thinking(_) | RunEvent::Writing(_) | RunEvent::Arguments(_) => tree.hear(),
            RunEvent::Again(..) => tree.ask_again(),
            RunEvent::Replied { reply, .. } => tree.reply(reply),
            RunEvent::CallBegan { call, .. } => tree.begin_call(call),
            RunEvent::CallEnded { call, result, answer } => tree.end_call(call, result, &answer.text),
            RunEvent::NotRun { call, .. } => tree.leave_out(call),
            RunEvent::GoesOn(_)
            | RunEvent::Finished(_)
            | RunEvent::Unfit(_)
            | RunEvent::Compacted(_)
            | RunEvent::Steered(_) => {}
        }
    }

    /// Ends all spans with the outcome of the run. No outcome means that the person ended the run immediately.
    pub fn end(&self, outcome: Option<&AgentOutcome>) {
        let Some(sending) = &self.0 else { return };
        match outcome {
            Some(outcome) => sending.tree().end(name_of_end(&outcome.ended), Some(outcome)),
            None => {
                sending.ends_at_once.store(true, Ordering::Relaxed);
                sending.tree().end("ended_at_once", None);
            }
        }
    }

    /// Waits briefly for the spans to arrive; after Ctrl-C the wait is shorter.
    pub async fn send(self) {
        let Some(Sending { export, tree, ends_at_once, notices }) = self.0 else { return };
        // Where the run has not even begun, its span is still open.
        tree.into_inner().unwrap_or_else(PoisonError::into_inner).end("not_begun", None);
        let time = if ends_at_once.into_inner() { FLUSH_AT_ONCE } else { FLUSH };
        let sent = tokio::task::spawn_blocking(move || export.end_within(time));
        let interrupted = async {
            match signal(SignalKind::interrupt()) {
                Ok(mut interrupt) => _ = interrupt.recv().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = interrupted => {}
            sent = sent => {
                if let Ok(Err(why)) = sent {
                    notices.note(&format!("note: {why}"));
                }
            }
        }
    }
}

impl Sending {
    fn tree(&self) -> MutexGuard<'_, SpanTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
