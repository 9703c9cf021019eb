//! Runs Python functions in workers that stay: a worker imports the module at the first call and keeps it.
//!
//! The worker is a script that ships with haft and needs only an interpreter. It talks over a separate line, so text that
//! the function prints can never become an answer.

mod describe;
mod interpreter;
mod signature;
mod talk;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use haft_contract::BoxFuture;
use haft_contract::context::WorkerFailure;
use haft_contract::description::spec::Spec;
use haft_contract::doors::process::{CommandSpec, HowEnded, SettledCommand, Worker};
use haft_contract::prelude::*;
use serde_json::{Map, Value};

use super::answer::{self, Promise};
use super::claims::Draft;
use super::log::{BoundToolLog, last_of};
use super::planned::Works;
use super::pool::{Pools, WorkerKey};
use super::{DefinitionOrigin, error};
use crate::defined::definition::{Definition, DefinitionProblem, FunctionName};
pub(super) use describe::describe;
pub(crate) use interpreter::Interpreter;
pub use signature::{Description, PythonParameter};
use talk::{FunctionFailure, Order, Talk, WorkerAnswer};

/// What the interpreter is given to run.
const WORKER: &str = concat!(include_str!("other_systems.py"), include_str!("worker.py"));

/// What to do about a file that a tool may not read.
const NOT_DECLARED: &str =
    "the tool reads only the files that its \"effects\" name; ask the user to add this one there";

/// A Python function that does the work of a tool.
pub(super) struct Function {
    spec: Spec,
    definition: Definition,
    name: FunctionName,
    home: DefinitionOrigin,
    promise: Promise,
    pools: Arc<Pools>,
    described: OnceLock<Description>,
}

impl Function {
    pub(super) fn new(
        definition: Definition,
        name: FunctionName,
        home: DefinitionOrigin,
        pools: Arc<Pools>,
    ) -> Result<Self, DefinitionProblem> {
        let fix = "fix \"output_schema\"";
        let promise = Promise::of(&definition).map_err(|why| error(format!("output_schema: {why}"), fix))?;
        let mut spec = definition.spec();
        if spec.manual.words.is_empty() {
            // Nothing is imported for the words of a lazy tool.
            spec.manual.words = format!("Calls the Python function {}:{}.", name.module, name.function);
        }
        Ok(Self { spec, definition, name, home, promise, pools, described: OnceLock::new() })
    }

    /// Returns how a worker for this call is started, and with whom it can be shared.
    fn command(&self, draft: Draft, cx: &RunContext<'_>) -> Result<(CommandSpec, WorkerKey), ToolError> {
        let Interpreter { program: interpreter, parts } = Interpreter::find(&self.home, cx).ok_or_else(|| {
            let what = format!("There is no Python here to run \"{}\".", self.spec.name);
            let next = "ask the user to install Python 3.8 or later, or to make a virtual environment in .venv";
            ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next.into()))
        })?;
        let options = ["-I", "-B", "-X", "utf8", "-c", WORKER].map(OsString::from);
        let words = std::iter::once(interpreter.clone().into_os_string()).chain(options).collect();
        let readable = self.home.readable(draft.outside.into_iter().chain(parts).collect());
        let workspace = draft.folder.clone();
        let reads = self.home.reads(draft.inside, &[]);
        let code = self.home.code.clone();
        let profile = WorkerKey {
            code: code.clone(),
            interpreter,
            workspace,
            readable: readable.clone(),
            network: draft.network,
            path: self.home.code_folders(),
        };
        let command = CommandSpec::new(words, draft.line, draft.folder, draft.time);
        let environment = self.home.environment();
        Ok((CommandSpec { environment, keeps: draft.keeps, readable, reads, code, ..command }, profile))
    }

    /// Begins an order: which function, where.
    fn order<'a>(&'a self, command: &'a CommandSpec) -> Order<'a> {
        let path = self.home.code_folders().iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        let place = |place: &PathBuf| self.home.workspace.join(place).to_string_lossy().into_owned();
        let code = self.home.code.as_ref().map(|code| code.places.iter().map(place).collect());
        Order {
            code,
            call: self.pools.number(),
            module: &self.name.module,
            function: &self.name.function,
            folder: command.folder.to_string_lossy(),
            path,
        }
    }

    /// Lets a worker serve one call from its beginning to its end.
    async fn serve(
        &self,
        draft: Draft,
        wish: FunctionRequest<'_>,
        cx: &RunContext<'_>,
    ) -> Result<FunctionOutcome, ToolError> {
        let (command, profile) = self.command(draft, cx)?;
        let turn = self.pools.turn(profile, cx).await?;
        let interpreter = Path::new(&command.words[0]);
        let serving = cx.serve(&command, turn.idle_worker()).await;
        let mut serving = serving.map_err(|error| interpreter::not_started(error, interpreter, cx.look()))?;
        let log = BoundToolLog::new(cx);
        let talk = Talk { order: self.order(&command), log: &log, cx };
        let said = tokio::select! {
            biased;
            () = cx.stopped() => Err(WorkerFailure::ToBeEnded(HowEnded::Stopped)),
            said = tokio::time::timeout(command.time, self.said(&mut *serving.worker, talk, wish)) =>
                said.unwrap_or(Err(WorkerFailure::ToBeEnded(HowEnded::TimedOut))),
        };
        let (answer, ran) = match said {
            Ok(answer) => {
                let (ran, worker) = cx.served(serving).await?;
                if let Some(worker) = worker {
                    turn.give_back(worker);
                }
                (Some(answer), ran)
            }
            Err(broken) => (None, cx.broken(serving, broken).await?),
        };
        Ok(FunctionOutcome { answer, ran, log: log.end(), time: command.time })
    }

    async fn said(
        &self,
        worker: &mut dyn Worker,
        mut talk: Talk<'_>,
        wish: FunctionRequest<'_>,
    ) -> Result<WorkerAnswer, WorkerFailure> {
        let arguments = match wish {
            FunctionRequest::Description => return talk.describe(worker).await,
            FunctionRequest::Call(arguments) => arguments,
        };
        if self.described.get().is_none() {
            match talk.describe(worker).await? {
                WorkerAnswer::Description(description) => drop(self.described.set(description)),
                other => return Ok(other),
            }
            talk.order.call = self.pools.number();
        }
        match self.described.get().and_then(|description| description.cannot_take(&self.name.function, arguments)) {
            Some(error) => Ok(WorkerAnswer::Failed(FunctionFailure::Mismatch(error))),
            None => talk.call(worker, arguments).await,
        }
    }

    /// Makes a result of what was said.
    fn result(&self, served: FunctionOutcome, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let tool = &self.spec.name;
        let is_not_permitted = served.answer.as_ref().is_some_and(WorkerAnswer::is_not_permitted);
        let output = match served.answer {
            None => Err(self.broken(&served)),
            Some(WorkerAnswer::Failed(failure)) => Err(failure.into_error(tool)),
            Some(WorkerAnswer::Description(_)) => {
                Err(ToolError::of(ErrorKind::Bug, "A call was answered by a description."))
            }
            Some(WorkerAnswer::Text(text)) => {
                self.promise.check(tool, &Value::String(text.clone())).map(|()| ToolOutput::text(text))
            }
            Some(WorkerAnswer::Data(value)) => match answer::advised_error_in(tool, &value) {
                Some(error) => Err(error),
                None => self.promise.check(tool, &value).map(|()| answer::of_value(value)),
            },
        };
        match output {
            Ok(output) => Ok(answer::with_notes(output, &served.ran, cx)),
            Err(mut error) => {
                let so_far = error.so_far.take().map_or_else(ToolOutput::default, |so_far| *so_far);
                error.so_far = Some(Box::new(answer::with_notes(so_far, &served.ran, cx)));
                error.detail = error.detail.take().or_else(|| last_of(&served.log).0);
                if self.definition.effects.is_some() && is_not_permitted {
                    error.next = Next::AskUser(NOT_DECLARED.into());
                }
                Err(error)
            }
        }
    }

    fn broken(&self, served: &FunctionOutcome) -> ToolError {
        let tool = &self.spec.name;
        let how = served.ran.ended.how;
        let HowEnded::Exited(status) = how else {
            let defect = || ToolError::of(ErrorKind::Bug, "The worker ended without a reason.");
            return answer::ending(tool, &served.ran, served.time, &served.log).unwrap_or_else(defect);
        };
        let what = format!("\"{tool}\" ended its process with status {status} instead of returning.");
        ToolError::failed(what, answer::read_and_change()).as_defect()
    }
}

/// The request to a worker: a call of its function, or a description of it.
enum FunctionRequest<'a> {
    Call(&'a Map<String, Value>),
    Description,
}

/// The outcome of a request to a worker.
struct FunctionOutcome {
    /// Nothing where the worker broke.
    answer: Option<WorkerAnswer>,
    ran: SettledCommand,
    log: String,
    time: std::time::Duration,
}

impl Works for Function {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn work<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        draft: Draft,
        cx: &'a RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let served = self.serve(draft, FunctionRequest::Call(arguments), cx).await?;
            self.result(served, cx)
        })
    }
}
