//! Documents of the web: an address that was parsed once, the request to the door, and the answer.
//!
//! The door parses an address once, and everything after that uses the result: the question, the rules, the look-up and
//! the connection. So no part of haft can mistake another host for the intended one.
//!
//! Not here: how a document is fetched (`haft-net`), how it becomes text (`haft-tools`).

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use crate::effect::Host;

/// An address of `http` or `https` that the door has read. It has no user, no password and no fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebUrl {
    /// The whole address in its normal form.
    pub text: String,
    /// Whether the connection uses TLS.
    pub scheme: WebScheme,
    /// The host in its normal form: small letters, punycode, addresses as dotted numbers, no brackets, no final dot.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// How a document is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebScheme {
    /// Without encryption.
    Http,
    /// With TLS.
    Https,
}

impl WebScheme {
    /// Returns the port that an address without one means.
    pub fn usual_port(self) -> u16 {
        match self {
            WebScheme::Http => 80,
            WebScheme::Https => 443,
        }
    }
}

impl WebUrl {
    /// Returns the host as plans and rules name it: with its port where that is not the usual one.
    pub fn planned_host(&self) -> Host {
        match self.port {
            80 | 443 => Host(self.host.clone()),
            port if self.host.contains(':') => Host(format!("[{}]:{port}", self.host)),
            port => Host(format!("{}:{port}", self.host)),
        }
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What admits to a service that searches the web.
#[derive(Clone, PartialEq, Eq)]
pub struct SearchAccess {
    /// The name of the provider.
    pub provider: String,
    /// The key, or for a service of the user's own its address.
    pub key: String,
}

impl fmt::Debug for SearchAccess {
    /// Writes nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchAccess").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// A document to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Where it is.
    pub url: WebUrl,
    /// Most bytes of it that are read, after decompression.
    pub most: usize,
    /// How long all of it may take, redirects included.
    pub time: Duration,
    /// How long the server may be silent.
    pub idle: Duration,
}

/// A document that was fetched from the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedDocument {
    /// Where it was found, after redirects.
    pub url: WebUrl,
    /// The status.
    pub status: u16,
    /// What the server says that it is.
    pub content_type: Option<String>,
    /// How many bytes the server says that it has, compressed or not.
    pub length: Option<u64>,
    /// What was read, without compression.
    pub body: Bytes,
    /// Whether there was more.
    pub is_cut: bool,
    /// Whether it was kept from an earlier call and is still fresh.
    pub is_kept: bool,
}
