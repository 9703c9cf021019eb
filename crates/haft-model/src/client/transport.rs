//! Sends the requests of a connection, and reports why one got no answer.

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_net::{Address, Hop, HttpClient, Incoming, Outgoing, SendError};

use super::Endpoint;
use super::again::ReplyFailure;
use crate::provider::ModelErrorKind;

/// The HTTP client of a connection.
pub(super) struct Transport {
    client: HttpClient,
}

impl Transport {
    pub(super) fn new(client: HttpClient) -> Transport {
        Transport { client }
    }

    /// Sends a body.
    pub(super) async fn post(
        &self,
        address: Address,
        mut headers: Vec<(&'static str, String)>,
        body: Bytes,
    ) -> Result<Incoming, SendError> {
        headers.push(("content-type", "application/json".to_owned()));
        headers.push(("accept", "text/event-stream, application/json".to_owned()));
        self.client.send(Outgoing { method: Method::Post, address, headers, body }).await
    }

    /// Asks for what lies at an address.
    pub(super) async fn get(
        &self,
        address: Address,
        mut headers: Vec<(&'static str, String)>,
    ) -> Result<Incoming, SendError> {
        headers.push(("accept", "application/json".to_owned()));
        self.client.send(Outgoing { method: Method::Get, address, headers, body: Bytes::new() }).await
    }

    /// Says why a request got no answer, without its address: there may be a key in it.
    pub(super) fn failure(&self, error: SendError, endpoint: &Endpoint) -> ReplyFailure {
        let proxy = self.client.proxy();
        let place = place(&endpoint.base_url);
        // On the way through a proxy it is not always known who failed; that there is one is.
        let way = proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        match error {
            SendError::BadHeader { name } => {
                let what = format!("The header {name:?} would have characters that no header can carry.");
                ReplyFailure::because(ModelErrorKind::NotAdmitted, what)
                    .final_with("check the key for line ends and other characters that do not belong to it")
            }
            SendError::BadProxy => {
                ReplyFailure::because(ModelErrorKind::Unreachable, "The address of the proxy cannot be used.")
                    .final_with("give it as http:// or https:// with a host")
            }
            SendError::NoClient { why } => {
                let what = format!("The HTTP client cannot be set up: {why}.");
                ReplyFailure::because(ModelErrorKind::Unreachable, what)
                    .final_with("check the certificates of this machine")
            }
            SendError::ConnectTimedOut => {
                let seconds = endpoint.times.connect.as_secs_f64();
                unreachable(format!("No server answered at {place}{way} within {seconds} s."))
            }
            SendError::BrokeOff { why } => {
                let what = format!("{place}{way} broke off before it answered: {why}.");
                ReplyFailure::because(ModelErrorKind::Broken, what)
            }
            SendError::NotConnected { hop, why } => match (proxy, hop) {
                (Some(proxy), Hop::First) => {
                    let what = format!("The proxy {proxy} cannot be reached: {why}.");
                    ReplyFailure::because(ModelErrorKind::Unreachable, what)
                        .advising("check the proxy that the environment names, or name the host in NO_PROXY")
                }
                (_, Hop::PlainText) => unreachable(format!("{place} cannot be reached{way}: {why}."))
                    .advising("write http:// in the base URL: the server there has no TLS"),
                (_, Hop::First | Hop::Beyond) => unreachable(format!("{place} cannot be reached{way}: {why}.")),
            },
        }
    }
}

fn unreachable(what: String) -> ReplyFailure {
    ReplyFailure::because(ModelErrorKind::Unreachable, what)
        .advising("check that the server runs, the base URL and the network")
}

/// Returns scheme, host and port of an address, and nothing else of it.
fn place(base_url: &str) -> String {
    Address::parse(base_url.trim()).map_or_else(|_| "the provider".to_owned(), |address| address.place())
}
