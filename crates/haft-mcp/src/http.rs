//! Many clients over HTTP, at the address `/mcp`.
//!
//! The protocol's crate reads headers, keeps the sessions of clients with a handshake, and answers requests of the new era
//! each on its own. haft decides before it who may ask (`gate`), bounds sessions (`sessions`), bodies and connections
//! (`haft_net::HttpListener`), and gives each client with a handshake a session of its own with the one workspace.
//!
//! Not here: TLS. A server for other machines stands behind a proxy that has it.

mod gate;
mod sessions;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use haft_host::options::Options;
use haft_host::toolbox::Toolbox;
use haft_net::{HttpListener, RequestHandler, Unreadable};
use http::request::Parts as Head;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::ErrorData;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::serve::{LAST_CALLS, LAST_WORDS};
use crate::server::McpServer;
use crate::server::asking::ClientApprover;
use crate::server::client_session::ClientSession;
use crate::server::fixture::Fixture;
use crate::server::listeners::Listeners;
use crate::server::workspace_server::{WorkspaceServer, WorkspaceServerParts};
use crate::transport::value_count;
pub use gate::{Gate, Token};
use sessions::BoundedSessions;
pub(crate) use sessions::SessionEnds;

/// The one path that is served.
pub const PATH: &str = "/mcp";

type McpResponseBody = BoxBody<Bytes, Infallible>;

/// The workspace that is served over HTTP, and how it is served.
pub struct ServedWorkspace {
    /// How the workspace was opened.
    pub options: Options,
    /// The workspace.
    pub toolbox: Toolbox,
    /// Whether the tools of the conformance suite are served too.
    pub with_fixture: WithFixture,
}

/// Whether the tools of the conformance suite are served too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithFixture {
    /// As for users.
    No,
    /// Beside the tools of the workspace.
    Conformance,
}

/// A port that is open, and what is served on it.
pub struct HttpServer {
    listener: HttpListener,
    gate: Gate,
    address: SocketAddr,
}

impl HttpServer {
    /// Opens a port.
    ///
    /// # Errors
    ///
    /// Says why the port cannot be opened, or that a server for other machines needs a token.
    pub async fn bind(address: SocketAddr, token: Option<Token>) -> Result<Self, String> {
        let listener = HttpListener::bind(address).await;
        let listener = listener.map_err(|error| {
            format!("haft cannot listen on {address}: {error}. Next: choose another port, or 0 for a free one")
        })?;
        let address = listener.address().map_err(|error| format!("the system does not say the port: {error}"))?;
        Ok(Self { listener, gate: Gate::new(address, token)?, address })
    }

    /// Returns the address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Answers clients until `ended` is told. What runs then is stopped.
    pub async fn serve(
        self,
        served: ServedWorkspace,
        (asking, listeners): (ClientApprover, Listeners),
        ended: CancellationToken,
    ) {
        let ServedWorkspace { options, toolbox, with_fixture } = served;
        let fixture = (with_fixture == WithFixture::Conformance).then(Fixture::default);
        let host = Some(toolbox.host().clone());
        let parts = WorkspaceServerParts { options, host, asking, listeners, fixture };
        let workspace = WorkspaceServer::new(parts, ended.clone());
        let single = Arc::new(ClientSession::of(Some(toolbox)));
        workspace.remember(&single);
        let config = StreamableHttpServerConfig::default()
            // The gate compares both, and knows the token.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(HttpListener::LARGEST_BODY)
            .with_cancellation_token(ended.clone());
        let of_requests = (workspace.clone(), single.clone());
        let sessions = BoundedSessions::new(workspace.session_ends.clone());
        let factory = move || Ok(McpServer::of_http(of_requests.0.clone(), of_requests.1.clone()));
        let protocol = StreamableHttpService::new(factory, Arc::new(sessions), config);
        let handler = Arc::new(Handler { gate: self.gate, protocol });
        tokio::select! {
            () = self.listener.serve(handler, ended.cancelled()) => {}
            () = workspace.keep_looking() => {}
        }
        ended.cancel();
        let stopped =
            async { drop(workspace.places.acquire_many(crate::server::workspace_server::MOST_CALLS as u32).await) };
        let _ = tokio::time::timeout(LAST_CALLS, stopped).await;
        workspace.end_jobs().await;
        let notes = workspace.notes.clone();
        let _ = tokio::time::timeout(LAST_WORDS, tokio::task::spawn_blocking(move || notes.write_down())).await;
    }
}

struct Handler {
    gate: Gate,
    protocol: StreamableHttpService<McpServer, BoundedSessions>,
}

impl RequestHandler for Handler {
    type Body = McpResponseBody;

    fn admit(&self, head: &Head) -> Result<(), Response<McpResponseBody>> {
        if head.uri.path() != PATH {
            return Err(refused(StatusCode::NOT_FOUND, &format!("haft serves the protocol at {PATH} only")));
        }
        self.gate.admit(head).map_err(|refusal| {
            let mut response = refused(refusal.status(), refusal.words());
            if refusal.status() == StatusCode::UNAUTHORIZED {
                let scheme = http::HeaderValue::from_static("Bearer realm=\"haft\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            response
        })
    }

    fn unreadable(&self, why: Unreadable) -> Response<McpResponseBody> {
        match why {
            Unreadable::TooLarge => refused(StatusCode::PAYLOAD_TOO_LARGE, "the message is larger than 4 MiB"),
            Unreadable::TooSlow => refused(StatusCode::REQUEST_TIMEOUT, "the message did not come within 60 s"),
            Unreadable::Broken => refused(StatusCode::BAD_REQUEST, "the body cannot be read"),
        }
    }

    async fn answer(&self, request: Request<Bytes>) -> Response<McpResponseBody> {
        if request.method() == Method::POST && value_count::is_too_heavy(request.body()) {
            let words = "the message has more than 1,000,000 values and was skipped";
            return refused(StatusCode::PAYLOAD_TOO_LARGE, words);
        }
        let ends_session = request.method() == Method::DELETE;
        let mut response = self.protocol.handle(request.map(Full::new)).await;
        // The session has ended by now, and clients take "accepted" for a failure.
        if ends_session && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// Refuses a request with an error of the protocol, whose id is not known yet.
fn refused(status: StatusCode, words: &str) -> Response<McpResponseBody> {
    let error = ErrorData::invalid_request(words.to_owned(), None);
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
