//! Runs one configured server: starts it with its first call, and restarts it after it has ended.
//!
//! haft calls a server only if its tools are those that the user agreed to. It waits longer before each restart of a server
//! that ends again and again, but never gives up.

use std::sync::Arc;
use std::time::Duration;

use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::visible::visible;
use haft_host::opening::servers::ServerScope;
use rmcp::model::ServerResult;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::calls::CallEars;
use super::link::connection::{NoConnection, ServerConnection, ServerLaunch};
use super::link::http::FORGOTTEN;
use super::link::thread::ClientThread;
use super::offers::manifest::{Manifest, Offers};
use super::offers::result::words_of_server;
use super::questions::sampling::SamplingBudget;
use super::record::RecordPlace;
use super::requests::{NoResult, Patience, ServerListing, ServerRequest};

/// How long a server may be silent during a call, if its file says nothing.
const IDLE: Duration = Duration::from_secs(120);
/// How long a call may take at most.
const TOTAL: Duration = Duration::from_secs(30 * 60);
/// How long haft waits for the list of tools after the server said that it changed.
const TO_LIST: Duration = Duration::from_secs(10);
/// How long haft waits after the first failure; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Most lines of a difference that a refusal shows.
const MOST_LINES: usize = 60;

/// A configured server as the user agreed to it.
pub(crate) struct AgreedServer {
    pub(crate) start: ServerLaunch,
    pub(crate) manifest: Manifest,
    pub(crate) offers: Offers,
}

/// A configured server, with its tools as the user agreed to them.
pub(crate) struct RemoteServer {
    pub(crate) name: String,
    start: ServerLaunch,
    pub(crate) agreed: Manifest,
    /// What it had beside tools when the user agreed to it.
    pub(crate) offers: Offers,
    /// How often it may ask the user's model.
    pub(crate) budget: SamplingBudget,
    place: RecordPlace,
    thread: Arc<ClientThread>,
    state: Arc<Mutex<RemoteServerState>>,
}

#[derive(Default)]
struct RemoteServerState {
    connection: Option<Arc<ServerConnection>>,
    /// Failures in a row, and when the last one was.
    failures: u32,
    failed: Option<(Instant, NoConnection)>,
}

/// A call on its way to a server.
pub(crate) struct RemoteCall {
    pub(crate) wanted: RemoteRequest,
    /// What people call it.
    pub(crate) name: String,
    /// How long the caller waits at most.
    pub(crate) most: Duration,
    pub(crate) ears: CallEars,
    pub(crate) stopped: CancellationToken,
}

/// What a call requests from a server.
pub(crate) enum RemoteRequest {
    /// The result of a request.
    Result(Box<ServerRequest>),
    /// What it has beside tools.
    Listing,
}

/// The result of a call to a server.
pub(crate) enum RemoteResult {
    /// The result of a request, and the texts that it must not show.
    Result(Box<ServerResult>, Vec<String>),
    /// What it has beside tools.
    Listing(ServerListing),
}

/// What came of one attempt.
enum Attempt {
    Done(Box<RemoteResult>),
    /// The server has forgotten the session of the connection.
    Forgotten,
}

impl RemoteServer {
    pub(crate) fn new(agreed: AgreedServer, place: RecordPlace, thread: Arc<ClientThread>) -> Self {
        let AgreedServer { start, manifest: agreed, offers } = agreed;
        let (name, budget) = (start.name.clone(), SamplingBudget::of(start.spec.sampling));
        Self { name, start, agreed, offers, budget, place, thread, state: Arc::default() }
    }

    /// Returns whose server it is.
    pub(crate) fn scope(&self) -> &ServerScope {
        &self.start.scope
    }

    /// Returns whether it is the same server, with the same tools.
    pub(crate) fn is_as(&self, start: &ServerLaunch, agreed: &Manifest) -> bool {
        self.start.spec == start.spec
            && self.start.scope.workspace() == start.scope.workspace()
            && self.agreed == *agreed
    }

    /// Asks the server. It is started if it does not run.
    pub(crate) async fn call(self: Arc<Self>, call: RemoteCall) -> Result<RemoteResult, ToolError> {
        let thread = self.thread.clone();
        let done = thread.run(async move { self.carry_out(call).await }).await;
        done.unwrap_or_else(|| Err(ToolError::of(ErrorKind::Bug, "The thread that talks to servers broke down.")))
    }

    async fn carry_out(&self, call: RemoteCall) -> Result<RemoteResult, ToolError> {
        match self.attempt(&call).await? {
            // The server did not carry it out: it knew nothing of haft any more.
            Attempt::Forgotten => match self.attempt(&call).await? {
                Attempt::Done(returned) => Ok(*returned),
                Attempt::Forgotten => {
                    let what = format!("The MCP server \"{}\" forgets each session immediately.", self.name);
                    Err(ToolError::of(ErrorKind::Unavailable, what))
                }
            },
            Attempt::Done(returned) => Ok(*returned),
        }
    }

    async fn attempt(&self, call: &RemoteCall) -> Result<Attempt, ToolError> {
        let RemoteCall { wanted, name, most, ears, stopped } = call;
        let connection = tokio::select! {
            connection = self.connected() => connection?,
            () = stopped.cancelled() => return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped.")),
        };
        let idle = self.start.spec.timeout.unwrap_or(IDLE);
        let patience = Patience { idle, total: TOTAL.min(*most) };
        let result = match wanted {
            RemoteRequest::Result(request) => connection
                .ask((**request).clone(), patience, (ears.clone(), stopped.clone()))
                .await
                .map(|result| RemoteResult::Result(Box::new(result), connection.secrets())),
            RemoteRequest::Listing => connection.listing(patience, ears.clone()).await.map(RemoteResult::Listing),
        };
        if !connection.is_open() {
            self.state.lock().await.connection = None;
        }
        match result {
            Err(NoResult::Refused(why)) if why == FORGOTTEN => Ok(Attempt::Forgotten),
            Err(why) => Err(self.error_of(why, (name, patience))),
            Ok(returned) => Ok(Attempt::Done(Box::new(returned))),
        }
    }

    /// Returns the connection, once the server lists the tools that the user agreed to.
    async fn connected(&self) -> Result<Arc<ServerConnection>, ToolError> {
        let mut state = self.state.lock().await;
        if state.connection.as_ref().is_some_and(|connection| !connection.is_open()) {
            state.connection = None;
        }
        let connection = match &state.connection {
            Some(connection) => {
                if connection.traffic.take_new_tools() {
                    let listed = connection.list_again(TO_LIST).await;
                    self.refuse_other(listed.as_ref()).inspect_err(|_| connection.traffic.note_new_tools())?;
                }
                connection.clone()
            }
            None => {
                let connection = Arc::new(self.connect(&mut state).await?);
                state.connection = Some(connection.clone());
                self.refuse_other(Ok(&connection.manifest)).inspect_err(|_| connection.traffic.note_new_tools())?;
                connection
            }
        };
        Ok(connection)
    }

    /// Starts the server, unless it failed a moment ago.
    async fn connect(&self, state: &mut RemoteServerState) -> Result<ServerConnection, ToolError> {
        if let Some((when, why)) = &state.failed {
            let pause = FIRST_PAUSE.saturating_mul(1 << state.failures.saturating_sub(1).min(6)).min(LONGEST_PAUSE);
            let left = pause.saturating_sub(when.elapsed());
            if !left.is_zero() {
                let next = format!(
                    "call it again; haft starts the server again then (\"haft mcp doctor {}\" says more)",
                    self.name
                );
                let what = format!("The MCP server \"{}\" is not started again yet. {}", self.name, self.told(why));
                return Err(ToolError::new(ErrorKind::Unavailable, what, Next::RetryAfter(left, next)));
            }
        }
        match ServerConnection::open(self.start.clone()).await {
            Ok(connection) => {
                (state.failures, state.failed) = (0, None);
                self.place.note_error(None);
                Ok(connection)
            }
            Err(why) => {
                state.failures = state.failures.saturating_add(1);
                let what = format!("The MCP server \"{}\" cannot be used. {}", self.name, self.told(&why));
                self.place.note_error(Some(&what));
                state.failed = Some((Instant::now(), why));
                let next =
                    format!("tell the user to run \"haft mcp doctor {}\"; do without this tool for now", self.name);
                Err(ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next)))
            }
        }
    }

    /// Says why there is no connection, with the last words of the server.
    fn told(&self, why: &NoConnection) -> String {
        let errors = visible(why.errors.trim());
        match errors.lines().last() {
            Some(last) => format!("{} Its last line on stderr: {last}", why.what),
            None => why.what.clone(),
        }
    }

    /// Refuses a server whose tools are not those that the user agreed to.
    fn refuse_other(&self, listed: Result<&Manifest, &String>) -> Result<(), ToolError> {
        let now = listed.map_err(|why| {
            let what =
                format!("The MCP server \"{}\" says that its tools changed, and does not list them. {why}", self.name);
            ToolError::of(ErrorKind::Unavailable, what)
        })?;
        let Some(difference) = self.agreed.difference(now, MOST_LINES) else { return Ok(()) };
        let name = &self.name;
        let what = format!(
            "The MCP server \"{name}\" describes its tools in another way than the user agreed to; the tool was not called."
        );
        self.place.note_error(Some(&format!("Its tools changed; \"haft mcp add {name}\" shows how.")));
        let next = format!(
            "ask the user to run \"haft mcp add {name}\", which shows the change and asks; do without this tool"
        );
        let mut error = ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(next));
        // The person sees it. A model does not: what a server says before anybody agreed is not for it.
        error.detail = Some(difference);
        error.rule = Some("changed MCP server".to_owned());
        Err(error)
    }

    fn error_of(&self, why: NoResult, (tool, patience): (&str, Patience)) -> ToolError {
        let name = &self.name;
        match why {
            NoResult::Refused(said) => {
                let what =
                    format!("The MCP server \"{name}\" refused the call of \"{tool}\". {}", words_of_server(&said));
                let next = Next::FixArguments("change the arguments, or do without this tool".to_owned());
                ToolError::new(ErrorKind::Failed, what, next)
            }
            NoResult::NeedsUser(what) => {
                let what = format!("The MCP server \"{name}\" refuses haft; \"{tool}\" was not called. {what}");
                self.place.note_error(Some(&what));
                let next = "tell the user what the server needs; do without this tool until then".to_owned();
                ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(next))
            }
            NoResult::TooLong(limit) => {
                let which = if limit < patience.total { "without progress" } else { "in all" };
                let what = format!(
                    "The MCP server \"{name}\" did not finish \"{tool}\" within {} s {which}; haft told it to stop.",
                    limit.as_secs_f64()
                );
                let next = format!("call it with less work; the user can set [mcp.servers.{name}] timeout");
                ToolError::new(ErrorKind::TimedOut, what, Next::FixArguments(next))
            }
            NoResult::Ended(how) => {
                let what = format!("The MCP server \"{name}\" ended while \"{tool}\" ran. {how}");
                let next =
                    "look whether the call had an effect before you repeat it; haft starts the server again".to_owned();
                ToolError::new(ErrorKind::Failed, what, Next::FixArguments(next))
            }
            NoResult::Unsupported(what) => {
                let what = format!("The MCP server \"{name}\" did not give a result of \"{tool}\". {what}");
                ToolError::new(ErrorKind::Failed, what, Next::DoNotRetry("do without this tool".to_owned()))
            }
        }
    }
}
