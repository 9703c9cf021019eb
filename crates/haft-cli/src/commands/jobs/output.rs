//! `haft jobs output`: shows what a job printed last, and then its new output.

use clap::Args;
use haft_host::calling::jobs::{ChosenJob, FoundSessions, record, state};
use haft_net::jobs::{Ask, JobAnswer, JobRecord};
use serde_json::json;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

/// Most bytes that are shown at first.
const LAST: usize = 16 * 1024;

#[derive(Args)]
pub(super) struct JobsOutputArguments {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
    /// Also show new output, until the job ends
    #[arg(long, short = 'f')]
    follow: bool,
}

pub(super) async fn run(common: &Common, arguments: &JobsOutputArguments) -> anyhow::Result<Exit> {
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    let (mut position, mut state_now) =
        show(common, &job, JobOutputRange { from: 0, most: LAST, waits: false }).await?;
    while arguments.follow && state_now.running {
        (position, state_now) =
            show(common, &job, JobOutputRange { from: position, most: usize::MAX, waits: true }).await?;
    }
    if !common.json {
        screen::talk(&format!("[{}]", state(&state_now)));
    }
    Ok(Exit::Ok)
}

/// The part of a job's output that is shown.
struct JobOutputRange {
    from: u64,
    most: usize,
    waits: bool,
}

/// Shows a part of the output; returns the position behind it, and how the job is.
async fn show(common: &Common, job: &ChosenJob<'_>, piece: JobOutputRange) -> anyhow::Result<(u64, JobRecord)> {
    let JobOutputRange { from, most, waits } = piece;
    let answer = job.ask(&Ask::Output { job: job.number, from, most, waits }).await?;
    let JobAnswer::Output { text, left_out, position, job: now } = answer else {
        anyhow::bail!("session {} does not say what the job printed", job.session.id);
    };
    // While it prints nothing there is nothing to show.
    if waits && text.is_empty() && now.running {
        return Ok((position, now));
    }
    if common.json {
        let record = json!({
            "v": 1, "job": record(&job.session.id, &now), "output": text, "left_out": left_out, "position": position
        });
        screen::record(&record.to_string())?;
        return Ok((position, now));
    }
    if left_out > 0 {
        screen::talk(&format!("[{left_out} earlier bytes are not shown]"));
    }
    if !text.is_empty() {
        screen::answer(&text)?;
    }
    Ok((position, now))
}
