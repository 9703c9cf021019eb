//! Wakes the thread that attends to a command: to end it, or because there is room for more output.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

/// What is shared between a call and the thread that attends to its command.
#[derive(Debug)]
pub(crate) struct Wake {
    event: OwnedFd,
    wish: AtomicU8,
    waits_for_room: AtomicBool,
    signals: Mutex<Vec<i32>>,
}

/// A call's request to the thread that attends to its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ThreadRequest {
    /// To go on.
    GoOn,
    /// To end the command soon.
    Stop,
    /// To end it immediately: no caller waits for the result any more.
    Abandon,
}

impl Wake {
    pub(crate) fn new() -> rustix::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (wish, waits_for_room) = (AtomicU8::new(ThreadRequest::GoOn as u8), AtomicBool::new(false));
        Ok(Self { event, wish, waits_for_room, signals: Mutex::default() })
    }

    /// Gives the thread signals for the command.
    pub(crate) fn signal(&self, signals: Vec<i32>) {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner).extend(signals);
        self.ring();
    }

    /// Takes the signals for the command.
    pub(crate) fn take_signals(&self) -> Vec<i32> {
        std::mem::take(&mut *self.signals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the thread what to do. A wish is never taken back.
    pub(crate) fn tell(&self, wish: ThreadRequest) {
        self.wish.fetch_max(wish as u8, Ordering::SeqCst);
        self.ring();
    }

    pub(crate) fn wish(&self) -> ThreadRequest {
        match self.wish.load(Ordering::SeqCst) {
            0 => ThreadRequest::GoOn,
            1 => ThreadRequest::Stop,
            _ => ThreadRequest::Abandon,
        }
    }

    /// Says that the thread must be told when there is room. It tries once more after having said so.
    pub(crate) fn wait_for_room(&self) {
        self.waits_for_room.store(true, Ordering::SeqCst);
    }

    /// Tells the thread that there is room, if it waits for some.
    pub(crate) fn there_is_room(&self) {
        if self.waits_for_room.swap(false, Ordering::SeqCst) {
            self.ring();
        }
    }

    /// Forgets that it was woken.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }

    fn ring(&self) {
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Abandons the command when the call is dropped.
#[derive(Debug)]
pub(crate) struct AbandonWhenDropped(pub(crate) Arc<Wake>);

impl Drop for AbandonWhenDropped {
    fn drop(&mut self) {
        self.0.tell(ThreadRequest::Abandon);
    }
}
