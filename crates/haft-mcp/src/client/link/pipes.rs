//! The transport between haft and a server, in bounded memory; nothing that a server sends can hang a call.
//!
//! It drops messages that no request waits for, and replaces unreadable answers with errors. If a server does not answer the
//! question for the era, the transport answers as a server that does not know the question.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::http::HttpSink;
use super::traffic::ServerTraffic;
use crate::transport::lines::{Lines, MessageLine};
use crate::transport::outbox::{ClosedOutbox, Outbox, line_of};
use crate::transport::value_count::is_too_heavy;

/// Longest message, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// How long haft waits for the answer to the question for the era: silence is an answer.
const PROBE: Duration = Duration::from_millis(1_500);
/// The same of a server at an address, which answers everything, or that answered the question before.
const LONG_PROBE: Duration = Duration::from_secs(15);
/// The codes of errors that only servers without a handshake send.
const MODERN_ERRORS: std::ops::RangeInclusive<i64> = -32_022..=-32_020;
/// Most requests that a server may send; one that sends more floods.
const MOST_REQUESTS: usize = 10_000;
/// Longest id of a request of a server, in bytes: the answer repeats it.
const LONGEST_ID: usize = 1_024;
/// Most bytes of answers that wait for a server to read them.
const MOST_OWED: usize = 16 * 1024 * 1024;
/// The requests of a server that haft knows. An answer to another one does not repeat its name.
const KNOWN_REQUESTS: [&str; 4] = ["ping", "roots/list", "sampling/createMessage", "elicitation/create"];

/// The pipes of one server.
pub(crate) struct ServerPipes {
    lines: Lines,
    sink: Sink,
    traffic: Arc<ServerTraffic>,
    ended: CancellationToken,
    /// Messages that come before the next line.
    made: VecDeque<ServerJsonRpcMessage>,
    probe: Option<(RequestId, Instant)>,
    /// How long an answer to the question for the era may take.
    patience: Duration,
    /// The question for the era that had no answer in time.
    late: Option<RequestId>,
    requests: usize,
    /// The bytes of the answers that the server has not read yet.
    owed: Arc<AtomicUsize>,
}

/// Where messages to a server go.
#[derive(Clone)]
pub(crate) enum Sink {
    /// Into its input.
    Pipe(Outbox),
    /// To its address.
    Http(HttpSink),
}

impl Sink {
    async fn put(&self, line: Vec<u8>) -> Result<(), ClosedOutbox> {
        match self {
            Sink::Pipe(outbox) => outbox.put(line).await,
            Sink::Http(http) => http.send(&line).await,
        }
    }
}

/// The outer part of a message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
}

impl ServerPipes {
    /// Talks over these pipes until `ended` is told.
    pub(crate) fn new((lines, sink): (Lines, Sink), traffic: Arc<ServerTraffic>, ended: CancellationToken) -> Self {
        let patience = if matches!(sink, Sink::Http(_)) { LONG_PROBE } else { PROBE };
        Self {
            lines,
            sink,
            traffic,
            ended,
            made: VecDeque::new(),
            probe: None,
            patience,
            late: None,
            requests: 0,
            owed: Arc::default(),
        }
    }

    /// Waits longer for a server that answered the question for the era before.
    pub(crate) fn known_to_answer(self) -> Self {
        Self { patience: LONG_PROBE, ..self }
    }

    /// Takes one line; returns the message that it is, if anybody needs it.
    fn take(&mut self, line: MessageLine) -> Option<ServerJsonRpcMessage> {
        let line = match line {
            MessageLine::Message(line) if !is_too_heavy(&line) => line,
            MessageLine::Message(_) | MessageLine::TooLong => {
                let most = LONGEST_MESSAGE / 1024 / 1024;
                self.fail_all(&format!(
                    "the server sent a message of more than {most} MiB or of too many values; haft skipped it"
                ));
                return None;
            }
        };
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
            self.traffic.note_noise(text);
            return None;
        };
        match (&envelope.method, envelope.id.map(RawValue::get)) {
            (Some(method), None) => self.notification(method, text),
            (Some(method), Some(id)) => self.request((method, id), text),
            (None, Some(id)) => self.answer(id, text, envelope.result),
            (None, None) => {
                self.traffic.note_noise(text);
                None
            }
        }
    }

    /// A flood of these costs nothing: haft notes equal ones once, and drops those without a receiver.
    fn notification(&mut self, method: &str, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        match method {
            "notifications/tools/list_changed" => {
                self.traffic.note_new_tools();
                None
            }
            "notifications/progress"
            | "notifications/cancelled"
            | "notifications/message"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged" => serde_json::from_slice(text).ok(),
            _ => None,
        }
    }

    fn request(&mut self, (method, id): (&str, &str), text: &[u8]) -> Option<ServerJsonRpcMessage> {
        self.requests += 1;
        if self.requests > MOST_REQUESTS {
            self.end("haft ended the server: it sent more than 10,000 requests.");
            return None;
        }
        if id.len() > LONGEST_ID {
            self.end("haft ended the server: the id of a request of it is longer than 1 KiB.");
            return None;
        }
        let Ok(id) = serde_json::from_str::<RequestId>(id) else {
            self.traffic.note_noise(text);
            return None;
        };
        if !KNOWN_REQUESTS.contains(&method) {
            self.refuse(id, ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "haft does not know this method", None));
            return None;
        }
        let message: Option<ServerJsonRpcMessage> = serde_json::from_slice(text).ok();
        if message.is_none() {
            self.traffic.note_noise(text);
            self.refuse(id, ErrorData::invalid_params("haft cannot read the request", None));
        }
        message
    }

    fn refuse(&self, id: RequestId, error: ErrorData) {
        let line = line_of(&ClientJsonRpcMessage::error(error, Some(id)));
        if let Some(sent) = self.send_answer(line) {
            tokio::spawn(sent);
        }
    }

    /// Sends an answer; ends a server that does not read those before it.
    fn send_answer(&self, line: Vec<u8>) -> Option<impl Future<Output = Result<(), ClosedOutbox>> + Send + 'static> {
        let (bytes, owed) = (line.len(), self.owed.clone());
        if owed.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_OWED {
            self.end("haft ended the server: it does not read the answers to its requests.");
            return None;
        }
        let sink = self.sink.clone();
        Some(async move {
            let sent = sink.put(line).await;
            owed.fetch_sub(bytes, Ordering::Relaxed);
            sent
        })
    }

    fn end(&self, why: &'static str) {
        self.traffic.note_flood(why);
        self.ended.cancel();
    }

    fn answer(&mut self, id: &str, text: &[u8], result: Option<&RawValue>) -> Option<ServerJsonRpcMessage> {
        let Ok(id) = serde_json::from_str::<RequestId>(id) else {
            self.traffic.note_noise(text);
            return None;
        };
        let is_discovery = result.is_some_and(|result| result.get().contains("\"supportedVersions\""));
        if self.late.as_ref() == Some(&id) {
            if is_discovery {
                self.traffic.note_modern();
                self.ended.cancel();
            }
            return None;
        }
        let is_probe = self.probe.as_ref().is_some_and(|(probe, _)| *probe == id);
        if is_probe {
            self.probe = None;
        }
        if !self.traffic.answered(&id) {
            return None;
        }
        if is_probe && result.is_none() {
            let code = serde_json::from_slice::<serde_json::Value>(text).ok();
            let code = code.and_then(|message| message["error"]["code"].as_i64());
            if code.is_some_and(|code| MODERN_ERRORS.contains(&code)) {
                self.traffic.note_modern();
            }
        }
        if is_probe && result.is_some() && !is_discovery {
            // It answers every question with something; it does not know this one.
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the answer is none to this question", None);
            return Some(ServerJsonRpcMessage::error(error, Some(id)));
        }
        match serde_json::from_slice(text) {
            Ok(message @ (ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))) => Some(message),
            Ok(_) | Err(_) => Some(failure(id, "the answer of the server cannot be read")),
        }
    }

    /// Ends all requests with an error: which one a skipped message answered is not known.
    fn fail_all(&mut self, why: &str) {
        self.made.extend(self.traffic.take_all().into_iter().map(|id| failure(id, why)));
    }

    /// Takes silence for the answer of a server that does not know the question.
    fn end_probe(&mut self) {
        if let Some((id, _)) = self.probe.take() {
            self.traffic.forget(&id);
            self.late = Some(id.clone());
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the server did not answer", None);
            self.made.push_back(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }
}

fn failure(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(why.to_owned(), None), Some(id))
}

impl Transport<RoleClient> for ServerPipes {
    type Error = ClosedOutbox;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), ClosedOutbox>> + Send + 'static {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.traffic.ask(request.id.clone());
                if matches!(request.request, ClientRequest::DiscoverRequest(_)) {
                    self.probe = Some((request.id.clone(), Instant::now() + self.patience));
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // haft ignores a later answer from the server.
                    self.traffic.forget(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        let is_answer = matches!(message, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_));
        let line = line_of(&message);
        let (sink, answer) = match is_answer {
            true => (None, self.send_answer(line)),
            false => (Some((self.sink.clone(), line)), None),
        };
        async move {
            match (sink, answer) {
                (Some((sink, line)), _) => sink.put(line).await,
                (None, Some(answer)) => answer.await,
                (None, None) => Err(ClosedOutbox),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.made.pop_front() {
                return Some(message);
            }
            let until = self.probe.as_ref().map(|(_, until)| *until);
            let silence = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.ended.cancelled() => return None,
                line = self.lines.next() => {
                    if let Some(message) = self.take(line?) {
                        return Some(message);
                    }
                }
                () = silence => self.end_probe(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), ClosedOutbox> {
        self.ended.cancel();
        if let Sink::Http(http) = &self.sink {
            http.end().await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use rmcp::model::{ClientJsonRpcMessage, ClientResult, EmptyResult};

    use super::*;

    /// Pipes to a server that reads nothing until the test does.
    fn pipes() -> (ServerPipes, Arc<ServerTraffic>, (std::io::PipeReader, std::io::PipeWriter)) {
        let (from_haft, to_server) = std::io::pipe().expect("there are pipes");
        let (from_server, server) = std::io::pipe().expect("there are pipes");
        let (ended, traffic) = (CancellationToken::new(), Arc::new(ServerTraffic::default()));
        let (outbox, _) = Outbox::open(to_server.into(), ended.clone()).expect("it opens");
        let lines = Lines::at_most(from_server.into(), LONGEST_MESSAGE);
        let pipes = ServerPipes::new((lines, Sink::Pipe(outbox)), traffic.clone(), ended);
        (pipes, traffic, (from_haft, server))
    }

    fn request(id: &str, method: &str) -> MessageLine {
        MessageLine::Message(format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}"}}"#).into_bytes())
    }

    #[tokio::test]
    async fn a_request_whose_answer_would_repeat_a_long_id_ends_the_server() {
        for method in ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "unknown"] {
            let (mut pipes, traffic, _ends) = pipes();
            assert!(pipes.take(request(&"x".repeat(LONGEST_ID + 1), method)).is_none());
            assert!(pipes.ended.is_cancelled() && traffic.flood().is_some_and(|why| why.contains("id")), "{method}");
        }
    }

    #[tokio::test]
    async fn the_answer_to_an_unknown_method_does_not_repeat_its_name() {
        let (mut pipes, _, (mut heard, _server)) = pipes();
        assert!(pipes.take(request("1", &"foo".repeat(100_000))).is_none());
        let answer = tokio::task::spawn_blocking(move || {
            let mut bytes = [0; 4_096];
            let count = heard.read(&mut bytes).expect("haft answers");
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        });
        let answer = answer.await.expect("it is read");
        assert!(answer.contains("-32601") && answer.ends_with("}\n") && answer.len() < 200, "{answer}");
    }

    #[tokio::test]
    async fn a_server_that_does_not_read_is_ended_at_a_number_of_bytes() {
        let (mut pipes, traffic, _ends) = pipes();
        let id = "x".repeat(LONGEST_ID - 2);
        let mut sent = Vec::new();
        let most = MOST_OWED / LONGEST_ID;
        while !pipes.ended.is_cancelled() {
            let result = ClientResult::EmptyResult(EmptyResult {});
            let answer = ClientJsonRpcMessage::response(result, RequestId::String(id.clone().into()));
            sent.push(pipes.send(answer));
            assert!(sent.len() <= most, "{}", sent.len());
        }
        assert!(traffic.flood().is_some_and(|why| why.contains("does not read")));
    }
}
