//! Sends one request over a connection and reads the answer piece by piece, within its limits.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes};
use haft_contract::doors::web::{FetchedDocument, WebUrl};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::cache::CachedAnswer;
use super::decode::{BodyDecoder, Flow};
use super::tls::Stream;
use crate::supervisor::DialError;

/// Most bytes of the head of an answer.
const LONGEST_HEAD: usize = 64 * 1024;
/// Most header fields of an answer.
const MOST_FIELDS: usize = 200;
/// What is understood, best first.
const ACCEPTED: &str =
    "text/html, application/xhtml+xml, text/markdown, application/json;q=0.9, text/*;q=0.9, */*;q=0.5";

/// Why no document came.
#[derive(Debug)]
pub(super) enum FetchError {
    NotReached(DialError),
    /// The certificate is not one of the host, or TLS failed otherwise.
    NotTrusted(String),
    /// The connection broke, or what came is not HTTP.
    Broken(String),
    /// The body is compressed in a way that cannot be read.
    Encoding(String),
    /// The server sent nothing for too long.
    Silent,
    TimeIsUp,
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::NotReached(error) => error.fmt(f),
            FetchError::NotTrusted(why) => write!(f, "the connection cannot be trusted: {why}"),
            FetchError::Broken(why) => write!(f, "the answer broke off or is invalid: {why}"),
            FetchError::Encoding(why) => f.write_str(why),
            FetchError::Silent => f.write_str("the server was silent for too long"),
            FetchError::TimeIsUp => f.write_str("the time was up"),
        }
    }
}

impl From<hyper::Error> for FetchError {
    fn from(error: hyper::Error) -> Self {
        FetchError::Broken(error.to_string())
    }
}

/// The approximate numbers of bytes that went over the connection in each direction.
#[derive(Debug, Default)]
pub(super) struct ByteCounters {
    sent: AtomicU64,
    received: AtomicU64,
}

impl ByteCounters {
    pub(super) fn so_far(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

/// The answer to one request, as far as it was read.
#[derive(Clone, Debug)]
pub(super) struct FetchAnswer {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) location: Option<String>,
    pub(super) length: Option<u64>,
    pub(super) body: Bytes,
    pub(super) is_cut: bool,
    pub(super) is_kept: bool,
}

impl FetchAnswer {
    /// Returns where the answer leads on to, if it does.
    pub(super) fn redirect(&self) -> Option<String> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.location.clone()).flatten()
    }

    pub(super) fn into_fetched(self, url: WebUrl) -> FetchedDocument {
        let Self { status, content_type, length, body, is_cut, is_kept, .. } = self;
        FetchedDocument { url, status, content_type, length, body, is_cut, is_kept }
    }
}

/// One request.
pub(super) struct Exchange<'a> {
    pub(super) url: &'a WebUrl,
    pub(super) most: usize,
    pub(super) idle: Duration,
    pub(super) traffic: &'a ByteCounters,
}

impl Exchange<'_> {
    /// Sends the request, and reads the answer. What is kept already is only asked for if it has changed.
    pub(super) async fn run(
        &self,
        stream: Box<dyn Stream>,
        kept: Option<&CachedAnswer>,
    ) -> Result<(FetchAnswer, HeaderMap), FetchError> {
        let mut building = http1::Builder::new();
        building.max_buf_size(LONGEST_HEAD).max_headers(MOST_FIELDS);
        let (mut sender, connection) = building.handshake::<_, Empty<Bytes>>(TokioIo::new(stream)).await?;
        // The connection ends when this is dropped, also when the time is up.
        let mut working = JoinSet::new();
        working.spawn(connection);
        let request = self.request(kept)?;
        let length = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
        self.traffic.sent.fetch_add((length + self.url.text.len()) as u64, Ordering::Relaxed);
        let answer = self.unless_silent(sender.send_request(request)).await??;
        self.traffic.received.fetch_add(1, Ordering::Relaxed);
        self.read(answer).await
    }

    async fn unless_silent<T>(&self, work: impl Future<Output = T>) -> Result<T, FetchError> {
        timeout(self.idle, work).await.map_err(|_elapsed| FetchError::Silent)
    }

    fn request(&self, kept: Option<&CachedAnswer>) -> Result<Request<Empty<Bytes>>, FetchError> {
        let unsendable = |error: &dyn fmt::Display| FetchError::Broken(error.to_string());
        let rest = self.url.text.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, path) = rest.find(['/', '?']).map_or((rest, "/"), |at| rest.split_at(at));
        let mut building = Request::builder()
            .method(Method::GET)
            .uri(path)
            .header(header::HOST, authority)
            .header(header::USER_AGENT, concat!("haft/", env!("CARGO_PKG_VERSION")))
            .header(header::ACCEPT, ACCEPTED)
            .header(header::ACCEPT_ENCODING, "gzip, br")
            .header(header::CONNECTION, "close");
        for (name, value) in kept.map(CachedAnswer::conditions).unwrap_or_default() {
            building = building.header(name, value);
        }
        building.body(Empty::new()).map_err(|error| unsendable(&error))
    }

    async fn read(&self, answer: Response<Incoming>) -> Result<(FetchAnswer, HeaderMap), FetchError> {
        let (head, mut incoming) = answer.into_parts();
        let text = |name: HeaderName| text_of(&head.headers, &name);
        let mut decoder = BodyDecoder::of(&head.headers)?;
        let mut body = Vec::new();
        let mut is_cut = false;
        let mut raw = 0_usize;
        while let Some(frame) = self.unless_silent(incoming.frame()).await? {
            let Ok(mut data) = frame?.into_data() else { continue };
            let piece = data.copy_to_bytes(data.remaining());
            self.traffic.received.fetch_add(piece.len() as u64, Ordering::Relaxed);
            raw += piece.len();
            // What is compressed may also be larger than what comes of it, without end.
            is_cut = decoder.push(&piece, &mut body, self.most)? == Flow::Full || raw > self.most.saturating_mul(2);
            if is_cut {
                break;
            }
        }
        if !is_cut {
            decoder.finish(&mut body, self.most)?;
        }
        let answer = FetchAnswer {
            status: head.status.as_u16(),
            content_type: text(header::CONTENT_TYPE),
            location: text(header::LOCATION),
            length: text(header::CONTENT_LENGTH).and_then(|text| text.parse().ok()),
            body: body.into(),
            is_cut,
            is_kept: false,
        };
        Ok((answer, head.headers))
    }
}

/// Returns a header as text; bytes that are none are replaced.
pub(super) fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
