//! A server that runs elsewhere: each message is a request, and what comes back are lines like those of a pipe.
//!
//! An answer is one JSON message, or a stream of events. What goes wrong on the way becomes the error of the request that
//! it happened to, so that no call waits for an answer that cannot come.
//!
//! Not here: logging in (OAuth), the stream of a server that speaks without being asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use bytes::Bytes;
use haft_contract::net::Method;
use haft_net::sse::Decoder;
use haft_net::{Address, HttpClient, Incoming, Outgoing, SendError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::pipes::LONGEST_MESSAGE;
use crate::lines::Line;
use crate::outbox::Closed;

/// How long a connection may take.
const TO_CONNECT: Duration = Duration::from_secs(10);
/// How long the last request may take.
const TO_END: Duration = Duration::from_secs(1);
/// Most bytes of a refusal that are read.
const LONGEST_REFUSAL: usize = 64 * 1024;
/// Messages that wait to be taken.
const WAITING: usize = 64;
/// Where a request of the new era says its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// The code of an error that the transport makes.
const TRANSPORT: i32 = -32_000;

/// Sends messages to an address.
#[derive(Clone)]
pub(crate) struct HttpSink(Arc<Shared>);

struct Shared {
    client: HttpClient,
    address: Address,
    headers: Vec<(String, String)>,
    state: Mutex<State>,
    lines: mpsc::Sender<Line>,
    /// Told when the server has forgotten the session.
    lost: CancellationToken,
}

#[derive(Default)]
struct State {
    /// The session that the server gave, in the old era.
    session: Option<String>,
    /// The revision that the handshake found.
    revision: Option<String>,
    /// What waits for an answer.
    running: HashMap<String, AbortHandle>,
}

/// A message on its way.
struct Message {
    id: Option<Value>,
    method: String,
    /// The revision that it names itself, in the new era.
    revision: Option<String>,
    /// What it is about, in the new era.
    name: Option<String>,
    body: Bytes,
}

impl HttpSink {
    /// Sends messages to this address, with these headers; returns the lines that come back. `lost` is told when the server
    /// has forgotten the session.
    pub(crate) fn open(
        url: &str,
        headers: Vec<(String, String)>,
        lost: CancellationToken,
    ) -> Result<(Self, mpsc::Receiver<Line>), String> {
        let address = Address::parse(url).map_err(|why| format!("Its address cannot be used: {why}."))?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(format!("Its address begins with \"{}\"; haft knows http and https.", address.scheme()));
        }
        let client = HttpClient::new().connecting_within(TO_CONNECT);
        let (lines, received) = mpsc::channel(WAITING);
        let shared = Shared { client, address, headers, state: Mutex::default(), lines, lost };
        Ok((Self(Arc::new(shared)), received))
    }

    /// Sends a message. A request waits for its answer elsewhere.
    pub(crate) async fn send(&self, line: &[u8]) -> Result<(), Closed> {
        let message = Message::of(line).ok_or(Closed)?;
        if message.method == "notifications/cancelled" && self.0.is_stateless() {
            // The end of the stream is the cancellation.
            let cancelled = serde_json::from_slice::<Value>(line).ok();
            let id = cancelled.map(|value| value["params"]["requestId"].to_string());
            if let Some(running) = id.and_then(|id| self.0.state().running.remove(&id)) {
                running.abort();
            }
            return Ok(());
        }
        let shared = self.0.clone();
        match &message.id {
            Some(id) => {
                let key = id.to_string();
                let running = tokio::spawn(async move { shared.exchange(message).await }).abort_handle();
                self.0.state().running.insert(key, running);
            }
            // In order: what follows a notification builds on it.
            None => shared.exchange(message).await,
        }
        Ok(())
    }

    /// Ends the session, where there is one.
    pub(crate) async fn end(&self) {
        let running = std::mem::take(&mut self.0.state().running);
        running.into_values().for_each(|running| running.abort());
        let Some(session) = self.0.state().session.take() else { return };
        let headers = vec![("mcp-session-id", session)];
        let request = Outgoing { method: Method::Delete, address: self.0.address.clone(), headers, body: Bytes::new() };
        let _ = tokio::time::timeout(TO_END, self.0.client.send_with(request, &self.0.headers)).await;
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the server has no handshake: then no revision was agreed on.
    fn is_stateless(&self) -> bool {
        self.state().revision.is_none()
    }

    /// Sends a message and passes on what comes back.
    async fn exchange(&self, message: Message) {
        let id = message.id.clone();
        if let Err(why) = self.answered(message).await
            && let Some(id) = &id
        {
            self.fail(id, &why).await;
        }
        if let Some(id) = id {
            self.state().running.remove(&id.to_string());
        }
    }

    async fn answered(&self, message: Message) -> Result<(), String> {
        let (headers, session) = self.headers_of(&message);
        let Message { id, method, body, .. } = message;
        let request = Outgoing { method: Method::Post, address: self.address.clone(), headers, body };
        let sent = self.client.send_with(request, &self.headers).await;
        let mut answer =
            sent.map_err(|error| format!("{} cannot be reached: {}", self.address.place(), words_of(&error)))?;
        if !answer.is_success() {
            return self.refused(answer, (id.as_ref(), session.is_some())).await;
        }
        if method == "initialize" {
            let session = answer.headers().text("mcp-session-id").map(str::to_owned);
            self.state().session = session;
        }
        let Some(id) = id else { return Ok(()) };
        let kind = answer.headers().text("content-type").unwrap_or_default().to_owned();
        let mut has_answered = false;
        if kind.starts_with("text/event-stream") {
            let mut decoder = Decoder::default();
            while let Some(piece) =
                answer.chunk().await.map_err(|error| format!("the connection broke: {}", words_of(&error)))?
            {
                for event in decoder.push(&piece).map_err(|error| error.to_string())? {
                    has_answered |= self.pass_on(event.data.into_bytes(), (&id, &method)).await;
                }
            }
            if let Some(last) = decoder.end() {
                has_answered |= self.pass_on(last.data.into_bytes(), (&id, &method)).await;
            }
        } else {
            let whole = whole(&mut answer, LONGEST_MESSAGE).await?;
            has_answered = self.pass_on(whole, (&id, &method)).await;
        }
        if has_answered { Ok(()) } else { Err("the server ended its answer without a result".to_owned()) }
    }

    /// Passes one message on; returns whether it answers the request.
    async fn pass_on(&self, message: Vec<u8>, (id, method): (&Value, &str)) -> bool {
        if message.trim_ascii().is_empty() {
            return false;
        }
        let value: Option<Value> = serde_json::from_slice(&message).ok();
        let is_answer =
            value.as_ref().is_some_and(|value| value.get("id") == Some(id) && value.get("method").is_none());
        if is_answer && method == "initialize" {
            let revision = value.as_ref().and_then(|value| value["result"]["protocolVersion"].as_str());
            self.state().revision = revision.map(str::to_owned);
        }
        let _ = self.lines.send(Line::Message(message)).await;
        is_answer
    }

    /// Reads a refusal. One that is a message of the protocol says more than its status.
    async fn refused(&self, mut answer: Incoming, (id, has_session): (Option<&Value>, bool)) -> Result<(), String> {
        let status = answer.status();
        if status == 404 && has_session {
            // The server has forgotten the session; the next call opens another one.
            self.lost.cancel();
            return Err("the server has forgotten the session".to_owned());
        }
        let body = whole(&mut answer, LONGEST_REFUSAL).await.unwrap_or_default();
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        if let (Some(error), Some(id)) =
            (value.as_ref().and_then(|value| value.get("error")).filter(|e| e.is_object()), id)
        {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            let _ = self.lines.send(Line::Message(message.to_string().into_bytes())).await;
            return Ok(());
        }
        Err(match status {
            401 | 403 => format!(
                "the server refuses haft with HTTP status {status}: it needs a login; give it a header \"Authorization\" in its file"
            ),
            300..=399 => format!(
                "the server redirects haft (HTTP status {status}), and haft follows no redirect; use the address that it names"
            ),
            _ => format!("the server answered with HTTP status {status}"),
        })
    }

    async fn fail(&self, id: &Value, why: &str) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": TRANSPORT, "message": why } });
        let _ = self.lines.send(Line::Message(message.to_string().into_bytes())).await;
    }

    fn headers_of(&self, message: &Message) -> (Vec<(&'static str, String)>, Option<String>) {
        let state = self.state();
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        let revision = message.revision.clone().or_else(|| state.revision.clone());
        headers.extend(revision.map(|revision| ("mcp-protocol-version", revision)));
        headers.extend(state.session.clone().map(|session| ("mcp-session-id", session)));
        if message.revision.is_some() {
            headers.push(("mcp-method", in_header(&message.method)));
            headers.extend(message.name.as_ref().map(|name| ("mcp-name", in_header(name))));
        }
        (headers, state.session.clone())
    }
}

impl Message {
    fn of(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let params = &value["params"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            id: value.get("id").filter(|_| value.get("method").is_some()).cloned(),
            method: text(&value["method"]).unwrap_or_default(),
            revision: text(&params["_meta"][REVISION]),
            name: text(&params["name"]).or_else(|| text(&params["uri"])),
            body: Bytes::copy_from_slice(line.trim_ascii_end()),
        })
    }
}

async fn whole(answer: &mut Incoming, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(piece) =
        answer.chunk().await.map_err(|error| format!("the connection broke: {}", words_of(&error)))?
    {
        if body.len() + piece.len() > most {
            return Err(format!(
                "the server sent a message of more than {} MiB; haft skipped it",
                LONGEST_MESSAGE / 1024 / 1024
            ));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn words_of(error: &SendError) -> String {
    match error {
        SendError::BadHeader { .. } => "a header of its entry has a character that no request can carry".to_owned(),
        SendError::BadProxy => "the proxy cannot be used".to_owned(),
        SendError::ConnectTimedOut => format!("no connection within {} s", TO_CONNECT.as_secs()),
        SendError::NoClient { why } | SendError::NotConnected { why, .. } | SendError::BrokeOff { why } => why.clone(),
    }
}

/// Writes a value as a header can carry it.
fn in_header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if is_plain && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_header_can_carry_is_encoded() {
        assert_eq!(in_header("echo"), "echo");
        assert_eq!(in_header("ü"), "=?base64?w7w=?=");
        assert_eq!(in_header(" a"), "=?base64?IGE=?=");
    }

    #[test]
    fn only_http_addresses_are_used() {
        for url in ["file:///etc/passwd", "ws://host", "no address"] {
            assert!(HttpSink::open(url, Vec::new(), CancellationToken::new()).is_err(), "{url}");
        }
    }
}
