//! Connects the host to other machines: it looks names up itself, and dials directly or through a company's proxy.

use std::io;
use std::net::{IpAddr, SocketAddr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft_contract::BoxFuture;
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::dial::{Dial, DialError};

/// Most bytes of what a proxy says before the connection.
const LONGEST_ANSWER: usize = 8 * 1024;

/// Says which proxy leads to a host and port: its address, or nothing where the host is reached directly.
type ProxyFor = Box<dyn Fn(&str, u16) -> Option<String> + Send + Sync>;

/// Reaches other machines as the user of this one does.
#[derive(Default)]
pub struct HostDial {
    proxy_for: Option<ProxyFor>,
}

impl HostDial {
    /// Reaches everything directly.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for each host and port which proxy leads there. The proxy must be one of `http`; it opens a tunnel (CONNECT)
    /// and looks the name up itself, so it decides which address is dialled.
    #[must_use]
    pub fn through(proxy_for: impl Fn(&str, u16) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { proxy_for: Some(Box::new(proxy_for)) }
    }
}

impl Dial for HostDial {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await.map_err(|error| not_found(&error))?;
            let mut addresses: Vec<IpAddr> = Vec::new();
            for address in found.map(|address| address.ip()) {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            if addresses.is_empty() { Err(DialError::NoSuchHost) } else { Ok(addresses) }
        })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }

    fn tunnel<'a>(&'a self, host: &'a str, port: u16) -> Option<BoxFuture<'a, Result<TcpStream, DialError>>> {
        let proxy = self.proxy_for.as_ref()?(host, port)?;
        Some(Box::pin(async move {
            let proxy = Proxy::parse(&proxy)?;
            let stream = TcpStream::connect((proxy.host.as_str(), proxy.port)).await;
            let mut stream = stream.map_err(|error| DialError::Proxy(error.to_string()))?;
            open_tunnel(&mut stream, &proxy.request(host, port)).await?;
            Ok(stream)
        }))
    }
}

/// The system has one word for all failures of a look-up; its text tells a missing name from a missing network.
fn not_found(error: &io::Error) -> DialError {
    let text = error.to_string();
    let why = text.split_once(": ").map_or(text.as_str(), |(_, why)| why);
    let is_unknown = ["not known", "No address associated", "nodename nor servname", "does not resolve"];
    if is_unknown.iter().any(|words| why.contains(words)) {
        DialError::NoSuchHost
    } else {
        DialError::LookUpFailed(why.to_owned())
    }
}

struct Proxy {
    host: String,
    port: u16,
    /// The name and the password, as the header has them.
    credentials: Option<String>,
}

impl Proxy {
    /// Reads the address of a proxy. The error does not repeat it: it may hold a password.
    fn parse(address: &str) -> Result<Self, DialError> {
        let wrong = |why: &str| DialError::Proxy(why.to_owned());
        let url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "http" {
            return Err(wrong("commands reach the network only through a proxy whose address begins with http://"));
        }
        let host = url.host_str().ok_or_else(|| wrong("its address has no host"))?.trim_matches(['[', ']']).to_owned();
        let credentials = (!url.username().is_empty()).then(|| {
            let user = [unescaped(url.username()), unescaped(url.password().unwrap_or_default())].join(&b':');
            STANDARD.encode(user)
        });
        Ok(Self { host, port: url.port_or_known_default().unwrap_or(80), credentials })
    }

    fn request(&self, host: &str, port: u16) -> String {
        let credentials = self.credentials.iter().map(|words| format!("Proxy-Authorization: Basic {words}\r\n"));
        let credentials: String = credentials.collect();
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{credentials}\r\n")
    }
}

/// Replaces `%40` and its like by the bytes they stand for.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

async fn open_tunnel(stream: &mut TcpStream, request: &str) -> Result<(), DialError> {
    let broken = |error: io::Error| DialError::Proxy(error.to_string());
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    // One byte at a time: behind the answer the first bytes of the host may follow.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= LONGEST_ANSWER {
            return Err(DialError::Proxy("its answer has no end".into()));
        }
        answer.push(stream.read_u8().await.map_err(broken)?);
    }
    let line = String::from_utf8_lossy(answer.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    let status = line.split(' ').nth(1).filter(|_| line.starts_with("HTTP/1."));
    match status {
        Some(status) if status.len() == 3 && status.starts_with('2') => Ok(()),
        Some("407") => Err(DialError::Proxy("it wants a name and a password".into())),
        _ => Err(DialError::Proxy(format!("it answered {line:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_asked_with_the_credentials_of_its_address() {
        let proxy = Proxy::parse("http://me:p%40ss@proxy.test:3128").unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.test", 3128));
        let credentials = STANDARD.encode("me:p@ss");
        let expected = format!(
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic {credentials}\r\n\r\n"
        );
        assert_eq!(proxy.request("a.test", 443), expected);
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_told_without_its_password() {
        for address in ["https://me:secret@proxy.test", "socks5://me:secret@proxy.test", "me:secret"] {
            let error = Proxy::parse(address).err().map(|error| error.to_string()).unwrap();
            assert!(error.starts_with("the proxy did not connect: ") && !error.contains("secret"), "{error}");
        }
    }

    /// Connects through a proxy that answers this; returns the first bytes behind the answer.
    async fn tunnelled(answer: &'static [u8]) -> Result<Vec<u8>, DialError> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let proxy = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(client.read_u8().await.unwrap());
            }
            client.write_all(answer).await.unwrap();
            String::from_utf8(request).unwrap()
        });
        let dialler = HostDial::through(move |host, _| (host != "direct.test").then(|| address.clone()));
        assert!(dialler.tunnel("direct.test", 443).is_none());
        let tunnel = dialler.tunnel("a.test", 443).unwrap().await;
        assert!(proxy.await.unwrap().starts_with("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"));
        let mut received = Vec::new();
        tunnel?.read_to_end(&mut received).await.unwrap();
        Ok(received)
    }

    #[tokio::test]
    async fn what_a_host_says_first_is_not_lost_behind_the_answer_of_the_proxy() {
        let answer = b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nSSH-2.0-server\r\n";
        assert_eq!(tunnelled(answer).await.unwrap(), b"SSH-2.0-server\r\n");
    }

    #[tokio::test]
    async fn a_proxy_that_does_not_connect_is_told_with_its_words() {
        let table: [(&[u8], &str); 5] = [
            (b"HTTP/1.1 403 Forbidden by policy\r\n\r\n", "it answered \"HTTP/1.1 403 Forbidden by policy\""),
            (b"HTTP/1.0 407 x\r\n\r\n", "it wants a name and a password"),
            (b"SSH-2.0 200\r\n\r\n", "it answered"),
            (b"HTTP/1.1 200", "unexpected end of file"),
            (&[b'x'; LONGEST_ANSWER], "its answer has no end"),
        ];
        for (answer, why) in table {
            let error = tunnelled(answer).await.unwrap_err().to_string();
            assert!(error.starts_with("the proxy did not connect: ") && error.contains(why), "{error}");
        }
    }

    #[tokio::test]
    async fn the_host_looks_up_its_own_name_and_reaches_it() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let dialler = HostDial::new();
        let found = dialler.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        dialler.connect(listener.local_addr().unwrap()).await.unwrap();
    }

    #[test]
    fn a_missing_name_differs_from_a_missing_network() {
        let told = |why: &str| not_found(&io::Error::other(format!("failed to lookup address information: {why}")));
        assert_eq!(told("Name or service not known"), DialError::NoSuchHost);
        let later = "Temporary failure in name resolution";
        assert_eq!(told(later), DialError::LookUpFailed(later.into()));
    }
}
