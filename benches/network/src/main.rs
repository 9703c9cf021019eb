//! Compares a connection through the supervisor with a direct one: bytes per second, and time per connection.
//!
//! The benchmark enters its own network namespace, as a session does. Client, supervisor and server each have a thread,
//! where real ones have a process; a direct connection needs only two of them.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use haft_contract::BoxFuture;
use haft_net::supervisor::{Decision, Dial, DialError, ConnectionJudge, NetworkSockets, Supervisor, ConnectionRequest};

#[path = "../../../crates/haft-sandbox/src/launcher/enter/network.rs"]
#[expect(dead_code, reason = "the sandbox uses the rest")]
mod namespace;

const ROUNDS: usize = 7;
const BYTES: usize = 512 << 20;
const CONNECTIONS: usize = 2_000;
const LEAST_THROUGHPUT: f64 = 0.4;
const MOST_PER_CONNECTION: Duration = Duration::from_micros(300);
const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 9000);
const PORT: u16 = 80;
const BUFFER: usize = 256 * 1024;

fn main() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> io::Result<bool> {
    // SAFETY: this process has one thread and shares nothing.
    unsafe {
        rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWUSER | rustix::thread::UnshareFlags::NEWNET)?
    };
    let sockets = namespace::sockets(&[PORT])?;
    let listener = TcpListener::bind(SERVER)?;
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let _ = serve(client);
        }
    });
    thread::spawn(move || supervise(sockets));
    let supervised = SocketAddr::from((look_up()?, PORT));
    let direct = SocketAddr::from(SERVER);
    let is_fast = throughput(direct, supervised)?;
    let is_quick = connections(direct, supervised)?;
    Ok(is_fast && is_quick)
}

fn throughput(direct: SocketAddr, supervised: SocketAddr) -> io::Result<bool> {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (best, address) in best.iter_mut().zip([direct, supervised]) {
            *best = exchange(address, BYTES)?.min(*best);
        }
    }
    let [direct, supervised] = best.map(|time| BYTES as f64 / time.as_secs_f64() / 1e9);
    let ratio = supervised / direct;
    println!("{} MB, best of {ROUNDS}, GB/s: direct {direct:.2}, supervised {supervised:.2}", BYTES >> 20);
    Ok(told(ratio >= LEAST_THROUGHPUT, &format!("{ratio:.2} × direct, at least {LEAST_THROUGHPUT}")))
}

fn connections(direct: SocketAddr, supervised: SocketAddr) -> io::Result<bool> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..CONNECTIONS {
        for (times, address) in times.iter_mut().zip([direct, supervised]) {
            times.push(exchange(address, 1)?);
        }
    }
    let [direct, supervised] = times.map(|mut times| {
        times.sort();
        times[CONNECTIONS / 2]
    });
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    println!("a connection, median of {CONNECTIONS}, µs: direct {:.0}, supervised {:.0}", us(direct), us(supervised));
    let more = supervised.saturating_sub(direct);
    let text = format!("{:.0} µs more, at most {:.0}", us(more), us(MOST_PER_CONNECTION));
    Ok(told(more <= MOST_PER_CONNECTION, &text))
}

fn told(is_within: bool, text: &str) -> bool {
    println!("{}: {text}", if is_within { "ok" } else { "FAILED" });
    is_within
}

/// Asks for so many bytes and returns how long it took from the connection to the end.
fn exchange(address: SocketAddr, bytes: usize) -> io::Result<Duration> {
    let begun = Instant::now();
    let mut server = TcpStream::connect(address)?;
    server.set_nodelay(true)?;
    server.write_all(format!("GET /{bytes} HTTP/1.1\r\nHost: a.test\r\n\r\n").as_bytes())?;
    let mut buffer = vec![0; if bytes == 1 { 16 } else { BUFFER }];
    let mut received = 0;
    loop {
        match server.read(&mut buffer)? {
            0 if received == bytes => return Ok(begun.elapsed()),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => received += length,
        }
    }
}

/// Sends as many bytes as the path of the request says.
fn serve(mut client: TcpStream) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut head = [0; 200];
    let length = client.read(&mut head)?;
    let text = String::from_utf8_lossy(&head[..length]);
    let path = text.split(' ').nth(1).and_then(|path| path.strip_prefix('/')).and_then(|bytes| bytes.parse().ok());
    let mut left: usize = path.ok_or_else(|| io::Error::other("no number"))?;
    let part = vec![7; BUFFER.min(left)];
    while left > 0 {
        let length = client.write(&part[..left.min(part.len())])?;
        left -= length;
    }
    Ok(())
}

/// Asks the resolver of the supervisor for the address of `a.test`.
fn look_up() -> io::Result<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let question = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01";
    socket.send_to(question, (Ipv4Addr::LOCALHOST, 53))?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    let address = answer[..length].last_chunk::<4>().ok_or_else(|| io::Error::other("no address"))?;
    Ok(Ipv4Addr::from(*address))
}

/// Runs the supervisor as haft does: on a runtime with one thread.
fn supervise(sockets: Vec<OwnedFd>) -> io::Result<()> {
    let mut sockets = sockets.into_iter();
    let mut next = || sockets.next().ok_or_else(|| io::Error::other("a socket is missing"));
    let sockets = NetworkSockets { names_udp: next()?, names_tcp: next()?, listeners: vec![(PORT, next()?)] };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let _supervisor = Supervisor::start(sockets, Arc::new(Everything), Arc::new(ToServer))?;
        std::future::pending().await
    })
}

/// Allows everything.
struct Everything;

impl ConnectionJudge for Everything {
    fn may_look_up(&self, _host: &str) -> bool {
        true
    }

    fn decide<'a>(&'a self, _wanted: &'a ConnectionRequest) -> BoxFuture<'a, Decision> {
        Box::pin(async { Decision::Allow { raw: false, private: true } })
    }
}

/// Leads to the server.
struct ToServer;

impl Dial for ToServer {
    fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>> {
        Box::pin(async { Ok(vec![SERVER.0.into()]) })
    }

    fn connect(&self, _address: SocketAddr) -> BoxFuture<'_, io::Result<tokio::net::TcpStream>> {
        Box::pin(tokio::net::TcpStream::connect(SERVER))
    }
}
