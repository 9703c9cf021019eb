//! Restarts a job: stops it, and starts its command again.
//!
//! The files that the command runs may have changed since its start. So haft plans and judges it again, like a call of
//! `bash`.

use haft_contract::doors::job::JobFacts;
use haft_contract::prelude::*;

use super::{facts_of, state};
use crate::run::bash::{background, exposures, steps_of};

/// Plans what the command of a job would do if it were started now.
pub(super) fn plan(
    job: &JobFacts,
    mut effects: Vec<Effect>,
    cx: &PlanContext<'_>,
) -> Result<(Plan, Option<u64>), ToolError> {
    let command = cx.jobs().command(job.number).ok_or_else(lost)?;
    effects.push(Effect::Session(StateKey::job_states()));
    effects.push(Effect::Run(CommandLine(command.line.clone())));
    effects.extend(steps_of(&command.line, &command.folder, cx));
    effects.extend(exposures(cx).into_iter().map(Effect::Expose));
    let preview = Preview::Command(format!("# restarts {}\n{}", job.title(), command.line));
    Ok((Plan::new(effects).preview(preview), Some(job.number)))
}

/// Stops a job and starts its command again, with the same name.
pub(super) async fn run(job: Option<u64>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let number = job.ok_or_else(lost)?;
    let command = cx.jobs().command(number).ok_or_else(lost)?;
    cx.jobs().stop(number).await;
    let old = facts_of(number, cx)?;
    cx.tell_job_end(number);
    let notes = vec![state(&old)];
    background::start(command, old.name.clone(), notes, cx).await.map_err(|mut error| {
        error.what = format!("{}. It was not started again: {}", state(&old), error.what);
        error
    })
}

fn lost() -> ToolError {
    ToolError::of(ErrorKind::Bug, "The session has lost a job.")
}
