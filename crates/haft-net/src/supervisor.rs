//! Supervises the connections of commands: answers their look-ups, asks whether each connection may be made, and makes it.
//!
//! The commands of a session have their own network namespace, without any way out. The supervisor runs outside, in haft.
//! It uses sockets that were created inside: a socket belongs to the namespace in which it was created. Its resolver
//! gives each name an address of 198.18.0.0/15, which is local inside. So the supervisor knows every connection by the
//! *name* that the command meant, and unmodified programs work.
//!
//! The first bytes must name the host: in TLS the readable name (SNI), in HTTP/1 the `Host` of the first request.
//! Everything else needs a raw decision, also HTTP/2 without TLS and clients that wait for the server to speak. The
//! supervisor does not read later requests of an HTTP connection: like requests inside TLS, they reach the server that it
//! dialled by the granted name.
//!
//! The supervisor looks a name up on the host when its connection is allowed, and dials exactly the addresses that it
//! checked. A refused client learns why in its protocol: HTTP by a response, TLS by an alert, others by a reset.
//!
//! Where commands have no network namespace, the supervisor is a proxy on the loopback instead (`proxy`).
//!
//! Not here: deciding (`ConnectionJudge`), making the namespace and its sockets (`haft-sandbox`), UDP, and what is inside TLS.

mod connection;
mod dial;
mod host_dial;
mod host_name;
mod judge;
mod name_table;
mod protocols;
mod questions;
mod relay;
mod resolver;
mod session;
mod traffic;

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, UdpSocket};
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, JoinSet};

pub use haft_contract::doors::connection::{ConnectionRequest, Decision, NetworkSockets, ProxyAddress, Speaks};

pub(crate) use self::dial::DialTarget;
pub use self::dial::{Dial, DialError};
pub use self::host_dial::HostDial;
pub use self::judge::ConnectionJudge;
pub use self::traffic::{ConnectionOutcome, Flow, NetworkTraffic, RefusedName};

use self::session::{AFTER_AN_ERROR, Session};

/// Supervises the connections of a session. Dropping it ends all of them, and its questions.
pub struct Supervisor {
    session: Arc<Session>,
    runtime: Handle,
    running: Mutex<SupervisorTasks>,
}

#[derive(Default)]
struct SupervisorTasks {
    ports: BTreeSet<u16>,
    tasks: Vec<AbortHandle>,
}

impl Supervisor {
    /// Begins to supervise. Its tasks run on the current tokio runtime, which must have I/O and time.
    ///
    /// # Errors
    ///
    /// Fails outside a runtime, and where a descriptor is not the socket that it should be.
    pub fn start(sockets: NetworkSockets, judge: Arc<dyn ConnectionJudge>, dialler: Arc<dyn Dial>) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let names_udp = std::net::UdpSocket::from(sockets.names_udp);
        names_udp.set_nonblocking(true)?;
        let (names_udp, names_tcp) = (UdpSocket::from_std(names_udp)?, listener(sockets.names_tcp)?);
        let session = Session::new(judge, dialler, runtime.clone());
        let supervisor = Self { session: session.clone(), runtime, running: Mutex::default() };
        supervisor.spawn(resolver::answer_datagrams(session.clone(), names_udp));
        supervisor.spawn(resolver::answer_clients(session, names_tcp));
        for (port, listener) in sockets.listeners {
            supervisor.listen(port, listener)?;
        }
        Ok(supervisor)
    }

    /// Begins to supervise as a proxy on the loopback of this machine, for commands without a network of their own.
    ///
    /// # Errors
    ///
    /// Fails outside a runtime, and where the system has no port or no random bytes.
    pub async fn as_proxy(judge: Arc<dyn ConnectionJudge>, dialler: Arc<dyn Dial>) -> io::Result<(Self, ProxyAddress)> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = ProxyAddress {
            port: listener.local_addr()?.port(),
            user: protocols::proxy::USER.to_owned(),
            key: fresh_key()?,
        };
        let session = Session::new(judge, dialler, runtime.clone());
        let supervisor = Self { session: session.clone(), runtime, running: Mutex::default() };
        supervisor.spawn(protocols::proxy::accept(session, listener, address.key.as_str().into()));
        Ok((supervisor, address))
    }

    /// Accepts connections to one more port.
    ///
    /// # Errors
    ///
    /// Fails where the descriptor is not a listener of this port.
    pub fn listen(&self, port: u16, socket: OwnedFd) -> io::Result<()> {
        let _entered = self.runtime.enter();
        let listener = listener(socket)?;
        if listener.local_addr()?.port() != port {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("this is not a listener of port {port}")));
        }
        self.spawn(accept(self.session.clone(), listener));
        self.running().ports.insert(port);
        Ok(())
    }

    /// Returns whether connections to a port are accepted.
    pub fn listens_on(&self, port: u16) -> bool {
        self.running().ports.contains(&port)
    }

    /// Returns the traffic of the session until now.
    ///
    /// Take it at the beginning and at the end of a call: the difference ([`NetworkTraffic::since`]) belongs to the call. A
    /// connection does not say which process made it. So when calls overlap, each of them gets the traffic of all that
    /// ran beside it, and the sum over calls can be more than the traffic of the session.
    pub fn traffic(&self) -> NetworkTraffic {
        self.session.ledger.traffic()
    }

    /// Ends the open connections to a host, and forgets answers about it that no connection has used. The judge decides
    /// about new ones.
    pub fn revoke(&self, host: &str) {
        // In this order a connection that waits learns why its question ends.
        self.session.ledger.revoke(host);
        self.session.questions.forget(host);
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = self.runtime.spawn(task).abort_handle();
        self.running().tasks.push(task);
    }

    fn running(&self) -> MutexGuard<'_, SupervisorTasks> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // A task that accepts connections owns those that it accepted.
        for task in &self.running().tasks {
            task.abort();
        }
        self.session.questions.end();
    }
}

/// Returns 128 random bits as letters and digits, which need no quoting in an address.
fn fresh_key() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn listener(socket: OwnedFd) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Accepts connections as long as there is room for them.
async fn accept(session: Arc<Session>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    while let Ok(place) = session.places.clone().acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(AFTER_AN_ERROR).await;
            continue;
        };
        let session = session.clone();
        connections.spawn(async move {
            connection::serve(session, client).await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests;
