//! Performs one login of the user, from the refusal of the server to the key.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_net::Outgoing;
use serde_json::json;

use super::Login;
use super::authorization::{AuthorizationRequest, Visit};
use super::callback::{Callback, CallbackParameters};
use super::challenge::Challenge;
use super::discovery::{Issuer, Resource, issuer_of, resource_of};
use super::record::{LoginRecord, Registration};
use super::token::TokenRequest;

/// How long the user may take in the browser.
const TO_COME_BACK: Duration = Duration::from_secs(10 * 60);
/// A right that lets haft renew the key without the user.
const OFFLINE: &str = "offline_access";

/// Shows the user what to do, and takes the address that the user pastes if the browser runs elsewhere.
pub(crate) trait Browser {
    /// Shows the address to open, and the host that the user should see there.
    fn show(&self, visit: &ShownVisit<'_>);

    /// Takes the address at which the browser ended; nothing if haft waits for the browser itself.
    fn pasted(&self) -> Option<Result<String, String>>;
}

/// What the user opens.
pub(crate) struct ShownVisit<'a> {
    /// The address.
    pub(crate) address: &'a str,
    /// The authorization server.
    pub(crate) issuer: &'a str,
    /// The rights that are asked for.
    pub(crate) scopes: &'a BTreeSet<String>,
}

/// Logs the user in; returns a sentence.
pub(crate) async fn log_in(login: &Login, browser: &dyn Browser) -> Result<String, String> {
    let record = login.place.read()?;
    let challenge = match &record.challenge {
        Some(challenge) => challenge.clone(),
        None => probed(login).await?,
    };
    let wanted = login.spec.issuer.as_deref();
    let resource = resource_of(&login.server, (&challenge, wanted), &login.network).await?;
    let issuer = issuer_of(&resource.issuer, &login.network).await?;
    let callback = opened(login, (&record, &issuer)).await?;
    let client = issuer.client(&record, &callback.redirect, &login.spec, &login.network).await?;
    remember_client(login, (&issuer, &client))?;
    let scopes = login.scopes(&record, &challenge, &resource, &issuer);
    let redirect = callback.redirect.clone();
    let asked = AuthorizationRequest {
        client_id: &client.client_id,
        redirect: &redirect,
        resource: &resource.name,
        scopes: &scopes,
    };
    let visit = Visit::to(&issuer, &asked)?;
    browser.show(&ShownVisit { address: visit.address.as_str(), issuer: &issuer.issuer, scopes: &scopes });
    let returned = match browser.pasted() {
        Some(pasted) => read_pasted(&pasted?)?,
        None => {
            let coming = tokio::time::timeout(TO_COME_BACK, callback.returned(&visit.state));
            coming.await.map_err(|_| "The browser did not come back within 10 minutes.".to_owned())??
        }
    };
    let code = visit.code(&returned)?;
    let request = TokenRequest {
        endpoint: &issuer.token_endpoint,
        issuer: &issuer.issuer,
        resource: &resource.name,
        client: &client,
    };
    let right = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", redirect.as_str()),
        ("code_verifier", visit.verifier.as_str()),
    ];
    let grant = request.send(&right, &login.network).await.map_err(|why| sentence(&why.what))?;
    let renews = grant.refresh.is_some();
    login.place.change(|record| {
        record.grant = Some(grant);
        record.challenge = None;
        record.asked = scopes;
    })?;
    let how_long = if renews { "; haft renews it by itself" } else { "" };
    Ok(format!("Logged in to {} at {}{how_long}.", login.name, issuer.issuer))
}

/// Asks the server something that needs a login, to hear what it needs.
async fn probed(login: &Login) -> Result<Challenge, String> {
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "haft", "version": env!("CARGO_PKG_VERSION") },
    } });
    let headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
    ];
    let address = login.server.clone();
    let request = Outgoing { method: Method::Post, address, headers, body: Bytes::from(body.to_string()) };
    let answer = login.network.send(request).await?;
    Ok(Challenge::read(answer.headers.text("www-authenticate")))
}

/// Opens the port of the user's file, else that of an earlier registration, else any.
async fn opened(login: &Login, (record, issuer): (&LoginRecord, &Issuer)) -> Result<Callback, String> {
    if let Some(port) = login.spec.callback_port {
        return Callback::open(port).await;
    }
    let known = record.registrations.get(&issuer.issuer).and_then(|known| known.redirect.as_ref());
    let port = known.and_then(|redirect| redirect.strip_prefix("http://127.0.0.1:")?.split('/').next()?.parse().ok());
    match port {
        // Another program may have it by now; then haft registers again.
        Some(port) => match Callback::open(port).await {
            Ok(callback) => Ok(callback),
            Err(_) => Callback::open(0).await,
        },
        None => Callback::open(0).await,
    }
}

/// Keeps the client before the user is asked: a login that is given up costs no second registration.
fn remember_client(login: &Login, (issuer, client): (&Issuer, &Registration)) -> Result<(), String> {
    let is_configured = login.spec.client_id.is_some();
    let is_document = login.spec.client_metadata.as_ref() == Some(&client.client_id);
    login.place.change(|record| {
        if is_configured {
            record.issuer_of_client = Some(issuer.issuer.clone());
        } else if !is_document {
            record.registrations.insert(issuer.issuer.clone(), client.clone());
        }
    })
}

impl Login {
    /// Chooses the rights: those that the server asked for, else those of the user's file, else those that the server knows.
    /// Rights that an earlier login had are kept if the server asks for more.
    fn scopes(
        &self,
        record: &LoginRecord,
        challenge: &Challenge,
        resource: &Resource,
        issuer: &Issuer,
    ) -> BTreeSet<String> {
        let own: BTreeSet<String> = self.spec.scopes.iter().cloned().collect();
        let mut scopes = match (challenge.scopes.is_empty(), own.is_empty()) {
            (false, _) => challenge.scopes.union(&own).cloned().collect(),
            (true, false) => own,
            (true, true) => resource.scopes.clone(),
        };
        if challenge.wants_more_rights() {
            scopes.extend(record.asked.iter().cloned());
        }
        if !scopes.is_empty() && issuer.scopes_supported.iter().any(|scope| scope == OFFLINE) {
            scopes.insert(OFFLINE.to_owned());
        }
        scopes
    }
}

fn read_pasted(text: &str) -> Result<CallbackParameters, String> {
    let address = haft_net::Address::parse(text.trim());
    address.map(|address| address.query()).map_err(|_| "This is no address; nothing was done.".to_owned())
}

fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}
