//! Connections that commands make while they run: the request, the decision, and the result.
//!
//! A command names its hosts when it connects, not before. So the supervisor of a session's network asks the call whose
//! command runs, over a [`ConnectionDesk`]. The call judges the connection like any other effect, and may ask a person.
//!
//! Not here: accepting and making connections (`haft-net`), the sockets (`haft-sandbox`), deciding (`haft-runtime`).

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

/// Most questions that wait at a desk; the connections of further ones wait too.
const MOST_WAITING: usize = 64;

/// A connection that a command asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionRequest {
    /// The name that the command looked up, in small letters, as punycode, without the final dot. For a connection to
    /// an address that was granted, the address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What its first bytes are.
    pub speaks: Speaks,
}

/// What the first bytes of a connection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaks {
    /// TLS that names the host it wants.
    Tls,
    /// HTTP/1 that names the host it wants.
    Http,
    /// Anything else, or nothing yet: the supervisor cannot see which host it means. Only a raw decision lets it pass.
    Other,
}

/// What is decided about a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allow {
        /// Whether it may speak anything, as a database or ssh does. The supervisor then compares the host only where
        /// TLS or HTTP names one.
        raw: bool,
        /// Whether the host may be on a private address: it comes from the user's own settings.
        private: bool,
    },
    /// It is refused.
    Refuse {
        /// Why, as a sentence that a person and a model read.
        why: String,
    },
}

/// Where the connections of a command are decided about: the call that runs it.
#[derive(Clone, Debug)]
pub struct ConnectionDesk {
    questions: mpsc::Sender<ConnectionQuestion>,
}

/// A connection that waits for a decision.
#[derive(Debug)]
pub struct ConnectionQuestion {
    /// What is wanted.
    pub wanted: ConnectionRequest,
    /// Whether the user's settings allow it.
    pub is_granted: bool,
    answer: oneshot::Sender<Decision>,
}

impl ConnectionDesk {
    /// Opens a desk; the holder of the receiver decides.
    pub fn open() -> (Self, mpsc::Receiver<ConnectionQuestion>) {
        let (questions, asked) = mpsc::channel(MOST_WAITING);
        (Self { questions }, asked)
    }

    /// Waits for the decision beside that of the user's settings. Returns nothing when the call is over.
    pub async fn decide(&self, wanted: ConnectionRequest, by_settings: Option<&Decision>) -> Option<Decision> {
        let (answer, decision) = oneshot::channel();
        let is_granted = by_settings.is_some();
        self.questions.send(ConnectionQuestion { wanted, is_granted, answer }).await.ok()?;
        decision.await.ok()
    }
}

impl ConnectionQuestion {
    /// Returns whether the asking side has stopped waiting for the answer.
    pub fn is_over(&self) -> bool {
        self.answer.is_closed()
    }

    /// Answers. A client that gave up meanwhile gets the answer when it tries again.
    pub fn answer(self, decision: Decision) {
        let _ = self.answer.send(decision);
    }
}

/// The network of a session, which is supervised outside.
pub trait SessionNetwork: Send + Sync {
    /// Returns the ports on which connections are accepted from the start.
    fn ports(&self) -> &[u16];

    /// Begins to supervise, on sockets that were made inside.
    ///
    /// # Errors
    ///
    /// Fails where a descriptor is not the socket that it should be, or the system has no thread.
    fn begin(&self, sockets: NetworkSockets) -> io::Result<()>;

    /// Begins to supervise as a proxy on the loopback of this machine, for commands that have no network of their own;
    /// returns where it is. Later calls return the same.
    ///
    /// # Errors
    ///
    /// Fails where there is no proxy, or the system has no port or thread for it.
    fn proxy(&self) -> io::Result<ProxyAddress> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Lets the call at this desk decide from now on, until the use is dropped; without a desk everything that is not
    /// granted is refused. Of several calls at a time the one that came last decides.
    fn join(&self, desk: Option<ConnectionDesk>) -> Arc<dyn NetworkUse>;

    /// Returns a network under the same rules for another session.
    fn for_another_session(&self) -> Arc<dyn SessionNetwork>;
}

/// The use that one command makes of a session's network.
pub trait NetworkUse: Send + Sync {
    /// Returns what was reached and refused since it began. When commands overlap, each of them has it all.
    fn reached(&self) -> Vec<ReachedHost>;

    /// Returns how long connections have waited for a decision, until now. The command is not to blame for that time.
    fn waited(&self) -> Duration;
}

/// Where the proxy of a session is. Who does not know the key gets nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyAddress {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// The name that goes with the key.
    pub user: String,
    /// The key.
    pub key: String,
}

/// Sockets that were made inside the network namespace of a session.
#[derive(Debug)]
pub struct NetworkSockets {
    /// Bound to port 53 of 127.0.0.1.
    pub names_udp: OwnedFd,
    /// Listens on port 53 of 127.0.0.1.
    pub names_tcp: OwnedFd,
    /// Each listens on this port of all addresses.
    pub listeners: Vec<(u16, OwnedFd)>,
}

/// The connections of a command to one port of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedHost {
    /// The host.
    pub host: String,
    /// The port; 0 for a name that was refused when it was looked up.
    pub port: u16,
    /// How many there were.
    pub connections: u64,
    /// Bytes to the host.
    pub sent: u64,
    /// Bytes from the host.
    pub received: u64,
    /// How many clients gave up before they were decided about.
    pub gave_up: u64,
    /// What became of the last one.
    pub outcome: HostOutcome,
}

/// What became of connections to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostOutcome {
    /// It was reached.
    Reached,
    /// It was refused, for this reason.
    Refused(String),
    /// It was allowed, and not reached, for this reason.
    Failed(String),
}
