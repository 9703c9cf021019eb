//! Limits the number of sessions of clients with a handshake.
//!
//! A client may leave silently, and another may open many sessions. Above the limit haft ends the session that was unused
//! for longest. Its client gets the status 404 and opens a new one, as the protocol says.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio_util::sync::CancellationToken;

/// Where a request says which session it belongs to.
const HEADER_SESSION_ID: &str = "Mcp-Session-Id";
/// Most sessions at the same time.
const MOST_SESSIONS: usize = 64;
/// How long a session lives without a message.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Tells the calls of a session that it has ended. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct SessionEnds {
    ends: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

impl SessionEnds {
    /// Returns what is told at the end of the session that a request belongs to; never, where it belongs to none.
    pub(crate) fn of(&self, context: &RequestContext<RoleServer>) -> CancellationToken {
        let head = context.extensions.get::<http::request::Parts>();
        let id = head.and_then(|head| head.headers.get(HEADER_SESSION_ID)?.to_str().ok());
        id.and_then(|id| self.ends().get(id).cloned()).unwrap_or_default()
    }

    fn begin(&self, id: &SessionId) {
        self.ends().insert(id.to_string(), CancellationToken::new());
    }

    fn end(&self, id: &SessionId) {
        if let Some(end) = self.ends().remove(&**id) {
            end.cancel();
        }
    }

    fn ends(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bounded number of sessions.
pub(super) struct BoundedSessions {
    sessions: LocalSessionManager,
    ends: SessionEnds,
    /// The sessions, the one that was used longest ago first.
    used: Mutex<VecDeque<SessionId>>,
}

type LocalSessions = LocalSessionManager;
type LocalSessionError = <LocalSessions as SessionManager>::Error;

impl BoundedSessions {
    /// Keeps sessions, and tells their calls when they end.
    pub(super) fn new(ends: SessionEnds) -> Self {
        let mut sessions = LocalSessionManager::default();
        let mut config = SessionConfig::default();
        // A call may take longer than the usual five minutes, and a person longer to answer.
        config.keep_alive = Some(IDLE);
        sessions.session_config = config;
        Self { sessions, ends, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, VecDeque<SessionId>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a session is used; returns the one that must end for it.
    fn touch(&self, id: &SessionId) -> Option<SessionId> {
        let mut used = self.used();
        used.retain(|known| known != id);
        used.push_back(id.clone());
        if used.len() > MOST_SESSIONS { used.pop_front() } else { None }
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionError;
    type Transport = <LocalSessions as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), LocalSessionError> {
        let (id, transport) = self.sessions.create_session().await?;
        self.ends.begin(&id);
        if let Some(oldest) = self.touch(&id) {
            self.close_session(&oldest).await?;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, LocalSessionError> {
        self.sessions.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, LocalSessionError> {
        let is_there = self.sessions.has_session(id).await?;
        if is_there {
            self.touch(id);
        }
        Ok(is_there)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), LocalSessionError> {
        self.used().retain(|known| known != id);
        self.ends.end(id);
        self.sessions.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl futures_util::Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionError> {
        self.sessions.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), LocalSessionError> {
        self.sessions.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl futures_util::Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionError> {
        self.sessions.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl futures_util::Stream<Item = ServerSseMessage> + Send + Sync + 'static, LocalSessionError> {
        self.sessions.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_that_was_used_longest_ago_ends_for_a_new_one() {
        let sessions = BoundedSessions::new(SessionEnds::default());
        let mut ids = Vec::new();
        for _ in 0..MOST_SESSIONS {
            ids.push(sessions.create_session().await.expect("there is room").0);
        }
        assert!(sessions.has_session(&ids[0]).await.expect("it is known"));
        let (_newest, _transport) = sessions.create_session().await.expect("one ends for it");
        let alive = |id: SessionId| async { sessions.sessions.has_session(&{ id }).await.expect("it is known") };
        assert!(alive(ids[0].clone()).await && !alive(ids[1].clone()).await && alive(ids[2].clone()).await);
        assert_eq!(sessions.used().len(), MOST_SESSIONS);
    }
}
