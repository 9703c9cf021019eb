//! Reads an answer as it arrives, within limits of time and length.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use haft_net::http::sse::{SseDecoder, SseEvent};
use haft_net::{Headers, Incoming, SendError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Times;
use super::advice::asked_in_body;
use super::again::{ReplyFailure, asked_in};
use crate::conversation::Reply;
use crate::form::{ReplyProgress, ReplyReader};
use crate::provider::{ModelError, ModelErrorKind, ReplyEvent, ReplyListener};

/// The longest stream that is read, in bytes: each word of a reply comes in an envelope of its own.
const LONGEST_STREAM: usize = 64 * 1024 * 1024;
/// The longest answer in one piece that is read, in bytes.
const LONGEST_WHOLE: usize = 16 * 1024 * 1024;
/// The longest reply that is taken, in bytes of what it says. No model says so much; what does is broken.
const LONGEST_REPLY: usize = 8 * 1024 * 1024;
/// The longest refusal that is read, in bytes.
const LONGEST_REFUSAL: usize = 64 * 1024;
/// How long the words of a refusal are waited for: the status says enough.
const LONGEST_WAIT_FOR_WORDS: Duration = Duration::from_secs(5);
/// How long the end of an answer is waited for that is known to be whole, so that the line can be used again.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// How what is packed by gzip begins, for servers that do so without a word.
const GZIP: &[u8] = b"\x1f\x8b";

/// A time longer than any real wait.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// What ends a wait.
pub(super) struct Bounds<'a> {
    stop: &'a CancellationToken,
    idle: Duration,
    total: Duration,
    ends: Instant,
}

impl<'a> Bounds<'a> {
    /// Sets the bounds of a reply that is asked for now.
    pub(super) fn new(times: &Times, stop: &'a CancellationToken) -> Bounds<'a> {
        let now = Instant::now();
        // A limit beyond the range of the clock means for ever.
        let ends = now.checked_add(times.total).unwrap_or(now + FOR_EVER);
        Bounds { stop, idle: times.idle, total: times.total, ends }
    }

    /// Waits for something that must give a sign of life.
    pub(super) async fn hold<T>(&self, coming: impl Future<Output = T>) -> Result<T, ReplyFailure> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(stopped().into()),
            came = coming => Ok(came),
            () = tokio::time::sleep_until(self.ends) => Err(self.took_too_long()),
            () = tokio::time::sleep(self.idle) => {
                let what = format!("The provider sent nothing for {} s.", self.idle.as_secs_f64());
                let failure = timed_out(what).in_silence();
                Err(failure.advising("check whether the server is still working, and try again"))
            }
        }
    }

    /// Pauses.
    pub(super) async fn rest(&self, pause: Duration) -> Result<(), ModelError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(stopped()),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }

    /// Returns what is left of the total.
    pub(super) fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    fn took_too_long(&self) -> ReplyFailure {
        let what = format!("The reply was not complete after {} s, all attempts included.", self.total.as_secs_f64());
        timed_out(what).final_with("ask for less in one request, or use a faster model")
    }
}

fn stopped() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Stopped,
        what: "The reply was stopped.".to_owned(),
        next: "ask again when you are ready".to_owned(),
    }
}

fn timed_out(what: String) -> ReplyFailure {
    ReplyFailure::because(ModelErrorKind::TimedOut, what)
}

/// Reads the HTTP response to a model request, within the limits on its length.
pub(super) struct ResponseReader<'a> {
    reading: Box<dyn ReplyReader>,
    heard: ReplyListener<'a>,
    /// How much it has said, in bytes.
    length: AtomicUsize,
}

impl<'a> ResponseReader<'a> {
    pub(super) fn new(reading: Box<dyn ReplyReader>, heard: ReplyListener<'a>) -> Self {
        Self { reading, heard, length: AtomicUsize::new(0) }
    }

    /// Returns the reply as far as it came.
    pub(super) fn end(self) -> Option<Reply> {
        self.reading.end()
    }

    /// Reads an answer with status 200 to its end. What it is shows in its first character: servers do not always keep
    /// to the type they name, and some send one JSON text where a stream was asked for.
    pub(super) async fn read(&mut self, mut response: Incoming, bounds: &Bounds<'_>) -> Result<(), ReplyFailure> {
        if let Some(packing) = packing_of(&response.headers()) {
            return Err(packed(&packing));
        }
        let mut first = BytesMut::new();
        loop {
            match next(&mut response, bounds).await? {
                Some(chunk) => first.extend_from_slice(&chunk),
                None => return Err(ReplyFailure::empty()),
            }
            let begin = first.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(&first).trim_ascii_start();
            match begin.first() {
                None => {}
                Some(0x1f) if begin.starts_with(GZIP) => return Err(packed("gzip")),
                Some(b'{' | b'[') => return self.read_whole(first, response, bounds).await,
                Some(b'<') => return Err(web_page(&first)),
                Some(_) => return self.read_stream(first.freeze(), response, bounds).await,
            }
            if first.len() > LONGEST_REFUSAL {
                return Err(ReplyFailure::empty());
            }
        }
    }

    async fn read_stream(
        &mut self,
        first: Bytes,
        mut response: Incoming,
        bounds: &Bounds<'_>,
    ) -> Result<(), ReplyFailure> {
        let mut decoder = SseDecoder::default();
        let mut length = first.len();
        let mut chunk = first;
        loop {
            let events = decoder.push(&chunk).map_err(|error| broken(format!("The provider sent {error}.")))?;
            if self.read_events(events)? == ReplyProgress::Whole {
                let _ = tokio::time::timeout(LAST_BYTES, drained(&mut response)).await;
                return Ok(());
            }
            let coming = next(&mut response, bounds);
            let came = match self.reading.farewell() {
                Some(farewell) => tokio::time::timeout(farewell, coming).await,
                None => Ok(coming.await),
            };
            chunk = match came {
                Ok(came) => match came? {
                    Some(chunk) => chunk,
                    None => break,
                },
                // Nothing is missing of the reply; some servers keep the line open behind it.
                Err(_) => return Ok(()),
            };
            length += chunk.len();
            if length > LONGEST_STREAM {
                return Err(too_long("answer", LONGEST_STREAM));
            }
        }
        // What is half an event is the end of a stream that was cut, and no fault of its own.
        let is_whole =
            decoder.end().is_some_and(|last| matches!(self.read_events(vec![last]), Ok(ReplyProgress::Whole)));
        if is_whole { Ok(()) } else { Err(broken("The stream of the provider ended before the reply did.")) }
    }

    fn read_events(&mut self, events: Vec<SseEvent>) -> Result<ReplyProgress, ReplyFailure> {
        for event in events {
            let length = &self.length;
            let counted = |piece: ReplyEvent<'_>| {
                if let ReplyEvent::Text(text) | ReplyEvent::Thinking(text) | ReplyEvent::Arguments(_, text) = piece {
                    length.fetch_add(text.len(), Ordering::Relaxed);
                }
                (self.heard)(piece);
            };
            if self.reading.event(&event.name, &event.data, &counted)? == ReplyProgress::Whole {
                return Ok(ReplyProgress::Whole);
            }
            if self.length.load(Ordering::Relaxed) > LONGEST_REPLY {
                return Err(too_long("reply", LONGEST_REPLY));
            }
        }
        Ok(ReplyProgress::More)
    }

    /// Reads an answer that is one JSON text. The form gets it as an event without a name.
    async fn read_whole(
        &mut self,
        mut body: BytesMut,
        mut response: Incoming,
        bounds: &Bounds<'_>,
    ) -> Result<(), ReplyFailure> {
        while let Some(chunk) = next(&mut response, bounds).await? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST_WHOLE {
                return Err(too_long("answer", LONGEST_WHOLE));
            }
        }
        let text = String::from_utf8_lossy(&body);
        match self.reading.event("", text.trim_start_matches('\u{feff}').trim(), self.heard)? {
            ReplyProgress::Whole => Ok(()),
            ReplyProgress::More => Err(broken("The provider's answer is not a reply.")),
        }
    }
}

fn broken(what: impl Into<String>) -> ReplyFailure {
    ReplyFailure::because(ModelErrorKind::Broken, what)
}

fn too_long(what: &str, most: usize) -> ReplyFailure {
    broken(format!("The provider's {what} has more than {} MiB.", most / 1024 / 1024))
}

/// Reports that another server answers. haft retries this like an address without an answer.
fn web_page(body: &[u8]) -> ReplyFailure {
    let body = String::from_utf8_lossy(body);
    let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map_or("", |(title, _)| title.trim());
    let what = format!("The provider sent a web page instead of a reply: {title:?}");
    ReplyFailure::because(ModelErrorKind::Unreachable, what)
        .advising("check the base URL, and whether a gateway wants you to sign in")
}

/// Returns how an answer is packed, as its headers say.
pub(super) fn packing_of(headers: &Headers) -> Option<String> {
    let said = headers.lossy("content-encoding")?.trim().to_ascii_lowercase();
    Some(said.chars().take(40).collect()).filter(|packing: &String| !matches!(packing.as_str(), "" | "identity"))
}

/// Says that an answer cannot be unpacked. It would be packed again the next time.
pub(super) fn packed(packing: &str) -> ReplyFailure {
    broken(format!("The provider's answer is compressed as {packing:?}, which haft did not ask for."))
        .final_with("switch that off in the server, or in the gateway before it")
}

async fn next(response: &mut Incoming, bounds: &Bounds<'_>) -> Result<Option<Bytes>, ReplyFailure> {
    let chunk = bounds.hold(response.chunk()).await?;
    let why = |error: &SendError| error.why().unwrap_or("no reason is known").to_owned();
    chunk.map_err(|error| broken(format!("The stream of the provider broke off: {}.", why(&error))))
}

async fn drained(response: &mut Incoming) {
    while let Ok(Some(_)) = response.chunk().await {}
}

/// Reads an answer with another status than 200.
pub(super) async fn refused(mut response: Incoming, bounds: &Bounds<'_>) -> ReplyFailure {
    let status = response.status();
    let headers = response.headers();
    let mut body = BytesMut::new();
    let words = words_of(&mut response, &mut body, bounds);
    match tokio::time::timeout(LONGEST_WAIT_FOR_WORDS, words).await {
        Ok(Err(failure)) if failure.error.kind == ModelErrorKind::Stopped => return failure,
        // What came counts.
        Ok(_) | Err(_) => {}
    }
    // What is packed has no words for anybody.
    let body = if packing_of(&headers).is_some() { BytesMut::new() } else { body };
    let body = String::from_utf8_lossy(&body);
    if response.is_redirection() {
        let elsewhere = headers.text("location").unwrap_or("another address");
        let elsewhere = elsewhere.split(['?', '#']).next().unwrap_or_default();
        let what = format!("The provider redirects to {elsewhere}, with status {status}.");
        return ReplyFailure::because(ModelErrorKind::BadRequest, what)
            .final_with("use that address as base URL if it is right");
    }
    let says_no = headers.text("x-should-retry") == Some("false");
    let asked = asked_in(&headers, SystemTime::now()).or_else(|| asked_in_body(&body));
    ReplyFailure::new(crate::reading::refused::refused(status, &body)).asked(asked).final_if(says_no)
}

/// Reads the words of a refusal, as far as they come.
async fn words_of(response: &mut Incoming, body: &mut BytesMut, bounds: &Bounds<'_>) -> Result<(), ReplyFailure> {
    while body.len() < LONGEST_REFUSAL {
        match next(response, bounds).await? {
            Some(chunk) => body.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(())
}
