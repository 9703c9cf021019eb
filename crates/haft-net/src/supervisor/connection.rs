//! Handles one connection of a command, from its first bytes through the decision to its end.
//!
//! The dialled address gives the name of the connection. The first bytes must name the same host. Then the supervisor
//! holds the connection and reads no more until there is a decision. Only then does it look up and dial the host.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::dial::{DialError, DialTarget};
use super::protocols::opening;
use super::protocols::opening::{MOST_FIRST_BYTES, Opening};
use super::relay::relay;
use super::session::{DialledHost, Session};
use super::traffic::{Account, ConnectionOutcome};
use super::{ConnectionRequest, Decision, Speaks};

/// How long a client may take to say which host it means.
const TO_OPEN: Duration = Duration::from_secs(10);
/// How long a client is silent until it is taken for one that waits for the server to speak.
const SILENCE: Duration = Duration::from_millis(300);
/// The same on the ports of HTTP and HTTPS, where the client speaks first. It may be slow.
const SILENCE_OF_WEB: Duration = Duration::from_secs(3);
/// How long a decision may take until it matters whether the client has ended its direction. Some end it as soon as
/// they have sent their request.
const QUICK_DECISION: Duration = Duration::from_secs(1);
/// How long a client that is refused may take to read why.
const TO_READ_WHY: Duration = Duration::from_secs(1);

/// Serves a connection until it ends.
pub(super) async fn serve(session: Arc<Session>, client: TcpStream) {
    let Ok(dialled) = client.local_addr() else { return };
    let port = dialled.port();
    let (host, is_address) = match session.meant_by(dialled) {
        DialledHost::Name(name) => (name.to_string(), false),
        DialledHost::Address(address) => (address.to_string(), true),
        DialledHost::Nothing(why) => {
            let account = session.ledger.open_nameless(dialled.ip(), port);
            account.note(ConnectionOutcome::Refused(why.to_owned()));
            let _ = client.set_zero_linger();
            return;
        }
    };
    begin(session, client, PendingConnection { host, port, is_address, first_bytes: Vec::new() }).await;
}

/// The known facts of a connection before its first bytes are judged.
pub(super) struct PendingConnection {
    pub(super) host: String,
    pub(super) port: u16,
    /// Whether the host is an address, which was granted.
    pub(super) is_address: bool,
    /// What the client has sent already.
    pub(super) first_bytes: Vec<u8>,
}

/// Serves a connection whose host is known, until it ends.
pub(super) async fn begin(session: Arc<Session>, client: TcpStream, beginning: PendingConnection) {
    let PendingConnection { host, port, is_address, first_bytes } = beginning;
    let account = session.ledger.open(&host, port);
    let mut revoked = account.revoked();
    let mut connection = SupervisedConnection { client, host, port, is_address, account, first_bytes };
    let ended = tokio::select! {
        biased;
        _ = revoked.changed() => Err(ConnectionFailure::Revoked),
        ended = connection.run(&session) => ended,
    };
    if let Err(end) = ended {
        connection.turn_away(end).await;
    }
}

struct SupervisedConnection {
    client: TcpStream,
    host: String,
    port: u16,
    /// Whether the host is an address, which has no name that TLS could send.
    is_address: bool,
    account: Arc<Account>,
    /// What was read and not yet passed on.
    first_bytes: Vec<u8>,
}

/// The reason why a connection does not reach its host.
enum ConnectionFailure {
    Refused(String),
    Failed(String),
    GaveUp,
    Revoked,
}

/// How a client began.
enum Begun {
    /// Its first bytes say this.
    Spoke(Opening),
    /// It waits for the server to speak, and this was decided meanwhile.
    Silent(Decision),
}

impl SupervisedConnection {
    async fn run(&mut self, session: &Session) -> Result<(), ConnectionFailure> {
        let _ = self.client.set_nodelay(true);
        let (objection, decision) = match self.begin(session).await? {
            Begun::Silent(decision) => (Some("it waits for the server to speak"), decision),
            Begun::Spoke(opening) => {
                let (speaks, objection) = self.speaks(opening)?;
                (objection, self.decide(session, speaks).await?)
            }
        };
        let private = match (decision, objection) {
            (Decision::Refuse { why }, _) => return Err(ConnectionFailure::Refused(why)),
            (Decision::Allow { raw: false, .. }, Some(objection)) => {
                let why =
                    format!("The host is granted for TLS and HTTP, but {objection}. Other protocols need a raw grant.");
                return Err(ConnectionFailure::Refused(why));
            }
            (Decision::Allow { private, .. }, _) => private,
        };
        let granted = |address| session.judge.grants_address(address, self.port);
        let target = DialTarget { host: &self.host, port: self.port, private, granted: &granted };
        let mut host = target.reach(&session.dialler).await.map_err(|error| not_reached(&self.host, &error))?;
        self.account.note(ConnectionOutcome::Reached);
        let _ = host.set_nodelay(true);
        let first_bytes = std::mem::take(&mut self.first_bytes);
        let relayed = async {
            host.write_all(&first_bytes).await?;
            self.account.sent(first_bytes.len());
            drop(first_bytes);
            relay(&mut self.client, &mut host, &self.account).await
        };
        if relayed.await.is_err() {
            // One side broke off; the other one is not to take that for an orderly end.
            let _ = (self.client.set_zero_linger(), host.set_zero_linger());
        }
        Ok(())
    }

    /// Reads until it is clear what the client speaks.
    async fn begin(&mut self, session: &Session) -> Result<Begun, ConnectionFailure> {
        let mut deadline = Instant::now() + TO_OPEN;
        let mut patience = if matches!(self.port, 80 | 443) { SILENCE_OF_WEB } else { SILENCE };
        loop {
            match opening::read(&self.first_bytes) {
                Opening::Incomplete => {}
                opening => return Ok(Begun::Spoke(opening)),
            }
            let is_first = self.first_bytes.is_empty();
            let left = deadline.saturating_duration_since(Instant::now());
            match timeout(patience.min(left), self.read_more()).await {
                Ok(Ok(0)) if is_first => return Err(ConnectionFailure::GaveUp),
                Ok(Ok(0)) => return Ok(Begun::Spoke(Opening::Other("its first message is cut off"))),
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Err(ConnectionFailure::GaveUp),
                Err(_elapsed) if patience >= left => {
                    let why = format!("The client did not say within {} s which host it means.", TO_OPEN.as_secs());
                    return Err(ConnectionFailure::Refused(why));
                }
                Err(_elapsed) => {
                    if let Some(decision) = self.decide_while_silent(session).await? {
                        return Ok(Begun::Silent(decision));
                    }
                    // A person may have been asked meanwhile, and is not asked twice.
                    patience = TO_OPEN;
                    deadline = Instant::now() + TO_OPEN;
                }
            }
        }
    }

    async fn read_more(&mut self) -> std::io::Result<usize> {
        let room = MOST_FIRST_BYTES - self.first_bytes.len();
        (&mut self.client).take(room as u64).read_buf(&mut self.first_bytes).await
    }

    /// Decides about a client that says nothing. If it speaks after all, or may not be silent, there is no decision.
    async fn decide_while_silent(&mut self, session: &Session) -> Result<Option<Decision>, ConnectionFailure> {
        let wanted = self.wanted(Speaks::Other);
        tokio::select! {
            decision = session.questions.decide(&wanted) => match decision {
                Decision::Refuse { why } => Err(ConnectionFailure::Refused(why)),
                Decision::Allow { raw: true, .. } => Ok(Some(decision)),
                // It may be a slow client of TLS or HTTP.
                Decision::Allow { raw: false, .. } => Ok(None),
            },
            _ = self.client.readable() => Ok(None),
        }
    }

    /// Returns what a client speaks, and why its host cannot be seen. A client that names another host is refused.
    fn speaks(&self, opening: Opening) -> Result<(Speaks, Option<&'static str>), ConnectionFailure> {
        let same = |named: &str, place: &str| {
            let why = || format!("The {place} names {named:?}, but the connection leads to {}.", self.host);
            if named == self.host { Ok(()) } else { Err(ConnectionFailure::Refused(why())) }
        };
        Ok(match opening {
            Opening::Tls(named) => (same(&named, "TLS greeting (SNI)").map(|()| Speaks::Tls)?, None),
            Opening::Http(named) => (same(&named, "Host of the HTTP request").map(|()| Speaks::Http)?, None),
            Opening::NamelessTls if self.is_address => (Speaks::Tls, None),
            Opening::NamelessTls => (Speaks::Other, Some("its TLS greeting names no host (SNI)")),
            Opening::Other(why) => (Speaks::Other, Some(why)),
            Opening::Incomplete => (Speaks::Other, Some("its first message is cut off")),
        })
    }

    fn wanted(&self, speaks: Speaks) -> ConnectionRequest {
        ConnectionRequest { host: self.host.clone(), port: self.port, speaks }
    }

    /// Holds the client until it is decided about, or gives up. Nothing is read meanwhile, so the end of a client that
    /// has sent more than the kernel holds for it is noticed only after the decision.
    async fn decide(&mut self, session: &Session, speaks: Speaks) -> Result<Decision, ConnectionFailure> {
        self.first_bytes.shrink_to_fit();
        let wanted = self.wanted(speaks);
        let mut decision = std::pin::pin!(session.questions.decide(&wanted));
        if let Ok(decision) = timeout(QUICK_DECISION, &mut decision).await {
            return Ok(decision);
        }
        tokio::select! {
            biased;
            decision = decision => Ok(decision),
            // The only readiness with this interest is that the client has closed, also behind bytes that are not read.
            _ = self.client.ready(Interest::PRIORITY) => Err(ConnectionFailure::GaveUp),
        }
    }

    /// Notes why the connection ends, and tells the client in its own protocol as far as possible.
    async fn turn_away(&mut self, end: ConnectionFailure) {
        let (outcome, why, status, alert) = match end {
            ConnectionFailure::GaveUp => {
                self.account.note(ConnectionOutcome::GaveUp);
                return;
            }
            ConnectionFailure::Revoked => {
                self.account.note(ConnectionOutcome::Refused("The grant of this host was revoked.".into()));
                let _ = self.client.set_zero_linger();
                return;
            }
            ConnectionFailure::Refused(why) => {
                (ConnectionOutcome::Refused(why.clone()), why, "403 Forbidden", ACCESS_DENIED)
            }
            ConnectionFailure::Failed(why) => {
                (ConnectionOutcome::Failed(why.clone()), why, "502 Bad Gateway", INTERNAL_ERROR)
            }
        };
        self.account.note(outcome);
        let told = match opening::read(&self.first_bytes) {
            Opening::Tls(_) | Opening::NamelessTls => vec![21, 3, 3, 0, 2, 2, alert],
            Opening::Http(_) => {
                let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n");
                let text = format!("haft: {}:{}: {why}\n", self.host, self.port);
                format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len()).into_bytes()
            }
            Opening::Incomplete | Opening::Other(_) => {
                let _ = self.client.set_zero_linger();
                return;
            }
        };
        // Unread bytes would turn the end into a reset, so that the client might not read why.
        let _ = timeout(TO_READ_WHY, async {
            self.client.write_all(&told).await?;
            self.client.shutdown().await?;
            let mut sink = [0; 4096];
            while self.client.read(&mut sink).await? > 0 {}
            std::io::Result::Ok(())
        })
        .await;
    }
}

fn not_reached(host: &str, error: &DialError) -> ConnectionFailure {
    let why = format!("{host} was not reached: {error}.");
    match error {
        DialError::AddressRefused(_) => ConnectionFailure::Refused(why),
        _ => ConnectionFailure::Failed(why),
    }
}

/// The alerts of TLS that say why.
const ACCESS_DENIED: u8 = 49;
const INTERNAL_ERROR: u8 = 80;
