//! Sends and receives orders: their length, the descriptors in groups, then the text.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv,
    recvmsg, send, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::orders::COPY;

/// Most descriptors that the kernel takes in one message.
const IN_ONE_MESSAGE: usize = 253;
/// Most bytes of orders; no user has that many folders.
const MOST: usize = 64 * 1024 * 1024;

/// Sends orders and descriptors.
pub(crate) fn send_orders(socket: &OwnedFd, orders: &impl Serialize, descriptors: &[OwnedFd]) -> io::Result<()> {
    let text = serde_json::to_vec(orders).map_err(io::Error::other)?;
    let too_large = |_| io::Error::other("too many orders");
    let mut head = u32::try_from(text.len()).map_err(too_large)?.to_le_bytes().to_vec();
    head.extend(u32::try_from(descriptors.len()).map_err(too_large)?.to_le_bytes());
    send_all(socket, &head)?;
    let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    for group in borrowed.chunks(IN_ONE_MESSAGE) {
        send_group(socket, group)?;
    }
    send_all(socket, &text)
}

/// Sends as many descriptors as fit into one message.
pub(crate) fn send_group(socket: &OwnedFd, group: &[BorrowedFd<'_>]) -> io::Result<()> {
    // Descriptors need a byte to travel with.
    send_with(socket, &[COPY], group)
}

/// Sends a short text with descriptors, in one message.
pub(crate) fn send_with(socket: &OwnedFd, text: &[u8], group: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(IN_ONE_MESSAGE))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(group));
    sendmsg(socket, &[IoSlice::new(text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives what [`send_orders`] has sent. The descriptors are closed when a program is executed.
pub(crate) fn receive_orders<T: DeserializeOwned>(socket: &OwnedFd) -> io::Result<(T, Vec<OwnedFd>)> {
    let (length, count) = (receive_number(socket)?, receive_number(socket)?);
    if length > MOST {
        return Err(io::Error::other("too many orders"));
    }
    let mut descriptors = Vec::with_capacity(count.min(IN_ONE_MESSAGE));
    while descriptors.len() < count {
        let before = descriptors.len();
        descriptors.extend(receive_group(socket)?);
        if descriptors.len() == before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let mut text = vec![0; length];
    receive_all(socket, &mut text)?;
    let orders = serde_json::from_slice(&text).map_err(io::Error::other)?;
    Ok((orders, descriptors))
}

/// Receives the descriptors of one message; none when the stream has ended.
pub(crate) fn receive_group(socket: &impl AsFd) -> io::Result<Vec<OwnedFd>> {
    receive_small(socket, &mut [0]).map(|(_, descriptors)| descriptors)
}

/// Receives a short text that comes with descriptors, in one message.
pub(crate) fn receive_small(socket: &impl AsFd, room: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    loop {
        match receive_with(socket, room, RecvFlags::empty()) {
            Ok(received) => return Ok(received),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Receives some bytes, and the descriptors that come with them.
pub(crate) fn receive_with(
    socket: &impl AsFd,
    room: &mut [u8],
    flags: RecvFlags,
) -> rustix::io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(IN_ONE_MESSAGE))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut [IoSliceMut::new(room)], &mut ancillary, flags)?.bytes;
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((received, rights.flatten().collect()))
}

fn receive_number(socket: &OwnedFd) -> io::Result<usize> {
    let mut bytes = [0; 4];
    receive_all(socket, &mut bytes)?;
    usize::try_from(u32::from_le_bytes(bytes)).map_err(io::Error::other)
}

pub(crate) fn send_all(socket: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

pub(crate) fn receive_all(socket: &OwnedFd, mut room: &mut [u8]) -> io::Result<()> {
    while !room.is_empty() {
        match recv(socket, &mut *room, RecvFlags::empty()) {
            Ok((0, _)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((received, _)) => room = &mut room[received..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;
    use crate::running::orders::{CommandNetwork, Confine, Orders};

    #[test]
    fn hundreds_of_descriptors_and_long_words_arrive_whole_and_in_order() {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        let files: Vec<tempfile::NamedTempFile> = (0..20).map(|_| tempfile::NamedTempFile::new().unwrap()).collect();
        let descriptors: Vec<OwnedFd> =
            (0..300).map(|number| files[number % 20].as_file().try_clone().unwrap().into()).collect();
        let orders = Orders {
            streams: None,
            given: [None; 3],
            words: vec!["x".repeat(1_000_000).into()],
            folder: "/".into(),
            environment: Vec::new(),
            confine: Confine::No,
            processes: 1,
            proxy: None,
            network: CommandNetwork::Own,
            is_of_session: false,
            has_input: false,
            serves: false,
            stays: false,
            watched: Vec::new(),
            own: Vec::new(),
            memory: None,
        };
        let (sent, received) = std::thread::scope(|scope| {
            let sender = scope.spawn(|| send_orders(&ours, &orders, &descriptors));
            let received = receive_orders::<Orders>(&theirs);
            (sender.join().unwrap(), received)
        });
        sent.unwrap();
        let (told, given) = received.unwrap();
        assert_eq!(told, orders);
        let inode = |descriptor: &OwnedFd| rustix::fs::fstat(descriptor).unwrap().st_ino;
        assert_eq!(given.iter().map(inode).collect::<Vec<_>>(), descriptors.iter().map(inode).collect::<Vec<_>>());
    }
}
