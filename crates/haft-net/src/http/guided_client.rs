//! The HTTP client for addresses that a server of tools names, for example for a login.
//!
//! The user named the server, but not the addresses that it names. So the client reaches only the server's own host and
//! public hosts, over TLS, and never the user's own machine or network. A server on this machine may name others on it.
//! The client follows no redirect, and limits the size and time of an answer.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

use super::client::{Headers, HttpClient, Incoming, Outgoing};
use super::send_error::SendError;
use crate::address::Address;
use crate::addresses::is_public;
use crate::names::is_this_machine;

/// How long a connection may take.
const TO_CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take in all.
const TO_ANSWER: Duration = Duration::from_secs(30);
/// Most bytes of an answer.
const LARGEST_ANSWER: usize = 256 * 1024;

/// Sends requests where a server that the user named leads.
pub struct GuidedClient {
    named: Address,
    to_named: HttpClient,
    to_others: HttpClient,
}

/// An answer that was read whole.
#[derive(Clone, Debug)]
pub struct WholeAnswer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Headers,
    /// Its body.
    pub body: Bytes,
}

impl GuidedClient {
    /// Goes where the server at this address leads. The user named the address.
    pub fn led_by(named: Address) -> Self {
        let client = || HttpClient::new().connecting_within(TO_CONNECT);
        Self { named, to_named: client(), to_others: client().only_to_public_addresses() }
    }

    /// Sends a request and reads the answer; the error is a sentence.
    ///
    /// # Errors
    ///
    /// Fails if the address is not one that the server may lead to, and where no whole answer came.
    pub async fn send(&self, request: Outgoing) -> Result<WholeAnswer, String> {
        let place = request.address.place();
        let client = self.client_for(&request.address)?;
        let sent = tokio::time::timeout(TO_ANSWER, async {
            let mut answer = client.send(request).await.map_err(|error| words_of(&error))?;
            let (status, headers) = (answer.status(), answer.headers());
            let body = whole(&mut answer).await?;
            Ok::<_, String>(WholeAnswer { status, headers, body })
        });
        match sent.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(why)) => Err(format!("{place} cannot be used: {why}")),
            Err(_) => Err(format!("{place} did not answer within {} s", TO_ANSWER.as_secs())),
        }
    }

    /// Says why an address is not one that the server may lead to.
    ///
    /// # Errors
    ///
    /// Fails if it is none.
    pub fn check(&self, address: &Address) -> Result<(), String> {
        self.client_for(address).map(drop)
    }

    fn client_for(&self, address: &Address) -> Result<&HttpClient, String> {
        let (place, named) = (address.place(), self.named.place());
        if !matches!(address.scheme(), "http" | "https") || address.has_more_than_a_place() {
            return Err(format!(
                "{named} names an address that haft does not use: it is not a plain http or https one"
            ));
        }
        let is_weaker = address.scheme() == "http" && self.named.scheme() == "https";
        if is_weaker {
            return Err(format!("{named} leads to {place}, which is not encrypted; haft does not go there"));
        }
        let host = address.host();
        if host == self.named.host() || (self.named.is_this_machine() && address.is_this_machine()) {
            return Ok(&self.to_named);
        }
        let is_public = host.parse::<IpAddr>().map_or_else(|_| !is_this_machine(&host), is_public);
        match (is_public, address.scheme()) {
            (true, "https") => Ok(&self.to_others),
            (true, _) => Err(format!("{named} leads to {place}, which is not encrypted; haft does not go there")),
            (false, _) => {
                Err(format!("{named} leads to {place}, which is in your own network; haft does not go there"))
            }
        }
    }
}

async fn whole(answer: &mut Incoming) -> Result<Bytes, String> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| words_of(&error))? {
        if body.len() + piece.len() > LARGEST_ANSWER {
            return Err(format!("its answer has more than {} KiB", LARGEST_ANSWER / 1024));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.into())
}

fn words_of(error: &SendError) -> String {
    match error {
        SendError::BadHeader { name } => format!("the header {name} cannot carry its value"),
        SendError::BadProxy => "the proxy cannot be used".to_owned(),
        SendError::ConnectTimedOut => format!("no connection within {} s", TO_CONNECT.as_secs()),
        SendError::NoClient { why } | SendError::NotConnected { why, .. } | SendError::BrokeOff { why } => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(named: &str, to: &str) -> Result<(), String> {
        let address = |text: &str| Address::parse(text).expect("an address");
        GuidedClient::led_by(address(named)).check(&address(to))
    }

    #[test]
    fn a_server_of_the_world_leads_to_itself_and_to_other_hosts_of_the_world_over_tls() {
        let named = "https://mcp.example.com/mcp";
        for to in ["https://mcp.example.com/.well-known/x", "https://login.example.org/token", "https://1.1.1.1/t"] {
            assert_eq!(leads(named, to), Ok(()), "{to}");
        }
        for to in [
            "http://mcp.example.com/",
            "http://login.example.org/",
            "https://127.0.0.1/",
            "https://localhost/",
            "https://a.localhost/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://10.1.2.3/",
            "https://user:word@login.example.org/",
            "file:///etc/passwd",
        ] {
            assert!(leads(named, to).is_err(), "{to}");
        }
    }

    #[test]
    fn a_server_of_this_machine_may_lead_to_this_machine_and_not_into_its_network() {
        let named = "http://localhost:3000/mcp";
        assert_eq!(leads(named, "http://127.0.0.1:4000/token"), Ok(()));
        assert_eq!(leads(named, "https://login.example.org/token"), Ok(()));
        for to in ["http://192.168.1.1/", "https://192.168.1.1/", "http://login.example.org/"] {
            assert!(leads(named, to).is_err(), "{to}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_into_the_own_network_is_not_followed_there() {
        let client = GuidedClient::led_by(Address::parse("https://mcp.example.com/").expect("an address"));
        let address = Address::parse("https://127.0.0.1.nip.invalid/").expect("an address");
        let request = Outgoing {
            method: haft_contract::doors::net::Method::Get,
            address,
            headers: Vec::new(),
            body: Bytes::new(),
        };
        assert!(client.send(request).await.is_err());
    }
}
