//! Keeps the order of calls within a turn: each call has a place and sees those before it.
//!
//! Not here: waiting for the right moment (`stages/line_up`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_contract::call::CallId;
use haft_contract::effect::Effect;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::conflict::Commands;
use crate::state::memory::CallKey;

/// One turn: the calls of one message, or all lines up to an empty one.
pub(crate) struct CallTurn {
    pub(crate) number: u64,
    pub(crate) stop: CancellationToken,
    unfinished: Mutex<Vec<Arc<TurnPlace>>>,
}

/// A call's place in its turn.
pub(crate) struct TurnPlace {
    pub(crate) id: CallId,
    pub(crate) stop: CancellationToken,
    told: Mutex<CallDeclaration>,
    /// Wakes those that wait for what this call tells.
    news: Notify,
}

/// What a call has declared to the calls behind it in its turn.
#[derive(Clone, Default)]
pub(crate) struct CallDeclaration {
    pub(crate) effects: Option<Arc<[Effect]>>,
    pub(crate) commands: Option<Commands>,
    pub(crate) key: Option<CallKey>,
    pub(crate) now: Now,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Now {
    /// It is planned, judged, or waits for others.
    #[default]
    Underway,
    /// A person is asked about it.
    Asking,
    /// It is carried out.
    Executing,
    Finished,
}

impl CallTurn {
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, stop: CancellationToken::new(), unfinished: Mutex::default() })
    }

    /// Takes the next place.
    pub(crate) fn take_place(&self, id: CallId) -> Arc<TurnPlace> {
        let stop = self.stop.child_token();
        let place = Arc::new(TurnPlace { id, stop, told: Mutex::default(), news: Notify::new() });
        self.places().push(place.clone());
        place
    }

    /// Returns the unfinished calls before this one.
    pub(crate) fn unfinished_before(&self, place: &TurnPlace) -> Vec<Arc<TurnPlace>> {
        let places = self.places();
        places.iter().take_while(|other| !std::ptr::eq(Arc::as_ptr(other), place)).cloned().collect()
    }

    /// Stops one call; returns whether it was there to be stopped.
    pub(crate) fn cancel(&self, id: &CallId) -> bool {
        let places = self.places();
        places.iter().filter(|place| place.id == *id).inspect(|place| place.stop.cancel()).count() > 0
    }

    /// Gives up a place: those behind may go on.
    pub(crate) fn leave(&self, place: &TurnPlace) {
        self.places().retain(|other| !std::ptr::eq(Arc::as_ptr(other), place));
        place.is_now(Now::Finished);
    }

    fn places(&self) -> MutexGuard<'_, Vec<Arc<TurnPlace>>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnPlace {
    /// Tells those behind what this call would do.
    pub(crate) fn tell(&self, (effects, commands): (Arc<[Effect]>, Commands), key: CallKey) {
        let mut told = self.declared();
        (told.effects, told.commands, told.key) = (Some(effects), Some(commands), Some(key));
        drop(told);
        self.news.notify_waiters();
    }

    /// Tells those behind how far this call is. What is finished stays so.
    pub(crate) fn is_now(&self, now: Now) {
        let mut told = self.declared();
        if told.now == Now::Finished || told.now == now {
            return;
        }
        told.now = now;
        drop(told);
        self.news.notify_waiters();
    }

    /// Waits until this call has told its effects or is finished.
    pub(crate) async fn told(&self) -> CallDeclaration {
        self.wait_for(|told| told.effects.is_some() || told.now == Now::Finished).await
    }

    /// Waits until this call is finished.
    pub(crate) async fn finished(&self) {
        self.wait_for(|told| told.now == Now::Finished).await;
    }

    /// Waits until this call is finished, or a person is asked about it; returns whether it is finished.
    pub(crate) async fn finished_or_asking(&self) -> bool {
        self.wait_for(|told| matches!(told.now, Now::Finished | Now::Asking)).await.now == Now::Finished
    }

    /// Waits as long as this call is carried out, if it runs a command.
    pub(crate) async fn carried_out(&self) {
        let runs = |told: &CallDeclaration| {
            told.effects.as_ref().is_some_and(|effects| effects.iter().any(|effect| matches!(effect, Effect::Run(_))))
        };
        self.wait_for(|told| told.now != Now::Executing || !runs(told)).await;
    }

    async fn wait_for(&self, mut ready: impl FnMut(&CallDeclaration) -> bool) -> CallDeclaration {
        loop {
            // Listens before it looks, so that nothing is missed in between.
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            let told = self.declared().clone();
            if ready(&told) {
                return told;
            }
            news.await;
        }
    }

    fn declared(&self) -> MutexGuard<'_, CallDeclaration> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
