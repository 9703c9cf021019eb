//! A model that follows a script: a real HTTP server on loopback with the formats of all four providers.
//!
//! Tests run haft against it over real connections, with every possible failure as data. It keeps every request. A
//! request that no provider would accept, or that the script does not expect, gets status 400 with the reason, and the
//! test fails when the model is dropped.
//!
//! It runs on its own thread, so tests may be asynchronous or not, and may stop the time.
//!
//! Not here: choosing a reply. A script that branches says so itself (`otherwise`).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use haft_model::wire::Wire;
use tokio::sync::oneshot;

pub use asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult, ReplyRequest};
pub use expect::Expect;
pub use fault::{Fault, RetryAfter, StatusFault};
pub use script::{ModelScript, ScriptedCall, ScriptedPart, ScriptedStopReason, ScriptedTurn, Usage};

use serve::SharedScriptState;
use state::ScriptState;

mod answer;
mod anthropic;
mod asked;
mod chat;
mod expect;
mod fault;
mod gemini;
mod history;
pub(crate) mod http;
mod responses;
mod script;
mod serve;
mod state;
#[cfg(test)]
mod tests;
mod tongue;

/// How long a test waits for a request before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that follows a script. It stops when it is dropped.
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<SharedScriptState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// The name of the model. It answers to every other name too.
    pub const NAME: &'static str = "scripted";

    /// Starts a server on a free port of loopback.
    pub fn start(script: ModelScript) -> Self {
        Self::start_at(script, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("loopback has a free port")
    }

    /// Starts a server at this address.
    #[expect(clippy::disallowed_types, reason = "a server on loopback for tests; nothing is reached by it")]
    pub fn start_at(script: ModelScript, address: SocketAddr) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::new(SharedScriptState::new(ScriptState::new(script)));
        let (stop, stopped) = oneshot::channel();
        let served = shared.clone();
        // Only on its own thread: the caller may be in a runtime, which cannot wait for another.
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve::listen(listener, served) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("scripted-model".into()).spawn(work)?;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address of the provider in this form, without the form's own path.
    pub fn base_url(&self, wire: Wire) -> String {
        let address = self.address;
        match wire {
            Wire::Anthropic | Wire::Gemini => format!("http://{address}"),
            Wire::Responses | Wire::Chat => format!("http://{address}/v1"),
        }
    }

    /// Returns the requests for a reply so far, in the order in which they came.
    pub fn requests(&self) -> Vec<ReplyRequest> {
        self.shared.state().asked.clone()
    }

    /// Waits until this many requests have come.
    pub async fn when_asked(&self, count: usize) {
        let mut seen = self.shared.count.subscribe();
        let enough = seen.wait_for(|seen| *seen >= count);
        enough.await.expect("the server keeps its counter as long as it is there");
    }

    /// Waits until this many requests have come, in a test that is not asynchronous. Panics after a minute.
    pub fn wait_until_asked(&self, count: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime without threads can always be had");
        let waited = runtime.block_on(async { tokio::time::timeout(PATIENCE, self.when_asked(count)).await });
        assert!(waited.is_ok(), "after {PATIENCE:?} there were {} requests of {count}", self.requests().len());
    }

    /// Lets so many events of held replies go.
    pub fn release(&self, events: usize) {
        self.shared.released.add_permits(events);
    }

    /// Lets all events of held replies go, from now on.
    pub fn release_all(&self) {
        self.shared.released.close();
    }

    /// Returns how many turns have not been told.
    pub fn turns_left(&self) -> usize {
        self.shared.state().turns_left()
    }

    /// Takes the reasons why requests did not fit, so that they do not make the test fail.
    pub fn take_misfits(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().misfits)
    }

    /// Panics unless every turn was told and every request fitted.
    #[track_caller]
    pub fn assert_told(&self) {
        let misfits = self.take_misfits();
        assert!(misfits.is_empty(), "{}", misfits.join("\n"));
        assert_eq!(self.turns_left(), 0, "turns of the script that were not used");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        // It may have ended by itself, which is what was wanted.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let ended = self.thread.take().map(JoinHandle::join);
        if std::thread::panicking() {
            return;
        }
        assert!(matches!(ended, Some(Ok(()))), "the scripted model panicked");
        let misfits = self.take_misfits();
        assert!(misfits.is_empty(), "{}", misfits.join("\n"));
    }
}
