//! A network namespace with a process that stays in it. The process makes sockets on request, and programs can enter.
//!
//! A socket belongs to the namespace in which it was created. So the process creates the sockets of clients inside too,
//! and the test connects them from outside.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType,
};
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use super::network;
use crate::supervisor::NetworkSockets;

/// Most descriptors in one message.
const IN_ONE_MESSAGE: usize = 250;

/// A network namespace that lasts as long as this value.
pub(super) struct Namespace {
    /// The other end is with the process inside.
    requests: Mutex<OwnedFd>,
    /// Its user, network and mount namespaces, in the order in which they are entered.
    places: [OwnedFd; 3],
    holder: i32,
    _files: tempfile::TempDir,
}

/// A request to the process inside the namespace.
#[derive(Clone, Copy)]
pub(super) enum NamespaceRequest {
    /// NetworkSockets of clients by TCP.
    Clients(u8),
    /// A socket of a client by UDP.
    Datagrams,
    /// A listener of this port.
    Listener(u16),
    /// That 10.1.2.3 is an address of this machine.
    AddressLocal,
}

impl Namespace {
    /// Makes a namespace, and the sockets of a supervisor in it; nothing where the system has no such namespaces.
    pub(super) fn new(ports: &[u16]) -> Option<(Self, NetworkSockets)> {
        let files = tempfile::tempdir().unwrap();
        let outside = std::fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default();
        let contents = [
            ("resolv.conf", network::RESOLV_CONF.to_owned()),
            ("hosts", network::hosts("here", "")),
            ("nsswitch.conf", network::nsswitch_conf(&outside)),
        ];
        for (name, content) in contents {
            std::fs::write(files.path().join(name), content).unwrap();
        }
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let holder = fork(&theirs, files.path(), ports)?;
        drop(theirs);
        let mut sockets = receive(&ours).ok().filter(|sockets| sockets.len() == 2 + ports.len())?.into_iter();
        let place = |name: &str| {
            let path = format!("/proc/{holder}/ns/{name}");
            rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap()
        };
        let places = ["user", "net", "mnt"].map(place);
        let (names_udp, names_tcp) = (sockets.next()?, sockets.next()?);
        let sockets = NetworkSockets { names_udp, names_tcp, listeners: ports.iter().copied().zip(sockets).collect() };
        Some((Self { requests: Mutex::new(ours), places, holder, _files: files }, sockets))
    }

    /// Returns sockets that were made inside.
    pub(super) fn sockets(&self, request: NamespaceRequest) -> Vec<OwnedFd> {
        let words = match request {
            NamespaceRequest::Clients(count) => [b'c', count, 0],
            NamespaceRequest::Datagrams => [b'd', 0, 0],
            NamespaceRequest::AddressLocal => [b'a', 0, 0],
            NamespaceRequest::Listener(port) => [b'l', port.to_be_bytes()[0], port.to_be_bytes()[1]],
        };
        let requests = self.requests.lock().unwrap();
        rustix::net::send(&*requests, &words, SendFlags::NOSIGNAL).unwrap();
        receive(&requests).unwrap()
    }

    /// Returns a program that will run inside.
    #[allow(unsafe_code)]
    pub(super) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        let places = self.places.each_ref().map(|place| place.try_clone().unwrap());
        let enter = move || {
            let kinds = [LinkNameSpaceType::User, LinkNameSpaceType::Network, LinkNameSpaceType::Mount];
            for (place, kind) in places.iter().zip(kinds) {
                rustix::thread::move_into_link_name_space(place.as_fd(), Some(kind))?;
            }
            Ok(())
        };
        // SAFETY: it only makes system calls.
        unsafe { command.pre_exec(enter) };
        command
    }
}

impl Drop for Namespace {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: a child of this process that was not waited for; it has nothing to lose.
        unsafe {
            libc::kill(self.holder, libc::SIGKILL);
            libc::waitpid(self.holder, std::ptr::null_mut(), 0);
        }
    }
}

/// Starts the process inside; nothing where that is not possible.
#[allow(unsafe_code)]
fn fork(socket: &OwnedFd, files: &Path, ports: &[u16]) -> Option<i32> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // SAFETY: the new process has one thread and ends without running anything of the others.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: descriptors of other tests must not stay open here, or their connections would never end.
            let socket = unsafe {
                let kept = libc::dup2(socket.as_raw_fd(), 3);
                libc::syscall(libc::SYS_close_range, 4, u32::MAX, 0);
                OwnedFd::from_raw_fd(kept)
            };
            let _ = hold(&socket, files, (ports, user, group));
            // SAFETY: it ends the process.
            unsafe { libc::_exit(0) }
        }
        pid => (pid > 0).then_some(pid),
    }
}

/// What the process inside does.
#[allow(unsafe_code)]
fn hold(socket: &OwnedFd, files: &Path, (ports, user, group): (&[u16], u32, u32)) -> io::Result<()> {
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNET | UnshareFlags::NEWNS;
    // SAFETY: this process has one thread and shares nothing.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    for name in ["resolv.conf", "hosts", "nsswitch.conf"] {
        mount_bind(files.join(name), Path::new("/etc").join(name))?;
    }
    send(socket, &network::sockets(ports)?)?;
    loop {
        let mut words = [0; 3];
        let (length, _) = rustix::net::recv(socket, words.as_mut_slice(), RecvFlags::empty())?;
        let made = match words {
            _ if length == 0 => return Ok(()),
            [b'c', count, _] => (0..count).map(|_| client(SocketType::STREAM)).collect::<io::Result<Vec<_>>>()?,
            [b'd', ..] => vec![client(SocketType::DGRAM)?],
            [b'l', high, low] => vec![network::listener(u16::from_be_bytes([high, low]))?],
            _ => {
                network::make_address_local([10, 1, 2, 3].into())?;
                Vec::new()
            }
        };
        send(socket, &made)?;
    }
}

fn client(kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(AddressFamily::INET, kind, flags, None)?)
}

fn send(socket: &OwnedFd, made: &[OwnedFd]) -> io::Result<()> {
    let made: Vec<_> = made.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(IN_ONE_MESSAGE))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&made));
    rustix::net::sendmsg(socket, &[IoSlice::new(b"s")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn receive(socket: &OwnedFd) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(IN_ONE_MESSAGE))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let into = &mut [IoSliceMut::new(&mut byte)];
    let got = rustix::net::recvmsg(socket, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let rights = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok(rights.flatten().collect())
}
