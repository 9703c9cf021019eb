//! Carries one call through the stages: the only observer, and the guard that each call ends exactly once.
//!
//! Timing, tracing and stage events live here, so stages and tools contain none of them.

mod done;
mod progress;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use haft_contract::call::{CallId, CallOrigin, RawArguments, ToolCall};
use haft_contract::context::PlanContext;
use haft_contract::description::dialect::Dialect;
use haft_contract::doors::connection::ConnectionDesk;
use haft_contract::doors::door::{ConsentKind, OldChanges, Permit, Provenance, Receipt};
use haft_contract::doors::process::CallerStreams;
use haft_contract::effect::Effect;
use haft_contract::files::path::Target;
use haft_contract::limits::Limits;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Status, ToolResult};
use haft_policy::policy::Mode;
use serde_json::Value;
use tracing::Instrument;

use super::stage::{CallStage, Halt};
use super::stages::authorize::{AuthorizedCall, RestsOn};
use super::stages::execute::ExecutedCall;
use super::turn::{CallTurn, TurnPlace};
use crate::asking::purpose;
use crate::catalogue::entry::CatalogEntry;
use crate::confining::containment::CommandContainment;
use crate::confining::permits;
use crate::events::{CallEventContent, EventKind};
use crate::hooks::HookQuestion;
use crate::redaction::redact::{ChunkRedactor, Redactor};
use crate::redaction::secrets;
use crate::state::memory::{CallKey, FailureFingerprint, RememberedCall, Went};
use crate::state::session::{Readers, Session};
use crate::state::taint::Taint;
use done::changed_in;

/// One call on its way.
pub(crate) struct CallContext<'a> {
    pub(crate) session: &'a Session,
    pub(crate) id: CallId,
    pub(crate) origin: CallOrigin,
    /// The standard streams that the caller provides.
    pub(crate) streams: Option<CallerStreams>,
    pub(crate) turn: Arc<CallTurn>,
    pub(crate) place: Arc<TurnPlace>,
    stage: AtomicU8,
    started: Instant,
    /// When the last stage ended, in nanoseconds from the start.
    stage_ended: AtomicU64,
    permit: OnceLock<Arc<Permit>>,
    notes: Mutex<CallNotes>,
    chunks: Mutex<ChunkRedactor>,
    /// Whether the tool has told something while it runs.
    spoke: AtomicBool,
    /// Hides secrets in what the call says, and knows where they were from.
    pub(crate) redactor: Redactor,
    closed: bool,
}

/// The findings of the stages about one call.
#[derive(Default)]
pub(crate) struct CallNotes {
    pub(crate) tool: String,
    /// The entry that was called.
    pub(crate) entry: Option<Arc<CatalogEntry>>,
    /// The native entry that the call led to.
    pub(crate) led_to: Option<Arc<CatalogEntry>>,
    /// The arguments as they came, where a dialect speaks of them.
    pub(crate) arguments: Value,
    pub(crate) repairs: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) key: Option<CallKey>,
    pub(crate) effects: Option<Arc<[Effect]>>,
    /// The question that a hook wants haft to ask.
    pub(crate) question: Option<HookQuestion>,
    /// Hosts that a command may reach although nothing had granted them before.
    pub(crate) hosts_not_granted: BTreeSet<String>,
    /// How old the result is, where it is a kept one.
    pub(crate) cached: Option<std::time::Duration>,
    /// Set when the tool was given up in the middle of its work.
    pub(crate) abandoned: bool,
    /// How long it waited for other calls, or for an answer to a question.
    pub(crate) waited: std::time::Duration,
    /// When the call last began to look for secrets in all of the workspace.
    pub(crate) looked: Option<Instant>,
}

impl<'a> CallContext<'a> {
    /// Opens a call: it has its place in the turn from now on.
    pub(crate) fn open(session: &'a Session, turn: Arc<CallTurn>, call: &ToolCall) -> Self {
        let place = turn.take_place(call.id.clone());
        let cx = Self {
            session,
            id: call.id.clone(),
            origin: call.origin,
            streams: call.streams.clone(),
            turn,
            place,
            stage: AtomicU8::new(0),
            started: Instant::now(),
            stage_ended: AtomicU64::new(0),
            permit: OnceLock::new(),
            notes: Mutex::new(CallNotes { tool: shown_name(session, &call.name), ..CallNotes::default() }),
            chunks: Mutex::default(),
            spoke: AtomicBool::new(false),
            redactor: session.ground.redactor.noting(),
            closed: false,
        };
        cx.tell(EventKind::Started, || {
            // First, because it learns what is secret.
            let arguments = cx.shown_arguments(&call.arguments);
            CallEventContent::Started { tool: shown_name(session, &call.name), arguments }
        });
        cx
    }

    /// Notes that the first stage begins: until now the call may have waited for its first poll.
    pub(crate) fn begin(&self) {
        self.time_of_stage();
    }

    /// Runs a stage that waits for nothing.
    pub(crate) fn at_once<T>(&self, stage: CallStage, work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, Halt> {
        self.stage.store(stage as u8, Ordering::Release);
        let outcome = tracing::debug_span!("stage", stage = stage.code(), call = %self.id).in_scope(work);
        self.ended(stage, outcome)
    }

    /// Runs one stage: times it, traces it, tells it, and notes where the call is.
    ///
    /// The caller pins the work, because a stage's future is large and would be moved and kept twice here.
    pub(crate) async fn at<T>(
        &self,
        stage: CallStage,
        work: Pin<&mut impl Future<Output = Result<T, ToolError>>>,
    ) -> Result<T, Halt> {
        self.stage.store(stage as u8, Ordering::Release);
        let outcome = work.instrument(tracing::debug_span!("stage", stage = stage.code(), call = %self.id)).await;
        self.ended(stage, outcome)
    }

    fn ended<T>(&self, stage: CallStage, outcome: Result<T, ToolError>) -> Result<T, Halt> {
        self.tell(EventKind::StageFinished, || CallEventContent::StageFinished {
            stage,
            took: self.time_of_stage(),
            halted: outcome.is_err(),
        });
        outcome.map_err(|error| Halt { at: stage, error })
    }

    /// Returns the time since the last stage ended. It reads the clock once per stage, and every moment belongs to a stage.
    fn time_of_stage(&self) -> Duration {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(now.saturating_sub(self.stage_ended.swap(now, Ordering::Relaxed)))
    }

    /// Lets the call run until it ends, panics, or is cancelled before it has begun to act.
    pub(crate) async fn guarded(
        &self,
        drive: impl Future<Output = Result<Box<ExecutedCall>, Halt>>,
    ) -> Result<Box<ExecutedCall>, Halt> {
        let drive = AssertUnwindSafe(drive).catch_unwind();
        tokio::select! {
            // First the signal: a call that was stopped does not ask or begin anything more.
            biased;
            () = self.cancelled_before_execute() => Err(Halt {
                at: self.stage(),
                error: ToolError::of(ErrorKind::Cancelled, "The call was stopped before it had begun."),
            }),
            outcome = drive => outcome.unwrap_or_else(|panic| Err(self.panicked(&*panic))),
        }
    }

    async fn cancelled_before_execute(&self) {
        self.place.stop.cancelled().await;
        if self.stage() >= CallStage::Execute {
            // From here on stopping is a signal to the tool and the doors; `execute` sees to it.
            std::future::pending::<()>().await;
        }
    }

    fn panicked(&self, panic: &(dyn std::any::Any + Send)) -> Halt {
        let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into());
        self.note(|notes| notes.abandoned = self.stage() == CallStage::Execute);
        let tool = self.note(|notes| notes.tool.clone());
        let error = ToolError::of(ErrorKind::Bug, format!("The tool \"{tool}\" crashed: {words}."));
        Halt { at: self.stage(), error }
    }

    /// Ends the call: memory first, then those behind, then the one terminal event.
    pub(crate) fn close(mut self, mut result: ToolResult) -> ToolResult {
        self.closed = true;
        self.set_bits();
        result.bits = self.bits();
        self.tell_effects();
        self.remember(&result);
        self.turn.leave(&self.place);
        self.tell(EventKind::of_end(result.status), || CallEventContent::ended(result.clone()));
        result
    }

    /// Sets the sticky facts that follow from what the call had planned, once it has begun to run.
    fn set_bits(&self) {
        self.set_bits_of_run();
        self.session.expect_no_bits(&self.id);
    }

    fn set_bits_of_run(&self) {
        let Some(permit) = self.permit.get() else { return };
        if !self.redactor.met().is_empty() {
            self.set_bit(Taint::Private);
        }
        let reached = self.run_facts().reached;
        if permit.effects().is_empty() && reached.is_empty() {
            return;
        }
        // Only a command has something around it, and finding out what may take a while.
        let runs_command = permit.effects().iter().any(|effect| matches!(effect, Effect::Run(_)));
        let around = runs_command.then(|| CommandContainment::of(&self.session.ground.doors));
        let not_granted = self.note(|notes| notes.hosts_not_granted.clone());
        for bit in Taint::set_by(permit.effects(), &not_granted, around.as_ref()) {
            self.set_bit(bit);
        }
        for bit in Taint::set_by_hosts(&reached, &not_granted) {
            self.set_bit(bit);
        }
    }

    fn set_bit(&self, bit: Taint) {
        if self.session.set_bit(bit) {
            self.tell(EventKind::BitSet, || CallEventContent::BitSet(bit));
        }
    }

    /// Says from which files values were hidden in what the call says.
    pub(crate) fn hidden(&self) -> Option<String> {
        let files = self.redactor.met();
        let (first, more) = files.split_first()?;
        let more = match more {
            [] => String::new(),
            [one] => format!(" and {one}"),
            more => format!(" and {} more files", more.len()),
        };
        Some(format!("Values of {first}{more} are hidden: [secret] stands for each. Programs still read them."))
    }

    fn bits(&self) -> Vec<&'static str> {
        self.session.bits().into_iter().map(Taint::code).collect()
    }

    fn remember(&self, result: &ToolResult) {
        let Some(key) = self.note(|notes| notes.key) else { return };
        let receipts = self.receipts();
        let went = match &result.error {
            // A refusal is not a failure, and a stopped call says nothing of the next one.
            Some(error) if error.kind.is_refusal() || error.kind == ErrorKind::Cancelled => return,
            Some(error) => Went::Failed(FailureFingerprint::of(error)),
            // What changed something has not only read, so it is never the same again.
            None if changed_in(&receipts).is_empty() => Went::Ok(read_in(&receipts)),
            None => Went::Ok(Vec::new()),
        };
        let in_conversation = self.session.readers() == Readers::One;
        let remembered = RememberedCall { call: self.id.clone(), turn: self.turn.number, went, in_conversation };
        self.session.remember(key, remembered, &receipts);
    }

    /// Issues the permit of this call, once.
    pub(crate) fn issue_permit(
        &self,
        authorized: &AuthorizedCall,
        stop: tokio_util::sync::CancellationToken,
        desk: Option<ConnectionDesk>,
    ) -> Arc<Permit> {
        let planned = authorized.planned();
        let errand = self.errand(planned.entry.native_name(), &planned.plan.effects);
        let errand = Provenance { old_changes: authorized.old_changes(), ..errand };
        let permit = permits::issue(errand, planned.plan.effects.clone(), stop).resting_on(planned.basis.clone());
        let standing = match self.session.mode() {
            Mode::Plan => ConsentKind::Plan,
            Mode::Normal | Mode::Try => authorized.standing(),
        };
        let permit = desk.into_iter().fold(permit, Permit::asking_at).standing_on(standing);
        let permit = match authorized.rests_on() {
            RestsOn::Word => permit,
            RestsOn::Layer => permit.needing_layer(),
        };
        self.permit.get_or_init(|| Arc::new(permit)).clone()
    }

    /// Issues the permit of an inspection.
    pub(crate) fn issue_for_inspection(&self, tool: &str, effects: Arc<[Effect]>) -> Arc<Permit> {
        let permit = permits::issue(self.errand(tool, &effects), effects, self.place.stop.child_token());
        self.permit.get_or_init(|| Arc::new(permit)).clone()
    }

    fn errand(&self, tool: &str, effects: &[Effect]) -> Provenance {
        Provenance {
            call: self.id.clone(),
            tool: tool.to_owned(),
            session: self.session.name.clone(),
            run: self.session.run.clone(),
            turn: self.turn.number,
            purpose: purpose::of_call(self, effects),
            old_changes: OldChanges::Stay,
        }
    }

    /// Returns what a tool sees while it plans.
    pub(crate) fn plan_context(&self) -> PlanContext<'_> {
        PlanContext::new(&self.session.ground.doors, &*self.session.memory, self.origin, self.limits())
            .in_session(&self.session.name, &self.session.run)
            .hiding_by(&self.session.ground.redactor)
            .knowing_jobs(&**self.session.jobs)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.session.ground.limits
    }

    /// Returns the dialect that results are told in.
    pub(crate) fn dialect(&self) -> Option<&dyn Dialect> {
        self.session.ground.dialect.as_deref()
    }

    pub(crate) fn stage(&self) -> CallStage {
        let index = usize::from(self.stage.load(Ordering::Acquire));
        CallStage::ALL[index.min(CallStage::ALL.len() - 1)]
    }

    /// Returns how long the call has taken, without what it waited for others.
    pub(crate) fn took(&self) -> std::time::Duration {
        self.started.elapsed().saturating_sub(self.note(|notes| notes.waited))
    }

    /// Waits for others, which is no time of the call.
    pub(crate) async fn waiting<T>(&self, others: impl Future<Output = T>) -> T {
        let _waiting = WaitTimer { cx: self, began: Instant::now() };
        others.await
    }

    /// Reads or adds to what the stages found out. Never hands out the lock: it is held for one look.
    pub(crate) fn note<T>(&self, look: impl FnOnce(&mut CallNotes) -> T) -> T {
        look(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn tell(&self, kind: EventKind, what: impl FnOnce() -> CallEventContent) {
        self.session.ground.events.tell(&self.id, kind, what);
    }

    /// Notes the name that was called once more, with what is known to be secret by now.
    pub(crate) fn hide_in_name(&self, name: &str) {
        let shown = shown_name(self.session, name);
        self.note(|notes| notes.tool = shown);
    }

    /// Tells what is left of the output, and which files were changed.
    pub(crate) fn tell_effects(&self) {
        let rest = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).rest(&self.redactor);
        if !rest.is_empty() {
            self.tell(EventKind::OutputChunk, || CallEventContent::OutputChunk(rest));
        }
        let mut files = changed_in(&self.receipts());
        files.iter_mut().for_each(|file| self.redactor.redact_target(file));
        if !files.is_empty() {
            self.tell(EventKind::FilesChanged, || CallEventContent::FilesChanged(files));
        }
    }

    fn shown_arguments(&self, arguments: &RawArguments) -> Value {
        let mut shown = match arguments {
            RawArguments::Text(text) => Value::from(text.as_str()),
            RawArguments::Object(fields) => Value::Object(fields.clone()),
            RawArguments::Words(words) => {
                words.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
            }
        };
        secrets::learn_nearest(&self.session.ground);
        self.session.ground.redactor.redact_value(&mut shown);
        shown
    }
}

/// A future that is dropped instead of finished still ends in one event, and frees its place.
impl Drop for CallContext<'_> {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        self.note(|notes| notes.abandoned = self.stage() >= CallStage::Execute);
        self.set_bits();
        let run = self.run_facts();
        let result = ToolResult {
            id: self.id.clone(),
            tool: self.note(|notes| notes.tool.clone()),
            status: Status::Cancelled,
            content: Vec::new(),
            display: None,
            error: Some(ToolError::of(ErrorKind::Cancelled, "The caller gave up the call.")),
            stopped_at: Some(self.stage().code()),
            data: None,
            did: self.did(),
            repairs: Vec::new(),
            warnings: Vec::new(),
            spilled: None,
            limited: None,
            changes: None,
            exit_code: None,
            sandbox: self.sandbox(),
            left_behind: 0,
            undeclared: Vec::new(),
            conflicts: run.conflicts,
            network: run.reached,
            job: run.job,
            home: run.home,
            cached: None,
            bits: self.bits(),
            took: self.took(),
        };
        self.tell_effects();
        self.turn.leave(&self.place);
        self.tell(EventKind::of_end(result.status), || CallEventContent::ended(result));
    }
}

/// Counts the time for which a call waits, even if the wait is cut short.
struct WaitTimer<'w, 'a> {
    cx: &'w CallContext<'a>,
    began: Instant,
}

impl Drop for WaitTimer<'_, '_> {
    fn drop(&mut self) {
        self.cx.note(|notes| notes.waited += self.began.elapsed());
    }
}

/// Longest name of a tool in results and events; a real one has at most 64 characters.
const LONGEST_NAME: usize = 80;

/// Shortens and redacts a name: an unregistered name may be anything, even a secret or a megabyte of text.
fn shown_name(session: &Session, name: &str) -> String {
    let shown = session.ground.redactor.redact(name);
    match shown.char_indices().nth(LONGEST_NAME) {
        None => shown.into_owned(),
        Some((end, _)) => format!("{}…", &shown[..end]),
    }
}

fn read_in(receipts: &[Receipt]) -> Vec<(Target, haft_contract::files::stamp::FileStamp)> {
    let read = |receipt: &Receipt| match receipt {
        Receipt::Read(target, version) => Some((target.clone(), version.stamp)),
        Receipt::Changed(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => None,
    };
    receipts.iter().filter_map(read).collect()
}
