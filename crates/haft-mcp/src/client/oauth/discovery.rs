//! Finds where to log in to a server: the server names the place, and haft checks it.
//!
//! haft reads two documents. In the first the server describes itself and names its authorization server. The second
//! describes that authorization server. Each must name the address that haft asked for, so no server can redirect a login.

use std::collections::BTreeSet;

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_contract::text::visible::visible;
use haft_net::{Address, GuidedClient, Outgoing};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::challenge::Challenge;

/// Where a server describes itself.
const OF_RESOURCE: &str = "/.well-known/oauth-protected-resource";
/// Where an authorization server describes itself.
const OF_ISSUER: &str = "/.well-known/oauth-authorization-server";
/// The same, of those that also say who a user is.
const OF_OPENID: &str = "/.well-known/openid-configuration";

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// Its name, exactly as it writes it.
    pub(super) name: String,
    /// The authorization server that is used.
    pub(super) issuer: String,
    /// The rights that it knows.
    pub(super) scopes: BTreeSet<String>,
}

/// What an authorization server says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Finds out how to log in to a server: what it is called, and who logs users in. `wanted` is the authorization server that
/// the user's file names.
pub(super) async fn resource_of(
    server: &Address,
    (challenge, wanted): (&Challenge, Option<&str>),
    client: &GuidedClient,
) -> Result<Resource, String> {
    let addresses = match &challenge.resource_metadata {
        Some(named) => vec![
            Address::parse(named)
                .map_err(|_| format!("{} names an address for logging in that cannot be read", server.place()))?,
        ],
        None => resource_addresses(server),
    };
    for address in &addresses {
        if let Some(document) = read::<ResourceDocument>(client, address).await? {
            return chosen(server, document, wanted);
        }
    }
    if challenge.resource_metadata.is_some() {
        return Err(format!("{} names an address for logging in at which there is nothing", server.place()));
    }
    // Before 2025-06-18 the server was its own authorization server.
    Ok(Resource { name: server.as_str().to_owned(), issuer: server.place(), scopes: BTreeSet::new() })
}

fn chosen(server: &Address, document: ResourceDocument, wanted: Option<&str>) -> Result<Resource, String> {
    let ResourceDocument { resource, authorization_servers, scopes_supported } = document;
    if !is_of(&resource, server) {
        return Err(format!(
            "{} says that it is \"{}\", which is another server; haft does not log in there",
            server.place(),
            visible(&resource)
        ));
    }
    let issuer = match wanted {
        Some(wanted) => authorization_servers
            .into_iter()
            .find(|issuer| issuer == wanted)
            .ok_or_else(|| format!("{} no longer logs users in at {wanted}, which its file names", server.place()))?,
        None => authorization_servers
            .into_iter()
            .next()
            .ok_or_else(|| format!("{} names no server that logs users in", server.place()))?,
    };
    Ok(Resource { name: resource, issuer, scopes: scopes_supported.into_iter().collect() })
}

/// Returns whether this name of a resource stands for the server: the same place, and the same path or one above it.
fn is_of(resource: &str, server: &Address) -> bool {
    let Ok(resource) = Address::parse(resource) else { return false };
    let (above, path) = (resource.path().trim_end_matches('/'), server.path());
    let is_above = path.strip_prefix(above).is_some_and(|below| below.is_empty() || below.starts_with('/'));
    resource.place() == server.place() && is_above && !resource.has_more_than_a_place()
}

fn resource_addresses(server: &Address) -> Vec<Address> {
    let path = server.path().trim_end_matches('/');
    let root = server.at_path(OF_RESOURCE);
    match path {
        "" => vec![root],
        path => vec![server.at_path(&format!("{OF_RESOURCE}{path}")), root],
    }
}

/// Reads what an authorization server says of itself. It must be the one that was asked for, and know the proof that a login
/// needs.
pub(super) async fn issuer_of(named: &str, client: &GuidedClient) -> Result<Issuer, String> {
    let address = Address::parse(named).map_err(|_| format!("\"{}\" is not an address", visible(named)))?;
    for place in issuer_addresses(&address) {
        let Some(issuer) = read::<Issuer>(client, &place).await? else { continue };
        check(&issuer, (named, &address), client)?;
        return Ok(issuer);
    }
    Err(format!("{} does not say how to log in", address.place()))
}

fn issuer_addresses(issuer: &Address) -> Vec<Address> {
    match issuer.path().trim_end_matches('/') {
        "" => vec![issuer.at_path(OF_ISSUER), issuer.at_path(OF_OPENID)],
        path => [format!("{OF_ISSUER}{path}"), format!("{OF_OPENID}{path}"), format!("{path}{OF_OPENID}")]
            .iter()
            .map(|path| issuer.at_path(path))
            .collect(),
    }
}

fn check(issuer: &Issuer, (named, address): (&str, &Address), client: &GuidedClient) -> Result<(), String> {
    let place = address.place();
    if issuer.issuer != named {
        return Err(format!(
            "{place} says that it is \"{}\" and was asked as \"{}\"; haft does not log in there",
            visible(&issuer.issuer),
            visible(named)
        ));
    }
    if !issuer.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(format!("{place} does not say that it checks the proof that haft sends (PKCE S256)"));
    }
    let endpoints = [Some(&issuer.authorization_endpoint), Some(&issuer.token_endpoint)];
    for endpoint in endpoints.into_iter().chain([issuer.registration_endpoint.as_ref()]).flatten() {
        let endpoint = Address::parse(endpoint).map_err(|_| format!("{place} names an address that cannot be read"))?;
        client.check(&endpoint)?;
    }
    Ok(())
}

/// Reads a document; nothing where there is none.
async fn read<T: DeserializeOwned>(client: &GuidedClient, address: &Address) -> Result<Option<T>, String> {
    let headers = vec![("accept", "application/json".to_owned())];
    let request = Outgoing { method: Method::Get, address: address.clone(), headers, body: Bytes::new() };
    let answer = client.send(request).await?;
    match answer.status {
        200 => serde_json::from_slice(&answer.body).map(Some).map_err(|error| {
            format!("what {}{} says of logging in cannot be read: {error}", address.place(), address.path())
        }),
        400..=499 => Ok(None),
        300..=399 => Err(format!(
            "{} redirects haft (HTTP status {}), and haft follows no redirect",
            address.place(),
            answer.status
        )),
        status => Err(format!("{} answered with HTTP status {status}", address.place())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::parse(text).expect("an address")
    }

    fn texts(addresses: &[Address]) -> Vec<&str> {
        addresses.iter().map(Address::as_str).collect()
    }

    #[test]
    fn a_server_is_asked_at_its_path_first_and_an_issuer_in_three_places() {
        assert_eq!(
            texts(&resource_addresses(&address("https://h/mcp?a=b"))),
            ["https://h/.well-known/oauth-protected-resource/mcp", "https://h/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(&issuer_addresses(&address("https://h/t"))),
            [
                "https://h/.well-known/oauth-authorization-server/t",
                "https://h/.well-known/openid-configuration/t",
                "https://h/t/.well-known/openid-configuration"
            ]
        );
        assert_eq!(issuer_addresses(&address("https://h")).len(), 2);
    }

    #[test]
    fn a_resource_is_the_server_or_what_is_above_it_and_nothing_else() {
        let server = address("https://h/a/mcp");
        for name in ["https://h/a/mcp", "https://h/a", "https://h", "https://h/"] {
            assert!(is_of(name, &server), "{name}");
        }
        for name in [
            "https://h/a/mc",
            "https://h/a/mcp/b",
            "https://evil.example/a/mcp",
            "http://h/a/mcp",
            "https://h:1/a",
            "no",
        ] {
            assert!(!is_of(name, &server), "{name}");
        }
    }

    fn issuer(value: serde_json::Value) -> Issuer {
        serde_json::from_value(value).expect("it is one")
    }

    #[test]
    fn an_issuer_must_be_the_one_that_was_asked_for_and_lead_nowhere_private() {
        let document = |issuer: &str, token: &str| {
            serde_json::json!({ "issuer": issuer, "authorization_endpoint": "https://login.example.com/a",
                "token_endpoint": token, "code_challenge_methods_supported": ["S256"] })
        };
        let client = GuidedClient::led_by(address("https://mcp.example.com/mcp"));
        let named = "https://login.example.com";
        let checked = |value| check(&issuer(value), (named, &address(named)), &client);
        assert_eq!(checked(document(named, "https://login.example.com/t")), Ok(()));
        for (value, why) in [
            (document("https://login.example.com/", "https://login.example.com/t"), "asked as"),
            (document("https://evil.example.com", "https://login.example.com/t"), "asked as"),
            (document(named, "https://169.254.169.254/t"), "your own network"),
            (document(named, "http://login.example.com/t"), "not encrypted"),
            (
                serde_json::json!({ "issuer": named, "authorization_endpoint": "https://login.example.com/a", "token_endpoint": "https://login.example.com/t" }),
                "S256",
            ),
        ] {
            assert!(checked(value.clone()).is_err_and(|words| words.contains(why)), "{value}");
        }
    }
}
