//! Tracks requests without an answer, in both directions, and limits their number.
//!
//! An id belongs to one request until its answer is on the way or, after a cancellation, until its work has ended. Otherwise
//! the end of one request could pass for the answer to the next.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// Most requests without an answer.
pub(crate) const MOST: usize = 8_192;
/// Most of them that are worked on; the others wait.
const MOST_BEGUN: usize = 256;
/// How many pings are answered beside them.
const MOST_PINGS: usize = 32;
/// Most bytes of requests without an answer.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// The requests without an answer.
#[derive(Default)]
pub(crate) struct InFlight {
    state: Mutex<InFlightState>,
    changed: Notify,
}

#[derive(Default)]
struct InFlightState {
    /// Those of the client.
    taken: HashMap<RequestId, InFlightRequest>,
    /// How many bytes they have.
    bytes: usize,
    /// How many of them are worked on.
    begun: usize,
    /// Our own questions to the client.
    asked: HashSet<RequestId>,
}

struct InFlightRequest {
    bytes: usize,
    has_begun: bool,
    is_cancelled: bool,
    /// Its work has ended.
    is_handled: bool,
}

impl InFlight {
    /// Takes a request; fails when its id is in use.
    pub(crate) fn take(&self, id: &RequestId, bytes: usize) -> Result<(), InUse> {
        let mut state = self.state();
        if state.taken.contains_key(id) {
            return Err(InUse);
        }
        state.bytes += bytes;
        state
            .taken
            .insert(id.clone(), InFlightRequest { bytes, has_begun: false, is_cancelled: false, is_handled: false });
        Ok(())
    }

    /// Begins the work on a request, where there is room for it; returns whether there is.
    pub(crate) fn begin(&self, id: &RequestId) -> bool {
        self.begin_beside(id, MOST_BEGUN)
    }

    /// The same for a ping, which other requests do not hold up.
    pub(crate) fn begin_ping(&self, id: &RequestId) -> bool {
        self.begin_beside(id, MOST_BEGUN + MOST_PINGS)
    }

    fn begin_beside(&self, id: &RequestId, most: usize) -> bool {
        let mut state = self.state();
        if state.begun >= most {
            return false;
        }
        let InFlightState { taken, begun, .. } = &mut *state;
        if let Some(taken) = taken.get_mut(id)
            && !std::mem::replace(&mut taken.has_begun, true)
        {
            *begun += 1;
        }
        true
    }

    /// Notes that the client does not want an answer any more; returns whether there is such a request.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let mut state = self.state();
        let Some(taken) = state.taken.get_mut(id) else { return false };
        taken.is_cancelled = true;
        if taken.is_handled {
            self.remove(state, id);
        }
        true
    }

    /// Notes that the work of a request has ended; its answer is still to come, unless it was cancelled.
    pub(crate) fn handled(&self, id: &RequestId) {
        let mut state = self.state();
        let Some(taken) = state.taken.get_mut(id) else { return };
        taken.is_handled = true;
        if taken.is_cancelled {
            self.remove(state, id);
        }
    }

    /// Notes that the answer is on its way.
    pub(crate) fn answered(&self, id: &RequestId) {
        self.remove(self.state(), id);
    }

    /// Notes a question of ours.
    pub(crate) fn ask(&self, id: RequestId) {
        self.state().asked.insert(id);
        // A request that waits for room may be the answer.
        self.changed.notify_one();
    }

    /// Takes the answer to a question of ours; returns whether there is such a question.
    pub(crate) fn take_answer(&self, id: &RequestId) -> bool {
        self.state().asked.remove(id)
    }

    /// Says whether another request may be read.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        state.taken.len() < MOST && state.bytes < MOST_BYTES
    }

    /// Says whether the client owes us an answer.
    pub(crate) fn is_asking(&self) -> bool {
        !self.state().asked.is_empty()
    }

    /// Says whether every request has its answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.state().taken.is_empty()
    }

    /// Waits until something has changed since the last look.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn remove(&self, mut state: MutexGuard<'_, InFlightState>, id: &RequestId) {
        if let Some(taken) = state.taken.remove(id) {
            state.bytes -= taken.bytes;
            state.begun -= usize::from(taken.has_begun);
            self.changed.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, InFlightState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id belongs to a request that has no answer yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InUse;

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    #[test]
    fn an_id_is_free_again_when_its_answer_is_on_the_way() {
        let requests = InFlight::default();
        assert_eq!(requests.take(&id(1), 10), Ok(()));
        assert_eq!(requests.take(&id(1), 10), Err(InUse));
        requests.handled(&id(1));
        assert_eq!(requests.take(&id(1), 10), Err(InUse));
        requests.answered(&id(1));
        assert!(requests.is_empty());
        assert_eq!(requests.take(&id(1), 10), Ok(()));
    }

    #[test]
    fn the_id_of_a_cancelled_request_is_free_when_its_work_has_ended() {
        let requests = InFlight::default();
        requests.take(&id(1), 1).expect("it is free");
        assert!(requests.cancel(&id(1)) && !requests.cancel(&id(2)));
        assert_eq!(requests.take(&id(1), 1), Err(InUse));
        requests.handled(&id(1));
        assert!(requests.is_empty());
        // The other way round: the work had ended, and the answer was given up.
        requests.take(&id(3), 1).expect("it is free");
        requests.handled(&id(3));
        requests.cancel(&id(3));
        assert!(requests.is_empty());
    }

    #[test]
    fn only_some_of_the_requests_are_worked_on_and_an_answer_makes_room_for_the_next() {
        let requests = InFlight::default();
        for number in 0..MOST_BEGUN {
            requests.take(&id(number as i64), 1).expect("it is free");
            assert!(requests.begin(&id(number as i64)));
        }
        requests.take(&id(1_000), 1).expect("it is free");
        assert!(!requests.begin(&id(1_000)));
        for ping in 0..MOST_PINGS {
            let ping = id(2_000 + ping as i64);
            requests.take(&ping, 1).expect("it is free");
            assert!(requests.begin_ping(&ping));
        }
        assert!(!requests.begin_ping(&id(1_000)));
        (0..=MOST_PINGS).for_each(|number| requests.answered(&id(number as i64)));
        assert!(requests.begin(&id(1_000)) && requests.has_room());
    }

    #[test]
    fn neither_many_requests_nor_large_ones_are_taken_without_end() {
        let requests = InFlight::default();
        for number in 0..MOST {
            assert!(requests.has_room());
            requests.take(&id(number as i64), 1).expect("it is free");
        }
        assert!(!requests.has_room());
        requests.answered(&id(0));
        assert!(requests.has_room());
        requests.take(&id(0), MOST_BYTES).expect("it is free");
        assert!(!requests.has_room());
    }
}
