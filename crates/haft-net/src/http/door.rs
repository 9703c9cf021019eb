//! Sends one request to the planned host, within its limits of time and size, until the call is stopped.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::door::{Permit, Receipt};
use haft_contract::doors::net::{HttpRequest, Net, Response};
use haft_contract::doors::web::{Fetch, FetchedDocument, SearchAccess, WebUrl};
use haft_contract::effect::{Effect, Host};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Url};

use super::failing::{told, too_late};
use super::method;
use super::trusted_tls::{HTTP_2_OR_1, TrustedRoots, client_config};
use crate::fetch::{Fetcher, Security};
use crate::names::NameResolver;
use crate::session_network::HostRules;
use crate::supervisor::HostDial;

/// Most redirects that are followed.
const MOST_REDIRECTS: usize = 5;
/// Longest time until there is a connection.
const TO_CONNECT: Duration = Duration::from_secs(20);

/// Sends requests by HTTP. Nothing is set up before the first one.
pub struct HttpDoor {
    client: OnceLock<Client>,
    fetcher: Fetcher,
    search: Option<Box<FindAccess>>,
}

/// Finds what the user has set up to search the web; else says what is wrong with it.
type FindAccess = dyn Fn() -> Result<Option<SearchAccess>, String> + Send + Sync;

impl HttpDoor {
    /// Opens a door that nothing has gone through yet.
    pub fn new() -> Self {
        let fetcher = Fetcher::new(Arc::new(HostDial::new()), Security::of_the_system());
        Self { client: OnceLock::new(), fetcher, search: None }
    }

    /// Lets the user's settings say which hosts documents are fetched from.
    #[must_use]
    pub fn ruled_by(self, rules: Arc<dyn HostRules>) -> Self {
        Self { fetcher: self.fetcher.ruled_by(rules), ..self }
    }

    /// Says how the web is searched. It is asked when something is searched.
    #[must_use]
    pub fn searching_with(
        self,
        access: impl Fn() -> Result<Option<SearchAccess>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { search: Some(Box::new(access)), ..self }
    }

    fn client(&self) -> Result<&Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let failed = |error: &dyn std::error::Error| {
            ToolError::of(ErrorKind::Unavailable, format!("Nothing can be reached from here: {error}."))
        };
        let tls = client_config(TrustedRoots::System, HTTP_2_OR_1).map_err(|error| failed(&error))?;
        // A connection lives as long as the runtime that made it, which may be shorter than this door.
        let built = Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .referer(false)
            .redirect(Policy::custom(stays))
            .dns_resolver(NameResolver)
            .connect_timeout(TO_CONNECT)
            .pool_max_idle_per_host(0)
            .user_agent(concat!("haft/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(self.client.get_or_init(|| built))
    }

    async fn send(&self, request: &HttpRequest, (url, host): (Url, &str)) -> Result<Response, ToolError> {
        let mut building = self.client()?.request(method::on_the_wire(request.method), url).timeout(request.time);
        for (name, value) in &request.headers {
            building = building.header(name, value);
        }
        if !request.body.is_empty() {
            building = building.body(request.body.clone());
        }
        let failed = |error: reqwest::Error| told(error, host, request.time);
        let mut answer = building.send().await.map_err(failed)?;
        let text_of = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (content_type, location) = (text_of("content-type"), text_of("location"));
        let retry_after = text_of("retry-after");
        let mut body = Vec::new();
        let mut is_cut = false;
        while let Some(piece) = answer.chunk().await.map_err(failed)? {
            let room = request.most - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() > room {
                is_cut = true;
                break;
            }
        }
        let retry_after = retry_after.and_then(|text| text.trim().parse().ok());
        Ok(Response {
            status: answer.status().as_u16(),
            content_type,
            location,
            retry_after,
            body: body.into(),
            is_cut,
        })
    }
}

impl Net for HttpDoor {
    fn request<'a>(
        &'a self,
        permit: &'a Permit,
        request: &'a HttpRequest,
    ) -> BoxFuture<'a, Result<Response, ToolError>> {
        Box::pin(async move {
            let (url, host) = addressed(&request.url)?;
            permit.admit(&Effect::Connect(Host(host.clone())))?;
            if request.method.may_change() {
                permit.receipts().note(Receipt::Sent(Host(host.clone())));
            }
            tokio::select! {
                biased;
                () = permit.stop().cancelled() => Err(ToolError::of(ErrorKind::Cancelled, "The request was stopped.")),
                // The client has the same limit; this one holds also while names are looked up.
                answer = tokio::time::timeout(request.time, self.send(request, (url, &host))) =>
                    answer.unwrap_or_else(|_elapsed| Err(too_late(&host, request.time))),
            }
        })
    }

    fn read_url(&self, text: &str) -> Result<WebUrl, ToolError> {
        self.fetcher.read_url(text)
    }

    fn search_access(&self) -> Result<Option<SearchAccess>, ToolError> {
        let Some(search) = &self.search else { return Ok(None) };
        search().map_err(|why| {
            let next = Next::AskUser("tell the user, who can correct it".into());
            ToolError::new(ErrorKind::Unavailable, why, next)
        })
    }

    fn fetch<'a>(&'a self, permit: &'a Permit, fetch: &'a Fetch) -> BoxFuture<'a, Result<FetchedDocument, ToolError>> {
        Box::pin(self.fetcher.fetch(permit, fetch))
    }
}

impl Default for HttpDoor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HttpDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpDoor").field("client", &self.client).finish_non_exhaustive()
    }
}

/// Takes an address apart: it has a host, and no user.
fn addressed(text: &str) -> Result<(Url, String), ToolError> {
    let bad = |why: &str| ToolError::of(ErrorKind::Bug, format!("The address of the request cannot be used: {why}."));
    let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it is not one of http or https without a user"));
    }
    let host = url.host_str().ok_or_else(|| bad("it has no host"))?;
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    Ok((url, host))
}

/// Follows a redirect only to the place that was asked, never to a weaker way there.
fn stays(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default(), url.scheme().to_owned());
    let is_same = attempt.previous().first().is_some_and(|first| place(first) == place(attempt.url()));
    if is_same && attempt.previous().len() <= MOST_REDIRECTS { attempt.follow() } else { attempt.stop() }
}
