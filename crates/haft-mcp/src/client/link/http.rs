//! Talks to a remote server over HTTP: each message is a request, and replies are lines like those of a pipe.
//!
//! An answer is one JSON message, or a stream of events. A transport failure becomes the error of the request that it
//! affects, so no call waits for an answer that cannot come.
//!
//! Not here: keys and logins (`oauth`).

mod headers;
mod stream;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::net::Method;
use haft_net::{Address, HttpClient, Incoming, Outgoing, SendError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::pipes::LONGEST_MESSAGE;
use super::traffic::ServerTraffic;
use crate::client::oauth::{AfterRefusal, Login, ServerRefusal};
use crate::client::offers::manifest::Manifest;
use crate::transport::lines::MessageLine;
use crate::transport::outbox::ClosedOutbox;
pub(crate) use headers::check_mirrored;
use headers::{MirroredArguments, OutboundMessage, in_header};

/// How long a connection may take.
const TO_CONNECT: Duration = Duration::from_secs(10);
/// How long the last request may take.
const TO_END: Duration = Duration::from_secs(1);
/// Most bytes of a refusal that are read.
const LONGEST_REFUSAL: usize = 64 * 1024;
/// Messages that wait to be taken.
const WAITING: usize = 64;
/// The code of an error that the transport makes.
const TRANSPORT: i32 = -32_000;
/// The code of a server that knows other headers for a tool than haft.
const OTHER_HEADERS: i64 = -32_020;
/// Why a request failed that came with a session which the server does not know any more.
pub(crate) const FORGOTTEN: &str = "the server has forgotten the session";
/// Under this key the stream is kept that no request asked for.
const UNASKED: &str = "unasked";

/// Sends messages to an address.
#[derive(Clone)]
pub(crate) struct HttpSink(Arc<RemoteTransport>);

/// The address of a server, with the headers, login and traffic record of its requests.
pub(crate) struct RemoteEndpoint<'a> {
    pub(crate) url: &'a str,
    /// Headers of each request.
    pub(crate) headers: Vec<(String, String)>,
    /// The user's login; nothing if a header has it.
    pub(crate) login: Option<Arc<Login>>,
    pub(crate) traffic: Arc<ServerTraffic>,
}

struct RemoteTransport {
    client: HttpClient,
    address: Address,
    headers: Vec<(String, String)>,
    login: Option<Arc<Login>>,
    traffic: Arc<ServerTraffic>,
    state: Mutex<RemoteTransportState>,
    lines: mpsc::Sender<MessageLine>,
    /// Told when the server has forgotten the session.
    lost: CancellationToken,
}

#[derive(Default)]
struct RemoteTransportState {
    /// The session that the server gave, in the old era.
    session: Option<String>,
    /// The revision that the handshake found.
    revision: Option<String>,
    /// What waits for an answer.
    running: HashMap<String, AbortHandle>,
    mirrored: MirroredArguments,
}

impl HttpSink {
    /// Sends messages there; returns the lines that come back. `lost` is told when the server has forgotten the session.
    pub(crate) fn open(
        to: RemoteEndpoint<'_>,
        lost: CancellationToken,
    ) -> Result<(Self, mpsc::Receiver<MessageLine>), String> {
        let RemoteEndpoint { url, headers, login, traffic } = to;
        let address = Address::parse(url).map_err(|why| format!("Its address cannot be used: {why}."))?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(format!("Its address begins with \"{}\"; haft knows http and https.", address.scheme()));
        }
        let client = HttpClient::new().connecting_within(TO_CONNECT);
        let (lines, received) = mpsc::channel(WAITING);
        let shared = RemoteTransport { client, address, headers, login, traffic, state: Mutex::default(), lines, lost };
        Ok((Self(Arc::new(shared)), received))
    }

    /// Sends a message. A request waits for its answer elsewhere.
    pub(crate) async fn send(&self, line: &[u8]) -> Result<(), ClosedOutbox> {
        let message = OutboundMessage::of(line).ok_or(ClosedOutbox)?;
        if message.method == "notifications/cancelled" && self.0.is_stateless() {
            // The end of the stream is the cancellation.
            let cancelled = serde_json::from_slice::<Value>(line).ok();
            let id = cancelled.map(|value| value["params"]["requestId"].to_string());
            if let Some(running) = id.and_then(|id| self.0.state().running.remove(&id)) {
                running.abort();
            }
            return Ok(());
        }
        let is_greeted = message.method == "notifications/initialized";
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
        if is_greeted && !self.0.is_stateless() {
            let shared = self.0.clone();
            let listening = tokio::spawn(async move { shared.listen().await }).abort_handle();
            self.0.state().running.insert(UNASKED.to_owned(), listening);
        }
        Ok(())
    }

    /// Learns which arguments its tools want in headers.
    pub(crate) fn mirror(&self, manifest: &Manifest) {
        self.0.state().mirrored = MirroredArguments::of(manifest);
    }

    /// Ends the session, where there is one.
    pub(crate) async fn end(&self) {
        let running = std::mem::take(&mut self.0.state().running);
        running.into_values().for_each(|running| running.abort());
        let Some(session) = self.0.state().session.take() else { return };
        let ending = async {
            let headers = vec![("mcp-session-id", session)];
            let address = self.0.address.clone();
            let request = Outgoing { method: Method::Delete, address, headers, body: Bytes::new() };
            let (named, _) = self.0.named_headers(Vec::new()).await;
            self.0.client.send_with(request, &named).await
        };
        let _ = tokio::time::timeout(TO_END, ending).await;
    }
}

impl RemoteTransport {
    fn state(&self) -> MutexGuard<'_, RemoteTransportState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the server has no handshake: then no revision was agreed on.
    fn is_stateless(&self) -> bool {
        self.state().revision.is_none()
    }

    /// Sends a message and passes on what comes back.
    async fn exchange(&self, message: OutboundMessage) {
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

    async fn answered(&self, message: OutboundMessage) -> Result<(), String> {
        let mut answer = match self.sent(&message).await? {
            PostOutcome::Answer(answer) => answer,
            PostOutcome::Told => return Ok(()),
        };
        let OutboundMessage { id, method, .. } = message;
        if method == "initialize" {
            let session = answer.headers().text("mcp-session-id").map(str::to_owned);
            self.state().session = session;
        }
        let Some(id) = id else { return Ok(()) };
        let kind = answer.headers().text("content-type").unwrap_or_default().to_owned();
        let has_answered = if kind.starts_with("text/event-stream") {
            self.streamed(answer, (&id, &method)).await?
        } else {
            let whole = whole(&mut answer, LONGEST_MESSAGE).await?;
            self.pass_on(whole, (&id, &method)).await
        };
        if has_answered { Ok(()) } else { Err("the server ended its answer without a result".to_owned()) }
    }

    /// Sends a message; once more if a login makes a difference.
    async fn sent(&self, message: &OutboundMessage) -> Result<PostOutcome, String> {
        let (headers, session) = self.headers_of(message);
        let mirrored = self.state().mirrored.headers_of(message);
        let mut has_retried = false;
        loop {
            let (named, key) = self.named_headers(mirrored.clone()).await;
            let (address, body) = (self.address.clone(), message.body.clone());
            let request = Outgoing { method: Method::Post, address, headers: headers.clone(), body };
            let sent = self.client.send_with(request, &named).await;
            let answer = sent.map_err(|error| self.unreachable(&error))?;
            if answer.is_success() {
                return Ok(PostOutcome::Answer(answer));
            }
            if let (401 | 403, Some(login)) = (answer.status(), &self.login) {
                let header = answer.headers().text("www-authenticate").map(str::to_owned);
                let refusal = ServerRefusal { status: answer.status(), header: header.as_deref(), key: key.as_deref() };
                match login.after(refusal).await {
                    AfterRefusal::Retry(_) if !has_retried => {
                        has_retried = true;
                        continue;
                    }
                    AfterRefusal::Retry(_) => {
                        let again = ServerRefusal { status: 401, header: header.as_deref(), key: None };
                        return Err(self.needs_user(login.after(again).await));
                    }
                    ask => return Err(self.needs_user(ask)),
                }
            }
            if answer.status() == 404 && session.is_some() {
                // The server has forgotten the session; the next call opens another one.
                self.lost.cancel();
                return Err(FORGOTTEN.to_owned());
            }
            return self.refused(answer, message.id.as_ref()).await.map(|()| PostOutcome::Told);
        }
    }

    /// Notes that only the user can help.
    fn needs_user(&self, after: AfterRefusal) -> String {
        let what = match after {
            AfterRefusal::Ask(what) => what,
            AfterRefusal::Retry(_) => "it refuses every login".to_owned(),
        };
        self.traffic.note_refusal(&what);
        what
    }

    fn unreachable(&self, error: &SendError) -> String {
        format!("{} cannot be reached: {}", self.address.place(), words_of(error))
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
        let _ = self.lines.send(MessageLine::Message(message)).await;
        is_answer
    }

    /// Reads a refusal. One that is a message of the protocol says more than its status.
    async fn refused(&self, mut answer: Incoming, id: Option<&Value>) -> Result<(), String> {
        let status = answer.status();
        let body = whole(&mut answer, LONGEST_REFUSAL).await.unwrap_or_default();
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        if let (Some(error), Some(id)) =
            (value.as_ref().and_then(|value| value.get("error")).filter(|e| e.is_object()), id)
        {
            if error["code"].as_i64() == Some(OTHER_HEADERS) {
                // Its tools are others by now: they are listed again before the next call.
                self.traffic.note_new_tools();
            }
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            let _ = self.lines.send(MessageLine::Message(message.to_string().into_bytes())).await;
            return Ok(());
        }
        Err(match status {
            401 | 403 => {
                let what = format!(
                    "it refuses haft with HTTP status {status}: it needs a login, and the header \"Authorization\" of its entry is not \
                     the right one"
                );
                self.traffic.note_refusal(&what);
                what
            }
            300..=399 => format!(
                "the server redirects haft (HTTP status {status}), and haft follows no redirect; use the address that it names"
            ),
            _ => format!("the server answered with HTTP status {status}"),
        })
    }

    async fn fail(&self, id: &Value, why: &str) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": TRANSPORT, "message": why } });
        let _ = self.lines.send(MessageLine::Message(message.to_string().into_bytes())).await;
    }

    /// Returns the headers that come from the user's file and login, with those that a call repeats; and the key.
    async fn named_headers(&self, more: Vec<(String, String)>) -> (Vec<(String, String)>, Option<String>) {
        let mut headers = self.headers.clone();
        headers.extend(more);
        let key = match &self.login {
            Some(login) => login.key().await,
            None => None,
        };
        headers.extend(key.iter().map(|key| ("authorization".to_owned(), format!("Bearer {key}"))));
        (headers, key)
    }

    fn headers_of(&self, message: &OutboundMessage) -> (Vec<(&'static str, String)>, Option<String>) {
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

/// The outcome of sending a message.
enum PostOutcome {
    /// An answer.
    Answer(Incoming),
    /// A refusal, which was passed on.
    Told,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_are_used() {
        for url in ["file:///etc/passwd", "ws://host", "no address"] {
            let to = RemoteEndpoint { url, headers: Vec::new(), login: None, traffic: Arc::default() };
            assert!(HttpSink::open(to, CancellationToken::new()).is_err(), "{url}");
        }
    }
}
