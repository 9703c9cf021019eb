//! Talks to one client over a pair of pipes, within limits. Each line is a message, or haft answers it with an error.
//!
//! The protocol's crate has a transport for pipes, which drops unreadable lines, takes requests without a limit and lets one
//! id stand for two requests. This transport avoids all three.

pub(crate) mod in_flight;
pub(crate) mod lines;
pub(crate) mod outbox;
pub(crate) mod value_count;
pub(crate) mod wire;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::server::client_session::ClientSession;
use in_flight::{InFlight, MOST};
use lines::{Lines, MessageLine};
use outbox::{ClosedOutbox, Outbox, line_of};
use wire::Incoming;

/// How long calls may go on by themselves when the input has ended, before they are stopped.
const GRACE: Duration = Duration::from_millis(250);
/// The server has as many requests as it takes.
const BUSY: ErrorCode = ErrorCode(-32000);

/// One client.
pub(crate) struct Pipes {
    pub(crate) lines: Lines,
    pub(crate) outbox: Outbox,
    /// The client, whose tools are there as soon as it has asked for them.
    pub(crate) client: Arc<ClientSession>,
    pub(crate) in_flight: Arc<InFlight>,
    /// Told when nothing more is to be done.
    pub(crate) ended: CancellationToken,
    /// Errors that wait for room.
    pub(crate) owed: VecDeque<Vec<u8>>,
    /// Requests that wait until others are answered. Reading goes on behind them: a ping is answered, and
    /// a cancellation removes its request.
    pub(crate) waiting: VecDeque<(RequestId, ClientJsonRpcMessage)>,
    /// Until when calls may go on by themselves, once the input has ended.
    pub(crate) until: Option<Instant>,
}

impl Pipes {
    /// Takes one line; returns the message that it is, or notes the error that it is answered with.
    fn take(&mut self, line: MessageLine) -> Option<ClientJsonRpcMessage> {
        let line = match line {
            MessageLine::Message(line) => line,
            MessageLine::TooLong => {
                let error = ErrorData::invalid_request("the message is longer than 64 MiB and was skipped", None);
                self.owe(None, error);
                return None;
            }
        };
        match wire::read(&line) {
            Incoming::Request(id, _) if !self.in_flight.has_room() => {
                let busy = format!("{MOST} requests are unfinished; send this one again when one of them is answered");
                self.owe(Some(id), ErrorData::new(BUSY, busy, None));
                None
            }
            Incoming::Request(id, request) => match self.in_flight.take(&id, line.len()) {
                Ok(()) => {
                    let is_ping = matches!(*request, ClientRequest::PingRequest(_));
                    let message = ClientJsonRpcMessage::request(*request, id.clone());
                    if is_ping && self.in_flight.begin_ping(&id) {
                        return Some(message);
                    }
                    self.waiting.push_back((id, message));
                    None
                }
                Err(_) => {
                    let error = ErrorData::invalid_request("a request with this id has no answer yet", None);
                    self.owe(Some(id), error);
                    None
                }
            },
            Incoming::Cancelled(id, notification) => {
                if let Some(place) = self.waiting.iter().position(|(waiting, _)| *waiting == id) {
                    self.waiting.remove(place);
                    self.in_flight.answered(&id);
                    return None;
                }
                self.in_flight.cancel(&id).then(|| ClientJsonRpcMessage::notification(notification))
            }
            Incoming::Notification(notification) => Some(ClientJsonRpcMessage::notification(notification)),
            Incoming::Answer(id, message) => self.in_flight.take_answer(&id).then_some(*message),
            Incoming::Nothing => None,
            Incoming::Wrong(id, error) => {
                self.owe(id, error);
                None
            }
        }
    }

    /// Returns the next request that may run.
    fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        let (id, _) = self.waiting.front()?;
        if !self.in_flight.begin(id) {
            return None;
        }
        self.waiting.pop_front().map(|(_, message)| message)
    }

    /// Hides secrets in an error. What no call has made quotes the client, and it may have sent what it read elsewhere.
    fn hide(&self, error: &mut ErrorData) {
        let Some(toolbox) = self.client.opened.get() else { return };
        let redactor = toolbox.host().runtime.redactor();
        error.message = redactor.redact(&error.message).into_owned().into();
        error.data.iter_mut().for_each(|data| redactor.redact_value(data));
    }

    fn owe(&mut self, id: Option<RequestId>, mut error: ErrorData) {
        self.hide(&mut error);
        // Readers of all ages take null where the id is not known; left out, only new ones would.
        let line = match id {
            Some(id) => line_of(&ServerJsonRpcMessage::error(error, Some(id))),
            None => line_of(&serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error })),
        };
        self.owed.push_back(line);
    }

    /// Lets calls come to their end after the last line, for a while; returns whether there is more to do.
    async fn last_answers(&self, until: Instant) -> bool {
        if self.in_flight.is_empty() {
            return false;
        }
        tokio::select! {
            () = self.in_flight.changed() => true,
            () = self.ended.cancelled() => false,
            () = tokio::time::sleep_until(until) => false,
        }
    }
}

impl Transport<RoleServer> for Pipes {
    type Error = ClosedOutbox;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), ClosedOutbox>> + Send + 'static {
        if let ServerJsonRpcMessage::Error(error) = &mut message {
            self.hide(&mut error.error);
        }
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ServerJsonRpcMessage::Error(error) => error.id.clone(),
            ServerJsonRpcMessage::Request(request) => {
                self.in_flight.ask(request.id.clone());
                None
            }
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // The question was taken back.
                    self.in_flight.take_answer(id);
                }
                None
            }
        };
        let line = line_of(&message);
        let (outbox, in_flight) = (self.outbox.clone(), self.in_flight.clone());
        async move {
            let put = outbox.put(line).await;
            // Only now: what waits for room counts as unfinished, so that a client that does not read is not read either.
            if let Some(id) = answered {
                in_flight.answered(&id);
            }
            put
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.ended.is_cancelled() || self.outbox.put_all(&mut self.owed).await.is_err() {
                self.ended.cancel();
                return None;
            }
            if let Some(message) = self.next_waiting() {
                return Some(message);
            }
            if let Some(until) = self.until {
                if self.last_answers(until).await {
                    continue;
                }
                self.ended.cancel();
                return None;
            }
            // While the client owes us an answer it must be read, or both would wait for ever.
            let may_read = self.in_flight.has_room() || self.in_flight.is_asking();
            tokio::select! {
                biased;
                () = self.ended.cancelled() => return None,
                () = self.in_flight.changed(), if !may_read || !self.waiting.is_empty() => {}
                line = self.lines.next(), if may_read => match line {
                    Some(line) => {
                        if let Some(message) = self.take(line) {
                            return Some(message);
                        }
                    }
                    None => self.until = Some(Instant::now() + GRACE),
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), ClosedOutbox> {
        Ok(())
    }
}
