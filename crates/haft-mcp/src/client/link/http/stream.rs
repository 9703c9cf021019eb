//! Reads streams of events: answers, which may break and be resumed, and messages that a server sends without a request.
//!
//! A stream is resumed only in the era with sessions, where the server keeps what it has sent, and only if the server gave
//! its events ids. Sending the request again instead could carry out a call twice.

use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_net::http::sse::{Resumption, SseDecoder};
use haft_net::{Incoming, Outgoing};
use serde_json::Value;

use super::{RemoteTransport, words_of};
use crate::transport::lines::MessageLine;

/// How long haft waits before it resumes a stream, if the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest that a server may want haft to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// So many attempts in a row that bring nothing are the last.
const MOST_ATTEMPTS: u32 = 5;

/// Summarizes what was received on one event stream.
struct StreamSummary {
    has_answered: bool,
    /// How many messages there were.
    messages: usize,
    resumption: Resumption,
    /// Why it broke; nothing if the server ended it.
    broken: Option<String>,
}

impl RemoteTransport {
    /// Reads the answer to a request from a stream, and from those that go on where it ended.
    pub(super) async fn streamed(&self, first: Incoming, (id, method): (&Value, &str)) -> Result<bool, String> {
        let mut brought = self.drained(first, Some((id, method))).await?;
        let (mut attempts, mut from) = (0, Resumption::default());
        while !brought.has_answered {
            from = Resumption {
                last_id: brought.resumption.last_id.or(from.last_id),
                wait: brought.resumption.wait.or(from.wait),
            };
            attempts = if brought.messages > 0 { 0 } else { attempts + 1 };
            let is_resumed = !self.is_stateless() && from.last_id.is_some() && attempts < MOST_ATTEMPTS;
            if !is_resumed {
                return brought.broken.map_or(Ok(false), Err);
            }
            tokio::time::sleep(pause(&from)).await;
            brought = match self.opened(from.last_id.as_deref()).await {
                Ok(Some(stream)) => self.drained(stream, Some((id, method))).await?,
                Ok(None) => return Err("the server broke its answer off, and does not resume it".to_owned()),
                Err(why) => StreamSummary::nothing(why),
            };
        }
        Ok(true)
    }

    /// Hears what the server says without being asked, as long as it does.
    pub(super) async fn listen(&self) {
        let (mut attempts, mut from) = (0, Resumption::default());
        while attempts < MOST_ATTEMPTS {
            let stream = match self.opened(from.last_id.as_deref()).await {
                Ok(Some(stream)) => stream,
                // It has no such stream.
                Ok(None) => return,
                Err(_) => {
                    attempts += 1;
                    tokio::time::sleep(pause(&from)).await;
                    continue;
                }
            };
            let Ok(brought) = self.drained(stream, None).await else { return };
            attempts = if brought.messages > 0 { 0 } else { attempts + 1 };
            from = Resumption {
                last_id: brought.resumption.last_id.or(from.last_id),
                wait: brought.resumption.wait.or(from.wait),
            };
            tokio::time::sleep(pause(&from)).await;
        }
    }

    /// Asks for a stream; nothing if the server has none.
    async fn opened(&self, last_id: Option<&str>) -> Result<Option<Incoming>, String> {
        let mut headers = vec![("accept", "text/event-stream".to_owned())];
        {
            let state = self.state();
            headers.extend(state.revision.clone().map(|revision| ("mcp-protocol-version", revision)));
            headers.extend(state.session.clone().map(|session| ("mcp-session-id", session)));
        }
        headers.extend(last_id.map(|id| ("last-event-id", id.to_owned())));
        let request = Outgoing { method: Method::Get, address: self.address.clone(), headers, body: Bytes::new() };
        let (named, _) = self.named_headers(Vec::new()).await;
        let answer = self.client.send_with(request, &named).await.map_err(|error| self.unreachable(&error))?;
        let is_stream = answer.headers().text("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        match answer.status() {
            200 if is_stream => Ok(Some(answer)),
            status if (500..600).contains(&status) => Err(format!("the server answered with HTTP status {status}")),
            _ => Ok(None),
        }
    }

    /// Passes on what a stream brings, to its end. Only an event that is too long is an error.
    async fn drained(&self, mut stream: Incoming, answered: Option<(&Value, &str)>) -> Result<StreamSummary, String> {
        let mut decoder = SseDecoder::default();
        let mut brought = StreamSummary::nothing(String::new());
        brought.broken = None;
        loop {
            let piece = match stream.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    brought.broken = Some(format!("the connection broke: {}", words_of(&error)));
                    break;
                }
            };
            for event in decoder.push(&piece).map_err(|error| error.to_string())? {
                self.take(event.data.into_bytes(), answered, &mut brought).await;
            }
        }
        brought.resumption = decoder.resumption().clone();
        // What a broken connection cut off comes again.
        if brought.broken.is_none()
            && let Some(last) = decoder.end()
        {
            self.take(last.data.into_bytes(), answered, &mut brought).await;
        }
        Ok(brought)
    }

    async fn take(&self, message: Vec<u8>, answered: Option<(&Value, &str)>, brought: &mut StreamSummary) {
        if message.trim_ascii().is_empty() {
            return;
        }
        brought.messages += 1;
        match answered {
            Some(request) => brought.has_answered |= self.pass_on(message, request).await,
            None => drop(self.lines.send(MessageLine::Message(message)).await),
        }
    }
}

impl StreamSummary {
    fn nothing(why: String) -> Self {
        Self { has_answered: false, messages: 0, resumption: Resumption::default(), broken: Some(why) }
    }
}

fn pause(from: &Resumption) -> Duration {
    from.wait.map_or(PAUSE, Duration::from_millis).min(LONGEST_PAUSE)
}
