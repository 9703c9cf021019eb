//! Reports what happens to calls to every subscriber.
//!
//! Each subscriber has its own queue with a filter in front. A slow subscriber loses only its own oldest events, and a
//! subscriber that panics ends only its own task. haft builds no event that no subscriber wants. Dropping a subscription
//! ends it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use haft_contract::call::CallId;
use haft_contract::files::path::Target;
use haft_contract::outcome::result::{Status, ToolResult};
use serde_json::Value;
use tokio::sync::Notify;

use crate::asking::approval::{ApprovalRequest, Verdict};
use crate::pipeline::stage::CallStage;
use crate::state::taint::Taint;

/// Most events that wait for one subscriber.
const LONGEST_QUEUE: usize = 8_192;

/// One thing that happened to a call.
#[derive(Clone, Debug)]
pub struct CallEvent {
    /// The call.
    pub call: CallId,
    /// What happened.
    pub what: CallEventContent,
}

/// The content of a call event. Every call has one `Started` and exactly one of `Finished` and `Failed`.
#[derive(Clone, Debug)]
pub enum CallEventContent {
    /// The call took its place in the turn.
    Started {
        /// The tool, as the caller wrote it.
        tool: String,
        /// The arguments as they came in, secrets hidden.
        arguments: Value,
    },
    /// A stage ended.
    StageFinished {
        /// Which.
        stage: CallStage,
        /// How long it took.
        took: Duration,
        /// Whether the call stopped there.
        halted: bool,
    },
    /// haft asks for approval.
    ApprovalAsked(Arc<ApprovalRequest>),
    /// The approver answered, or no answer came.
    ApprovalGiven {
        /// The answer.
        verdict: Verdict,
        /// What a yes for longer covers, in words, secrets hidden.
        scope: Option<String>,
    },
    /// A piece of output came while the call runs.
    OutputChunk(String),
    /// Files were changed.
    FilesChanged(Vec<Target>),
    /// A sticky fact of the session became true.
    BitSet(Taint),
    /// The call worked.
    Finished(Arc<ToolResult>),
    /// The call failed, was refused or stopped.
    Failed(Arc<ToolResult>),
}

/// The kinds of events one can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are the names of `What`")]
pub enum EventKind {
    Started,
    StageFinished,
    ApprovalAsked,
    ApprovalGiven,
    OutputChunk,
    FilesChanged,
    BitSet,
    Finished,
    Failed,
}

impl EventKind {
    /// Returns the kind of the terminal event of a call that ended like this.
    pub(crate) fn of_end(status: Status) -> Self {
        if status == Status::Ok { EventKind::Finished } else { EventKind::Failed }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl CallEventContent {
    /// Returns the kind of the event.
    pub fn kind(&self) -> EventKind {
        match self {
            CallEventContent::Started { .. } => EventKind::Started,
            CallEventContent::StageFinished { .. } => EventKind::StageFinished,
            CallEventContent::ApprovalAsked(_) => EventKind::ApprovalAsked,
            CallEventContent::ApprovalGiven { .. } => EventKind::ApprovalGiven,
            CallEventContent::OutputChunk(_) => EventKind::OutputChunk,
            CallEventContent::FilesChanged(_) => EventKind::FilesChanged,
            CallEventContent::BitSet(_) => EventKind::BitSet,
            CallEventContent::Finished(_) => EventKind::Finished,
            CallEventContent::Failed(_) => EventKind::Failed,
        }
    }

    /// Returns the terminal event that belongs to a result.
    pub(crate) fn ended(result: ToolResult) -> Self {
        match result.status {
            Status::Ok => CallEventContent::Finished(Arc::new(result)),
            Status::Failed | Status::Refused | Status::TimedOut | Status::Cancelled => {
                CallEventContent::Failed(Arc::new(result))
            }
        }
    }
}

/// The events of a runtime.
#[derive(Clone, Default)]
pub struct Events {
    subscribers: Arc<Subscribers>,
}

#[derive(Default)]
struct Subscribers {
    /// The kinds of events that some queue takes, a bit each.
    wanted: AtomicU16,
    queues: RwLock<Vec<Weak<Queue>>>,
}

struct Queue {
    only: Option<EventKind>,
    waiting: Mutex<EventBacklog>,
    arrived: Notify,
}

#[derive(Default)]
struct EventBacklog {
    events: VecDeque<CallEvent>,
    missed: u64,
}

impl Events {
    /// Subscribes to all events.
    pub fn subscribe(&self) -> Subscription {
        self.subscribe_to(None)
    }

    /// Subscribes to one kind of events.
    pub fn subscribe_only(&self, kind: EventKind) -> Subscription {
        self.subscribe_to(Some(kind))
    }

    fn subscribe_to(&self, only: Option<EventKind>) -> Subscription {
        let queue = Arc::new(Queue { only, waiting: Mutex::default(), arrived: Notify::new() });
        self.subscribers.change(|queues| queues.push(Arc::downgrade(&queue)));
        Subscription { queue, subscribers: self.subscribers.clone() }
    }

    /// Reports what happened. Calls `what` only when a subscriber wants this kind.
    pub(crate) fn tell(&self, call: &CallId, kind: EventKind, what: impl FnOnce() -> CallEventContent) {
        if self.subscribers.wanted.load(Ordering::Acquire) & kind.bit() == 0 {
            return;
        }
        let event = CallEvent { call: call.clone(), what: what() };
        debug_assert_eq!(event.what.kind(), kind);
        let queues = self.subscribers.queues.read().unwrap_or_else(PoisonError::into_inner);
        let mut taking = queues.iter().filter_map(Weak::upgrade).filter(|queue| queue.takes(kind));
        // Mostly there is one, and it gets the event itself.
        if let Some(first) = taking.next() {
            taking.for_each(|queue| queue.push(event.clone()));
            first.push(event);
        }
    }
}

impl Subscribers {
    fn change(&self, change: impl FnOnce(&mut Vec<Weak<Queue>>)) {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut queues);
        let wanted = queues.iter().filter_map(Weak::upgrade).map(|queue| queue.only.map_or(u16::MAX, EventKind::bit));
        self.wanted.store(wanted.fold(0, |all, kinds| all | kinds), Ordering::Release);
    }
}

impl Queue {
    fn takes(&self, kind: EventKind) -> bool {
        self.only.is_none_or(|only| only == kind)
    }

    fn push(&self, event: CallEvent) {
        let mut waiting = self.lock();
        if waiting.events.len() >= LONGEST_QUEUE {
            waiting.events.pop_front();
            waiting.missed += 1;
        }
        waiting.events.push_back(event);
        drop(waiting);
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, EventBacklog> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A subscription. Dropping it ends it.
pub struct Subscription {
    queue: Arc<Queue>,
    subscribers: Arc<Subscribers>,
}

impl Subscription {
    /// Waits for the next event.
    pub async fn next(&mut self) -> CallEvent {
        loop {
            if let Some(event) = self.try_next() {
                return event;
            }
            self.queue.arrived.notified().await;
        }
    }

    /// Returns the next event if there is one.
    pub fn try_next(&mut self) -> Option<CallEvent> {
        self.queue.lock().events.pop_front()
    }

    /// Returns how many events were lost because the subscriber did not take them.
    pub fn missed(&self) -> u64 {
        self.queue.lock().missed
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let gone = Arc::as_ptr(&self.queue);
        self.subscribers.change(|queues| queues.retain(|queue| !std::ptr::eq(queue.as_ptr(), gone)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(events: &Events, text: &str) {
        events.tell(&CallId::new("1"), EventKind::OutputChunk, || CallEventContent::OutputChunk(text.to_owned()));
    }

    fn yes(events: &Events) {
        let given = || CallEventContent::ApprovalGiven { verdict: Verdict::AllowOnce, scope: None };
        events.tell(&CallId::new("1"), EventKind::ApprovalGiven, given);
    }

    fn take_all(subscription: &mut Subscription) -> Vec<EventKind> {
        std::iter::from_fn(|| subscription.try_next()).map(|event| event.what.kind()).collect()
    }

    #[test]
    fn a_subscriber_gets_its_kind_or_all_and_nothing_after_it_is_dropped() {
        let events = Events::default();
        let mut all = events.subscribe();
        let mut verdicts = events.subscribe_only(EventKind::ApprovalGiven);
        chunk(&events, "a");
        yes(&events);
        assert_eq!(take_all(&mut all), [EventKind::OutputChunk, EventKind::ApprovalGiven]);
        assert_eq!(take_all(&mut verdicts), [EventKind::ApprovalGiven]);
        drop(all);
        events.tell(&CallId::new("1"), EventKind::OutputChunk, || panic!("nobody wants it, so nothing is built"));
        yes(&events);
        assert_eq!(take_all(&mut verdicts), [EventKind::ApprovalGiven]);
        drop(verdicts);
        events.tell(&CallId::new("1"), EventKind::ApprovalGiven, || panic!("nobody listens, so nothing is built"));
    }

    #[test]
    fn a_slow_subscriber_loses_its_own_oldest_events_and_is_told_how_many() {
        let events = Events::default();
        let slow = events.subscribe();
        let mut quick = events.subscribe();
        for _ in 0..LONGEST_QUEUE + 3 {
            chunk(&events, "x");
            assert!(quick.try_next().is_some());
        }
        assert_eq!((slow.missed(), quick.missed()), (3, 0));
    }
}
