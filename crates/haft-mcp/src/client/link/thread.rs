//! The thread on which haft talks to servers.
//!
//! Calls come from whatever runtime their caller has, and a connection outlives each of them. So connections live on a
//! runtime of their own, which starts with the first server.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a runtime, which ends with the value.
#[derive(Default)]
pub(crate) struct ClientThread(OnceLock<Option<ClientRuntime>>);

struct ClientRuntime {
    handle: Handle,
    _end: oneshot::Sender<()>,
}

impl ClientThread {
    /// Runs this on the thread and returns what came of it; nothing if the system gives no thread, or the work broke down.
    pub(crate) async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let handle = self.0.get_or_init(begin).as_ref()?.handle.clone();
        handle.spawn(work).await.ok()
    }
}

fn begin() -> Option<ClientRuntime> {
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel::<()>();
    let work = move || {
        // It is never sent: the other end is dropped with the value.
        let _ = runtime.block_on(ended);
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("haft-mcp".into()).spawn(work).ok()?;
    Some(ClientRuntime { handle, _end: end })
}
