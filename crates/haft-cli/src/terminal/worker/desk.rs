//! Takes orders while the worker is busy: answers and a stop immediately, all others in their order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_agent::work::inbox::Inbox;
use haft_host::conversations::session_records::{QueuedMessage, SessionRecorder};
use haft_runtime::state::session::Session;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::asker::Asker;
use crate::terminal::protocol::{MessageDelivery, Order, WaitingMessage};

/// Takes the orders of the terminal, and keeps those that come while the worker is busy.
pub(super) struct OrderQueue {
    orders: UnboundedReceiver<Order>,
    /// The orders that came while the worker was busy.
    later: VecDeque<Order>,
    asker: Asker,
    pub(super) messages: Messages,
    recorder: Option<Arc<SessionRecorder>>,
}

/// Messages for the model that wait for its next step.
#[derive(Clone, Default)]
pub(super) struct Messages(Arc<Mutex<MessageBacklog>>);

/// The messages that wait for the model, and the numbers of those that it was given.
#[derive(Default)]
struct MessageBacklog {
    messages: VecDeque<(u64, String)>,
    /// Which of them were given to the model, in their order.
    given: VecDeque<u64>,
}

impl Messages {
    fn lock(&self) -> MutexGuard<'_, MessageBacklog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the message that was given to the model first and not asked about.
    pub(super) fn given(&self) -> Option<u64> {
        self.lock().given.pop_front()
    }
}

impl Inbox for Messages {
    fn take(&self) -> Option<String> {
        let mut waiting = self.lock();
        let (id, text) = waiting.messages.pop_front()?;
        waiting.given.push_back(id);
        Some(text)
    }
}

impl OrderQueue {
    pub(super) fn new(orders: UnboundedReceiver<Order>, asker: Asker) -> Self {
        Self { orders, later: VecDeque::new(), asker, messages: Messages::default(), recorder: None }
    }

    /// Records waiting messages in this log from now on.
    pub(super) fn record_in(&mut self, recorder: Option<Arc<SessionRecorder>>) {
        self.recorder = recorder;
        self.messages.lock().messages.clear();
    }

    /// Lets messages wait that waited when a session was left.
    pub(super) fn hold<'m>(&self, messages: impl Iterator<Item = &'m QueuedMessage>) {
        let mut waiting = self.messages.lock();
        waiting.messages = messages.map(|message| (message.id, message.text.clone())).collect();
    }

    /// Waits for the next order.
    pub(super) async fn next(&mut self) -> Option<Order> {
        match self.later.pop_front() {
            Some(order) => Some(order),
            None => self.orders.recv().await,
        }
    }

    /// Waits for the end of some work, and takes orders meanwhile. A stop cancels the token; so does a screen that is gone.
    pub(super) async fn attend<T>(
        &mut self,
        work: impl Future<Output = T>,
        stop: &CancellationToken,
        session: Option<&Session>,
    ) -> T {
        tokio::pin!(work);
        loop {
            let order = tokio::select! {
                biased;
                order = self.orders.recv() => order,
                done = &mut work => return done,
            };
            match order {
                Some(Order::Stop) => stop.cancel(),
                Some(Order::Quit) => {
                    stop.cancel();
                    self.later.push_front(Order::Quit);
                }
                None => {
                    stop.cancel();
                    return work.await;
                }
                Some(order) => self.adjust(order, session),
            }
        }
    }

    /// Executes orders that take no time; keeps the others for later.
    pub(super) fn adjust(&mut self, order: Order, session: Option<&Session>) {
        match order {
            Order::Answer(id, reply) => self.asker.answer(id, reply),
            Order::Yes(yes) => self.asker.say(yes),
            Order::Mode(mode) => {
                self.asker.set_mode(mode);
                session.iter().for_each(|session| session.set_mode(mode));
            }
            Order::Queue(queued) => self.queue(queued),
            Order::Unqueue(id) => self.unqueue(id),
            Order::Draft(text, _until_done) => {
                // A failure to keep the unsent input does no harm: it is still on the screen.
                let _is_lost = self.recorder.as_ref().map(|recorder| recorder.draft(&text));
            }
            // Nothing runs that could be stopped, or it is for the screen.
            Order::Stop | Order::Suspend => {}
            order => self.later.push_back(order),
        }
    }

    fn queue(&mut self, queued: WaitingMessage) {
        let WaitingMessage { id, text, when } = queued;
        let message = QueuedMessage { id, text, after_turn: when == MessageDelivery::AfterTurn };
        let _is_lost = self.recorder.as_ref().map(|recorder| recorder.queue(&message));
        if when == MessageDelivery::NextStep {
            self.messages.lock().messages.push_back((id, message.text));
        }
    }

    fn unqueue(&mut self, id: u64) {
        self.messages.lock().messages.retain(|(waiting, _)| *waiting != id);
        let _is_lost = self.recorder.as_ref().map(|recorder| recorder.unqueue(id));
    }
}
