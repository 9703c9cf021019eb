//! Finds the sessions that live in the workspace, and the job that a person means (`haft jobs`).
//!
//! The jobs belong to other processes of haft, which answer over their sockets (`haft_net::jobs`).
//!
//! Not here: publishing the jobs of this process (`job_publication`).

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use futures_util::future::join_all;
use haft_contract::files::path::one_line;
use haft_net::jobs::{Ask, JobAnswer, JobRecord, NoAnswer, ask};
use haft_workspace::state::{LiveSession, SocketPlace};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::opening::rescue::Rescue;
use crate::options::Options;

/// How often a port is looked at.
const LOOK_AT_PORT: Duration = Duration::from_millis(100);

/// What to do where there are no jobs.
pub const NO_JOBS: &str = "No running session has a background job here. A model starts one with \"background\": \
                                  true, in \"haft call -\", \"haft run\" or \"haft mcp serve\".";

/// The sessions of the workspace that have, or had, jobs.
pub struct FoundSessions {
    rescue: Rescue,
    /// Those that answer.
    pub sessions: Vec<AnsweringSession>,
    /// Those that do not.
    pub silent: Vec<(String, NoAnswer)>,
}

/// A session that answers.
pub struct AnsweringSession {
    /// Its name.
    pub id: String,
    socket: SocketPlace,
    /// The jobs that it remembers.
    pub jobs: Vec<JobRecord>,
}

/// One job of a session.
pub struct ChosenJob<'a> {
    found: &'a FoundSessions,
    /// The session that has it.
    pub session: &'a AnsweringSession,
    /// Its number there.
    pub number: u64,
}

impl FoundSessions {
    /// Asks all at the same time: one that hangs costs its time limit once.
    pub async fn find(options: &Options) -> anyhow::Result<Self> {
        let rescue = Rescue::open(options)?;
        let asked = rescue.state.live_sessions().all().into_iter().map(|session| async {
            let answer = ask(&session.socket.path(), &Ask::List {}).await;
            (session, answer)
        });
        let answers = join_all(asked).await;
        let mut found = Self { rescue, sessions: Vec::new(), silent: Vec::new() };
        for (LiveSession { id, socket }, answer) in answers {
            match answer {
                Ok(JobAnswer::Jobs(jobs)) => {
                    let jobs = jobs.into_iter().map(|job| found.hidden(job)).collect();
                    found.sessions.push(AnsweringSession { id, socket, jobs });
                }
                Ok(other) => found.silent.push((id, NoAnswer::Odd(format!("{other:?}")))),
                // It ended while it was asked.
                Err(NoAnswer::Gone) => {}
                Err(why) => found.silent.push((id, why)),
            }
        }
        Ok(found)
    }

    /// Returns the job that is meant: by name or number, with its session before a colon where that is necessary.
    pub fn job(&self, given: &str) -> anyhow::Result<ChosenJob<'_>> {
        let everywhere: Vec<ChosenJob<'_>> =
            self.sessions.iter().filter_map(|one| self.in_session(one, given)).collect();
        let mut matching = match given.rsplit_once(':') {
            Some((id, job)) if everywhere.is_empty() => {
                self.sessions.iter().filter(|one| one.id == id).filter_map(|one| self.in_session(one, job)).collect()
            }
            _ => everywhere,
        };
        if matching.len() > 1 && matching.iter().filter(|job| job.runs()).count() == 1 {
            matching.retain(ChosenJob::runs);
        }
        match matching.len() {
            1 => Ok(matching.remove(0)),
            0 if self.sessions.iter().all(|session| session.jobs.is_empty()) => bail!("{}{}", NO_JOBS, self.silence()),
            0 => bail!("there is no job \"{}\"; \"haft jobs\" lists them{}", one_line(given), self.silence()),
            _ => {
                let names: Vec<String> =
                    matching.iter().map(|job| format!("{}:{}", job.session.id, job.number)).collect();
                bail!("several sessions have a job \"{}\"; name one of them: {}", one_line(given), names.join(", "))
            }
        }
    }

    /// Says which sessions do not answer, behind an error.
    pub fn silence(&self) -> String {
        self.silent.iter().map(|(id, why)| format!("\nSession {id}: {why}")).collect()
    }

    /// Returns the session with a program that listens on the port; only that of this name, if one is named.
    pub async fn listening(&self, id: Option<&str>, port: u16) -> anyhow::Result<&AnsweringSession> {
        let meant = self.sessions.iter().filter(|session| id.is_none_or(|id| session.id == id));
        let asked = meant.map(|session| async move { (session, session.ask(&Ask::Port { port }).await) });
        let answers = join_all(asked).await;
        if answers.is_empty() {
            match id {
                Some(id) => {
                    bail!("there is no session \"{id}\" with a job here; \"haft jobs\" lists them{}", self.silence())
                }
                None => bail!("{NO_JOBS}{}", self.silence()),
            }
        }
        let listen = answers.iter().filter(|(_, answer)| *answer == Ok(JobAnswer::Is(Some(true))));
        match listen.map(|(session, _)| *session).collect::<Vec<_>>()[..] {
            [session] => Ok(session),
            [] => bail!(
                "no program of a session listens on port {port}; \"haft jobs output JOB\" shows what a job printed{}",
                self.silence()
            ),
            ref several => {
                let names: Vec<String> = several.iter().map(|session| format!("{}:{port}", session.id)).collect();
                bail!("several sessions listen on port {port}; name one of them: {}", names.join(", "))
            }
        }
    }

    fn in_session<'a>(&'a self, session: &'a AnsweringSession, given: &str) -> Option<ChosenJob<'a>> {
        // Of several of one name the newest is meant.
        let is_meant = |job: &&JobRecord| job.name.as_deref() == Some(given) || job.number.to_string() == given;
        let number = session.jobs.iter().rfind(is_meant)?.number;
        Some(ChosenJob { found: self, session, number })
    }

    /// Hides secrets in what a model wrote. What a job printed comes without them.
    fn hidden(&self, mut job: JobRecord) -> JobRecord {
        let redactor = self.rescue.redactor();
        for text in [Some(&mut job.command), job.ended.as_mut()].into_iter().flatten() {
            *text = redactor.redact_known(text).into_owned();
        }
        job
    }
}

impl AnsweringSession {
    /// Asks its holder.
    pub async fn ask(&self, question: &Ask) -> Result<JobAnswer, NoAnswer> {
        ask(&self.socket.path(), question).await
    }

    /// Returns where its holder listens.
    pub fn socket(&self) -> PathBuf {
        self.socket.path()
    }
}

impl ChosenJob<'_> {
    fn runs(&self) -> bool {
        self.session.jobs.iter().any(|job| job.number == self.number && job.running)
    }

    /// Asks the holder about this job; fails with words for a person.
    pub async fn ask(&self, question: &Ask) -> anyhow::Result<JobAnswer> {
        let id = &self.session.id;
        Ok(match self.session.ask(question).await {
            Ok(JobAnswer::NoJob) => bail!("session {id} does not remember job {} any more", self.number),
            Ok(JobAnswer::Job { came, job }) => JobAnswer::Job { came, job: self.found.hidden(job) },
            Ok(JobAnswer::Restarted { ended, job }) => {
                JobAnswer::Restarted { ended: self.found.hidden(ended), job: self.found.hidden(job) }
            }
            Ok(JobAnswer::Output { text, left_out, position, job }) => {
                JobAnswer::Output { text, left_out, position, job: self.found.hidden(job) }
            }
            Ok(other) => other,
            // Nothing that was typed is wrong.
            Err(NoAnswer::Gone) => return Err(failed(format!("session {id} has ended, and its jobs with it"))),
            Err(why) => return Err(failed(format!("session {id}: {why}"))),
        })
    }

    /// Asks once: whether it has come, and how the job is.
    pub async fn ask_once(&self, question: &Ask) -> anyhow::Result<(bool, JobRecord)> {
        match self.ask(question).await? {
            JobAnswer::Job { came, job } => Ok((came, job)),
            other => bail!("the session answered something else: {other:?}"),
        }
    }

    /// Asks again until it has come, or the job has ended.
    pub async fn until(&self, question: &Ask) -> anyhow::Result<(bool, JobRecord)> {
        loop {
            let (came, now) = self.ask_once(question).await?;
            if came || !now.running {
                return Ok((came, now));
            }
        }
    }

    /// Waits until a program of the session listens on a port, or the job has ended.
    pub async fn until_port(&self, port: u16) -> anyhow::Result<(bool, JobRecord)> {
        loop {
            let listens = match self.ask(&Ask::Port { port }).await? {
                JobAnswer::Is(Some(listens)) => listens,
                _ => bail!("haft cannot see which ports programs listen on here; wait for a line instead: --line"),
            };
            let now = self.ask(&Ask::Output { job: self.number, from: u64::MAX, most: 0, waits: false }).await?;
            let JobAnswer::Output { job: now, .. } = now else {
                bail!("session {} does not know the job", self.session.id)
            };
            if listens || !now.running {
                return Ok((listens, now));
            }
            sleep(LOOK_AT_PORT).await;
        }
    }
}

fn failed(what: String) -> anyhow::Error {
    std::io::Error::other(what).into()
}

/// Returns how people call a job.
pub fn title(job: &JobRecord) -> String {
    match &job.name {
        Some(name) => format!("job {} \"{name}\"", job.number),
        None => format!("job {}", job.number),
    }
}

/// Says how a job is.
pub fn state(job: &JobRecord) -> String {
    let tenths = (job.duration_ms + 50) / 100;
    let running = || format!("is running ({}.{} s)", tenths / 10, tenths % 10);
    format!("{} {}", title(job), job.ended.clone().unwrap_or_else(running))
}

/// Returns a job for programs.
pub fn record(session: &str, job: &JobRecord) -> Value {
    json!({
        "session": session, "number": job.number, "name": job.name, "command": job.command, "running": job.running,
        "duration_ms": job.duration_ms, "exit_code": job.exit_code, "change_set": job.change_set, "ended": job.ended
    })
}
