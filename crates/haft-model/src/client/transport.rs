//! The HTTP client, built when it is first needed.
//!
//! Trust in certificates costs several milliseconds to set up, so a plain `http` address gets a client that trusts
//! nobody: it could not speak `https` if it wanted to. Redirects are not followed: they would carry the key to an
//! address that nobody named.

use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Proxy, RequestBuilder, Url, redirect};

use super::Endpoint;
use super::again::Failure;
use crate::provider::ModelErrorKind;

/// The HTTP client of a connection.
pub(super) struct Transport {
    connect: Duration,
    proxy: Option<String>,
    client: OnceLock<Client>,
}

impl Transport {
    pub(super) fn new(connect: Duration) -> Transport {
        Transport { connect, proxy: None, client: OnceLock::new() }
    }

    /// Goes through a proxy.
    pub(super) fn through(self, proxy: String) -> Transport {
        Transport { proxy: Some(proxy), client: OnceLock::new(), ..self }
    }

    /// Makes a request, and returns what sends it.
    pub(super) fn post(
        &self,
        url: Url,
        headers: Vec<(&'static str, String)>,
        body: Bytes,
    ) -> Result<impl Future<Output = reqwest::Result<reqwest::Response>> + use<>, Failure> {
        let request = self.client(&url)?.post(url).header("content-type", "application/json");
        let request = request.header("accept", "text/event-stream, application/json").body(body);
        Ok(with_headers(request, headers)?.send())
    }

    /// Asks for what lies at an address, and returns what sends that.
    pub(super) fn get(
        &self,
        url: Url,
        headers: Vec<(&'static str, String)>,
    ) -> Result<impl Future<Output = reqwest::Result<reqwest::Response>> + use<>, Failure> {
        let request = self.client(&url)?.get(url).header("accept", "application/json");
        Ok(with_headers(request, headers)?.send())
    }

    /// Says why a request got no answer, without its address: there may be a key in it.
    pub(super) fn failure(&self, error: &reqwest::Error, endpoint: &Endpoint) -> Failure {
        let proxy = self.proxy.as_deref().map(place);
        let place = place(&endpoint.base_url);
        // On the way through a proxy it is not always known who failed; that there is one is.
        let way = proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        if error.is_timeout() && error.is_connect() {
            let seconds = endpoint.times.connect.as_secs_f64();
            return unreachable(format!("Nobody answered at {place}{way} within {seconds} s."));
        }
        let why = causes(error);
        if !error.is_connect() {
            return Failure::because(
                ModelErrorKind::Broken,
                format!("{place}{way} broke off before it answered: {why}."),
            );
        }
        if let Some(proxy) = proxy.filter(|_| is_of_first_connection(error)) {
            return Failure::because(
                ModelErrorKind::Unreachable,
                format!("The proxy {proxy} cannot be reached: {why}."),
            )
            .advising("check the proxy that the environment names, or name the host in NO_PROXY");
        }
        let failure = unreachable(format!("{place} cannot be reached{way}: {why}."));
        // What rustls says when plain text comes where it begins to speak.
        if why.contains("InvalidContentType") {
            return failure.advising("write http:// in the base URL: the server there has no TLS");
        }
        failure
    }

    fn client(&self, url: &Url) -> Result<&Client, Failure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.built(url)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn built(&self, url: &Url) -> Result<Client, Failure> {
        let mut builder = Client::builder().connect_timeout(self.connect).redirect(redirect::Policy::none()).no_proxy();
        let is_plain =
            |address: &str| address.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"));
        if is_plain(url.as_str()) && self.proxy.as_deref().is_none_or(is_plain) {
            builder = builder.tls_certs_only([]);
        }
        if let Some(proxy) = &self.proxy {
            let proxy = Proxy::all(proxy).map_err(|_| {
                Failure::because(ModelErrorKind::Unreachable, "The address of the proxy cannot be used.")
                    .final_with("give it as http:// or https:// with a host")
            })?;
            builder = builder.proxy(proxy);
        }
        builder.build().map_err(|error| {
            let what = format!("The HTTP client cannot be set up: {}.", causes(&error));
            Failure::because(ModelErrorKind::Unreachable, what).final_with("check the certificates of this machine")
        })
    }
}

/// Adds what carries the key, and who asks.
fn with_headers(mut request: RequestBuilder, headers: Vec<(&'static str, String)>) -> Result<RequestBuilder, Failure> {
    for (name, value) in headers {
        let Ok(mut value) = HeaderValue::from_str(&value) else {
            let what = format!("The header {name:?} would have characters that no header can carry.");
            let failure = Failure::because(ModelErrorKind::NotAdmitted, what);
            return Err(failure.final_with("check the key for line ends and other characters that are not its own"));
        };
        // What is sensitive is not shown by anybody's debugging output.
        value.set_sensitive(true);
        request = request.header(HeaderName::from_static(name), value);
    }
    // Who is asked for nothing may pack as it likes.
    let request = request.header("accept-encoding", "identity");
    Ok(request.header("user-agent", concat!("haft/", env!("CARGO_PKG_VERSION"))))
}

/// Says whether nobody was reached at all: what fails behind a proxy has other words of the client around it.
fn is_of_first_connection(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| cause.to_string().starts_with("tcp connect error") || cause.to_string().starts_with("dns error"))
}

fn unreachable(what: String) -> Failure {
    Failure::because(ModelErrorKind::Unreachable, what)
        .advising("check that the server runs, the base URL and the network")
}

/// Returns scheme, host and port of an address, and nothing else of it.
fn place(base_url: &str) -> String {
    let Ok(url) = Url::parse(base_url.trim()) else { return "the provider".to_owned() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// Returns the innermost cause of an error: those around it say only that there was one.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    if error.source().is_none() { "no reason is known".to_owned() } else { innermost.to_string() }
}
