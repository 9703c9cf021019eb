//! Finds the ports on which programs listen, from /proc of a network, and connects to them.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_error};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect as connect_socket, socket_with};
use rustix::process::Pid;

/// The port on which programs ask for names.
pub(crate) const NAMES: u16 = 53;
/// The state of a socket that waits for connections.
const LISTENS: &str = "0A";
/// The column of the local address, and that of the state.
const COLUMNS: (usize, usize) = (1, 3);
/// How long a program that listens may take to accept.
const TO_ACCEPT: Duration = Duration::from_secs(2);

/// Returns the addresses at which programs listen on this port, on the network of this process or else on our own.
pub(crate) fn listeners(inside: Option<Pid>, port: u16) -> Option<Vec<IpAddr>> {
    let process = inside.map_or_else(|| "self".to_owned(), |pid| pid.as_raw_nonzero().to_string());
    let read = |table: &str| fs::read_to_string(format!("/proc/{process}/net/{table}")).ok();
    let tables = [read("tcp"), read("tcp6")];
    // A system without the newer protocol has one table.
    let mut known = tables.iter().flatten().peekable();
    known.peek()?;
    let mut addresses: Vec<IpAddr> = known.flat_map(|table| listeners_in(table, port)).collect();
    addresses.sort_unstable();
    addresses.dedup();
    Some(addresses)
}

/// Connects the first of these sockets that it is possible with to a port of its loopback.
pub(crate) fn connect(sockets: Vec<OwnedFd>, port: u16) -> io::Result<OwnedFd> {
    let mut failed = Errno::NETUNREACH;
    for socket in sockets {
        match connect_one(&socket, port) {
            Ok(()) => return Ok(socket),
            // Who refuses a connection is nearer than who has no such protocol.
            Err(error) if failed != Errno::CONNREFUSED => failed = error,
            Err(_) => {}
        }
    }
    Err(failed.into())
}

/// Returns sockets on the network of this process, one for each protocol.
pub(crate) fn own_sockets() -> Vec<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let made =
        [AddressFamily::INET, AddressFamily::INET6].map(|family| socket_with(family, SocketType::STREAM, flags, None));
    made.into_iter().flatten().collect()
}

fn connect_one(socket: &OwnedFd, port: u16) -> rustix::io::Result<()> {
    let address = match socket_domain(socket)? {
        AddressFamily::INET6 => SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
        _ => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
    };
    match connect_socket(socket, &address) {
        Err(Errno::INPROGRESS) => {}
        done => return done,
    }
    let mut polled = [PollFd::new(socket, PollFlags::OUT)];
    let most = Timespec::try_from(TO_ACCEPT).unwrap_or_default();
    match poll(&mut polled, Some(&most))? {
        0 => Err(Errno::TIMEDOUT),
        _ => socket_error(socket)?,
    }
}

fn listeners_in(table: &str, port: u16) -> Vec<IpAddr> {
    let end = format!(":{port:04X}");
    let listener = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let column = |number: usize| columns.get(number).copied().unwrap_or_default();
        let address = column(COLUMNS.0).strip_suffix(&end).filter(|_| column(COLUMNS.1) == LISTENS)?;
        address_of(address)
    };
    table.lines().skip(1).filter_map(listener).collect()
}

/// Reads an address as the kernel prints it: words of 32 bits, each as a number of this machine.
fn address_of(printed: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(printed.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    match printed.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(words).ok()?).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "a test listens")]
mod tests {
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_port_is_found_as_long_as_a_program_listens_on_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(listeners(None, port), Some(vec![IpAddr::from(Ipv4Addr::LOCALHOST)]));
        assert!(connect(own_sockets(), port).is_ok());
        drop(listener);
        // A process that another test forks at this moment has the socket too, until it starts its program.
        let end = Instant::now() + Duration::from_secs(20);
        let refused = loop {
            match connect(own_sockets(), port) {
                Err(error) => break error,
                Ok(_) => assert!(Instant::now() < end, "nothing listens"),
            }
        };
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(listeners(None, port), Some(Vec::new()));
        assert_eq!(listeners(Pid::from_raw(i32::MAX), port), None);
    }

    #[test]
    fn a_connection_to_a_port_is_no_listener() {
        let line = |state: &str| format!("head\n   0: 0100007F:1F90 00000000:0000 {state} 00000000:00000000\n");
        assert_eq!(listeners_in(&line("0A"), 8080), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
        assert!(listeners_in(&line("01"), 8080).is_empty());
        assert!(listeners_in(&line("0A"), 80).is_empty());
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_are_read_as_the_kernel_prints_them() {
        for (printed, address) in [
            ("0100007F", "127.0.0.1"),
            ("00000000", "0.0.0.0"),
            ("00000000000000000000000001000000", "::1"),
            ("00000000000000000000000000000000", "::"),
            ("0000000000000000FFFF00000100007F", "127.0.0.1"),
            ("B80D0120000000000000000001000000", "2001:db8::1"),
        ] {
            assert_eq!(address_of(printed).map(|read| read.to_string()).as_deref(), Some(address));
        }
        assert_eq!(address_of("0100"), None);
    }
}
