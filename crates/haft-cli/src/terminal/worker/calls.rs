//! Calls that a person makes: a tool by its name, or a command.

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::doors::reader::Audience;
use haft_host::calling::call_words::CallWords;
use haft_host::host::Host;
use haft_host::texts::for_person::for_reader;
use haft_host::texts::result_preview::call_title;
use haft_runtime::state::session::Session;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Worker, results};
use crate::terminal::input::call_line::{CallLine, GivenArguments};
use crate::terminal::protocol::{Idle, RunningCall, WorkerReport};

/// The tool that runs commands, by the name that rules use.
const SHELL: &str = "bash";

impl CallLine {
    /// Returns the arguments as they were typed, on one line.
    pub(super) fn arguments(&self) -> String {
        match &self.given {
            GivenArguments::Words(words) => words.join(" "),
            // A single text is shown without its key.
            GivenArguments::Json(Value::Object(fields)) if fields.len() == 1 => {
                let only = fields.values().next();
                only.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default()
            }
            GivenArguments::Json(Value::Object(fields)) if fields.is_empty() => String::new(),
            GivenArguments::Json(value) => value.to_string(),
        }
    }
}

/// Makes a call of a person; returns what is shown of it, and its result as text.
pub(super) async fn run_by_person(
    host: &Host,
    session: &Session,
    call: CallLine,
    columns: usize,
) -> (Vec<String>, String) {
    let about = call.arguments();
    let tool_call = match tool_call(host, &call) {
        Ok(call) => call,
        Err(error) => return (vec![results::refused(&error)], format!("{error:#}")),
    };
    let result = host.runtime.call(session, tool_call).await;
    let result = for_reader(result, Audience::of(CallOrigin::Person));
    host.note_call(&result);
    let shown = results::ShownCall { tool: &call.tool, about: &about, result: &result };
    (results::whole(&shown, host.runtime.catalog(), columns), result.text())
}

/// Returns the call that a line means.
fn tool_call(host: &Host, call: &CallLine) -> anyhow::Result<ToolCall> {
    let entry = host.runtime.catalog().find(&call.tool);
    let arguments = match &call.given {
        GivenArguments::Words(words) => CallWords::read(words)?.for_tool(entry.as_deref())?,
        GivenArguments::Json(value) => RawArguments::Text(value.to_string()),
    };
    Ok(ToolCall::new(&call.tool, arguments).by(CallOrigin::Person))
}

impl Worker {
    /// Makes a call of the person.
    pub(super) async fn call(&mut self, call: CallLine) -> Idle {
        self.host.reload().await;
        self.session().begin_turn();
        let tool_call = match tool_call(&self.host, &call) {
            Ok(tool_call) => tool_call,
            Err(error) => {
                self.warn(&error);
                return Idle::Done;
            }
        };
        let about = call.arguments();
        let id = tool_call.id.to_string();
        let title = call_title(self.host.runtime.catalog(), &call.tool);
        let running = RunningCall { id: id.clone(), title, about: about.clone() };
        self.report(WorkerReport::CallBegan(running));
        let (host, columns) = (self.host.clone(), self.columns());
        self.session();
        let Some(session) = self.session.as_ref() else { return Idle::Done };
        let stop = CancellationToken::new();
        let working = async {
            let calling = host.runtime.call(session, tool_call);
            tokio::pin!(calling);
            tokio::select! {
                biased;
                result = &mut calling => result,
                () = stop.cancelled() => {
                    session.stop_turn();
                    calling.await
                }
            }
        };
        let result = self.desk.attend(working, &stop, Some(session)).await;
        let result = for_reader(result, Audience::of(CallOrigin::Person));
        host.note_call(&result);
        let shown = results::ShownCall { tool: &call.tool, about: &about, result: &result };
        let lines = results::whole(&shown, host.runtime.catalog(), columns);
        self.report(WorkerReport::CallEnded { id, lines, whole: None });
        if stop.is_cancelled() { Idle::Stopped } else { Idle::Done }
    }

    /// Runs a command of the person, as a call of the shell tool.
    pub(super) async fn shell(&mut self, command: &str) -> Idle {
        self.native_call(SHELL, json!({ "command": command })).await
    }

    /// Calls a tool by haft's own name, whatever it is called here.
    pub(super) async fn native_call(&mut self, name: &str, arguments: Value) -> Idle {
        let entries = self.host.runtime.catalog().list_all();
        let Some(entry) = entries.into_iter().find(|entry| entry.native_name() == name) else {
            self.report(WorkerReport::Note(format!("The tool {name} is not available here.")));
            return Idle::Done;
        };
        let tool = entry.shown().name.clone();
        self.call(CallLine { tool, given: GivenArguments::Json(arguments) }).await
    }
}
