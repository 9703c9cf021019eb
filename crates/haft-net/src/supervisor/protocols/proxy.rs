//! Gives commands without a network namespace a way to the network: a proxy on the loopback.
//!
//! It speaks the protocols that programs know: HTTP CONNECT, forwarded HTTP requests, and SOCKS 5 with names that the
//! proxy looks up. After that the supervisor treats a connection like any other: its first bytes must name the same
//! host, the judge decides about it, and the ledger counts its bytes.
//!
//! This is weaker than a network namespace: only programs that use the proxy reach a host. The kernel blocks all other
//! ports, but it does not block this port on other machines.
//!
//! Other users of the machine reach the loopback too. So a client must know a key, which commands find in the address
//! of the proxy.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::forwarded::{self, HttpProxyRequest, NotForwarded};
use super::socks;
use crate::supervisor::connection;
use crate::supervisor::connection::PendingConnection;
use crate::supervisor::host_name::{host_name, is_localhost};
use crate::supervisor::session::{AFTER_AN_ERROR, Session};
use crate::supervisor::traffic::ConnectionOutcome;

/// The user name that goes with the key.
pub(in crate::supervisor) const USER: &str = "haft";
/// How long a client may take to name its host.
const TO_ASK: Duration = Duration::from_secs(10);
/// Most bytes of the head of a request.
const LONGEST_HEAD: usize = 32 * 1024;
/// The response that opens a tunnel.
const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// The host that a client of the proxy asks for, and how to answer the client.
pub(in crate::supervisor) struct ProxyRequest {
    pub(in crate::supervisor) host: String,
    pub(in crate::supervisor) port: u16,
    /// Bytes for the host that the client has already sent.
    pub(in crate::supervisor) first_bytes: Vec<u8>,
    pub(in crate::supervisor) way: ProxyMethod,
}

/// The way in which a client asks the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum ProxyMethod {
    /// For a tunnel, over HTTP.
    Connect,
    /// For the answer to one request.
    Forward,
    /// Over SOCKS 5.
    Socks,
}

/// Accepts clients that know the key, as long as there is room for them.
pub(in crate::supervisor) async fn accept(session: Arc<Session>, listener: TcpListener, key: Arc<str>) {
    let mut clients = JoinSet::new();
    while let Ok(place) = session.places.clone().acquire_owned().await {
        while clients.try_join_next().is_some() {}
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(AFTER_AN_ERROR).await;
            continue;
        };
        let (session, key) = (session.clone(), key.clone());
        clients.spawn(async move {
            // A client that breaks off gets no answer.
            let _ = serve(session, client, &key).await;
            drop(place);
        });
    }
}

async fn serve(session: Arc<Session>, mut client: TcpStream, key: &str) -> io::Result<()> {
    let _ = client.set_nodelay(true);
    let Some(ProxyRequest { host, port, first_bytes, way }) = timeout(TO_ASK, asked(&mut client, key)).await?? else {
        return Ok(());
    };
    match meant(&session, &host, port) {
        Ok((host, is_address)) => {
            match way {
                ProxyMethod::Connect => client.write_all(ESTABLISHED).await?,
                ProxyMethod::Socks => client.write_all(&socks::answer(socks::SUCCEEDED)).await?,
                ProxyMethod::Forward => {}
            }
            connection::begin(session, client, PendingConnection { host, port, is_address, first_bytes }).await;
            Ok(())
        }
        Err(why) => match way {
            ProxyMethod::Socks => say(&mut client, &socks::answer(socks::NOT_ALLOWED)).await,
            ProxyMethod::Connect | ProxyMethod::Forward => {
                say(&mut client, &response("403 Forbidden", "", &format!("haft: {host}:{port}: {why}\n"))).await
            }
        },
    }
}

/// Reads which host a client asks for. Answers an invalid request itself, and returns `None`.
async fn asked(client: &mut TcpStream, key: &str) -> io::Result<Option<ProxyRequest>> {
    let mut first = [0];
    client.read_exact(&mut first).await?;
    if first[0] == socks::VERSION {
        return socks::asked(client, key).await;
    }
    let mut head = first.to_vec();
    let credentials = STANDARD.encode(format!("{USER}:{key}"));
    let (status, header, why) = loop {
        match forwarded::read(&head, &credentials) {
            Ok(HttpProxyRequest { host, port, first_bytes, way }) => {
                return Ok(Some(ProxyRequest { host, port, first_bytes, way }));
            }
            Err(NotForwarded::Incomplete) if head.len() < LONGEST_HEAD => {
                if client.read_buf(&mut head).await? == 0 {
                    return Ok(None);
                }
            }
            Err(NotForwarded::Incomplete) => {
                break ("431 Request Header Fields Too Large", "", "The head is too long.");
            }
            Err(NotForwarded::Malformed(why)) => break ("400 Bad Request", "", why),
            Err(NotForwarded::Unknown) => {
                let why = "The user name and key from the proxy's address are missing or wrong.";
                break ("407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"haft\"\r\n", why);
            }
        }
    };
    say(client, &response(status, header, &format!("haft: {why}\n"))).await?;
    Ok(None)
}

/// Returns the host that a client means and whether it is an address, or why the client cannot reach it.
fn meant(session: &Session, host: &str, port: u16) -> Result<(String, bool), &'static str> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        let address = address.to_canonical();
        if session.judge.grants_address(address, port) {
            return Ok((address.to_string(), true));
        }
        let why = "Commands reach hosts by name; this address is not granted.";
        session.ledger.open_nameless(address, port).note(ConnectionOutcome::Refused(why.to_owned()));
        return Err(why);
    }
    let refuse = |why: &'static str| {
        session.ledger.refuse_name(&host.to_ascii_lowercase(), why);
        Err(why)
    };
    let Some(name) = host_name(host.as_bytes()) else { return refuse("This is not a valid host name.") };
    if is_localhost(&name) {
        return refuse("The proxy does not reach servers on this machine.");
    }
    if !session.judge.may_look_up(&name) {
        return refuse("A rule denies this host.");
    }
    // The refusal is already reported.
    if session.judge.was_refused(&name) {
        return Err("This host was refused.");
    }
    Ok((name, false))
}

fn response(status: &str, header: &str, text: &str) -> Vec<u8> {
    let kind = "Content-Type: text/plain; charset=utf-8";
    let length = text.len();
    format!("HTTP/1.1 {status}\r\n{header}{kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}")
        .into_bytes()
}

/// Sends the last answer, and reads the remaining bytes: unread bytes would turn the close into a reset.
pub(in crate::supervisor) async fn say(client: &mut TcpStream, words: &[u8]) -> io::Result<()> {
    client.write_all(words).await?;
    client.shutdown().await?;
    let mut sink = [0; 4096];
    let _ = timeout(Duration::from_secs(1), async { while client.read(&mut sink).await.is_ok_and(|read| read > 0) {} })
        .await;
    Ok(())
}
