//! Defines the messages between haft and a worker: an order, perhaps questions from the function, an answer.
//!
//! Each line is one JSON object. Every message of a call carries the call's number. haft skips messages that an earlier
//! call left behind.

use std::borrow::Cow;
use std::collections::HashMap;

use haft_contract::context::WorkerFailure;
use haft_contract::doors::process::{HowEnded, Worker};
use haft_contract::doors::session_state::LockGuard;
use haft_contract::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::answer::{self, OwnWords};
use super::super::log::BoundToolLog;
use super::signature::Description;

/// Longest answer, in bytes.
const MOST_ANSWERED: usize = 16 * 1024 * 1024;
/// Most locks that one call may hold.
const MOST_LOCKS: usize = 64;
/// Most messages of the conversation in one reply.
const MOST_HISTORY: u64 = 1_000;

/// Which function, and where.
pub(super) struct Order<'a> {
    pub(super) call: u64,
    pub(super) module: &'a str,
    pub(super) function: &'a str,
    pub(super) folder: Cow<'a, str>,
    pub(super) path: Vec<String>,
    /// Where modules of the project may come from; anywhere where nothing is said.
    pub(super) code: Option<Vec<String>>,
}

/// The answer of a worker to an order.
pub(super) enum WorkerAnswer {
    Text(String),
    Data(Value),
    Description(Description),
    Failed(FunctionFailure),
}

/// The reason why a function did not answer.
pub(super) enum FunctionFailure {
    /// The worker says so.
    Said {
        kind: String,
        /// The type of the exception, where one was raised.
        exception: String,
        message: String,
        trace: String,
        /// What the exception has as `error_type` and `suggestion`.
        own: OwnWords,
    },
    /// The function cannot take this call.
    Mismatch(ToolError),
}

/// The talk of one call.
pub(super) struct Talk<'a> {
    pub(super) order: Order<'a>,
    pub(super) log: &'a BoundToolLog<'a>,
    pub(super) cx: &'a RunContext<'a>,
}

#[derive(Serialize)]
struct WorkerOrder<'a> {
    #[serde(rename = "do")]
    what: &'a str,
    call: u64,
    module: &'a str,
    function: &'a str,
    folder: &'a str,
    path: &'a [String],
    code: Option<&'a [String]>,
    most: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Map<String, Value>>,
}

impl Talk<'_> {
    /// Asks what the function looks like.
    pub(super) async fn describe(&self, worker: &mut dyn Worker) -> Result<WorkerAnswer, WorkerFailure> {
        self.ordered("describe", None, worker).await
    }

    /// Lets the function be called.
    pub(super) async fn call(
        &self,
        worker: &mut dyn Worker,
        arguments: &Map<String, Value>,
    ) -> Result<WorkerAnswer, WorkerFailure> {
        self.ordered("call", Some(arguments), worker).await
    }

    async fn ordered(
        &self,
        what: &str,
        arguments: Option<&Map<String, Value>>,
        worker: &mut dyn Worker,
    ) -> Result<WorkerAnswer, WorkerFailure> {
        let Order { call, module, function, folder, path, code } = &self.order;
        let order = WorkerOrder {
            what,
            call: *call,
            module,
            function,
            folder,
            path,
            code: code.as_deref(),
            most: MOST_ANSWERED,
            arguments,
        };
        let heard = |stream, piece: &[u8]| self.log.hear(stream, piece);
        worker.send(&serde_json::to_vec(&order).unwrap_or_default(), &heard).await?;
        let mut locks = HashMap::new();
        loop {
            let line = worker.receive(&heard).await?;
            let Ok(Value::Object(mut message)) = serde_json::from_slice(&line) else {
                // Only the worker's own script has the line, so later messages on it cannot be trusted.
                return Err(WorkerFailure::ToBeEnded(HowEnded::Killed(9)));
            };
            if message.get("call").and_then(Value::as_u64) != Some(*call) {
                continue;
            }
            let Some(Value::String(question)) = message.remove("ask") else { return Ok(WorkerAnswer::read(message)) };
            let reply = match self.replied(&question, message, &mut locks).await {
                Ok(value) => json!({ "value": value }),
                Err(error) => json!({ "error": format!("{} Next: {}", error.what, error.next) }),
            };
            worker.send(&serde_json::to_vec(&reply).unwrap_or_default(), &heard).await?;
        }
    }

    /// Answers a question of the function.
    async fn replied(
        &self,
        question: &str,
        mut message: Map<String, Value>,
        locks: &mut HashMap<String, LockGuard>,
    ) -> Result<Value, ToolError> {
        let (storage, agent) = (self.cx.storage(), self.cx.agent_state());
        let key = match message.remove("key") {
            Some(Value::String(key)) => key,
            _ => String::new(),
        };
        let number = |name: &str| message.get(name).and_then(Value::as_u64).unwrap_or(0);
        Ok(match question {
            "iteration" => agent.current_iteration().into(),
            "history.length" => agent.history_length().into(),
            "history" => {
                let first = number("first");
                let last = number("last").clamp(first, first.saturating_add(MOST_HISTORY));
                let at = |place| usize::try_from(place).unwrap_or(usize::MAX);
                agent.history(at(first)..at(last)).into()
            }
            // In a list, so that nothing is told from null.
            "storage.get" => storage.get(&key).map_or(Value::Null, |value| Value::Array(vec![(*value).clone()])),
            "storage.set" => {
                storage.set(&key, message.remove("value").unwrap_or_default())?;
                Value::Null
            }
            "storage.delete" => storage.delete(&key).into(),
            "storage.keys" => storage.keys().into(),
            "storage.lock" => {
                self.lock(&key, locks).await?;
                Value::Null
            }
            "storage.unlock" => locks.remove(&key).is_some().into(),
            other => {
                return Err(ToolError::of(ErrorKind::Bug, format!("The worker made the unknown request \"{other}\".")));
            }
        })
    }

    async fn lock(&self, name: &str, locks: &mut HashMap<String, LockGuard>) -> Result<(), ToolError> {
        let refused =
            |what: String, next: &str| Err(ToolError::new(ErrorKind::Failed, what, Next::DoNotRetry(next.to_owned())));
        if locks.contains_key(name) {
            let what = format!("The lock \"{name}\" is held by this very call: it would wait for itself forever.");
            return refused(what, "take it once");
        }
        if locks.len() >= MOST_LOCKS {
            return refused(format!("This call holds {MOST_LOCKS} locks."), "release some before you take more");
        }
        locks.insert(name.to_owned(), self.cx.storage().lock(name).await);
        Ok(())
    }
}

impl WorkerAnswer {
    /// Returns whether the function failed because the sandbox let it not do something.
    pub(super) fn is_not_permitted(&self) -> bool {
        matches!(self, WorkerAnswer::Failed(FunctionFailure::Said { exception, .. }) if exception == "PermissionError")
    }

    fn read(mut message: Map<String, Value>) -> Self {
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        if let Some(Value::Object(mut failed)) = message.remove("failed") {
            let own = OwnWords::of(failed.get("error_type"), failed.get("suggestion"));
            let fields = ["kind", "exception", "message", "trace"];
            let [kind, exception, message, trace] = fields.map(|name| text(failed.remove(name)));
            return WorkerAnswer::Failed(FunctionFailure::Said { kind, exception, message, trace, own });
        }
        if let Some(description) = message.remove("description") {
            return WorkerAnswer::Description(Description::read(&description));
        }
        match message.remove("text") {
            Some(Value::String(text)) => WorkerAnswer::Text(text),
            _ => WorkerAnswer::Data(message.remove("data").unwrap_or_default()),
        }
    }
}

impl FunctionFailure {
    /// Says it to the model; the trace is for the person.
    pub(super) fn into_error(self, tool: &str) -> ToolError {
        let (kind, exception, message, trace, own) = match self {
            FunctionFailure::Mismatch(error) => return error,
            FunctionFailure::Said { kind, exception, message, trace, own } => {
                (kind, exception, answer::sentence(&message), trace, own)
            }
        };
        let failed = |next| ToolError::failed(format!("\"{tool}\" failed: {message}"), next);
        let mut error = match kind.as_str() {
            "result" => failed(answer::defect()).as_defect(),
            "arguments" => {
                let what = format!("\"{tool}\" cannot take this: {message}");
                ToolError::new(ErrorKind::BadArguments, what, answer::read_and_change())
            }
            "not_there" => {
                let next = "tell the user: the module must be beside the file that names the binding or in the workspace, \
                            and its imports must be installed in .venv of the workspace";
                ToolError::failed(format!("\"{tool}\" cannot be called: {message}"), Next::AskUser(next.into()))
            }
            "memory" => {
                let what = format!("\"{tool}\" needs more memory than there is for it: {message}");
                ToolError::failed(what, Next::FixArguments("ask for less in one call".into()))
            }
            _ if answer::is_slip(&exception) => failed(answer::read_and_change()).as_defect(),
            _ => failed(answer::read_and_change()),
        };
        own.put_into(&mut error);
        error.about.exception = Some(exception).filter(|exception| !exception.is_empty());
        if trace.is_empty() { error } else { error.with_detail(trace) }
    }
}
