//! Reaches a host: looks its name up, checks every address, and dials exactly the addresses that were checked.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{timeout, timeout_at};

use super::name_table::is_of_block;
use crate::addresses::{inner, is_public};

/// Longest time until a host is reached.
const TO_REACH: Duration = Duration::from_secs(20);
/// How long an address is tried alone. Then the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);
/// Most addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;
/// How long a name is looked up that a proxy looks up too.
const TO_LOOK_UP_FOR_PROXY: Duration = Duration::from_secs(2);

/// The way to other machines.
pub trait Dial: Send + Sync {
    /// Looks a name up.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>>;

    /// Connects to an address.
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;

    /// Returns the way to a host that leads through a proxy, which looks the name up itself; nothing where there is no
    /// proxy for this host.
    fn tunnel<'a>(&'a self, host: &'a str, port: u16) -> Option<BoxFuture<'a, Result<TcpStream, DialError>>> {
        let _ = (host, port);
        None
    }
}

/// Why a host was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialError {
    /// The name does not exist, or has no addresses.
    NoSuchHost,
    /// The name cannot be looked up now; the words of the system.
    LookUpFailed(String),
    /// The name leads only to addresses that it may not lead to, as this one.
    AddressRefused(IpAddr),
    /// The host refuses connections to the port.
    ConnectionRefused,
    /// There is no way to the host; the words of the system.
    Unreachable(String),
    /// The host did not answer in time.
    TimedOut,
    /// The proxy did not connect; its words.
    Proxy(String),
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialError::NoSuchHost => f.write_str("there is no host of this name"),
            DialError::LookUpFailed(why) => write!(f, "the name cannot be looked up: {why}"),
            DialError::AddressRefused(address) => {
                write!(f, "the name leads to {address}, an address of this machine or its network")
            }
            DialError::ConnectionRefused => f.write_str("the host refused the connection"),
            DialError::Unreachable(why) => write!(f, "the host cannot be reached: {why}"),
            DialError::TimedOut => write!(f, "the host did not answer within {} s", TO_REACH.as_secs()),
            DialError::Proxy(why) => write!(f, "the proxy did not connect: {why}"),
        }
    }
}

impl std::error::Error for DialError {}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => DialError::ConnectionRefused,
            io::ErrorKind::TimedOut => DialError::TimedOut,
            _ => DialError::Unreachable(error.to_string()),
        }
    }
}

/// The host and port that a connection is to reach, and which addresses it may have.
pub(crate) struct DialTarget<'d> {
    pub(crate) host: &'d str,
    pub(crate) port: u16,
    /// Whether the host may be on a private address.
    pub(crate) private: bool,
    /// Whether exactly this address was granted.
    pub(crate) granted: &'d (dyn Fn(IpAddr) -> bool + Send + Sync),
}

impl DialTarget<'_> {
    /// Connects to the host. The addresses that are dialled are those that were checked.
    pub(crate) async fn reach(&self, dialler: &Arc<dyn Dial>) -> Result<TcpStream, DialError> {
        let reached = timeout(TO_REACH, async {
            if let Some(tunnel) = dialler.tunnel(self.host, self.port) {
                self.check_before_tunnel(dialler).await?;
                return tunnel.await;
            }
            let found = match self.host.parse() {
                Ok(address) => vec![address],
                Err(_) => dialler.resolve(self.host).await?,
            };
            first_connected(dialler, self.checked(&found)?).await
        });
        reached.await.unwrap_or(Err(DialError::TimedOut))
    }

    /// A proxy dials what it finds itself. What is known here of the name is checked all the same.
    async fn check_before_tunnel(&self, dialler: &Arc<dyn Dial>) -> Result<(), DialError> {
        match timeout(TO_LOOK_UP_FOR_PROXY, dialler.resolve(self.host)).await {
            Ok(Ok(found)) if !found.is_empty() => self.checked(&found).map(drop),
            // Behind a proxy names of the world are often unknown.
            _ => Ok(()),
        }
    }

    fn checked(&self, found: &[IpAddr]) -> Result<Vec<SocketAddr>, DialError> {
        let may_be_dialled = |address: &&IpAddr| {
            (self.granted)(**address)
                || match Range::of(**address) {
                    Range::World => true,
                    Range::Private => self.private,
                    Range::Never => false,
                }
        };
        let checked: Vec<SocketAddr> = found
            .iter()
            .filter(may_be_dialled)
            .take(MOST_ADDRESSES)
            .map(|address| SocketAddr::new(*address, self.port))
            .collect();
        match (checked.is_empty(), found.first()) {
            (false, _) => Ok(checked),
            (true, Some(address)) => Err(DialError::AddressRefused(*address)),
            (true, None) => Err(DialError::NoSuchHost),
        }
    }
}

/// Whose an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// Of the whole world.
    World,
    /// Of this machine or its network.
    Private,
    /// Of the link, of a provider's service for its own machines, of several machines, or of none: no host that a user
    /// names in settings has such an address.
    Never,
}

impl Range {
    fn of(address: IpAddr) -> Self {
        let is_never = match address {
            IpAddr::V4(address) => is_never_v4(address),
            IpAddr::V6(address) => match inner(address) {
                Some(inner) => is_never_v4(inner),
                None => {
                    let [first, second, .., last] = address.segments();
                    let is_metadata = (first, second, last) == (0xfd00, 0x0ec2, 0x0254);
                    is_metadata || address.is_unspecified() || address.is_multicast() || first & 0xffc0 == 0xfe80
                }
            },
        };
        // Blocks for documentation belong to no network of a user's; a gateway that stands for the world may use them.
        let is_world = is_public(address) || matches!(address, IpAddr::V4(address) if address.is_documentation());
        match (is_never, is_world) {
            (true, _) => Range::Never,
            (false, true) => Range::World,
            (false, false) => Range::Private,
        }
    }
}

fn is_never_v4(address: Ipv4Addr) -> bool {
    let is_reserved = address.octets()[0] == 0 || address.octets()[0] >= 224 || address.is_link_local();
    // Services of cloud providers for their own machines, beside that on 169.254.169.254: keys and user data.
    let metadata = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]];
    is_reserved || is_of_block(address) || metadata.contains(&address.octets())
}

/// Connects to the first address that answers. Each one gets a head start before the next.
async fn first_connected(dialler: &Arc<dyn Dial>, addresses: Vec<SocketAddr>) -> Result<TcpStream, DialError> {
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut failed = DialError::NoSuchHost;
    loop {
        if let Some(address) = waiting.next() {
            let dialler = dialler.clone();
            attempts.spawn(async move { dialler.connect(address).await });
        } else if attempts.is_empty() {
            return Err(failed);
        }
        let next = tokio::time::Instant::now() + HEAD_START;
        loop {
            let ended = match waiting.len() {
                0 => attempts.join_next().await,
                _ => match timeout_at(next, attempts.join_next()).await {
                    Ok(ended) => ended,
                    Err(_elapsed) => break,
                },
            };
            match ended {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => failed = error.into(),
                Some(Err(error)) => failed = DialError::Unreachable(error.to_string()),
                None => {}
            }
            if waiting.len() > 0 || attempts.is_empty() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_link_and_of_providers_are_never_reached_by_name() {
        let table = [
            ("93.184.216.34", Range::World),
            ("2606:4700::1111", Range::World),
            ("10.0.0.1", Range::Private),
            ("127.0.0.1", Range::Private),
            ("192.168.1.1", Range::Private),
            ("100.64.0.1", Range::Private),
            ("::1", Range::Private),
            ("fd12::1", Range::Private),
            ("::ffff:10.0.0.1", Range::Private),
            ("169.254.169.254", Range::Never),
            ("::ffff:169.254.169.254", Range::Never),
            ("64:ff9b::a9fe:a9fe", Range::Never),
            ("2002:a9fe:a9fe::1", Range::Never),
            ("fd00:ec2::254", Range::Never),
            ("100.100.100.200", Range::Never),
            ("168.63.129.16", Range::Never),
            ("198.18.0.1", Range::Never),
            ("0.0.0.0", Range::Never),
            ("::", Range::Never),
            ("fe80::1", Range::Never),
            ("224.0.0.1", Range::Never),
            ("255.255.255.255", Range::Never),
            ("ff02::1", Range::Never),
        ];
        for (address, range) in table {
            assert_eq!(Range::of(address.parse().unwrap()), range, "{address}");
        }
    }

    /// Dials as if a proxy took every name, with what this machine knows of the name.
    struct ProxiedDial(Result<Vec<IpAddr>, DialError>);

    impl Dial for ProxiedDial {
        fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>> {
            Box::pin(async { self.0.clone() })
        }

        fn connect(&self, _address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
            Box::pin(async { Err(io::Error::other("dialled past the proxy")) })
        }

        fn tunnel<'a>(&'a self, _host: &'a str, _port: u16) -> Option<BoxFuture<'a, Result<TcpStream, DialError>>> {
            Some(Box::pin(async { Err(DialError::Proxy("asked".into())) }))
        }
    }

    #[tokio::test]
    async fn a_proxy_is_not_asked_for_a_name_that_is_known_to_be_private() {
        let private = vec!["10.0.0.1".parse().unwrap()];
        let table = [
            (Ok(private.clone()), false, "leads to 10.0.0.1"),
            (Ok(private), true, "asked"),
            (Ok(vec!["93.184.216.34".parse().unwrap()]), false, "asked"),
            (Err(DialError::NoSuchHost), false, "asked"),
        ];
        for (found, private, told) in table {
            let dialler: Arc<dyn Dial> = Arc::new(ProxiedDial(found));
            let destination = DialTarget { host: "a.test", port: 443, private, granted: &|_| false };
            let error = destination.reach(&dialler).await.unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    fn checked(private: bool, found: &[&str]) -> Result<Vec<String>, String> {
        let granted = |address: IpAddr| address.to_string() == "10.9.9.9";
        let found: Vec<IpAddr> = found.iter().map(|text| text.parse().unwrap()).collect();
        let destination = DialTarget { host: "a.test", port: 443, private, granted: &granted };
        let told = |addresses: Vec<SocketAddr>| addresses.iter().map(SocketAddr::to_string).collect();
        destination.checked(&found).map(told).map_err(|error| error.to_string())
    }

    #[test]
    fn only_addresses_that_may_be_dialled_are_left() {
        let mixed = ["10.0.0.1", "93.184.216.34", "169.254.169.254", "2606:4700::1"];
        assert_eq!(checked(false, &mixed).unwrap(), ["93.184.216.34:443", "[2606:4700::1]:443"]);
        assert_eq!(checked(true, &mixed).unwrap(), ["10.0.0.1:443", "93.184.216.34:443", "[2606:4700::1]:443"]);
        assert_eq!(checked(false, &["10.0.0.1", "10.9.9.9"]).unwrap(), ["10.9.9.9:443"]);
        let refused = "the name leads to 10.0.0.1, an address of this machine or its network";
        assert_eq!(checked(false, &["10.0.0.1"]).unwrap_err(), refused);
        assert!(checked(true, &["169.254.169.254"]).is_err());
        assert_eq!(checked(true, &[]).unwrap_err(), "there is no host of this name");
    }
}
