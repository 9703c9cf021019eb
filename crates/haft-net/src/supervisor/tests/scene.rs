//! A session for tests: a namespace with its supervisor, a scripted judge, and hosts that are servers on the loopback.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_contract::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};
use tokio::sync::watch;

use super::namespace::{Namespace, NamespaceRequest};
use crate::require::Need;
use crate::supervisor::{
    ConnectionJudge, ConnectionOutcome, ConnectionRequest, Decision, Dial, DialError, Flow, Supervisor,
};

const PORTS: [u16; 4] = [22, 80, 443, 5432];
pub(super) const ALLOW: Decision = Decision::Allow { raw: false, private: false };
pub(super) const ALLOW_RAW: Decision = Decision::Allow { raw: true, private: false };
pub(super) const ALLOW_PRIVATE: Decision = Decision::Allow { raw: false, private: true };

pub(super) struct SupervisorScene {
    pub(super) namespace: Namespace,
    pub(super) supervisor: Supervisor,
    pub(super) judge: Arc<ScriptedJudge>,
    pub(super) dialler: Arc<LoopbackDial>,
}

/// Returns a session; nothing where the system has no namespaces.
#[track_caller]
pub(super) fn scene() -> Option<SupervisorScene> {
    let (namespace, sockets) = Need::Mounts.found(Namespace::new(&PORTS))?;
    let (judge, dialler) = (Arc::new(ScriptedJudge::default()), Arc::new(LoopbackDial::default()));
    let supervisor = Supervisor::start(sockets, judge.clone(), dialler.clone()).unwrap();
    Some(SupervisorScene { namespace, supervisor, judge, dialler })
}

impl SupervisorScene {
    /// A host that exists, and that is decided about in this way.
    pub(super) fn host(&self, name: &str, server: &LoopbackServer, decision: Decision) {
        self.dialler.place(name, &[self.dialler.address_for(server.address)]);
        self.judge.script(name, decision);
    }

    /// Asks the resolver; returns its code and the address.
    pub(super) async fn look_up(&self, name: &str, kind: u16) -> (u8, Option<Ipv4Addr>) {
        self.ask(&question(name.split('.').map(str::as_bytes), kind)).await
    }

    pub(super) async fn ask(&self, question: &[u8]) -> (u8, Option<Ipv4Addr>) {
        let socket = std::net::UdpSocket::from(self.one(NamespaceRequest::Datagrams));
        let socket = UdpSocket::from_std(socket).unwrap();
        socket.connect("127.0.0.1:53").await.unwrap();
        socket.send(question).await.unwrap();
        let mut answer = vec![0; 1000];
        let length = within(socket.recv(&mut answer)).await.unwrap();
        read_answer(question, &answer[..length])
    }

    /// Connects as a program does: looks the name up, then connects to the address.
    pub(super) async fn connect(&self, host: &str, port: u16) -> TcpStream {
        let (code, address) = self.look_up(host, 1).await;
        let address = address.unwrap_or_else(|| panic!("{host} has no address: {code}"));
        self.connect_to(SocketAddr::from((address, port))).await.unwrap()
    }

    pub(super) async fn connect_to(&self, address: SocketAddr) -> io::Result<TcpStream> {
        connect(self.one(NamespaceRequest::Clients(1)), address).await
    }

    pub(super) fn one(&self, request: NamespaceRequest) -> OwnedFd {
        self.namespace.sockets(request).pop().unwrap()
    }

    /// Returns what was noted about a host; it has no connections when nothing was.
    pub(super) fn flow(&self, host: &str, port: u16) -> Flow {
        let mut traffic = self.supervisor.traffic();
        traffic.flows.remove(&(host.to_owned(), port)).unwrap_or(Flow {
            connections: 0,
            bytes_out: 0,
            bytes_in: 0,
            gave_up: 0,
            first: traffic.taken,
            last: traffic.taken,
            outcome: ConnectionOutcome::Waiting,
        })
    }

    /// Returns the outcome of the latest connection as text.
    pub(super) fn outcome(&self, host: &str, port: u16) -> String {
        format!("{:?}", self.flow(host, port).outcome)
    }
}

pub(super) async fn connect(socket: OwnedFd, address: SocketAddr) -> io::Result<TcpStream> {
    TcpSocket::from_std_stream(std::net::TcpStream::from(socket)).connect(address).await
}

/// Writes a question of the domain name system.
pub(super) fn question<'l>(labels: impl IntoIterator<Item = &'l [u8]>, kind: u16) -> Vec<u8> {
    let mut message = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels.into_iter().filter(|label| !label.is_empty()) {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label);
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend([0, 1]);
    message
}

pub(super) fn read_answer(question: &[u8], answer: &[u8]) -> (u8, Option<Ipv4Addr>) {
    assert_eq!(answer[..2], question[..2]);
    let address = (answer[7] == 1).then(|| <[u8; 4]>::try_from(&answer[answer.len() - 4..]).unwrap().into());
    (answer[3] & 0xf, address)
}

/// Waits, but not for ever.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it takes too long")
}

/// Waits until something is so.
pub(super) async fn until(is_so: impl Fn() -> bool) {
    within(async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Sends bytes and returns everything that comes back until the connection ends; an error ends it too.
pub(super) async fn exchange(client: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    let _ = client.write_all(bytes).await;
    rest(client).await
}

pub(super) async fn rest(client: &mut TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    let _ = within(client.read_to_end(&mut received)).await;
    received
}

/// Decides as it was told, and remembers what it was asked.
#[derive(Default)]
pub(super) struct ScriptedJudge {
    script: Mutex<HashMap<String, watch::Receiver<Option<Decision>>>>,
    denied: Mutex<HashSet<String>>,
    granted: Mutex<HashSet<IpAddr>>,
    asked: Mutex<Vec<ConnectionRequest>>,
}

impl ScriptedJudge {
    pub(super) fn script(&self, host: &str, decision: Decision) {
        self.script.lock().unwrap().insert(host.to_owned(), watch::channel(Some(decision)).1);
    }

    /// Holds the connections to a host until it is told what to decide.
    pub(super) fn hold(&self, host: &str) -> watch::Sender<Option<Decision>> {
        let (sender, receiver) = watch::channel(None);
        self.script.lock().unwrap().insert(host.to_owned(), receiver);
        sender
    }

    pub(super) fn deny(&self, host: &str) {
        self.denied.lock().unwrap().insert(host.to_owned());
    }

    pub(super) fn grant(&self, address: &str) {
        self.granted.lock().unwrap().insert(address.parse().unwrap());
    }

    pub(super) fn asked(&self) -> Vec<ConnectionRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl ConnectionJudge for ScriptedJudge {
    fn may_look_up(&self, host: &str) -> bool {
        !self.denied.lock().unwrap().contains(host)
    }

    fn decide<'a>(&'a self, wanted: &'a ConnectionRequest) -> BoxFuture<'a, Decision> {
        self.asked.lock().unwrap().push(wanted.clone());
        let script = self.script.lock().unwrap().get(&wanted.host).cloned();
        Box::pin(async move {
            let refused = Decision::Refuse { why: "No grant.".into() };
            let Some(mut script) = script else { return refused };
            let decision = script.wait_for(Option::is_some).await.ok().and_then(|decision| decision.clone());
            decision.unwrap_or(refused)
        })
    }

    fn grants_address(&self, address: IpAddr, _port: u16) -> bool {
        self.granted.lock().unwrap().contains(&address)
    }
}

/// Reaches servers on the loopback under addresses that look like those of the world.
#[derive(Default)]
pub(super) struct LoopbackDial {
    /// For each name the addresses of each look-up, the last one for all that follow.
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    servers: Mutex<HashMap<IpAddr, SocketAddr>>,
    pub(super) looked_up: Mutex<Vec<String>>,
    pub(super) dialled: Mutex<Vec<SocketAddr>>,
    pub(super) is_down: Mutex<bool>,
}

impl LoopbackDial {
    pub(super) fn place(&self, name: &str, addresses: &[IpAddr]) {
        self.names.lock().unwrap().entry(name.to_owned()).or_default().push(addresses.to_vec());
    }

    /// Returns a new address that leads to a server.
    pub(super) fn address_for(&self, server: SocketAddr) -> IpAddr {
        let mut servers = self.servers.lock().unwrap();
        let address = IpAddr::from([93, 184, 216, u8::try_from(servers.len() + 1).unwrap()]);
        servers.insert(address, server);
        address
    }

    pub(super) fn lead(&self, address: &str, server: SocketAddr) -> IpAddr {
        let address = address.parse().unwrap();
        self.servers.lock().unwrap().insert(address, server);
        address
    }

    fn found(&self, host: &str) -> Result<Vec<IpAddr>, DialError> {
        if *self.is_down.lock().unwrap() {
            return Err(DialError::LookUpFailed("Temporary failure in name resolution".into()));
        }
        self.looked_up.lock().unwrap().push(host.to_owned());
        let mut names = self.names.lock().unwrap();
        let answers = names.get_mut(host).ok_or(DialError::NoSuchHost)?;
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() })
    }
}

impl Dial for LoopbackDial {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>> {
        Box::pin(async move { self.found(host) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.dialled.lock().unwrap().push(address);
        let server = self.servers.lock().unwrap().get(&address.ip()).copied();
        Box::pin(async move {
            match server {
                Some(server) => TcpStream::connect(server).await,
                None => Err(io::ErrorKind::HostUnreachable.into()),
            }
        })
    }
}

/// A server on the loopback that keeps what it receives.
pub(super) struct LoopbackServer {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<u8>>>,
    accepted: watch::Receiver<usize>,
}

impl LoopbackServer {
    /// Sends everything back.
    pub(super) async fn echo() -> Self {
        Self::greeting(b"").await
    }

    /// Speaks first, then sends everything back.
    pub(super) async fn greeting(greeting: &'static [u8]) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        // A shorter queue overflows when a thousand connections are dialled together, and the kernel resets some.
        let listener = socket.listen(4096).unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (count, accepted) = watch::channel(0);
        let kept = received.clone();
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                count.send_modify(|count| *count += 1);
                let kept = kept.clone();
                tokio::spawn(async move {
                    let mut buffer = vec![0; 65536];
                    client.write_all(greeting).await?;
                    loop {
                        let length = client.read(&mut buffer).await?;
                        if length == 0 {
                            return client.shutdown().await;
                        }
                        kept.lock().unwrap().extend(&buffer[..length]);
                        client.write_all(&buffer[..length]).await?;
                    }
                });
            }
        });
        Self { address, received, accepted }
    }

    pub(super) fn received(&self) -> Vec<u8> {
        self.received.lock().unwrap().clone()
    }

    /// Returns how many connections there were.
    pub(super) fn accepted(&self) -> usize {
        *self.accepted.borrow()
    }
}
