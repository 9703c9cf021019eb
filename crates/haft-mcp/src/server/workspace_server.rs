//! The state that all clients of one server share: the workspace, the person to ask, the limit on calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use haft_host::host::Host;
use haft_host::options::Options;
use haft_host::toolbox::Toolbox;
use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::asking::ClientApprover;
use super::client_session::ClientSession;
use super::fixture::Fixture;
use super::listeners::{Listeners, ServerChange};
use super::notes::CallNoteQueue;
use super::roots;
use crate::http::SessionEnds;
use crate::toolbox;

/// Most calls that run side by side; more wait.
pub(crate) const MOST_CALLS: usize = 64;
/// How often the files that define tools are looked at while a client listens.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How long haft may take to commit the changes of background jobs. The jobs themselves end immediately.
const LAST_JOBS: Duration = Duration::from_secs(5);

/// What all clients share.
pub(crate) struct WorkspaceServer {
    pub(crate) options: Options,
    /// The workspace that the user chose; nothing where each client names its own.
    pub(crate) host: Option<Arc<Host>>,
    pub(crate) asking: ClientApprover,
    pub(crate) ended: CancellationToken,
    pub(crate) places: Semaphore,
    pub(crate) notes: CallNoteQueue,
    pub(crate) listeners: Listeners,
    /// The tools of the conformance suite, where it is served too.
    pub(crate) fixture: Option<Fixture>,
    /// Tells calls over HTTP that their session has ended.
    pub(crate) session_ends: SessionEnds,
    calls: AtomicU64,
    sessions: Mutex<Vec<Weak<ClientSession>>>,
}

/// The parts that a workspace server is made of.
pub(crate) struct WorkspaceServerParts {
    pub(crate) options: Options,
    pub(crate) host: Option<Arc<Host>>,
    pub(crate) asking: ClientApprover,
    pub(crate) listeners: Listeners,
    pub(crate) fixture: Option<Fixture>,
}

impl WorkspaceServer {
    pub(crate) fn new(parts: WorkspaceServerParts, ended: CancellationToken) -> Arc<Self> {
        let WorkspaceServerParts { options, host, asking, listeners, fixture } = parts;
        Arc::new(Self {
            options,
            host,
            asking,
            ended,
            places: Semaphore::new(MOST_CALLS),
            notes: CallNoteQueue::default(),
            listeners,
            fixture,
            session_ends: SessionEnds::default(),
            calls: AtomicU64::new(0),
            sessions: Mutex::default(),
        })
    }

    /// Returns a number that no other call of this server has.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Opens the tools for a client.
    pub(crate) async fn open(
        &self,
        client: &Arc<ClientSession>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Toolbox, ErrorData> {
        self.remember(client);
        if let Some(host) = &self.host {
            return Ok(toolbox::of_client(host.clone(), &self.options, &self.asking));
        }
        let root = roots::of_client(&*self.options.notices, context).await;
        let (options, asking) = (self.options.clone(), self.asking.clone());
        let open = move || match root.map(|root| toolbox::open(&options, &asking, Some(&root))) {
            Some(Ok(toolbox)) => Ok(toolbox),
            Some(Err(why)) => {
                options.notices.note(&format!("note: the client's root is not used: {why}"));
                toolbox::open(&options, &asking, None)
            }
            None => toolbox::open(&options, &asking, None),
        };
        let opened = tokio::task::spawn_blocking(open).await;
        opened.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| {
            self.options.notices.note(&why);
            ErrorData::internal_error(why, None)
        })
    }

    /// Remembers a client whose jobs must end with the server.
    pub(crate) fn remember(&self, client: &Arc<ClientSession>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(client));
    }

    fn sessions(&self) -> Vec<Arc<ClientSession>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().filter_map(Weak::upgrade).collect()
    }

    /// Reloads the definitions of tools that changed, and tells everyone.
    pub(crate) async fn look_again(&self, host: &Host) {
        if host.reload().await {
            self.listeners.tell(&ServerChange::Tools);
        }
    }

    /// Looks for changed definitions now and then, while a client listens.
    pub(crate) async fn keep_looking(&self) {
        loop {
            tokio::time::sleep(LOOK_AGAIN).await;
            if self.listeners.is_empty() {
                continue;
            }
            let hosts: Vec<Arc<Host>> = match &self.host {
                Some(host) => vec![host.clone()],
                None => self.sessions().iter().filter_map(|client| Some(client.opened.get()?.host().clone())).collect(),
            };
            for host in hosts {
                self.look_again(&host).await;
            }
        }
    }

    /// Ends the background jobs of all clients, and waits a while until their changes are in the workspace.
    pub(crate) async fn end_jobs(&self) {
        let sessions = self.sessions();
        let ending = async {
            for client in &sessions {
                if let Some(toolbox) = client.opened.get() {
                    toolbox.session().end_jobs().await;
                }
            }
        };
        // What takes longer is finished by the next process that opens the workspace.
        let _ = tokio::time::timeout(LAST_JOBS, ending).await;
    }
}
