//! A connection between a client and a holder: it carries lines of JSON with descriptors.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::sync::Arc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};

/// Longest line. A command has at most 128 KiB, and an environment some MiB.
const LONGEST: usize = 32 * 1024 * 1024;
/// Most descriptors of one message.
const MOST_DESCRIPTORS: usize = 4;

/// One end of a connection.
pub struct ExecConnection {
    stream: Arc<UnixStream>,
}

/// One end of a connection within a process, not yet registered with a runtime.
pub struct PlainEnd(StdStream);

/// Listens for clients.
pub struct ExecListener(UnixListener);

/// Sends messages.
pub struct Sender(Arc<UnixStream>);

/// Receives messages and the descriptors that come with them.
pub struct Receiver {
    stream: Arc<UnixStream>,
    unread: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

/// Makes a connection within this process.
///
/// # Errors
///
/// Fails where too many files are open.
pub fn pair() -> io::Result<(PlainEnd, PlainEnd)> {
    let (one, other) = StdStream::pair()?;
    Ok((PlainEnd(one), PlainEnd(other)))
}

/// Connects to the holder that listens at this path.
///
/// # Errors
///
/// Fails where no holder of the same user listens.
pub async fn connect(path: &Path) -> io::Result<ExecConnection> {
    ExecConnection::of(UnixStream::connect(path).await?)
}

impl ExecListener {
    /// Listens at this path.
    ///
    /// # Errors
    ///
    /// Fails where the socket cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        Ok(Self(UnixListener::bind(path)?))
    }

    /// Waits for the next client of the same user.
    ///
    /// # Errors
    ///
    /// Fails where too many files are open, or where the client belongs to another user.
    pub async fn accept(&self) -> io::Result<ExecConnection> {
        ExecConnection::of(self.0.accept().await?.0)
    }
}

impl ExecConnection {
    /// Takes one end of a connection within this process.
    ///
    /// # Errors
    ///
    /// Fails outside a runtime.
    pub fn within(PlainEnd(stream): PlainEnd) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Self::of(UnixStream::from_std(stream)?)
    }

    fn of(stream: UnixStream) -> io::Result<Self> {
        if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
        }
        Ok(Self { stream: Arc::new(stream) })
    }

    /// Returns both directions.
    pub fn split(self) -> (Sender, Receiver) {
        let receiver =
            Receiver { stream: Arc::clone(&self.stream), unread: Vec::new(), descriptors: VecDeque::default() };
        (Sender(self.stream), receiver)
    }
}

impl Sender {
    /// Sends a message with descriptors. Send one at a time; do not drop the future before it completes.
    ///
    /// # Errors
    ///
    /// Fails where the other side has disconnected.
    pub async fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let (mut rest, mut descriptors) = (&line[..], descriptors);
        while !rest.is_empty() {
            let send = || send_some(&self.0, rest, descriptors);
            let sent = self.0.async_io(Interest::WRITABLE, send).await?;
            (rest, descriptors) = (&rest[sent..], &[]);
        }
        Ok(())
    }
}

impl Receiver {
    /// Waits for the next message; `None` when the other side has disconnected. The future may be dropped.
    ///
    /// # Errors
    ///
    /// Fails where the other side sends something that is not a message.
    pub async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.unread.len() > LONGEST {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
            }
            let mut piece = vec![0; 64 * 1024];
            let receive = || receive_some(&self.stream, &mut piece);
            let (read, descriptors) = match self.stream.async_io(Interest::READABLE, receive).await {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            };
            if read == 0 {
                return Ok(None);
            }
            self.unread.extend_from_slice(&piece[..read]);
            self.descriptors.extend(descriptors);
        }
    }

    /// Takes the next received descriptor.
    pub fn descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }
}

fn send_some(stream: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(sendmsg(stream.as_fd(), &[IoSlice::new(bytes)], &mut ancillary, flags)?)
}

fn receive_some(stream: &UnixStream, room: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let read = recvmsg(stream.as_fd(), &mut [IoSliceMut::new(room)], &mut ancillary, flags)?.bytes;
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((read, rights.flatten().collect()))
}
