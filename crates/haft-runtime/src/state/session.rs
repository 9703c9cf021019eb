//! Holds one conversation: who answers its questions, its grants, its memory, its turn.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use haft_contract::call::{CallId, ToolCall};
use haft_contract::doors::door::{Page, PageRequest, Provenance, Receipt, SessionName, Spill};
use haft_contract::doors::job::JobService;
use haft_contract::doors::session_state::{AgentState, Storage};
use haft_contract::files::path::{Extent, RawPath, Target};
use haft_contract::outcome::error::ToolError;
use haft_policy::grant::GrantScope;
use haft_policy::policy::Mode;
use tokio_util::sync::CancellationToken;

use super::jobs::HeldJobs;
use super::memory::{CallKey, Memory, RememberedCall};
use super::storage::SessionStorage;
use super::taint::Taint;
use crate::asking::approval::Approver;
use crate::asking::asked::{AskedCall, AskedCalls};
use crate::confining::permits;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::turn::CallTurn;
use crate::runtime::RuntimeCore;

/// One conversation with a runtime. An MCP server has one per client, a sub-agent another.
pub struct Session {
    pub(crate) name: SessionName,
    /// Tells this session from others of the same name.
    pub(crate) run: Arc<str>,
    pub(crate) approver: Box<dyn Approver>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) ground: Arc<RuntimeCore>,
    /// Held while a question is open: one at a time.
    pub(crate) asking: tokio::sync::Mutex<()>,
    grants: Arc<Mutex<Vec<GrantScope>>>,
    asked: Arc<Mutex<AskedCalls>>,
    bits: Arc<Mutex<Vec<Taint>>>,
    /// What the calls that have not ended yet would make true.
    expected_bits: Arc<Mutex<ExpectedBits>>,
    turn: Mutex<Arc<CallTurn>>,
    /// Turns that have ended while calls of theirs went on.
    earlier_turns: Mutex<Vec<Weak<CallTurn>>>,
    mode: Mutex<Mode>,
    pub(crate) storage: SessionStorage,
    pub(crate) jobs: Arc<HeldJobs>,
    /// The number of the last turn, of all who share the session.
    turns: Arc<AtomicU64>,
    agent_state: Mutex<Option<Arc<dyn AgentState>>>,
    keeping: ResultCaching,
    readers: Readers,
    agent: Mutex<Option<String>>,
}

/// What each call that has not ended would make true.
type ExpectedBits = Vec<(CallId, Vec<Taint>)>;

/// Whether kept results serve identical calls, where the plans of these calls allow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultCaching {
    /// They do.
    #[default]
    On,
    /// Every call runs, and its result is not kept.
    Off,
}

/// Whose calls a session serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// One conversation: whatever was read is still there to be looked up, so reading it again is redundant.
    #[default]
    One,
    /// Conversations that may not see each other's results: every read is answered.
    Several,
}

impl Session {
    pub(crate) fn new(name: &str, approver: Box<dyn Approver>, ground: Arc<RuntimeCore>) -> Self {
        Self {
            name: SessionName::new(name),
            run: uuid::Uuid::now_v7().simple().to_string().into(),
            approver,
            memory: Arc::default(),
            jobs: Arc::new(HeldJobs::new(ground.clone())),
            turns: Arc::new(AtomicU64::new(1)),
            ground,
            asking: tokio::sync::Mutex::default(),
            grants: Arc::default(),
            asked: Arc::default(),
            bits: Arc::default(),
            expected_bits: Arc::default(),
            turn: Mutex::new(CallTurn::new(1)),
            earlier_turns: Mutex::default(),
            mode: Mutex::default(),
            storage: SessionStorage::default(),
            agent_state: Mutex::default(),
            keeping: ResultCaching::default(),
            readers: Readers::default(),
            agent: Mutex::default(),
        }
    }

    /// Opens the session for one more caller, whose questions go to another approver. It has turns and a mode of its own;
    /// what was granted, read and kept running belongs to all.
    pub fn joined(&self, approver: impl Approver + 'static) -> Self {
        let joined = Self {
            memory: Arc::clone(&self.memory),
            jobs: Arc::clone(&self.jobs),
            grants: Arc::clone(&self.grants),
            asked: Arc::clone(&self.asked),
            bits: Arc::clone(&self.bits),
            expected_bits: Arc::clone(&self.expected_bits),
            turns: Arc::clone(&self.turns),
            run: Arc::clone(&self.run),
            keeping: self.keeping,
            readers: self.readers,
            ..Self::new(self.name.as_str(), Box::new(approver), Arc::clone(&self.ground))
        };
        joined.begin_turn();
        joined
    }

    /// Lets the calls count as those of another agent's turn, which has names of its own.
    pub fn in_turn_of(mut self, run: &str, turn: u64) -> Self {
        self.run = run.into();
        self.turn = Mutex::new(CallTurn::new(turn));
        self
    }

    /// Names the program or model that makes the calls from now on, for the log.
    pub fn set_agent(&self, name: &str) {
        *self.agent.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
    }

    pub(crate) fn agent(&self) -> Option<String> {
        self.agent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets kept results serve, or lets every call run.
    pub fn with_keeping(mut self, keeping: ResultCaching) -> Self {
        self.keeping = keeping;
        self
    }

    pub(crate) fn keeping(&self) -> ResultCaching {
        self.keeping
    }

    /// Refuses jobs, because the session ends with its first call.
    pub fn without_jobs(self) -> Self {
        self.jobs.refuse();
        self
    }

    /// Lets other processes of the user see and control the jobs, from the first one on.
    pub fn publishing_jobs(self, service: Arc<dyn JobService>) -> Self {
        self.jobs.publish_with(service, self.name.as_str());
        self
    }

    /// Returns whether the session keeps something running.
    pub fn runs_jobs(&self) -> bool {
        use haft_contract::doors::job::Jobs;
        self.jobs.all().iter().any(|job| job.end.is_none())
    }

    /// Ends what the session keeps running, and waits until what that changed is in the workspace.
    pub async fn end_jobs(&self) {
        self.jobs.end().await;
    }

    /// Serves one conversation or several.
    pub fn with_readers(mut self, readers: Readers) -> Self {
        self.readers = readers;
        self
    }

    pub(crate) fn readers(&self) -> Readers {
        self.readers
    }

    /// Begins the next turn. Calls of the last one go on; what they told is nothing to the new ones.
    pub fn begin_turn(&self) {
        let mut turn = self.turn_slot();
        let next = CallTurn::new(self.turns.fetch_add(1, Ordering::Relaxed) + 1);
        let last = std::mem::replace(&mut *turn, next);
        let mut earlier = self.earlier_turns.lock().unwrap_or_else(PoisonError::into_inner);
        // A turn lives as long as one of its calls does.
        earlier.retain(|turn| turn.strong_count() > 0);
        earlier.push(Arc::downgrade(&last));
    }

    /// Stops every call of the turn, running or not, until the next turn begins.
    pub fn stop_turn(&self) {
        self.turn().stop.cancel();
    }

    /// Returns whether the turn was stopped, also if the approver stopped it in answer to a question about a call.
    pub fn is_turn_stopped(&self) -> bool {
        self.turn().stop.is_cancelled()
    }

    /// Stops one call, of this turn or an earlier one; returns whether it was there to be stopped.
    pub fn cancel(&self, id: &CallId) -> bool {
        let earlier = self.earlier_turns.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let earlier = earlier.iter().filter_map(Weak::upgrade);
        earlier.chain([self.turn()]).filter(|turn| turn.cancel(id)).count() > 0
    }

    /// Returns whether the file was read in this session and still has the version that was read.
    pub fn has_read(&self, path: &RawPath) -> bool {
        use haft_contract::context::ReadHistory;
        let look = &self.ground.doors.look;
        let Ok(target) = look.locate(path, Extent::Entry) else { return false };
        let read = self.memory.when_read(&target);
        read.is_some_and(|version| look.stamp(&target) == Some(version.stamp))
    }

    /// Reads some lines of an output of this session that was too long to show.
    ///
    /// # Errors
    ///
    /// Fails where there is no such output.
    pub async fn spilled(&self, id: &str, request: PageRequest) -> Result<Page, ToolError> {
        let spill = Spill { session: &self.name, id };
        let (tool, run) = ("spill".to_owned(), self.run.clone());
        let errand = Provenance {
            call: CallId::fresh(),
            tool,
            session: self.name.clone(),
            run,
            turn: self.turn().number,
            purpose: haft_contract::doors::door::Purpose::default(),
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        let permit = permits::issue(errand, [spill.effect()].into(), CancellationToken::new());
        self.ground.doors.store.spilled(&permit, spill, request).await
    }

    /// Notes that the text of a result has left the conversation: reading it again is not redundant.
    pub fn text_dropped(&self, id: &CallId) {
        self.memory.text_dropped(id);
    }

    /// Remembers how a call went, with what it left of the files that were read before.
    pub(crate) fn remember(&self, key: CallKey, remembered: RememberedCall, receipts: &[Receipt]) {
        let stamp = |target: &Target| self.ground.doors.look.stamp(target);
        self.memory.remember(key, remembered, (receipts, &stamp));
    }

    /// Forgets what was read, called, asked, granted and stored, and begins a new turn.
    pub fn forget(&self) {
        self.storage.forget();
        self.memory.forget();
        self.grants_slot().clear();
        *self.asked_slot() = AskedCalls::default();
        self.bits_slot().clear();
        self.begin_turn();
    }

    /// Lets nothing be changed from now on, or everything by the rules again.
    pub fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Returns whether changes are possible at all.
    pub fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets tools see this of the agent that calls them. Without it they see the number of the turn and no history.
    pub fn set_agent_state(&self, agent_state: Arc<dyn AgentState>) {
        *self.agent_state.lock().unwrap_or_else(PoisonError::into_inner) = Some(agent_state);
    }

    /// Returns what tools see of the agent that calls them, if the agent has set it.
    pub(crate) fn agent_state(&self) -> Option<Arc<dyn AgentState>> {
        self.agent_state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the tools of the session keep for each other.
    pub fn storage(&self) -> &dyn Storage {
        &self.storage
    }

    /// Remembers a permission for the rest of the session.
    pub fn grant(&self, scope: GrantScope) {
        let mut grants = self.grants_slot();
        if !grants.contains(&scope) {
            grants.push(scope);
        }
    }

    /// Returns what was granted.
    pub fn grants(&self) -> Vec<GrantScope> {
        self.grants_slot().clone()
    }

    /// Returns the sticky facts of the session, in the order in which they became true.
    pub fn bits(&self) -> Vec<Taint> {
        self.bits_slot().clone()
    }

    /// Sets a sticky fact; returns whether it is new.
    pub(crate) fn set_bit(&self, bit: Taint) -> bool {
        let mut bits = self.bits_slot();
        let is_new = !bits.contains(&bit);
        bits.extend(is_new.then_some(bit));
        is_new
    }

    /// Notes what a call would make true. Returns what is true, or would be when the other calls have ended: calls overlap.
    pub(crate) fn expect_bits(&self, call: &CallId, bits: &[Taint]) -> Vec<Taint> {
        let mut all = self.bits();
        let mut expected = self.expected_bits.lock().unwrap_or_else(PoisonError::into_inner);
        expected.retain(|(other, _)| other != call);
        all.extend(expected.iter().flat_map(|(_, bits)| bits));
        expected.push((call.clone(), bits.to_vec()));
        all
    }

    /// Forgets what a call would have made true: it has ended.
    pub(crate) fn expect_no_bits(&self, call: &CallId) {
        self.expected_bits.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| other != call);
    }

    /// Remembers a question.
    pub(crate) fn note_asked(&self, call: AskedCall) {
        self.asked_slot().add(call);
    }

    /// Returns the questions so far, the newest first.
    pub(crate) fn asked_calls(&self) -> Vec<AskedCall> {
        self.asked_slot().newest_first()
    }

    /// Returns the name of the session.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(crate) fn open_call<'a>(&'a self, call: &ToolCall) -> CallContext<'a> {
        CallContext::open(self, self.turn(), call)
    }

    fn turn(&self) -> Arc<CallTurn> {
        self.turn_slot().clone()
    }

    pub(crate) fn turn_number(&self) -> u64 {
        self.turn_slot().number
    }

    fn turn_slot(&self) -> MutexGuard<'_, Arc<CallTurn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked_slot(&self) -> MutexGuard<'_, AskedCalls> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bits_slot(&self) -> MutexGuard<'_, Vec<Taint>> {
        self.bits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grants_slot(&self) -> MutexGuard<'_, Vec<GrantScope>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
