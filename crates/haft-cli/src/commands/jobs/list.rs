//! `haft jobs list`: lists all jobs of all live sessions in the workspace.

use haft_host::calling::jobs::{FoundSessions, NO_JOBS, record, state};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};

/// Longest command in a list, in characters.
const LONGEST_COMMAND: usize = 200;

pub(super) async fn run(common: &Common) -> anyhow::Result<Exit> {
    let found = FoundSessions::find(&common.options()).await?;
    let jobs = || found.sessions.iter().flat_map(|session| session.jobs.iter().map(move |job| (&*session.id, job)));
    if common.json {
        let silent: Vec<Value> =
            found.silent.iter().map(|(id, why)| json!({ "session": id, "why": why.to_string() })).collect();
        let jobs: Vec<Value> = jobs().map(|(id, job)| record(id, job)).collect();
        screen::record(&json!({ "v": 1, "jobs": jobs, "silent": silent }).to_string())?;
        return Ok(Exit::Ok);
    }
    for (id, job) in jobs() {
        let command: String = job.command.chars().take(LONGEST_COMMAND).collect();
        let name = format!("{id}:{}", job.number);
        let state = format!("  {}", state(job));
        let state = if job.running { StyledText::Plain(&state) } else { StyledText::Faint(&state) };
        screen::line(&[StyledText::Strong(&name), state, StyledText::Faint(&format!("; command: {command}"))])?;
    }
    if jobs().next().is_none() && found.silent.is_empty() {
        screen::talk(NO_JOBS);
    }
    for (id, why) in &found.silent {
        screen::talk(&format!("Session {id}: {why}"));
    }
    Ok(Exit::Ok)
}
