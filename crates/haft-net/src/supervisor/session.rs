//! The state that the tasks of a supervisor share: names, numbers, questions and the dialler.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::dial::Dial;
use super::judge::ConnectionJudge;
use super::name_table::{NameTable, is_of_block};
use super::questions::Questions;
use super::traffic::Ledger;

/// Most connections at a time; more of them wait in the queues of the listeners.
const MOST_CONNECTIONS: u64 = 4096;
/// Descriptors that are left for everything else that haft does.
const OTHER_DESCRIPTORS: u64 = 256;
/// How long a task waits after an error that may repeat, as when there are too many open files.
pub(super) const AFTER_AN_ERROR: Duration = Duration::from_millis(50);

/// What the tasks share.
pub(super) struct Session {
    pub(super) names: NameTable,
    pub(super) ledger: Ledger,
    pub(super) questions: Arc<Questions>,
    pub(super) judge: Arc<dyn ConnectionJudge>,
    pub(super) dialler: Arc<dyn Dial>,
    /// One permit for each connection.
    pub(super) places: Arc<Semaphore>,
}

/// The host behind an address that a command dialled.
pub(super) enum DialledHost {
    /// The name that has this address.
    Name(Arc<str>),
    /// The address itself, which was granted.
    Address(IpAddr),
    /// Nothing that can be reached; the reason.
    Nothing(&'static str),
}

impl Session {
    pub(super) fn new(judge: Arc<dyn ConnectionJudge>, dialler: Arc<dyn Dial>, runtime: Handle) -> Arc<Self> {
        Arc::new(Self {
            names: NameTable::default(),
            ledger: Ledger::default(),
            questions: Questions::new(judge.clone(), runtime),
            judge,
            dialler,
            places: Arc::new(Semaphore::new(most_connections())),
        })
    }

    /// Finds what a connection leads to.
    pub(super) fn meant_by(&self, dialled: SocketAddr) -> DialledHost {
        let address = dialled.ip().to_canonical();
        match address {
            IpAddr::V4(of_block) if is_of_block(of_block) => match self.names.name_of(of_block) {
                Some(name) => DialledHost::Name(name),
                None => DialledHost::Nothing("No name was looked up that has this address."),
            },
            _ if self.judge.grants_address(address, dialled.port()) => DialledHost::Address(address),
            _ if address.is_loopback() => DialledHost::Nothing(
                "haft listens on this port for connections to other machines; no server of the session does.",
            ),
            _ => DialledHost::Nothing("Commands reach hosts by name; this address is not granted."),
        }
    }
}

/// A connection needs two descriptors: one to the command and one to the host.
fn most_connections() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = (files.saturating_sub(OTHER_DESCRIPTORS) / 2).clamp(16, MOST_CONNECTIONS);
    usize::try_from(most).unwrap_or(16)
}
