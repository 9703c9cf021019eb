//! Prepares the network namespace of a session, whose connections a supervisor outside accepts.
//!
//! Inside there is only the loopback. One route makes a whole block of addresses local, so one listener for each port
//! accepts connections to all of them, and the socket of an accepted connection knows the dialled address. A socket
//! belongs to the namespace in which it was created, so the launcher makes the sockets here and passes them out.
//!
//! This needs the right to administer the namespace (CAP_NET_ADMIN, CAP_NET_BIND_SERVICE), which the launcher has until it
//! gives up its capabilities. This file uses nothing else of the crate: the tests of `haft-net` make their namespaces
//! with it.
//!
//! Not here: accepting connections and answering questions for names (`haft_net::supervisor`).

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

/// The block of addresses that names get, and how many bits all its addresses share. It is reserved for benchmarks and
/// never routed.
const BLOCK: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);
/// An address of the block that no name gets. A program that asks only for kinds of addresses that the machine has itself
/// (AI_ADDRCONFIG) finds this one; glibc does not count 127.0.0.1.
const OWN: Ipv4Addr = Ipv4Addr::new(198, 19, 255, 254);
/// The port on which programs ask for names.
const NAMES: u16 = 53;
/// Most connections that wait to be accepted; a kernel may allow fewer.
const BACKLOG: i32 = 4096;
/// The number of the loopback in every network namespace.
const LOOPBACK: u32 = 1;

/// What `/etc/resolv.conf` contains inside.
///
/// `search .` keeps glibc from searching the domain of the host name. No other option is needed: one server on this
/// machine answers each question immediately, so it does not matter whether a client asks for A and AAAA together
/// (`single-request`), in which order it tries names (`ndots`), or whether it sends EDNS.
pub(super) const RESOLV_CONF: &str = "nameserver 127.0.0.1\nsearch .\n";

/// The order in which glibc and Go look up hosts inside. Modules that ask a service outside have no place in it:
/// `resolve` and `mdns` would ask through sockets below `/run`, and Go reads no file that names a module it does not know.
const HOSTS_ORDER: &str = "hosts: files dns";

/// Folders with sockets through which glibc or its modules would look up names outside. They must not be visible inside.
/// glibc asks the first one before anything that `/etc/nsswitch.conf` names.
pub(super) const LOOK_UP_SERVICES: [&str; 4] =
    ["/run/nscd", "/run/systemd/resolve", "/run/avahi-daemon", "/var/lib/sss/pipes"];

/// Returns what `/etc/nsswitch.conf` contains inside: what it contains outside, with another order for hosts.
pub(super) fn nsswitch_conf(outside: &str) -> String {
    let database = |line: &str| line.split_once(':').map(|(name, _)| name.trim().to_owned());
    let others = outside.lines().filter(|line| database(line).as_deref() != Some("hosts"));
    others.chain([HOSTS_ORDER]).flat_map(|line| [line, "\n"]).collect()
}

/// Returns what `/etc/hosts` contains inside. The entries of the host's own file are not among them: they would lead past
/// the resolver, to addresses that do not exist here. haft looks names up on the host, where they count.
///
/// A program that listens on `localhost` chooses its first address. So that is ::1 too only where it is outside.
pub(super) fn hosts(host_name: &str, outside: &str) -> String {
    let own = if host_name.is_empty() || host_name == "localhost" { String::new() } else { format!(" {host_name}") };
    let is_local_by_6 = outside.lines().any(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        words.next() == Some("::1") && words.any(|name| name == "localhost")
    });
    let by_6 = if is_local_by_6 { "localhost " } else { "" };
    format!("127.0.0.1 localhost{own}\n::1 {by_6}ip6-localhost ip6-loopback\n")
}

/// Makes the block local and returns the sockets of a supervisor: port 53 of 127.0.0.1 by UDP and by TCP, then a listener
/// for each of these ports. Raises the loopback if it is down.
pub(super) fn sockets(ports: &[u16]) -> io::Result<Vec<OwnedFd>> {
    raise(LOOPBACK)?;
    make_local(BLOCK)?;
    add_address(OWN)?;
    let names = SocketAddrV4::new(Ipv4Addr::LOCALHOST, NAMES);
    let mut sockets = vec![bound(SocketType::DGRAM, names)?, listening(names)?];
    for port in ports {
        sockets.push(listener(*port)?);
    }
    Ok(sockets)
}

/// Makes one more listener, for a port that was granted later. A program of the session may have taken the port.
pub(super) fn listener(port: u16) -> io::Result<OwnedFd> {
    listening(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))
}

/// Makes a single address local, so that connections to it arrive at the listeners.
pub(super) fn make_address_local(address: Ipv4Addr) -> io::Result<()> {
    make_local((address, 32))
}

fn listening(address: SocketAddrV4) -> io::Result<OwnedFd> {
    let socket = bound(SocketType::STREAM, address)?;
    rustix::net::listen(&socket, BACKLOG).map_err(|error| at(address, error))?;
    Ok(socket)
}

fn bound(kind: SocketType, address: SocketAddrV4) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, flags, None)?;
    if kind == SocketType::STREAM {
        // Connections of an earlier listener of the port may not have ended yet.
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    rustix::net::bind(&socket, &address).map_err(|error| at(address, error))?;
    Ok(socket)
}

fn at(address: SocketAddrV4, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("{address}: {error}"))
}

/// Switches an interface on.
fn raise(interface: u32) -> io::Result<()> {
    let up = libc::IFF_UP.cast_unsigned();
    let mut message = Vec::with_capacity(16);
    // No family and no kind; then the flags, and which of them change.
    message.extend([0; 4]);
    message.extend(interface.to_ne_bytes());
    message.extend(up.to_ne_bytes());
    message.extend(up.to_ne_bytes());
    tell_kernel(libc::RTM_NEWLINK, 0, &message)
}

/// Gives the loopback one more address.
fn add_address(address: Ipv4Addr) -> io::Result<()> {
    // The whole address counts; no flags, and of the whole world.
    let mut message = vec![libc::AF_INET as u8, 32, 0, 0];
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(attribute(libc::IFA_LOCAL, address.octets()));
    message.extend(attribute(libc::IFA_ADDRESS, address.octets()));
    create(libc::RTM_NEWADDR, &message)
}

/// Adds the route that makes all addresses with this prefix addresses of the machine itself.
fn make_local((address, prefix): (Ipv4Addr, u8)) -> io::Result<()> {
    let mut message = vec![libc::AF_INET as u8, prefix, 0, 0];
    message.extend([libc::RT_TABLE_LOCAL, libc::RTPROT_STATIC, libc::RT_SCOPE_HOST, libc::RTN_LOCAL]);
    message.extend([0; 4]);
    message.extend(attribute(libc::RTA_DST, address.octets()));
    message.extend(attribute(libc::RTA_OIF, LOOPBACK.to_ne_bytes()));
    create(libc::RTM_NEWROUTE, &message)
}

/// A value with its length and its kind.
fn attribute(kind: u16, value: [u8; 4]) -> impl Iterator<Item = u8> {
    8_u16.to_ne_bytes().into_iter().chain(kind.to_ne_bytes()).chain(value)
}

/// Creates something that may exist already.
fn create(kind: u16, message: &[u8]) -> io::Result<()> {
    match tell_kernel(kind, libc::NLM_F_CREATE | libc::NLM_F_EXCL, message) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        told => told,
    }
}

/// Sends one message to the part of the kernel that keeps interfaces and routes, and reads whether it was obeyed.
fn tell_kernel(kind: u16, flags: i32, body: &[u8]) -> io::Result<()> {
    const HEADER: usize = 16;
    // The protocol of interfaces and routes is number 0, which is that of a socket without one.
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
    let flags = u16::try_from(flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Number and sender: there is one message, and the kernel knows the socket.
    message.extend([0; 8]);
    message.extend(body);
    rustix::net::send(&socket, &message, SendFlags::empty())?;
    let mut answer = vec![0; 1024];
    let (length, _) = rustix::net::recv(&socket, answer.as_mut_slice(), RecvFlags::empty())?;
    answer.truncate(length);
    let is_answer = answer.get(4..6) == Some(&u16::try_from(libc::NLMSG_ERROR).unwrap_or_default().to_ne_bytes()[..]);
    let code = answer.get(HEADER..HEADER + 4).and_then(|code| <[u8; 4]>::try_from(code).ok());
    match code.map(i32::from_ne_bytes).filter(|_| is_answer) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::other("the kernel sent another answer than was expected")),
    }
}
