//! Holds one session for the commands of separate processes: its home, its temporary files, its network, its jobs.
//!
//! There is one holder per session, not per user. The first command of the session starts it. It ends after an idle
//! time, or with the agent that owns the session.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_net::exec::{CommandRequest, ExecConnection, ExecListener, FromClient, Receiver, Sender, ToClient, VERSION};
use haft_sandbox::{SessionOwner, report_to_starter};
use haft_workspace::state::HeldSocket;

use super::{Approvers, CommandServer};
use crate::host::{Host, block_on};
use crate::notices::Notices;
use crate::opening::project_files::OnUntrusted;
use crate::options::Options;

/// What a holder reports when clients can come.
pub(super) const READY: &str = "ready";

/// How often the holder checks whether to end.
const LOOK: Duration = Duration::from_millis(200);
/// Time for commands to end when the session ends, and for jobs to commit their changes.
const TO_END: Duration = Duration::from_secs(2);
const TO_COMMIT: Duration = Duration::from_secs(30);
/// How long to wait when the system has no more descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Holds the session of this name until it ends, and reports to the process that started this one when clients can come.
///
/// # Errors
///
/// Fails if the workspace cannot be opened, or another process holds the session.
pub fn hold(
    options: Options,
    (id, build): (&str, &str),
    approvers: impl FnOnce(&Host) -> Box<dyn Approvers>,
) -> anyhow::Result<()> {
    let notices = Arc::new(CollectedNotices::default());
    let told: Arc<dyn Notices> = Arc::<CollectedNotices>::clone(&notices);
    let host = Host::open_for(&Options { notices: told, ..options }, OnUntrusted::Report)?;
    let held = host.state.held_sessions().hold_exactly(id)?;
    let idle = host.settings.commands.idle;
    let approvers = approvers(&host);
    let holder = SessionHolder::new(CommandServer::new(host, id), approvers, (build.to_owned(), idle));
    holder.report(std::mem::take(&mut *lock(&notices.0)));
    block_on(async move {
        let listener = ExecListener::bind(&held.socket.path())?;
        report_to_starter(READY);
        holder.hold(listener, held).await;
        anyhow::Ok(())
    })?
}

/// Collects what the first client is told.
#[derive(Default)]
struct CollectedNotices(Mutex<Vec<String>>);

impl Notices for CollectedNotices {
    fn note(&self, text: &str) {
        lock(&self.0).push(text.to_owned());
    }
}

/// Holds one session for the commands of separate processes.
struct SessionHolder {
    server: CommandServer,
    approvers: Box<dyn Approvers>,
    build: String,
    idle: Duration,
    running: AtomicUsize,
    used: Mutex<Instant>,
    owners: Mutex<Vec<SessionOwner>>,
    ends_when_idle: AtomicBool,
    /// Messages for the next client.
    notes: Mutex<Vec<String>>,
}

impl SessionHolder {
    /// Creates the holder of this server's session. `idle` is its idle time, `build` the version of haft.
    fn new(server: CommandServer, approvers: Box<dyn Approvers>, (build, idle): (String, Duration)) -> Self {
        Self {
            server,
            approvers,
            build,
            idle,
            running: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            owners: Mutex::default(),
            ends_when_idle: AtomicBool::new(false),
            notes: Mutex::default(),
        }
    }

    /// Reports these notes to the next client.
    fn report(&self, notes: Vec<String>) {
        lock(&self.notes).extend(notes);
    }

    /// Serves clients until the session ends.
    async fn hold(self, listener: ExecListener, held: HeldSocket) {
        let holder = Arc::new(self);
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(connection) => {
                        let busy = Busy::new(&holder);
                        tokio::spawn(async move { busy.0.attend(connection).await });
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
                () = tokio::time::sleep(LOOK) => {}
            }
            if holder.is_over() {
                break;
            }
        }
        // A client that comes from now on starts another holder.
        drop((listener, held));
        holder.server.stop();
        let began = Instant::now();
        while holder.running.load(Ordering::Relaxed) > 0 && began.elapsed() < TO_END {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _ = tokio::time::timeout(TO_COMMIT, holder.server.end_jobs()).await;
    }

    fn is_over(&self) -> bool {
        let owners = lock(&self.owners);
        if !owners.is_empty() && owners.iter().all(SessionOwner::has_ended) {
            return true;
        }
        if self.running.load(Ordering::Relaxed) > 0 {
            return false;
        }
        // Without an owner, a forgotten server would keep the session forever.
        let is_kept = self.server.runs_jobs() && !owners.is_empty();
        let is_idle = lock(&self.used).elapsed() >= self.idle;
        let is_unwanted = self.ends_when_idle.load(Ordering::Relaxed) && !self.server.runs_jobs();
        is_unwanted || (is_idle && !is_kept)
    }

    async fn attend(&self, connection: ExecConnection) {
        let (sender, mut receiver) = connection.split();
        match receiver.next::<FromClient>().await {
            Ok(Some(FromClient::Run(VERSION, request))) => self.run(*request, (sender, receiver)).await,
            // Another version of haft may send a message that this one cannot read.
            Ok(Some(FromClient::Run(..) | FromClient::EndWhenIdle)) | Err(_) => {
                self.ends_when_idle.store(true, Ordering::Relaxed);
                let _ = sender.send(&ToClient::OtherVersion(VERSION), &[]).await;
            }
            Ok(_) => {}
        }
    }

    async fn run(&self, request: CommandRequest, (sender, mut receiver): (Sender, Receiver)) {
        let mut before = vec![ToClient::Taken];
        if request.build != self.build {
            self.ends_when_idle.store(true, Ordering::Relaxed);
            before.push(ToClient::OtherBuild(self.build.clone()));
        }
        before.extend(std::mem::take(&mut *lock(&self.notes)).into_iter().map(ToClient::Note));
        for message in before {
            let _ = sender.send(&message, &[]).await;
        }
        if request.has_owner {
            lock(&self.owners).extend(receiver.descriptor().map(SessionOwner::from_descriptor));
        }
        // A client that has disconnected needs no error message.
        let _ = self.server.serve(request, (sender, receiver), &*self.approvers).await;
    }
}

/// A client that the holder serves.
struct Busy(Arc<SessionHolder>);

impl Busy {
    fn new(holder: &Arc<SessionHolder>) -> Self {
        holder.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(holder))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *lock(&self.0.used) = Instant::now();
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
