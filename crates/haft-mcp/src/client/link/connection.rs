//! One connection to a server: from the start to the list of its tools, and its calls.
//!
//! haft asks a server once for its era, and remembers the answer. If the question makes a server end or stay silent, haft
//! starts it again and greets it as servers before 2026-07-28 expect.

use std::sync::Arc;
use std::time::Duration;

use haft_host::opening::servers::local_code::LocalCode;
use haft_host::opening::servers::process::{ServerProcess, start};
use haft_host::opening::servers::{ServerScope, ServerSpec, ServerTransport};
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult, Tool};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService, ServiceError, serve_client_with_lifecycle};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::handler::{Handler, Sampling};
use super::http::{HttpSink, RemoteEndpoint};
use super::life::Life;
use super::pipes::{LONGEST_MESSAGE, ServerPipes, Sink};
use super::traffic::ServerTraffic;
use crate::client::oauth::Login;
use crate::client::offers::manifest::{MOST_TOOLS, Manifest, Offers};
use crate::transport::lines::Lines;
use crate::transport::outbox::Outbox;

/// How long a server may take from its start to the list of its tools, if its file says nothing. A server of unknown era
/// has half of it until it is started again.
const TO_START: Duration = Duration::from_secs(30);
/// Most pages of a list.
pub(in crate::client) const MOST_PAGES: usize = 100;
/// Most servers that start at the same time.
const MOST_STARTS: usize = 4;
/// How long a server has to end by itself when its input has ended.
const TO_END: Duration = Duration::from_secs(1);
/// How long haft waits for the end of a server that it has asked to end.
const TO_BE_GONE: Duration = Duration::from_secs(3);

static STARTS: Semaphore = Semaphore::const_new(MOST_STARTS);

/// Which of the two protocols a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Era {
    /// With a handshake: up to 2025-11-25.
    Handshake,
    /// Without one: from 2026-07-28 on.
    Stateless,
}

/// A server to be started, and how to start it.
#[derive(Clone)]
pub(crate) struct ServerLaunch {
    pub(crate) name: String,
    pub(crate) spec: ServerSpec,
    pub(crate) key: String,
    pub(crate) scope: Arc<ServerScope>,
    /// The era, if an earlier connection found it.
    pub(crate) era: Option<Era>,
    /// What the command line runs of the workspace, as the user agreed to it.
    pub(crate) local_code: LocalCode,
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(crate) struct NoConnection {
    /// What happened, as sentences.
    pub(crate) what: String,
    /// The end of what the server wrote to its errors.
    pub(crate) errors: String,
}

/// A connection to a running server that has listed its tools.
pub(crate) struct ServerConnection {
    pub(in crate::client) running: RunningService<RoleClient, Handler>,
    pub(crate) life: Life,
    pub(crate) traffic: Arc<ServerTraffic>,
    ended: CancellationToken,
    /// Told when the server has forgotten the session.
    lost: CancellationToken,
    pub(crate) manifest: Manifest,
    pub(crate) era: Era,
    /// The revision of the protocol.
    pub(crate) revision: String,
    /// What it has beside tools.
    pub(crate) offers: Offers,
    /// The user's login to it.
    pub(in crate::client) login: Option<Arc<Login>>,
    /// How long it took until it had answered, and until its tools were listed.
    pub(crate) took: (Duration, Duration),
}

impl ServerConnection {
    /// Starts a server, finds out its era and lists its tools.
    pub(crate) async fn open(start: ServerLaunch) -> Result<Self, NoConnection> {
        let _turn = STARTS.acquire().await;
        let time = start.spec.start_timeout.unwrap_or(TO_START);
        let until = Instant::now() + time;
        let first_until = if start.era.is_some() { until } else { Instant::now() + time / 2 };
        let first = match Self::attempt(&start, start.era, first_until).await {
            Ok(connection) => return Ok(connection),
            Err(failed) => failed,
        };
        // What was remembered may be of another version of the server; else the question itself was too much for it.
        let next = match (first.is_late_modern, start.era) {
            (true, _) | (false, Some(Era::Handshake)) => Era::Stateless,
            (false, None | Some(Era::Stateless)) => Era::Handshake,
        };
        if first.is_final {
            return Err(first.why);
        }
        match Self::attempt(&start, Some(next), until).await {
            Ok(connection) => Ok(connection),
            // The first failure tells more where both are the same.
            Err(_) if start.era.is_some() => Err(first.why),
            Err(second) => Err(second.why),
        }
    }

    async fn attempt(start: &ServerLaunch, era: Option<Era>, until: Instant) -> Result<Self, FailedAttempt> {
        let began = Instant::now();
        let traffic = Arc::new(ServerTraffic::default());
        let ended = CancellationToken::new();
        let lost = CancellationToken::new();
        let ServerEnds { life, ends, login } = ServerEnds::of(start, &ended, &lost, &traffic).await?;
        let address = match &ends.1 {
            Sink::Http(http) => Some(http.clone()),
            Sink::Pipe(_) => None,
        };
        let pipes = ServerPipes::new(ends, traffic.clone(), ended.clone());
        let pipes = if era == Some(Era::Stateless) { pipes.known_to_answer() } else { pipes };
        let sampling = if start.spec.sampling > 0 { Sampling::Allowed } else { Sampling::Refused };
        let handler = Handler::new(start.scope.workspace(), sampling, traffic.clone());
        let connecting = serve_client_with_lifecycle(handler, pipes, mode(era));
        let failed = |what: String| FailedAttempt {
            why: NoConnection { what, errors: life.last_errors() },
            is_late_modern: traffic.is_late_modern(),
            is_final: traffic.refusal().is_some(),
        };
        let running = match timeout_at(until, connecting).await {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => {
                let what = why_it_failed(&life, &traffic, &error.to_string()).await;
                return Err(failed(what));
            }
            Err(_) => {
                let seconds = began.elapsed().as_secs_f64();
                let what = format!("It did not answer within {seconds:.1} s.{}", odd_of(&traffic));
                return Err(failed(what));
            }
        };
        let answered = began.elapsed();
        let peer = running.peer().peer_info();
        let revision = peer.as_ref().map(|peer| peer.protocol_version.clone()).unwrap_or_default();
        if !ProtocolVersion::KNOWN_VERSIONS.contains(&revision) {
            let what = format!("It speaks revision \"{revision}\" of the protocol, which haft does not know.");
            return Err(FailedAttempt { is_final: true, ..failed(what) });
        }
        let offers = peer.as_ref().map(|peer| Offers::of(&peer.capabilities)).unwrap_or_default();
        let named = peer.and_then(|peer| peer.server_info.clone());
        let name = named.map(|named| format!("{} {}", named.name, named.version)).unwrap_or_default();
        let listed = first_list(&running, (name, until), &traffic).await;
        let manifest = listed.map_err(|what| FailedAttempt { is_final: true, ..failed(what) })?;
        if let Some(address) = address {
            address.mirror(&manifest);
        }
        let era = if revision >= ProtocolVersion::V_2026_07_28 { Era::Stateless } else { Era::Handshake };
        let (revision, took) = (revision.to_string(), (answered, began.elapsed()));
        let connection = Self { running, life, traffic, ended, lost, manifest, era, revision, offers, login, took };
        connection.subscribe();
        Ok(connection)
    }

    /// Returns whether the server can still be called.
    pub(crate) fn is_open(&self) -> bool {
        !self.ended.is_cancelled() && !self.lost.is_cancelled() && !self.running.is_closed() && !self.life.has_ended()
    }

    /// Lists the tools again.
    pub(crate) async fn list_again(&self, patience: Duration) -> Result<Manifest, String> {
        let listed = tokio::time::timeout(patience, list(&self.running)).await;
        let tools = listed.map_err(|_| "It did not list its tools in time.".to_owned())??;
        Manifest::of(self.manifest.server.clone(), tools)
    }

    /// Ends the server: its input first, then all its processes.
    pub(crate) async fn close(self) {
        let Self { running, life, .. } = self;
        // The transport goes with it, and the server's input with the transport.
        let _ = running.cancel().await;
        if matches!(life, Life::Process(_)) && tokio::time::timeout(TO_END, life.ended()).await.is_err() {
            life.stop();
            let _ = tokio::time::timeout(TO_BE_GONE, life.ended()).await;
        }
    }
}

/// An attempt that did not end in a connection.
struct FailedAttempt {
    why: NoConnection,
    /// The server has no handshake: it said so, or answered the question for its era when haft no longer waited.
    is_late_modern: bool,
    /// Another era would change nothing.
    is_final: bool,
}

impl FailedAttempt {
    fn finally(what: String) -> Self {
        Self { why: NoConnection { what, errors: String::new() }, is_late_modern: false, is_final: true }
    }
}

/// A server that was started or is elsewhere, and both directions of messages.
struct ServerEnds {
    life: Life,
    ends: (Lines, Sink),
    login: Option<Arc<Login>>,
}

impl ServerEnds {
    /// Starts the server, or prepares the way to it.
    async fn of(
        start: &ServerLaunch,
        ended: &CancellationToken,
        lost: &CancellationToken,
        traffic: &Arc<ServerTraffic>,
    ) -> Result<Self, FailedAttempt> {
        let login = Login::to(&start.name, (&start.spec, &start.key), &start.scope);
        if let ServerTransport::Url(url) = &start.spec.reach {
            let headers = start.spec.environment.clone().into_iter().collect();
            let to = RemoteEndpoint { url, headers, login: login.clone(), traffic: traffic.clone() };
            let (sink, lines) = HttpSink::open(to, lost.clone()).map_err(FailedAttempt::finally)?;
            return Ok(Self { life: Life::Elsewhere, ends: (Lines::Read(lines), Sink::Http(sink)), login });
        }
        let mut process = started(start).await?;
        let taken = process.take_pipes();
        let (input, output) = taken.ok_or_else(|| FailedAttempt::finally("Its pipes are in use.".to_owned()))?;
        let opened = Outbox::open(input, ended.clone());
        let no_files = |error| FailedAttempt::finally(format!("The system has no more files: {error}."));
        let (outbox, _) = opened.map_err(no_files)?;
        let ends = (Lines::at_most(output, LONGEST_MESSAGE), Sink::Pipe(outbox));
        Ok(Self { life: Life::Process(process), ends, login })
    }
}

async fn started(begun: &ServerLaunch) -> Result<ServerProcess, FailedAttempt> {
    let begun = begun.clone();
    if LocalCode::of(&begun.spec, begun.scope.workspace()) != begun.local_code {
        let name = &begun.name;
        let why = format!("Its program in this folder has changed since you agreed. Run: haft mcp add {name}");
        return Err(FailedAttempt::finally(why));
    }
    // It starts a process, and may try first what the system gives.
    let process = tokio::task::spawn_blocking(move || start(&begun.spec, &begun.key, &begun.scope));
    match process.await {
        Ok(Ok(process)) => Ok(process),
        Ok(Err(error)) => Err(FailedAttempt::finally(error.what.clone())),
        Err(_) => Err(FailedAttempt::finally("The thread that started it broke down.".to_owned())),
    }
}

fn mode(era: Option<Era>) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match era {
        Some(Era::Handshake) => ClientLifecycleMode::Initialize,
        Some(Era::Stateless) => ClientLifecycleMode::Discover { preferred_versions },
        None => {
            let legacy_version = Some(ProtocolVersion::LATEST_WITH_INITIALIZE);
            ClientLifecycleMode::Auto { preferred_versions, legacy_version }
        }
    }
}

/// Lists the tools of a server that has just been greeted.
async fn first_list(
    running: &RunningService<RoleClient, Handler>,
    (name, until): (String, Instant),
    traffic: &ServerTraffic,
) -> Result<Manifest, String> {
    let listed = match timeout_at(until, list(running)).await {
        Ok(listed) => listed.and_then(|tools| Manifest::of(name, tools)),
        Err(_) => Err("It did not list its tools in time.".to_owned()),
    };
    // Changes that it told of until now are in the list.
    traffic.take_new_tools();
    listed.map_err(|what| {
        let what = traffic.refusal().map_or(what, |refusal| refusal_words(&refusal));
        format!("{what}{}", odd_of(traffic))
    })
}

/// Lists all tools, page by page. Not by the list of the protocol's crate, which keeps pages and has no bound.
async fn list(running: &RunningService<RoleClient, Handler>) -> Result<Vec<Tool>, String> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let page = match running.peer().send_request(request).await {
            Ok(ServerResult::ListToolsResult(page)) => page,
            Ok(_) => return Err("Its answer is no list of tools.".to_owned()),
            Err(ServiceError::McpError(error)) => {
                return Err(format!("It refuses to list its tools: {}.", error.message));
            }
            Err(_) => return Err("It ended before it listed its tools.".to_owned()),
        };
        tools.extend(page.tools);
        if tools.len() > MOST_TOOLS {
            return Err(format!("It lists more than {MOST_TOOLS} tools."));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("Its list of tools has more than {MOST_PAGES} pages."))
}

/// Says why a server that answered nothing useful failed: its own end tells the most.
async fn why_it_failed(life: &Life, traffic: &ServerTraffic, error: &str) -> String {
    if let Some(refusal) = traffic.refusal() {
        return refusal_words(&refusal);
    }
    if let Some(flood) = traffic.flood() {
        return flood.to_owned();
    }
    let moment = Duration::from_millis(200);
    let what = match tokio::time::timeout(moment, life.ended()).await {
        Ok(how) => format!("{how} It had not answered haft."),
        Err(_) => format!("haft and the server do not understand each other: {}.", error.trim_end_matches('.')),
    };
    format!("{what}{}", odd_of(traffic))
}

/// Says that only the user can help, as a sentence.
pub(in crate::client) fn refusal_words(refusal: &str) -> String {
    let mut letters = refusal.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

pub(in crate::client) async fn how_it_ended(life: &Life) -> String {
    let moment = Duration::from_secs(1);
    tokio::time::timeout(moment, life.ended()).await.unwrap_or_else(|_| "The connection to it ended.".to_owned())
}

fn odd_of(traffic: &ServerTraffic) -> String {
    traffic.odd().map(|odd| format!(" {odd}")).unwrap_or_default()
}
