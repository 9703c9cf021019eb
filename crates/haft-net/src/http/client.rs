//! The HTTP client for addresses that the user named: a model provider, a server of tools.
//!
//! haft builds the client for the first request. Trust in certificates costs several milliseconds to set up, so a plain
//! `http` address gets a client that trusts no certificate and cannot speak `https`. The client follows no redirect: a
//! redirect would carry the key to an address that the user did not name. It reads no proxy from the environment.
//!
//! Not here: requests of tools, which may reach only the planned host (`door`), retries and time limits, and what a
//! request is for.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::net::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Proxy, RequestBuilder, redirect};

use super::method;
use super::send_error::{SendError, innermost};
use super::trusted_tls::{HTTP_2_OR_1, TrustedRoots, client_config};
use crate::address::Address;
use crate::names::NameResolver;

/// Sends requests to addresses that the user named.
#[derive(Default)]
pub struct HttpClient {
    connect: Option<Duration>,
    proxy: Option<String>,
    names: LookUp,
    client: OnceLock<Client>,
}

/// How names are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LookUp {
    /// As the system does: the user named the host.
    #[default]
    OfTheSystem,
    /// Only public addresses count, because the user did not name the host.
    OnlyPublic,
}

/// A request to an address that the user named. It has no debugging output: its headers may hold a key.
#[derive(Clone)]
pub struct Outgoing {
    /// What it does.
    pub method: Method,
    /// Where it goes.
    pub address: Address,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: Bytes,
}

/// An answer whose body is read piece by piece.
#[derive(Debug)]
pub struct Incoming {
    response: reqwest::Response,
}

/// The headers of an answer.
#[derive(Clone, Debug, Default)]
pub struct Headers(HeaderMap);

impl HttpClient {
    /// Makes a client. It opens no connection and reads no certificate before the first request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits at most this long for a connection.
    #[must_use]
    pub fn connecting_within(self, time: Duration) -> Self {
        Self { connect: Some(time), client: OnceLock::new(), ..self }
    }

    /// Goes through a proxy, given as its address. The caller decides whether a request uses one.
    #[must_use]
    pub fn through(self, proxy: impl Into<String>) -> Self {
        Self { proxy: Some(proxy.into()), client: OnceLock::new(), ..self }
    }

    /// Connects only to addresses of the whole world, whatever a name leads to.
    #[must_use]
    pub(crate) fn only_to_public_addresses(self) -> Self {
        Self { names: LookUp::OnlyPublic, client: OnceLock::new(), ..self }
    }

    /// Returns scheme, host and port of the proxy, without its password.
    pub fn proxy(&self) -> Option<String> {
        Address::parse(self.proxy.as_deref()?).ok().map(|proxy| proxy.place())
    }

    /// Says why no request can go through a proxy with this address. The words do not repeat the address: it may hold a
    /// password.
    ///
    /// # Errors
    ///
    /// Fails where the address is no `http` or `https` address.
    pub fn check_proxy(address: &str) -> Result<(), String> {
        let address = Address::parse(address)?;
        match address.scheme() {
            "http" | "https" => Ok(()),
            scheme => Err(format!("it begins with {scheme:?}, which is not supported")),
        }
    }

    /// Sends a request, and returns as soon as the headers of the answer are there.
    ///
    /// # Errors
    ///
    /// Fails where no answer came. An answer with any status is no error.
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, SendError> {
        self.send_with(request, &[]).await
    }

    /// The same, with headers that the user named.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::send`], and for a header that cannot be sent.
    pub async fn send_with(&self, request: Outgoing, named: &[(String, String)]) -> Result<Incoming, SendError> {
        let client = self.client(&request.address)?;
        let mut building = client.request(method::on_the_wire(request.method), request.address.into_url());
        if !request.body.is_empty() {
            building = building.body(request.body);
        }
        for (name, value) in named {
            let bad = SendError::BadHeader { name: "of the settings" };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad)?;
            let mut value =
                HeaderValue::from_str(value).map_err(|_| SendError::BadHeader { name: "of the settings" })?;
            value.set_sensitive(true);
            building = building.header(name, value);
        }
        let response = with_headers(building, request.headers)?.send().await;
        response.map(|response| Incoming { response }).map_err(|error| SendError::of(&error))
    }

    fn client(&self, address: &Address) -> Result<&Client, SendError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.built(address)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn built(&self, address: &Address) -> Result<Client, SendError> {
        let mut builder = Client::builder().redirect(redirect::Policy::none()).no_proxy();
        if let Some(time) = self.connect {
            builder = builder.connect_timeout(time);
        }
        if self.names == LookUp::OnlyPublic {
            builder = builder.dns_resolver(NameResolver);
        }
        let is_plain = |address: &Address| address.scheme() == "http";
        let proxy_is_plain = |proxy: &str| Address::parse(proxy).is_ok_and(|proxy| is_plain(&proxy));
        let roots = match is_plain(address) && self.proxy.as_deref().is_none_or(proxy_is_plain) {
            true => TrustedRoots::None,
            false => TrustedRoots::System,
        };
        let config = client_config(roots, HTTP_2_OR_1);
        builder =
            builder.tls_backend_preconfigured(config.map_err(|error| SendError::NoClient { why: error.to_string() })?);
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(Proxy::all(proxy).map_err(|_| SendError::BadProxy)?);
        }
        builder.build().map_err(|error| SendError::NoClient { why: innermost(&error) })
    }
}

/// Adds the headers, and who asks.
fn with_headers(
    mut request: RequestBuilder,
    headers: Vec<(&'static str, String)>,
) -> Result<RequestBuilder, SendError> {
    for (name, value) in headers {
        let mut value = HeaderValue::from_str(&value).map_err(|_| SendError::BadHeader { name })?;
        // The client's own debugging output does not show it then.
        value.set_sensitive(true);
        request = request.header(HeaderName::from_static(name), value);
    }
    // A server that is not told may compress as it likes.
    let request = request.header("accept-encoding", "identity");
    Ok(request.header("user-agent", concat!("haft/", env!("CARGO_PKG_VERSION"))))
}

impl fmt::Debug for HttpClient {
    /// Writes nothing of the proxy: there may be a password in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("connect", &self.connect).finish_non_exhaustive()
    }
}

impl Incoming {
    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns whether the status says that the request succeeded.
    pub fn is_success(&self) -> bool {
        self.response.status().is_success()
    }

    /// Returns whether the status says that the answer is at another address.
    pub fn is_redirection(&self) -> bool {
        self.response.status().is_redirection()
    }

    /// Returns the headers.
    pub fn headers(&self) -> Headers {
        Headers(self.response.headers().clone())
    }

    /// Returns the next piece of the body; nothing at its end.
    ///
    /// # Errors
    ///
    /// Fails where the connection broke.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, SendError> {
        self.response.chunk().await.map_err(|error| SendError::of(&error))
    }
}

impl Headers {
    /// Returns the value of a header of visible ASCII characters.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the value of a header, with a replacement for each byte that is no text.
    pub fn lossy(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

impl FromIterator<(&'static str, String)> for Headers {
    /// Collects headers. A value that no header can carry is left out.
    fn from_iter<T: IntoIterator<Item = (&'static str, String)>>(headers: T) -> Self {
        let header = |(name, value): (&'static str, String)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        };
        Self(headers.into_iter().filter_map(header).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_through_which_no_request_can_go_is_known_before_one_does() {
        assert_eq!(HttpClient::check_proxy("HTTP://user:pass@proxy:3128"), Ok(()));
        for unusable in ["http://proxy:99999", "socks5://proxy:1080", "http://", "proxy"] {
            assert!(HttpClient::check_proxy(unusable).is_err(), "{unusable}");
        }
    }

    #[test]
    fn neither_a_password_nor_a_key_is_in_debugging_output() {
        let client = HttpClient::new().through("http://user:secret@proxy:3128");
        let address = Address::parse("https://user:secret@host/path?key=secret").expect("an address");
        assert!(!format!("{client:?} {address:?}").contains("secret"));
        assert_eq!(client.proxy().as_deref(), Some("http://proxy:3128"));
    }
}
