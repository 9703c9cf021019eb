//! Ends a run that the model finishes with a call instead of a last reply.
//!
//! haft checks the result while the call runs, so the model reads any problem as the result of its call. An invalid
//! result does not end the run.
//!
//! Not here: the call itself (`haft-tools`), answers that are a last reply (`output`).

use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::doors::session_state::FinishReport;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_model::conversation::{Message, ToolAnswer};
use haft_runtime::runtime::Runtime;
use serde_json::Value;

use super::told::RunEvent;
use crate::agent::{AgentLoop, NOT_TOLD, Run};
use crate::outcome::AgentEndReason;
use crate::output::{Misfit, OutputSchema, StructuredOutput};

/// The native name of the tool that ends a run.
const FINISH: &str = "finish";
/// What the model is told of a run that it ended too early.
const CONTINUES: &str = "[haft: the run continues, because another call of your last reply did not work. Look at its result, \
                         and finish again when the work is done.]";

/// Takes the end of a run.
#[derive(Default)]
pub(crate) struct FinishDesk {
    schema: Mutex<Option<OutputSchema>>,
    accepted: Mutex<Option<FinishResult>>,
}

/// The result that the model declared with an accepted finishing call.
pub(crate) struct FinishResult {
    /// What the run has to say; nothing leaves the words of the reply.
    answer: Option<String>,
    output: Option<StructuredOutput>,
}

impl FinishDesk {
    /// Accepts only results that fit this schema from now on.
    pub(crate) fn want(&self, schema: Option<OutputSchema>) {
        *lock(&self.schema) = schema;
    }

    /// Takes what was accepted since it was last taken.
    pub(crate) fn take(&self) -> Option<FinishResult> {
        lock(&self.accepted).take()
    }

    /// Accepts an end, or says what is wrong with it.
    pub(crate) async fn accept(&self, finished: FinishReport) -> Result<(), ToolError> {
        let schema = lock(&self.schema).clone();
        let FinishReport { summary, result } = finished;
        let text = result.map(|result| match result {
            Value::String(text) => text,
            other => other.to_string(),
        });
        let accepted = match schema {
            None => {
                let answer = [summary, text].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
                FinishResult { answer: Some(answer).filter(|answer| !answer.is_empty()), output: None }
            }
            Some(schema) => {
                let Some(text) = text else { return Err(unfit("$: expected one JSON object, received none")) };
                match schema.read_in_time(&text).await {
                    Ok(output) => FinishResult { answer: Some(output.value.to_string()), output: Some(output) },
                    Err(Misfit::Wrong(why)) => return Err(unfit(&why)),
                    Err(Misfit::NotChecked) => {
                        let next = Next::DoNotRetry("end with a last reply that has the result".to_owned());
                        return Err(ToolError::new(ErrorKind::Failed, format!("Not finished: {NOT_TOLD}."), next));
                    }
                }
            }
        };
        *lock(&self.accepted) = Some(accepted);
        Ok(())
    }
}

fn unfit(why: &str) -> ToolError {
    let what = format!("Not finished: \"result\" does not fit the schema that the user gave:\n{why}");
    ToolError::new(
        ErrorKind::BadArguments,
        what,
        Next::FixArguments("send the whole object again as \"result\"".into()),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AgentLoop<'_> {
    /// Ends the run if a call of the reply said so and all of its calls worked: the model has not seen yet what went wrong
    /// with another one.
    pub(crate) fn end_if_finished(&mut self, answers: &[ToolAnswer], run: &mut Run<'_>) -> Result<(), AgentEndReason> {
        let Some(FinishResult { answer, output }) = self.state.finish.take() else { return Ok(()) };
        if answers.iter().any(|answer| answer.is_error) {
            return self.keep(Message::user(CONTINUES.to_owned()));
        }
        if let Some(answer) = answer {
            (run.told)(RunEvent::Finished(&answer));
            run.answer = answer;
        }
        run.output = output;
        Err(AgentEndReason::Finished)
    }
}

/// Tells a model that has the tool that the answer may be its result.
pub(crate) fn words(runtime: &Runtime) -> Option<String> {
    let list = runtime.catalog().list();
    let name = list.iter().find(|entry| entry.native_name() == FINISH).map(|entry| entry.shown().name.clone())?;
    Some(format!("Instead of such a reply you may call \"{name}\" with the object as its result."))
}
