//! The user's login to a server with an address (OAuth 2.1), as the requests to that server use it.
//!
//! haft renews a key before it expires, and once more if the server refuses it. Two processes of the user never renew it at
//! the same time. If a renewal needs the user, the request fails and names the login command. Keys are only in a file that
//! the user alone can read, and in the header of requests to their server.
//!
//! Not here: asking the user during a call. `haft mcp login` asks when the user wants it.

mod authorization;
mod callback;
mod challenge;
mod discovery;
pub(crate) mod flow;
mod record;
mod registration;
#[cfg(test)]
mod tests;
mod token;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::text::visible::visible;
use haft_host::opening::servers::records::ServerRecords;
use haft_host::opening::servers::{LoginSpec, ServerScope, ServerSpec, ServerTransport};
use haft_net::{Address, GuidedClient};

use challenge::Challenge;
use record::{Grant, LoginPlace, LoginRecord};
use token::{TokenRequest, now};

/// So many seconds before its end a key is renewed.
const BEFORE_THE_END: u64 = 60;

/// The login to one server.
pub(crate) struct Login {
    pub(crate) name: String,
    server: Address,
    spec: LoginSpec,
    place: LoginPlace,
    network: GuidedClient,
    /// The grant that requests use.
    current: Mutex<Option<Grant>>,
}

/// What to do about a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterRefusal {
    /// Send the request again, with this key.
    Retry(String),
    /// The user must do something: a sentence without its end.
    Ask(String),
}

/// A server's refusal of a request.
pub(crate) struct ServerRefusal<'a> {
    pub(crate) status: u16,
    /// The header `WWW-Authenticate`.
    pub(crate) header: Option<&'a str>,
    /// The key that the request had.
    pub(crate) key: Option<&'a str>,
}

impl Login {
    /// Returns the login to a server; nothing for one that haft starts, or whose entry has a header for it.
    pub(crate) fn to(name: &str, (spec, key): (&ServerSpec, &str), scope: &ServerScope) -> Option<Arc<Self>> {
        let ServerTransport::Url(url) = &spec.reach else { return None };
        if spec.environment.keys().any(|header| header.eq_ignore_ascii_case("authorization")) {
            return None;
        }
        let server = Address::parse(url).ok()?;
        Some(Arc::new(Self {
            name: name.to_owned(),
            network: GuidedClient::led_by(server.clone()),
            server,
            spec: spec.login.clone(),
            place: LoginPlace::new(ServerRecords::of(scope), key.to_owned()),
            current: Mutex::new(None),
        }))
    }

    /// Returns the key for the next request; nothing if the user is not logged in.
    pub(crate) async fn key(&self) -> Option<String> {
        let known = self.known();
        let grant = match known {
            Some(grant) => grant,
            None => self.read().ok()?.grant?,
        };
        let is_ending = grant.ends_at.is_some_and(|end| end <= now() + BEFORE_THE_END);
        let grant = match is_ending && grant.refresh.is_some() {
            // An older key may still do; if not, the server says so.
            true => self.renewed(&grant.access).await.unwrap_or(grant),
            false => grant,
        };
        self.know(Some(grant.clone()));
        Some(grant.access)
    }

    /// Says what to do about a refusal.
    pub(crate) async fn after(&self, refusal: ServerRefusal<'_>) -> AfterRefusal {
        let challenge = Challenge::read(refusal.header);
        if refusal.status == 403 {
            return self.after_missing_rights(challenge);
        }
        if let Some(key) = refusal.key {
            match self.renewed(key).await {
                Ok(grant) => {
                    self.know(Some(grant.clone()));
                    return AfterRefusal::Retry(grant.access);
                }
                Err(Some(why)) => return AfterRefusal::Ask(format!("the login to it could not be renewed: {why}")),
                Err(None) => self.know(None),
            }
        }
        self.wants_login("it needs a login", challenge)
    }

    fn after_missing_rights(&self, challenge: Challenge) -> AfterRefusal {
        let asked = self.read().map(|record| record.asked).unwrap_or_default();
        if !challenge.wants_more_rights() {
            return AfterRefusal::Ask("it refuses the request with HTTP status 403".to_owned());
        }
        let shown = listed(&challenge.scopes);
        if challenge.scopes.is_subset(&asked) {
            return AfterRefusal::Ask(format!(
                "it asks for rights that the last login asked for already ({shown}), and another login would change nothing; ask the \
                 operator of the server for them"
            ));
        }
        self.wants_login(&format!("it needs a login with more rights ({shown})"), challenge)
    }

    /// Notes what the next login asks for.
    fn wants_login(&self, what: &str, challenge: Challenge) -> AfterRefusal {
        let noted = self.place.change(|record| record.challenge = Some(challenge));
        let problem = noted.err().map(|why| format!(" ({why})")).unwrap_or_default();
        AfterRefusal::Ask(format!("{what}{problem}; run \"haft mcp login {}\"", self.name))
    }

    /// Renews the grant with this key, unless another process has; nothing in the error if the user must log in.
    async fn renewed(&self, key: &str) -> Result<Grant, Option<String>> {
        let place = self.place.clone();
        let locked = tokio::task::spawn_blocking(move || place.lock()).await;
        let _held = locked.map_err(|_| None)?.map_err(Some)?;
        let mut record = self.read().map_err(Some)?;
        let grant = record.grant.clone().ok_or(None)?;
        if grant.access != key {
            return Ok(grant);
        }
        let refresh = grant.refresh.clone().ok_or(None)?;
        let request = TokenRequest {
            endpoint: &grant.token_endpoint,
            issuer: &grant.issuer,
            resource: &grant.resource,
            client: &grant.client,
        };
        let right = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
        match request.send(&right, &self.network).await {
            Ok(new) => {
                // A server that gives no new one means the old one.
                let new = Grant { refresh: new.refresh.or(Some(refresh)), ..new };
                record.grant = Some(new.clone());
                self.place.write(&record).map_err(Some)?;
                Ok(new)
            }
            Err(why) if why.is_over => {
                record.grant = None;
                self.place.write(&record).map_err(Some)?;
                Err(None)
            }
            // What passes by itself drops no login.
            Err(why) => Err(Some(why.what)),
        }
    }

    /// Forgets the login and the clients that haft has registered; returns whether there was a login.
    pub(crate) fn forget(&self) -> Result<bool, String> {
        let mut was_there = false;
        self.place.change(|record| {
            was_there = record.grant.is_some();
            *record = LoginRecord::default();
        })?;
        self.know(None);
        Ok(was_there)
    }

    /// Says in a few words whether the user is logged in; nothing if no login was ever needed.
    pub(crate) fn state(&self) -> Option<String> {
        let record = match self.read() {
            Ok(record) => record,
            Err(why) => return Some(why),
        };
        let at = |grant: &Grant| visible(&grant.issuer).into_owned();
        match (&record.grant, &record.challenge) {
            (_, Some(_)) => Some(format!("needed; run \"haft mcp login {}\"", self.name)),
            (Some(grant), None) => {
                let ends = match (grant.ends_at.map(|end| end.saturating_sub(now())), &grant.refresh) {
                    (_, Some(_)) => ", renewed by itself".to_owned(),
                    (Some(0), None) => ", ended".to_owned(),
                    (Some(left), None) => format!(", ends in {} min", left.div_ceil(60)),
                    (None, None) => String::new(),
                };
                Some(format!("logged in at {}{ends}", at(grant)))
            }
            (None, None) => None,
        }
    }

    /// Returns the texts that no result may show.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let Some(grant) = self.known() else { return Vec::new() };
        [Some(grant.access), grant.refresh, grant.client.secret].into_iter().flatten().collect()
    }

    fn read(&self) -> Result<LoginRecord, String> {
        self.place.read()
    }

    fn known(&self) -> Option<Grant> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn know(&self, grant: Option<Grant>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = grant;
    }
}

fn listed(scopes: &BTreeSet<String>) -> String {
    visible(&scopes.iter().cloned().collect::<Vec<_>>().join(", ")).into_owned()
}
