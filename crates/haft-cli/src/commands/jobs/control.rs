//! `haft jobs wait`, `signal`, `stop`, `restart` and `sync`.

use std::time::Duration;

use anyhow::bail;
use clap::Args;
use haft_contract::files::path::one_line;
use haft_contract::signals::{signal_number, signal_words};
use haft_host::calling::jobs::{ChosenJob, FoundSessions, record, state, title};
use haft_net::jobs::{Ask, JobAnswer, JobRecord};
use serde_json::json;
use tokio::time::timeout;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

/// How long a job may take to stop, with what it changed.
const TO_STOP: Duration = Duration::from_secs(120);

#[derive(Args)]
pub(super) struct JobsWaitArguments {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
    /// Wait until its output contains this text
    #[arg(long, value_name = "TEXT", conflicts_with = "port")]
    line: Option<String>,
    /// Wait until a program of its session listens on this port
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Wait at most S seconds
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    timeout: f64,
}

#[derive(Args)]
pub(super) struct Signal {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
    /// The signal, such as INT, HUP, USR1 or 15
    #[arg(value_name = "NAME")]
    signal: String,
}

#[derive(Args)]
pub(super) struct OfJob {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
}

pub(super) async fn wait(common: &Common, arguments: &JobsWaitArguments) -> anyhow::Result<Exit> {
    let Ok(most) = Duration::try_from_secs_f64(arguments.timeout) else {
        bail!("--timeout {} is no time in seconds", arguments.timeout);
    };
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    let waiting = async {
        match (&arguments.line, arguments.port) {
            (Some(text), _) => job.until(&Ask::Line { job: job.number, text: text.clone() }).await,
            (None, Some(port)) => job.until_port(port).await,
            (None, None) => job.until(&Ask::End { job: job.number }).await,
        }
    };
    match timeout(most, waiting).await {
        Ok(outcome) => {
            let (came, now) = outcome?;
            tell(common, &job, JobOutcome { came, now: &now })?;
            Ok(if came { Exit::Ok } else { Exit::Failed })
        }
        Err(_) => {
            let now = job.session.jobs.iter().find(|one| one.number == job.number);
            match now.filter(|_| common.json) {
                Some(now) => tell(common, &job, JobOutcome { came: false, now })?,
                None => screen::talk(&format!("Not within {} s.", arguments.timeout)),
            }
            Ok(Exit::TimedOut)
        }
    }
}

pub(super) async fn signal(common: &Common, arguments: &Signal) -> anyhow::Result<Exit> {
    let Some(signal) = signal_number(&arguments.signal) else {
        bail!("\"{}\" is no signal; name one such as INT, HUP, USR1 or TERM", one_line(&arguments.signal));
    };
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    let (is_sent, now) = job.ask_once(&Ask::Signal { job: job.number, signal }).await?;
    if common.json {
        tell(common, &job, JobOutcome { came: is_sent, now: &now })?;
    } else if is_sent {
        screen::answer(&format!("sent {} to all processes of {}", signal_words(signal), title(&now)))?;
    } else {
        screen::talk(&format!("{}; no signal was sent", state(&now)));
    }
    Ok(if is_sent { Exit::Ok } else { Exit::Failed })
}

pub(super) async fn stop(common: &Common, arguments: &OfJob) -> anyhow::Result<Exit> {
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    match timeout(TO_STOP, job.until(&Ask::Stop { job: job.number })).await {
        Ok(stopped) => {
            let (came, now) = stopped?;
            tell(common, &job, JobOutcome { came, now: &now })?;
            Ok(Exit::Ok)
        }
        Err(_) => {
            screen::talk("The job is being stopped, but its changes are not in the workspace yet.");
            Ok(Exit::TimedOut)
        }
    }
}

pub(super) async fn restart(common: &Common, arguments: &OfJob) -> anyhow::Result<Exit> {
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    match job.ask(&Ask::Restart { job: job.number }).await? {
        JobAnswer::Restarted { ended, job: now } if common.json => {
            let (ended, now) = (record(&job.session.id, &ended), record(&job.session.id, &now));
            screen::record(&json!({ "v": 1, "ended": ended, "job": now }).to_string())?;
            Ok(Exit::Ok)
        }
        JobAnswer::Restarted { ended, job: now } => {
            screen::answer(&format!("{}\n{}", state(&ended), state(&now)))?;
            Ok(Exit::Ok)
        }
        JobAnswer::NotRestarted(why) => {
            screen::talk(&format!("{} was not restarted: {why}", arguments.job));
            Ok(Exit::Failed)
        }
        other => bail!("the session answered something else: {other:?}"),
    }
}

pub(super) async fn sync(common: &Common, arguments: &OfJob) -> anyhow::Result<Exit> {
    let found = FoundSessions::find(&common.options()).await?;
    let job = found.job(&arguments.job)?;
    let answer = job.ask(&Ask::Sync { job: job.number }).await?;
    let JobAnswer::Synced { done, words, change_set } = answer else {
        bail!("the session answered something else: {answer:?}");
    };
    if common.json {
        let record = json!({ "v": 1, "done": done, "job": job.number, "change_set": change_set, "text": words });
        screen::record(&record.to_string())?;
    } else if done {
        screen::answer(&format!("job {} {words}", job.number))?;
    } else {
        screen::talk(&words);
    }
    Ok(if done { Exit::Ok } else { Exit::Failed })
}

/// Whether what was asked of a job happened, and the job then.
struct JobOutcome<'a> {
    came: bool,
    now: &'a JobRecord,
}

fn tell(common: &Common, job: &ChosenJob<'_>, JobOutcome { came, now }: JobOutcome<'_>) -> anyhow::Result<()> {
    match common.json {
        true => screen::record(&json!({ "v": 1, "came": came, "job": record(&job.session.id, now) }).to_string())?,
        false => screen::answer(&state(now))?,
    }
    Ok(())
}
