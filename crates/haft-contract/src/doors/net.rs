//! The door for requests to other machines: its questions and answers.
//!
//! The caller has planned the host (`Effect::Connect`) and has written the name itself. haft reaches a name only if it
//! leads to public addresses, and an address or `localhost` only if the caller named it so. Redirects stay on the host.
//!
//! Not here: how a request is made (`haft-net`), how a definition becomes a request (`haft-tools`).

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::door::Permit;
use super::web::{Fetch, FetchedDocument, SearchAccess, WebUrl};
use crate::BoxFuture;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;

/// Sends requests.
pub trait Net: Send + Sync {
    /// Sends a request and waits for its answer, whatever its status is.
    fn request<'a>(
        &'a self,
        permit: &'a Permit,
        request: &'a HttpRequest,
    ) -> BoxFuture<'a, Result<Response, ToolError>>;

    /// Reads the address of a document once. An address that no call may fetch is an error, whatever the rules say.
    fn read_url(&self, _text: &str) -> Result<WebUrl, ToolError> {
        Err(no_network())
    }

    /// Returns what the user has set up to search the web; nothing where that is nothing.
    fn search_access(&self) -> Result<Option<SearchAccess>, ToolError> {
        Ok(None)
    }

    /// Fetches a document. Every host that it leads on to is judged before it is reached.
    fn fetch<'a>(
        &'a self,
        _permit: &'a Permit,
        _fetch: &'a Fetch,
    ) -> BoxFuture<'a, Result<FetchedDocument, ToolError>> {
        Box::pin(async { Err(no_network()) })
    }
}

fn no_network() -> ToolError {
    ToolError::of(ErrorKind::Unavailable, "Nothing can be reached from here: no network was set up.")
}

/// A door that is shut: nothing is reached.
#[derive(Clone, Copy, Debug)]
pub struct NoNet;

impl Net for NoNet {
    fn request<'a>(
        &'a self,
        _permit: &'a Permit,
        _request: &'a HttpRequest,
    ) -> BoxFuture<'a, Result<Response, ToolError>> {
        Box::pin(async { Err(no_network()) })
    }
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// It reads.
    Get,
    /// It reads the headers alone.
    Head,
    /// It sends something new.
    Post,
    /// It puts something in a place.
    Put,
    /// It changes something.
    Patch,
    /// It removes something.
    Delete,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

    /// Returns its name on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// Returns whether something may be different there afterwards.
    pub fn may_change(self) -> bool {
        !matches!(self, Method::Get | Method::Head)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// One HTTP request, with its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// What it does.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// Names and values, all of which can be sent.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Bytes,
    /// How long all of it may take.
    pub time: Duration,
    /// Most bytes of the answer that are read.
    pub most: usize,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// What is said to be in the body.
    pub content_type: Option<String>,
    /// Where else it is said to be.
    pub location: Option<String>,
    /// When to ask again, in seconds, where that is said.
    pub retry_after: Option<u64>,
    /// What was read of the body.
    pub body: Bytes,
    /// Whether there was more.
    pub is_cut: bool,
}
