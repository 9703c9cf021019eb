//! Handles one call of a client, from the request to its one answer.
//!
//! The protocol has no turns. Calls that run side by side form one turn, which keeps their order where they touch the same
//! things. If no call runs, the next call starts a new turn.

use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::call::{CallId, CallOrigin, RawArguments, ToolCall};
use haft_contract::doors::door::Breadth;
use haft_contract::outcome::result::{Did, ToolResult};
use haft_host::toolbox::Toolbox;
use haft_runtime::state::session::Session;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::{RequestContext, RoleServer};

use super::client_session::ClientSession;
use super::listeners::ServerChange;
use super::progress::{ProgressReporter, ProgressTarget};
use super::{answer, resources};
use crate::server::{McpServer, signed};

/// Where a request says which client it comes from, in the era without handshakes.
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// How many calls are under way.
#[derive(Default)]
pub(crate) struct Turns {
    under_way: Mutex<usize>,
}

/// A call under way.
struct UnderWay<'a>(&'a Turns);

impl Turns {
    /// Counts a call; the first one begins a turn.
    fn enter(&self, session: &Session) -> UnderWay<'_> {
        let mut under_way = self.count();
        if *under_way == 0 {
            session.begin_turn();
        }
        *under_way += 1;
        UnderWay(self)
    }

    fn count(&self) -> MutexGuard<'_, usize> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *self.0.count() -= 1;
    }
}

/// Makes a call and answers it.
pub(crate) async fn call(
    server: &McpServer,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let toolbox = server.toolbox(&context).await?;
    let client = server.client(&context);
    let Some(entry) = toolbox.host().runtime.catalog().find(&request.name) else {
        return Err(no_such_tool(toolbox, &request.name));
    };
    let way = server.workspace.asking.way(&request, &context)?;
    if let Some(mut question) = server.workspace.asking.postponed(&way, toolbox.session()) {
        question.meta = signed(None, &context);
        return Ok(question.into());
    }
    let id = CallId::new(server.workspace.next_call().to_string());
    let _place = tokio::select! {
        biased;
        () = stopped(server, &context) => None,
        // Closed never happens: the semaphore lives as long as the server.
        place = server.workspace.places.acquire() => place.ok(),
    };
    let _under_way = client.turns.enter(toolbox.session());
    if let Some(client) = client_name(&context) {
        toolbox.session().set_agent(&client);
    }
    let about = server.workspace.asking.about(&id, way);
    let arguments = RawArguments::Object(request.arguments.unwrap_or_default());
    let call = ToolCall::new(request.name, arguments).with_id(id.as_str()).by(CallOrigin::Model);
    let result = run(server, toolbox, (call, &context)).await;
    if let Some(mut question) = about.question() {
        question.meta = signed(None, &context);
        return Ok(question.into());
    }
    tell_what_changed(server, client, &result);
    let mut answer = answer::of_result(&result, &entry, &toolbox.host().runtime);
    answer.meta = signed(answer.meta, &context);
    server.workspace.notes.add(toolbox.host().clone(), result);
    Ok(answer.into())
}

/// Notes the outputs and changes of a call, and tells those who listen.
fn tell_what_changed(server: &McpServer, client: &ClientSession, result: &ToolResult) {
    let listeners = &server.workspace.listeners;
    if let Some(spill) = &result.spilled {
        client.spills.add(spill, &result.tool);
        listeners.tell(&ServerChange::Resources);
    }
    if matches!(result.did, Did::Changed { .. } | Did::Unknown(_)) {
        listeners.tell(&ServerChange::Resource(resources::LOG.to_owned()));
    }
}

/// Returns what the client calls itself, in its handshake or with the request.
fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    let shaken = context.peer.peer_info().map(|client| client.client_info.name.clone());
    let told = || context.meta.get(CLIENT)?.get("name")?.as_str().map(str::to_owned);
    shaken.or_else(told).filter(|name| !name.trim().is_empty())
}

/// Runs a call to its end. If the client cancels the call or its session ends, the call stops and reports that.
async fn run(
    server: &McpServer,
    toolbox: &Toolbox,
    (call, context): (ToolCall, &RequestContext<RoleServer>),
) -> ToolResult {
    let id = call.id.clone();
    let token = context.meta.get_progress_token();
    let listener = match &server.outbox {
        Some(outbox) => ProgressTarget::Pipe(outbox.clone()),
        None => ProgressTarget::Peer(context.peer.clone()),
    };
    let mut progress = ProgressReporter::of(token, &id, (toolbox.host().runtime.events(), listener));
    let calling = toolbox.host().runtime.call(toolbox.session(), call);
    tokio::pin!(calling);
    tokio::select! {
        // First the signal: a call that the client no longer wants does not begin.
        biased;
        () = stopped(server, context) => {}
        result = &mut calling => return result,
        // One future, which is not done after each message: else the call would be polled again immediately, and a command
        // that prints without end would keep this thread from everyone else.
        never = progress.tell_until_dropped() => match never {},
    }
    toolbox.session().cancel(&id);
    calling.await
}

/// Waits until the client cancels the call or its session ends.
async fn stopped(server: &McpServer, context: &RequestContext<RoleServer>) {
    let session_ended = server.workspace.session_ends.of(context);
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = session_ended.cancelled() => {}
        () = server.workspace.ended.cancelled() => {}
    }
}

fn no_such_tool(toolbox: &Toolbox, name: &str) -> ErrorData {
    let runtime = &toolbox.host().runtime;
    runtime.redactor().also_hide_files(&runtime.doors().look.secrets(Breadth::Whole).changed);
    // What is left out of a name must not make a secret of it again.
    let plain: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = runtime.redactor().redact_known(&plain);
    let shown: String = name.chars().take(80).collect();
    let next = match toolbox.host().runtime.catalog().nearest(&name) {
        Some(near) => format!("call \"{near}\""),
        None => "call one that tools/list names".to_owned(),
    };
    ErrorData::invalid_params(format!("There is no tool \"{shown}\". Next: {next}."), None)
}
