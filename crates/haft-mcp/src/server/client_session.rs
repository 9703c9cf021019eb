//! Remembers one client: its session with the workspace, its outputs, and its subscriptions.
//!
//! Each client with a handshake has a separate session. Clients without a handshake share one, because a request does not
//! say which of them sent it.

use std::sync::{Arc, Mutex, PoisonError};

use haft_host::toolbox::Toolbox;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio_util::sync::DropGuard;

use super::calling::Turns;
use super::listeners::Wishes;
use super::resources::Spills;

/// What haft remembers of one client.
#[derive(Default)]
pub(crate) struct ClientSession {
    pub(crate) opened: OnceCell<Toolbox>,
    pub(crate) turns: Turns,
    pub(crate) spills: Spills,
    pub(crate) wishes: Arc<Wishes>,
    /// Ends the messages about changes.
    leaving: Mutex<Option<DropGuard>>,
}

impl ClientSession {
    /// Makes one whose workspace may be open already.
    pub(crate) fn of(toolbox: Option<Toolbox>) -> Self {
        let mut session = Self::default();
        session.opened = OnceCell::new_with(toolbox);
        session
    }

    /// Keeps this until the session ends.
    pub(crate) fn keep(&self, guard: DropGuard) {
        *self.leaving.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    }
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        if let (Some(toolbox), Ok(runtime)) = (self.opened.take(), Handle::try_current()) {
            runtime.spawn(async move {
                toolbox.session().end_jobs().await;
                // Its home and its temporary folders may hold much, and other clients do not wait while they are removed.
                drop(tokio::task::spawn_blocking(move || drop(toolbox)));
            });
        }
    }
}
