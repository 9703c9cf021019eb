//! Asks the holder of a session about its jobs.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::message::{Ask, JobAnswer, LONGEST_ANSWER, LONGEST_WAIT, from_line, to_line};

/// How long a holder may take to answer, beside what it waits for.
const TO_ANSWER: Duration = Duration::from_secs(3);

/// How long it may take to commit what a job has changed.
const TO_COMMIT: Duration = Duration::from_secs(120);

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The holder is gone.
    Gone,
    /// It does not answer in time.
    Hangs,
    /// It answered with something else, which is said here.
    Odd(String),
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoAnswer::Gone => f.write_str("it has ended"),
            NoAnswer::Hangs => f.write_str("its process does not answer"),
            NoAnswer::Odd(why) => write!(f, "its process does not answer as haft does: {why}"),
        }
    }
}

impl std::error::Error for NoAnswer {}

/// Asks the holder whose socket is at this path.
///
/// # Errors
///
/// Fails where no answer comes in time.
pub async fn ask(path: &Path, ask: &Ask) -> Result<JobAnswer, NoAnswer> {
    exchange(path, ask).await.map(|(answer, _)| answer)
}

/// Asks the holder for a connection to a port of its session; the answer says why there is none.
///
/// # Errors
///
/// Fails where no answer comes in time.
pub async fn connect(path: &Path, port: u16) -> Result<Result<OwnedFd, String>, NoAnswer> {
    match exchange(path, &Ask::Connect { port }).await? {
        (JobAnswer::Connected, Some(socket)) => Ok(Ok(socket)),
        (JobAnswer::NotConnected(why), _) => Ok(Err(why)),
        (answer, _) => Err(NoAnswer::Odd(format!("{answer:?}"))),
    }
}

async fn exchange(path: &Path, ask: &Ask) -> Result<(JobAnswer, Option<OwnedFd>), NoAnswer> {
    let talk = async {
        let mut holder = UnixStream::connect(path).await?;
        if holder.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it belongs to another user"));
        }
        holder.write_all(&to_line(ask)?).await?;
        read_line(&holder).await
    };
    let (line, descriptor) = match timeout(longest(ask), talk).await {
        Err(_) => return Err(NoAnswer::Hangs),
        Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => return Err(NoAnswer::Odd(error.to_string())),
        // Too many clients wait already.
        Ok(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => return Err(NoAnswer::Hangs),
        Ok(Err(_)) => return Err(NoAnswer::Gone),
        Ok(Ok(read)) => read,
    };
    match from_line(&line) {
        Ok(JobAnswer::Refused(why)) | Err(why) => Err(NoAnswer::Odd(why)),
        Ok(answer) => Ok((answer, descriptor)),
    }
}

/// How long an answer may take. The question says how long a wait may be; the holder answers all others immediately.
fn longest(ask: &Ask) -> Duration {
    match ask {
        Ask::List {} | Ask::Port { .. } | Ask::Signal { .. } | Ask::Output { waits: false, .. } => TO_ANSWER,
        Ask::Output { .. } | Ask::Line { .. } | Ask::End { .. } | Ask::Stop { .. } | Ask::Stay {} => {
            TO_ANSWER + LONGEST_WAIT
        }
        Ask::Connect { .. } => TO_ANSWER + LONGEST_WAIT,
        Ask::Sync { .. } | Ask::Restart { .. } => TO_COMMIT,
    }
}

/// Reads the one line that the holder says, and the descriptor that comes with it.
async fn read_line(holder: &UnixStream) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let (mut line, mut descriptor) = (Vec::new(), None);
    loop {
        let mut piece = vec![0; 16 * 1024];
        let (read, more) = holder.async_io(Interest::READABLE, || receive(holder, &mut piece)).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        descriptor = descriptor.or(more);
        line.extend_from_slice(&piece[..read]);
        if line.ends_with(b"\n") {
            return Ok((line, descriptor));
        }
        if line.len() > LONGEST_ANSWER {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its answer is too long"));
        }
    }
}

fn receive(holder: &UnixStream, room: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let read = recvmsg(holder, &mut [IoSliceMut::new(room)], &mut ancillary, flags)?.bytes;
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((read, rights.flatten().next()))
}
