//! Asks a model over HTTP, and retries failures.
//!
//! haft retries a failure before the first reported piece of the reply, with growing pauses, or exactly when the provider
//! asks. It retries silence only once, because silence has cost much time already. A later failure ends the reply with
//! its pieces and the reason: a reported piece cannot be taken back. A stop ends every wait immediately.
//!
//! Not here: the content of requests and answers (the formats), and the source of address, key and proxy (`haft-config`).
//! This module does not read the environment.

mod address;
mod advice;
mod again;
mod answer;
mod listing;
mod moment;
mod sight;
mod transport;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::BoxFuture;
use haft_net::{HttpClient, Incoming, SendError};
use secrecy::{ExposeSecret, SecretString};
use tokio_util::sync::CancellationToken;

use crate::anthropic::Anthropic;
use crate::chat::Chat;
use crate::conversation::{Reply, StopReason};
use crate::form::WireFormat;
use crate::gemini::Gemini;
use crate::provider::{LanguageModel, ModelError, ModelRequest, ReplyEvent, ReplyListener};
use crate::quirks::Quirks;
use crate::responses::Responses;
use crate::wire::Wire;
use again::{AttemptCount, ReplyFailure};
use answer::{Bounds, ResponseReader};
use sight::ImageSupport;
use transport::Transport;

/// What is said of a reply that its provider ended in order, but not as one that is whole.
const ENDED_EARLY: &str = "the provider ended it early";

/// Where a model is, and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The form of requests and replies.
    pub wire: Wire,
    /// The address up to, not including, the path of the form.
    pub base_url: String,
    /// The name of the model at the provider.
    pub model: String,
    /// What admits to it.
    pub key: Option<SecretString>,
    /// What the server there wants otherwise than others that speak Chat.
    pub quirks: Quirks,
    /// How long to wait, and how often to try.
    pub times: Times,
}

/// How long to wait, and how often to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Until a server answers at the address.
    pub connect: Duration,
    /// For the next sign of life. A local model that reads a long conversation gives none for minutes.
    pub idle: Duration,
    /// For a whole reply, with all tries and pauses.
    pub total: Duration,
    /// The first pause before another try where the provider names none. Each further one is twice as long.
    pub back_off: Duration,
    /// How often a reply is asked for, the first time counted. Where nothing came, it is asked for twice at most.
    pub tries: u32,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            total: Duration::from_secs(1800),
            back_off: Duration::from_millis(500),
            tries: 6,
        }
    }
}

/// A model at an HTTP endpoint.
pub struct ModelConnection {
    endpoint: Endpoint,
    form: Box<dyn WireFormat>,
    transport: Transport,
    sight: ImageSupport,
}

impl ModelConnection {
    /// Makes a connection over an HTTP client, which knows the proxy where there is one. Nothing is sent and nothing is
    /// looked at before the first request.
    pub fn new(endpoint: Endpoint, client: HttpClient) -> ModelConnection {
        let form: Box<dyn WireFormat> = match endpoint.wire {
            Wire::Anthropic => Box::new(Anthropic),
            Wire::Responses => Box::new(Responses::default()),
            Wire::Chat => Box::new(Chat { quirks: endpoint.quirks }),
            Wire::Gemini => Box::new(Gemini),
        };
        let transport = Transport::new(client.connecting_within(endpoint.times.connect));
        ModelConnection { transport, form, endpoint, sight: ImageSupport::default() }
    }

    /// Shows the model no images: a note says that they are there.
    #[must_use]
    pub fn without_images(mut self) -> ModelConnection {
        self.sight = ImageSupport::turned_off();
        self
    }

    async fn ask(
        &self,
        request: &ModelRequest<'_>,
        heard: ReplyListener<'_>,
        stop: &CancellationToken,
    ) -> Result<Reply, ModelError> {
        let times = &self.endpoint.times;
        let bounds = Bounds::new(times, stop);
        let written = || self.written(request);
        let mut body = written();
        let mut tried = AttemptCount::default();
        loop {
            let failure = match self.ask_once(request, body.clone(), heard, &bounds).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            if self.form.learns_from(&failure.error) {
                body = written();
                continue;
            }
            if self.sight.learns_from(&failure.error, request.messages) {
                // The user should know why the model answers as if it had not seen the image.
                heard(ReplyEvent::Again(Duration::ZERO, &failure.error.what));
                body = written();
                continue;
            }
            let pause = match tried.pause_after(&failure, times) {
                Ok(pause) if pause < bounds.left() => pause,
                Ok(pause) => return Err(failure.too_long_a_pause(pause)),
                Err(given_up) => return Err(given_up),
            };
            heard(ReplyEvent::Again(pause, &failure.error.what));
            bounds.rest(pause).await?;
        }
    }

    fn written(&self, request: &ModelRequest<'_>) -> Bytes {
        let messages = self.sight.shown(request.messages);
        Bytes::from(self.form.request(&self.endpoint.model, &ModelRequest { messages: &messages, ..request.clone() }))
    }

    /// Asks once. A failure is returned only where nothing of the reply was told.
    async fn ask_once(
        &self,
        request: &ModelRequest<'_>,
        body: Bytes,
        heard: ReplyListener<'_>,
        bounds: &Bounds<'_>,
    ) -> Result<Reply, ReplyFailure> {
        let was_told = AtomicBool::new(false);
        let listen = |piece: ReplyEvent<'_>| {
            if !matches!(piece, ReplyEvent::Usage(_) | ReplyEvent::Again(..)) {
                was_told.store(true, Ordering::Relaxed);
            }
            heard(piece);
        };
        let mut answering = ResponseReader::new(self.form.reading(&self.endpoint.model, request), &listen);
        let outcome = match self.send(body, bounds).await {
            Ok(response) => answering.read(response, bounds).await,
            Err(failure) => Err(failure),
        };
        // A whole reply counts even if its end marker was cut; an incomplete one counts if a piece of it was reported.
        let counts = |reply: &Reply| reply.stop != StopReason::Cut || was_told.load(Ordering::Relaxed);
        let failure = outcome.err().map(|failure| failure.without(self.key()));
        match answering.end().filter(counts) {
            Some(reply) if reply.stop == StopReason::Cut => {
                let why = failure.map_or_else(|| ENDED_EARLY.to_owned(), |failure| failure.clause());
                Ok(Reply { why_cut: Some(why), ..reply })
            }
            Some(reply) => Ok(reply),
            None => Err(failure.unwrap_or_else(ReplyFailure::empty)),
        }
    }

    async fn send(&self, body: Bytes, bounds: &Bounds<'_>) -> Result<Incoming, ReplyFailure> {
        let address = address::joined(&self.endpoint.base_url, &self.form.path(&self.endpoint.model))?;
        let sending = self.transport.post(address, self.form.headers(self.key()), body);
        let response = bounds.hold(sending).await?.map_err(|error| self.unanswered(error))?;
        if response.is_success() {
            return Ok(response);
        }
        Err(answer::refused(response, bounds).await)
    }

    fn unanswered(&self, error: SendError) -> ReplyFailure {
        self.transport.failure(error, &self.endpoint)
    }

    fn key(&self) -> Option<&str> {
        self.endpoint.key.as_ref().map(|key| key.expose_secret()).filter(|key| !key.is_empty())
    }
}

impl LanguageModel for ModelConnection {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn wire(&self) -> Wire {
        self.endpoint.wire
    }

    fn why_no_images(&self) -> Option<&'static str> {
        self.sight.why_none()
    }

    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest<'a>,
        heard: ReplyListener<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.ask(request, heard, stop))
    }
}
