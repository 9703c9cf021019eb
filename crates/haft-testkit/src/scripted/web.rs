//! A fake web of a few pages: documents and answers by their addresses, without any network.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::BoxFuture;
use haft_contract::doors::door::Permit;
use haft_contract::doors::net::{HttpRequest, Net, Response};
use haft_contract::doors::web::{Fetch, FetchedDocument, SearchAccess, WebScheme, WebUrl};
use haft_contract::effect::{Effect, Host};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;

/// Pages by their addresses. An address that no page has is answered with 404.
#[derive(Clone, Default)]
pub struct Web {
    pages: Arc<Vec<ScriptedPage>>,
    sent: Arc<Mutex<Vec<HttpRequest>>>,
    times: Arc<Mutex<Vec<Duration>>>,
    access: Option<SearchAccess>,
    otherwise: Option<ScriptedPage>,
}

/// A document or an answer at one address.
#[derive(Clone)]
struct ScriptedPage {
    url: String,
    status: u16,
    content_type: String,
    body: Bytes,
}

impl Web {
    /// Makes a web without pages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a page.
    pub fn page(self, url: &str, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.answer(url, (200, content_type), body)
    }

    /// Adds an answer with a status.
    pub fn answer(self, url: &str, (status, content_type): (u16, &str), body: impl Into<Bytes>) -> Self {
        let page =
            ScriptedPage { url: url.to_owned(), status, content_type: content_type.to_owned(), body: body.into() };
        let pages = self.pages.iter().cloned().chain([page]).collect();
        Self { pages: Arc::new(pages), ..self }
    }

    /// Returns the requests that were sent, without those of `fetch`.
    pub fn sent(&self) -> Vec<HttpRequest> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how long each document might take that was fetched.
    pub fn times(&self) -> Vec<Duration> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets the web be searched with this provider.
    pub fn searched_by(self, provider: &str, key: &str) -> Self {
        Self { access: Some(SearchAccess { provider: provider.to_owned(), key: key.to_owned() }), ..self }
    }

    /// A web that has a page at every address, and finds something for every search: for the examples of manuals.
    pub fn of_examples() -> Self {
        let found =
            r#"{"web":{"results":[{"title":"A guide","url":"https://docs.example.com/guide","description":"How."}]}}"#;
        let body = Bytes::from_static(b"<title>A guide</title><p>Some text.</p>");
        let page = ScriptedPage { url: String::new(), status: 200, content_type: "text/html".to_owned(), body };
        let web = Self { otherwise: Some(page), ..Self::new() }.searched_by("brave", "key");
        web.page("https://api.search.brave.com/res/v1/web/search", "application/json", found)
    }

    fn find(&self, url: &str) -> ScriptedPage {
        let missing = || {
            self.otherwise.clone().unwrap_or_else(|| ScriptedPage {
                url: url.to_owned(),
                status: 404,
                content_type: "text/html".to_owned(),
                body: Bytes::from_static(b"<title>Missing</title><p>There is no such page."),
            })
        };
        self.pages.iter().find(|page| page.url == url).cloned().unwrap_or_else(missing)
    }
}

impl Net for Web {
    fn request<'a>(
        &'a self,
        permit: &'a Permit,
        request: &'a HttpRequest,
    ) -> BoxFuture<'a, Result<Response, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Connect(Host(self.read_url(&request.url)?.host)))?;
            self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            let place = request.url.split('?').next().unwrap_or_default();
            let ScriptedPage { status, content_type, body, .. } = self.find(place);
            let (content_type, is_cut) = (Some(content_type), body.len() > request.most);
            let body = body.slice(..body.len().min(request.most));
            Ok(Response { status, content_type, location: None, retry_after: None, body, is_cut })
        })
    }

    fn read_url(&self, text: &str) -> Result<WebUrl, ToolError> {
        let bad = || ToolError::of(ErrorKind::Denied, format!("{text:?} cannot be fetched."));
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        let scheme = if scheme == "https" { WebScheme::Https } else { WebScheme::Http };
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let (host, port) =
            authority.split_once(':').map_or((authority, None), |(host, port)| (host, port.parse().ok()));
        let (host, port) = (host.to_owned(), port.unwrap_or(scheme.usual_port()));
        Ok(WebUrl { text: text.to_owned(), scheme, host, port })
    }

    fn search_access(&self) -> Result<Option<SearchAccess>, ToolError> {
        Ok(self.access.clone())
    }

    fn fetch<'a>(&'a self, permit: &'a Permit, fetch: &'a Fetch) -> BoxFuture<'a, Result<FetchedDocument, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Connect(fetch.url.planned_host()))?;
            self.times.lock().unwrap_or_else(PoisonError::into_inner).push(fetch.time);
            let ScriptedPage { status, content_type, body, .. } = self.find(&fetch.url.text);
            let content_type = Some(content_type).filter(|told| !told.is_empty());
            let (length, is_cut) = (Some(body.len() as u64), body.len() > fetch.most);
            let body = body.slice(..body.len().min(fetch.most));
            Ok(FetchedDocument { url: fetch.url.clone(), status, content_type, length, body, is_cut, is_kept: false })
        })
    }
}
