//! Runs the network of a session: a supervisor on a separate thread, and the calls that decide for it.
//!
//! The thread has its own runtime, because the runtime of a call ends with the call, and a relayed connection must not
//! wait for a call that is busy.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_contract::doors::connection::{
    ConnectionDesk, ConnectionRequest, Decision, HostOutcome, NetworkSockets, NetworkUse, ProxyAddress, ReachedHost,
    SessionNetwork,
};
use tokio::sync::oneshot;

use crate::supervisor::{ConnectionJudge, ConnectionOutcome, Dial, Flow, NetworkTraffic, Supervisor};

/// The ports on which hosts are usually reached: the web, git over ssh.
const PORTS: [u16; 3] = [80, 443, 22];
/// Why a connection is refused that no running call decides about.
const NO_CALL: &str = "No command that may use the network is running.";

/// How long a call that has ended may take to leave.
const TO_LEAVE: Duration = Duration::from_millis(5);

/// Which hosts commands reach without a question, and which never.
pub trait HostRules: Send + Sync {
    /// Returns whether the user denies a host: then its name does not exist for commands.
    fn is_denied(&self, host: &str) -> bool;

    /// Returns what the user's settings say of a connection, where they say something.
    fn granted(&self, wanted: &ConnectionRequest) -> Option<Decision>;

    /// Returns whether the settings allow exactly this host by its name or address, and not as one of many: then a fetch may
    /// reach it also on a private address.
    fn names(&self, _host: &str, _port: u16) -> bool {
        false
    }

    /// Finds out what it takes to say more about hosts. It may take a while, and is called where nothing is granted yet.
    fn prepare(&self) {}

    /// Returns ports that grants name, beside the usual ones.
    fn ports(&self) -> Vec<u16> {
        Vec::new()
    }
}

/// The network of a session.
pub struct NetworkOfSession {
    ports: Vec<u16>,
    dialler: Arc<dyn Dial>,
    inner: Arc<NetworkCore>,
    proxy: Mutex<Option<ProxyAddress>>,
}

struct NetworkCore {
    desks: Arc<Desks>,
    supervision: OnceLock<Supervision>,
}

/// A supervisor and the thread on which it works, which ends when this is dropped.
struct Supervision {
    supervisor: Arc<Supervisor>,
    _end: oneshot::Sender<()>,
}

/// The calls whose commands run, the last one at the end.
struct Desks {
    rules: Arc<dyn HostRules>,
    open: Mutex<Vec<OpenDesk>>,
    waiting: Mutex<DecisionClock>,
}

/// A call whose command runs.
struct OpenDesk {
    number: u64,
    /// Where it decides, if it does.
    desk: Option<ConnectionDesk>,
    /// The hosts that it refused.
    refused: HashSet<String>,
}

/// Measures how long decisions have taken.
#[derive(Default)]
struct DecisionClock {
    /// How many are open, and since when there is one.
    open: Option<(usize, Instant)>,
    before: Duration,
}

/// Starts a supervisor on the thread on which it will work, and returns the facts that its user needs.
type SupervisorStart<T> =
    Box<dyn FnOnce(Arc<dyn ConnectionJudge>, Arc<dyn Dial>) -> BoxFuture<'static, io::Result<(Supervisor, T)>> + Send>;

impl NetworkOfSession {
    /// Makes one whose hosts are judged by these rules first.
    pub fn new(rules: Arc<dyn HostRules>, dialler: Arc<dyn Dial>) -> Self {
        let mut ports = PORTS.to_vec();
        ports.extend(rules.ports());
        ports.sort_unstable();
        ports.dedup();
        let desks = Arc::new(Desks { rules, open: Mutex::default(), waiting: Mutex::default() });
        let inner = Arc::new(NetworkCore { desks, supervision: OnceLock::new() });
        Self { ports, dialler, inner, proxy: Mutex::default() }
    }

    /// Starts a supervisor on a thread of its own.
    fn supervise<T: Send + 'static>(&self, start: SupervisorStart<T>) -> io::Result<T> {
        let (judge, dialler): (Arc<dyn ConnectionJudge>, _) = (self.inner.desks.clone(), self.dialler.clone());
        let (tell, begun) = std::sync::mpsc::sync_channel(1);
        let (end, ended) = oneshot::channel::<()>();
        let work = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(tell.send(Err(error))),
            };
            runtime.block_on(async {
                let started = start(judge, dialler).await.map(|(supervisor, told)| (Arc::new(supervisor), told));
                let is_begun = started.is_ok();
                if tell.send(started).is_ok() && is_begun {
                    // The owner of the other end drops it to stop the supervisor.
                    let _ = ended.await;
                }
            });
            runtime.shutdown_background();
        };
        std::thread::Builder::new().name("haft-network".into()).spawn(work)?;
        let (supervisor, told) = begun.recv().map_err(io::Error::other)??;
        let begun = self.inner.supervision.set(Supervision { supervisor, _end: end });
        begun.map_err(|_| io::Error::other("the network of the session has begun already"))?;
        Ok(told)
    }
}

impl SessionNetwork for NetworkOfSession {
    fn ports(&self) -> &[u16] {
        &self.ports
    }

    fn begin(&self, sockets: NetworkSockets) -> io::Result<()> {
        self.supervise(Box::new(move |judge, dialler| {
            Box::pin(async move { Ok((Supervisor::start(sockets, judge, dialler)?, ())) })
        }))
    }

    fn proxy(&self) -> io::Result<ProxyAddress> {
        let mut known = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = &*known {
            return Ok(address.clone());
        }
        let start: SupervisorStart<ProxyAddress> =
            Box::new(|judge, dialler| Box::pin(Supervisor::as_proxy(judge, dialler)));
        let address = self.supervise(start)?;
        *known = Some(address.clone());
        Ok(address)
    }

    fn join(&self, desk: Option<ConnectionDesk>) -> Arc<dyn NetworkUse> {
        let mut open = self.inner.desks.open();
        let number = open.last().map_or(0, |last| last.number + 1);
        open.push(OpenDesk { number, desk, refused: HashSet::new() });
        let before = self.inner.supervision.get().map(|supervision| supervision.supervisor.traffic());
        let waited = self.inner.desks.waited();
        Arc::new(Use { inner: self.inner.clone(), number, before, waited })
    }

    fn for_another_session(&self) -> Arc<dyn SessionNetwork> {
        Arc::new(Self::new(self.inner.desks.rules.clone(), self.dialler.clone()))
    }
}

/// The use of one command.
struct Use {
    inner: Arc<NetworkCore>,
    number: u64,
    /// The traffic until it began; nothing where the supervisor began with this command.
    before: Option<NetworkTraffic>,
    waited: Duration,
}

impl NetworkUse for Use {
    fn reached(&self) -> Vec<ReachedHost> {
        let Some(supervision) = self.inner.supervision.get() else { return Vec::new() };
        let traffic = supervision.supervisor.traffic();
        let traffic = self.before.as_ref().map_or(traffic.clone(), |before| traffic.since(before));
        let flows = traffic.flows.iter().map(|((host, port), flow)| of_flow(host, *port, flow));
        let refused = traffic.refused_names.iter().map(|(host, refused)| ReachedHost {
            host: host.clone(),
            port: 0,
            connections: refused.times,
            sent: 0,
            received: 0,
            gave_up: 0,
            outcome: HostOutcome::Refused(refused.why.clone()),
        });
        flows.chain(refused).collect()
    }

    fn waited(&self) -> Duration {
        self.inner.desks.waited().saturating_sub(self.waited)
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.inner.desks.open().retain(|desk| desk.number != self.number);
    }
}

fn of_flow(host: &str, port: u16, flow: &Flow) -> ReachedHost {
    let outcome = match &flow.outcome {
        ConnectionOutcome::Reached => HostOutcome::Reached,
        ConnectionOutcome::Refused(why) => HostOutcome::Refused(why.clone()),
        ConnectionOutcome::Failed(why) => HostOutcome::Failed(why.clone()),
        // It ended with its command, or its client did not wait.
        ConnectionOutcome::Waiting | ConnectionOutcome::GaveUp => {
            HostOutcome::Failed("the client closed the connection".into())
        }
    };
    let Flow { connections, bytes_out: sent, bytes_in: received, gave_up, .. } = *flow;
    ReachedHost { host: host.to_owned(), port, connections, sent, received, gave_up, outcome }
}

impl Desks {
    fn open(&self) -> MutexGuard<'_, Vec<OpenDesk>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, DecisionClock> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waited(&self) -> Duration {
        let waiting = self.waiting();
        waiting.before + waiting.open.map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    /// Lets the call decide whose command runs: rules and modes of the session count also where the settings allow a host.
    async fn ask(&self, wanted: &ConnectionRequest, granted: Option<Decision>) -> Decision {
        let _open = OpenQuestion::begin(self);
        // A call that ends while it is asked leaves the question to one that still runs.
        loop {
            let desk = self.open().iter().rev().find_map(|open| Some((open.number, open.desk.clone()?)));
            let Some((number, desk)) = desk else {
                return granted.unwrap_or_else(|| Decision::Refuse { why: NO_CALL.into() });
            };
            match desk.decide(wanted.clone(), granted.as_ref()).await {
                // What the settings say of the host holds beside the decision.
                Some(Decision::Allow { raw, private }) => {
                    let by_settings = matches!(granted, Some(Decision::Allow { raw: true, .. }));
                    let is_private = matches!(granted, Some(Decision::Allow { private: true, .. }));
                    return Decision::Allow { raw: raw || by_settings, private: private || is_private };
                }
                Some(refused) => {
                    if let Some(open) = self.open().iter_mut().find(|open| open.number == number) {
                        open.refused.insert(wanted.host.clone());
                    }
                    return refused;
                }
                None => tokio::time::sleep(TO_LEAVE).await,
            }
        }
    }
}

/// Counts the time of a question until it is dropped.
struct OpenQuestion<'a>(&'a Desks);

impl<'a> OpenQuestion<'a> {
    fn begin(desks: &'a Desks) -> Self {
        let open = &mut desks.waiting().open;
        *open = Some(open.map_or((1, Instant::now()), |(count, since)| (count + 1, since)));
        Self(desks)
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        match waiting.open {
            Some((count @ 2.., since)) => waiting.open = Some((count - 1, since)),
            Some((_, since)) => {
                waiting.before += since.elapsed();
                waiting.open = None;
            }
            None => {}
        }
    }
}

impl ConnectionJudge for Desks {
    fn may_look_up(&self, host: &str) -> bool {
        !self.rules.is_denied(host)
    }

    fn was_refused(&self, host: &str) -> bool {
        let open = self.open();
        open.iter().rev().find(|open| open.desk.is_some()).is_some_and(|open| open.refused.contains(host))
    }

    fn decide<'a>(&'a self, wanted: &'a ConnectionRequest) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let granted = match self.rules.granted(wanted) {
                Some(decision) => Some(decision),
                None => {
                    let rules = self.rules.clone();
                    let _open = OpenQuestion::begin(self);
                    let _ = tokio::task::spawn_blocking(move || rules.prepare()).await;
                    self.rules.granted(wanted)
                }
            };
            match granted {
                Some(Decision::Refuse { why }) => Decision::Refuse { why },
                granted => self.ask(wanted, granted).await,
            }
        })
    }
}
