//! Tests a fresh network namespace, its sockets, and the files with which programs look up names in it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use super::single_thread::text_of_one_thread;
use crate::launcher::enter::confining::namespaces;
use crate::launcher::enter::network;
use crate::require::Need;
use crate::running::orders::CommandNetwork;

/// Runs a check as the one process of a new network namespace; it says what is wrong.
#[track_caller]
fn check(inside: fn() -> io::Result<()>) {
    let said = text_of_one_thread(|| match namespaces::enter_new(CommandNetwork::Own) {
        Ok(()) => inside().map_or_else(|error| error.to_string(), |()| "ok".to_owned()),
        Err(_) => NO_NAMESPACE.to_owned(),
    });
    if Need::Full.met(said != NO_NAMESPACE) {
        assert_eq!(said, "ok");
    }
}

const NO_NAMESPACE: &str = "no namespace";

fn unless(is_right: bool, what: &str) -> io::Result<()> {
    if is_right { Ok(()) } else { Err(io::Error::other(what.to_owned())) }
}

fn blocking(socket: OwnedFd) -> io::Result<OwnedFd> {
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket)
}

/// Connects to an address and returns which address the accepted connection was dialled by.
fn dialled(listener: &TcpListener, address: SocketAddrV4) -> io::Result<String> {
    let client = TcpStream::connect(address)?;
    let (accepted, _) = listener.accept()?;
    drop(client);
    Ok(accepted.local_addr()?.to_string())
}

#[test]
fn one_listener_of_a_port_accepts_connections_to_all_addresses_of_the_block_and_no_other() {
    check(|| {
        let mut sockets = network::sockets(&[80, 443])?;
        unless(sockets.len() == 4, "there are four sockets")?;
        let listener = TcpListener::from(blocking(sockets.remove(3))?);
        for address in [[198, 18, 0, 1], [198, 18, 77, 1], [198, 19, 255, 254], [127, 0, 0, 1]] {
            let address = SocketAddrV4::new(Ipv4Addr::from(address), 443);
            let found = dialled(&listener, address)?;
            unless(found == address.to_string(), &found)?;
        }
        for address in [[198, 20, 0, 1], [198, 17, 255, 255], [1, 1, 1, 1], [10, 0, 0, 1]] {
            let answer = TcpStream::connect(SocketAddrV4::new(Ipv4Addr::from(address), 443));
            let error = answer.err().map(|error| error.kind());
            unless(error == Some(io::ErrorKind::NetworkUnreachable), "another address is unreachable")?;
        }
        Ok(())
    });
}

#[test]
fn names_are_asked_for_on_port_53_by_udp_and_by_tcp() {
    check(|| {
        let mut sockets = network::sockets(&[])?;
        let names = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 53);
        let tcp = TcpListener::from(blocking(sockets.remove(1))?);
        unless(dialled(&tcp, names)? == "127.0.0.1:53", "by tcp")?;
        let udp = UdpSocket::from(blocking(sockets.remove(0))?);
        UdpSocket::bind("127.0.0.1:0")?.send_to(b"question", names)?;
        let mut buffer = [0; 100];
        unless(udp.recv(&mut buffer)? == 8, "by udp")
    });
}

#[test]
fn a_port_and_an_address_can_be_added_later() {
    check(|| {
        let sockets = network::sockets(&[443])?;
        let listener = TcpListener::from(blocking(network::listener(5432)?)?);
        network::make_address_local(Ipv4Addr::new(10, 1, 2, 3))?;
        for address in [[198, 18, 0, 9], [10, 1, 2, 3]] {
            let address = SocketAddrV4::new(Ipv4Addr::from(address), 5432);
            unless(dialled(&listener, address)? == address.to_string(), "it is accepted")?;
        }
        let again = network::sockets(&[80]).err().map(|error| error.to_string()).unwrap_or_default();
        unless(again.starts_with("127.0.0.1:53: "), &again)?;
        drop(sockets);
        network::sockets(&[443]).map(drop)
    });
}

#[test]
fn no_program_inherits_a_socket_and_none_blocks_its_owner() {
    check(|| {
        for socket in network::sockets(&[80])? {
            let is_closed = rustix::io::fcntl_getfd(socket.as_fd())?.contains(rustix::io::FdFlags::CLOEXEC);
            let is_waiting = !rustix::fs::fcntl_getfl(socket.as_fd())?.contains(rustix::fs::OFlags::NONBLOCK);
            unless(is_closed && !is_waiting, "it is closed by exec and does not block")?;
        }
        Ok(())
    });
}

#[test]
fn a_program_cannot_take_a_port_on_which_connections_are_accepted() {
    check(|| {
        let _sockets = network::sockets(&[443])?;
        for address in ["0.0.0.0:443", "127.0.0.1:443", "198.18.0.1:443", "127.0.0.1:53"] {
            let taken = TcpListener::bind(address).err().map(|error| error.kind());
            unless(taken == Some(io::ErrorKind::AddrInUse), address)?;
        }
        Ok(())
    });
}

#[test]
fn the_order_of_hosts_is_replaced_and_the_other_databases_stay() {
    let outside =
        "# comment\npasswd: files systemd\nhosts: files resolve [!UNAVAIL=return] dns\n hosts : nis\nnetworks: files\n";
    let inside = "# comment\npasswd: files systemd\nnetworks: files\nhosts: files dns\n";
    assert_eq!(network::nsswitch_conf(outside), inside);
    assert_eq!(network::nsswitch_conf(""), "hosts: files dns\n");
}

#[test]
fn the_machine_knows_its_own_names_and_one_server() {
    for outside in ["", "::1 ip6-localhost\n", "# ::1 localhost\n", "::1 ip6-localhost # localhost\n"] {
        assert_eq!(network::hosts("box", outside), "127.0.0.1 localhost box\n::1 ip6-localhost ip6-loopback\n");
    }
    for outside in ["::1 localhost\n", "127.0.0.1 localhost\n::1\tip6-localhost  localhost # here\n"] {
        let inside = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
        assert_eq!(network::hosts("localhost", outside), inside, "{outside}");
    }
    assert_eq!(network::RESOLV_CONF, "nameserver 127.0.0.1\nsearch .\n");
    assert!(network::LOOK_UP_SERVICES.iter().all(|folder| folder.starts_with('/')));
}
