//! Answers the name questions that commands send to port 53 of their network namespace.
//!
//! The resolver asks no other resolver, so no data leaves through names. It gives every name an address of the block,
//! unless a rule denies the name. haft finds out whether the name exists when it allows the connection.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::host_name::is_localhost;
use super::protocols::dns;
use super::protocols::dns::{DnsAnswer, DnsQuestion, RecordKind};
use super::session::{AFTER_AN_ERROR, Session};

/// Most bytes of a question.
const LONGEST_QUESTION: usize = 4096;
/// Most clients at a time that ask over TCP.
const MOST_CLIENTS: usize = 64;
/// How long a client over TCP may be silent.
const TO_ASK: Duration = Duration::from_secs(10);

/// Answers questions that arrive as datagrams.
pub(super) async fn answer_datagrams(session: Arc<Session>, socket: UdpSocket) {
    let mut buffer = vec![0; LONGEST_QUESTION];
    loop {
        let Ok((length, client)) = socket.recv_from(&mut buffer).await else {
            tokio::time::sleep(AFTER_AN_ERROR).await;
            continue;
        };
        if let Some(answer) = answer(&session, &buffer[..length]) {
            // A client that is gone gets no answer.
            let _ = socket.send_to(&answer, client).await;
        }
    }
}

/// Answers questions that arrive over TCP.
pub(super) async fn answer_clients(session: Arc<Session>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MOST_CLIENTS));
    let mut clients = JoinSet::new();
    while let Ok(place) = places.clone().acquire_owned().await {
        while clients.try_join_next().is_some() {}
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(AFTER_AN_ERROR).await;
            continue;
        };
        let session = session.clone();
        clients.spawn(async move {
            // A client that breaks off gets no more answers.
            let _ = answer_client(&session, client).await;
            drop(place);
        });
    }
}

async fn answer_client(session: &Session, mut client: TcpStream) -> io::Result<()> {
    loop {
        let length = usize::from(timeout(TO_ASK, client.read_u16()).await??);
        if length > LONGEST_QUESTION {
            return Ok(());
        }
        let mut question = vec![0; length];
        timeout(TO_ASK, client.read_exact(&mut question)).await??;
        let Some(answer) = answer(session, &question) else { return Ok(()) };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let answer = [&length.to_be_bytes()[..], &answer].concat();
        timeout(TO_ASK, client.write_all(&answer)).await??;
    }
}

fn answer(session: &Session, message: &[u8]) -> Option<Vec<u8>> {
    dns::answer(message, |question| decide(session, question))
}

fn decide(session: &Session, question: &DnsQuestion) -> DnsAnswer {
    let refuse = |why: &str| session.ledger.refuse_name(&question.sent.to_ascii_lowercase(), why);
    match question.kind {
        RecordKind::A | RecordKind::Aaaa | RecordKind::Service => {}
        // Not `Refused`: musl would wait for another answer. The addresses of the block have no names to the outside.
        RecordKind::Pointer => return DnsAnswer::NoSuchName,
        RecordKind::Other(number) => {
            refuse(&format!("Records of type {number} are not looked up for commands; only addresses are."));
            return DnsAnswer::Refused;
        }
    }
    let Some(name) = &question.name else {
        refuse("This is not a valid host name.");
        return DnsAnswer::NoSuchName;
    };
    let is_local = is_localhost(name);
    if !is_local && !session.judge.may_look_up(name) {
        refuse("A rule denies this host.");
        return DnsAnswer::NoSuchName;
    }
    // The refused connection is reported already.
    if !is_local && session.judge.was_refused(name) {
        return DnsAnswer::NoSuchName;
    }
    match question.kind {
        RecordKind::A if is_local => DnsAnswer::Address(Ipv4Addr::LOCALHOST),
        RecordKind::A => session.names.address_of(name).map_or_else(
            || {
                refuse("The session has looked up too many names.");
                DnsAnswer::Failed
            },
            DnsAnswer::Address,
        ),
        _ => DnsAnswer::Empty,
    }
}
