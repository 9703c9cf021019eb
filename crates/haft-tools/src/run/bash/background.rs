//! Starts a command that the session keeps running after the call.

use std::time::Duration;

use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::doors::job::NewJob;
use haft_contract::doors::process::{CommandSpec, Disposition, SettledCommand, Settlement};
use haft_contract::prelude::*;
use serde_json::json;

use crate::run::jobs::{facts_of, job_data};

/// How long the call watches for a job that ends immediately.
const LOOK: Duration = Duration::from_millis(400);
/// Most bytes of its first lines that are shown.
const MOST_SHOWN: usize = 4_000;
/// Longest name.
const LONGEST_NAME: usize = 40;
/// How commands name the machine that they run on.
const LOOPBACK: &[&str] = &["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];
/// Folders whose files programs write while they run.
const NEVER_LOADED: [&str; 3] = [".git", "node_modules", "__pycache__"];
/// What is said once in a session, of the first job that runs.
const ABOUT: &str = "\"jobs\" shows its output, later commands reach its ports; its changes come when it ends, or with \
                     action \"sync\" except build folders; file watchers may miss changes: action \"restart\" \
                     restarts it";
/// The same where only some of the actions are there.
const ABOUT_SHARED: &str = "\"jobs\" shows its output, later commands reach its ports; its changes come when it ends";

/// Refuses what is no name of a job.
pub(super) fn check_name(name: Option<&str>) -> Result<(), ToolError> {
    let Some(name) = name else { return Ok(()) };
    let is_usual = |c: char| c.is_alphanumeric() || "-_.: ".contains(c);
    if !name.is_empty() && name.chars().count() <= LONGEST_NAME && name.chars().all(is_usual) && !is_number(name) {
        return Ok(());
    }
    let what = format!(
        "\"name\" is not a name for a job: a name has at most {LONGEST_NAME} letters, digits, \"-\", \"_\" or \".\"."
    );
    let next = "choose a short word, such as \"server\"";
    Err(ToolError::new(ErrorKind::BadArguments, what + " Nothing was run.", Next::FixArguments(next.into())))
}

/// Says that jobs did not see the changes of a command while it ran. It matters to one that asks a server of its own.
pub(super) fn seen_late(line: &str, ran: &SettledCommand, cx: &RunContext<'_>) -> Option<String> {
    let asks_server = LOOPBACK.iter().any(|name| line.contains(name));
    // What is new, or lies in build folders and repositories, is no file that a running program has loaded.
    let may_be_loaded = |changed: &Settlement| {
        let path = changed.target.place().path();
        changed.change != Change::Create && !path.iter().any(|part| NEVER_LOADED.iter().any(|folder| part == *folder))
    };
    if !asks_server || !ran.settled.changes.iter().any(may_be_loaded) || ran.how != Disposition::Commit {
        return None;
    }
    let running = cx.jobs().all().into_iter().find(|job| job.end.is_none())?;
    let job = running.name.clone().unwrap_or_else(|| running.number.to_string());
    Some(format!(
        "{} sees these changes only now; a program that watches or has loaded these files must be restarted: \
         jobs(action=\"restart\", job=\"{job}\")",
        running.title()
    ))
}

/// A number would be taken for the number of a job.
fn is_number(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_digit())
}

/// Starts a job, and says what came of it so far.
pub(crate) async fn start(
    command: CommandSpec,
    name: Option<String>,
    mut notes: Vec<String>,
    cx: &RunContext<'_>,
) -> Result<ToolOutput, ToolError> {
    let number = cx.start_job(NewJob { command, name }).await?;
    let jobs = cx.jobs();
    // After the timeout the call stops waiting for the end; the job continues.
    let _ = tokio::time::timeout(LOOK, until_its_end(number, cx)).await;
    let facts = facts_of(number, cx)?;
    let output = jobs.output(number, 0, MOST_SHOWN).map(|output| output.text).unwrap_or_default();
    let said = match &facts.end {
        Some(end) => {
            cx.tell_job_end(number);
            format!("{} {}", facts.title(), end.words(facts.took))
        }
        None if cx.is_first_hint(ABOUT) => format!("{} runs in the background: {}", facts.title(), about(cx)),
        None => format!("{} runs in the background", facts.title()),
    };
    notes.push(said);
    let said: String = notes.iter().map(|note| format!("[{note}]\n")).collect();
    let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    let data = json!({ "job": job_data(&facts), "output": output, "notes": notes });
    let told = ToolOutput::text(format!("{output}{gap}{said}")).with_data(data);
    Ok(ToolOutput { said: Some(said), ..told })
}

fn about(cx: &RunContext<'_>) -> &'static str {
    match cx.limits().page_style.arguments {
        ContinuationArguments::Own => ABOUT,
        ContinuationArguments::Shared => ABOUT_SHARED,
    }
}

async fn until_its_end(number: u64, cx: &RunContext<'_>) {
    let jobs = cx.jobs();
    while let Ok(facts) = facts_of(number, cx) {
        if facts.end.is_some() {
            return;
        }
        jobs.news(number, facts.printed).await;
    }
}
