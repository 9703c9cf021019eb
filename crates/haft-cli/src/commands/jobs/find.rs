//! Finds the sessions that live in the workspace, and the job that a person means.

use anyhow::bail;
use futures_util::future::join_all;
use haft_contract::path::one_line;
use haft_host::rescue::Rescue;
use haft_net::jobs::{Answer, Ask, JobRecord, NoAnswer, ask};
use haft_workspace::state::{LiveSession, SocketPlace};
use serde_json::{Value, json};

use crate::arguments::Common;

/// What to do where there are no jobs.
pub(super) const NO_JOBS: &str = "No running session has a background job here. A model starts one with \"background\": \
                                  true, in \"haft call -\", \"haft run\" or \"haft mcp serve\".";

/// The sessions of the workspace that have, or had, jobs.
pub(super) struct FoundSessions {
    rescue: Rescue,
    /// Those that answer.
    pub(super) sessions: Vec<AnsweringSession>,
    /// Those that do not.
    pub(super) silent: Vec<(String, NoAnswer)>,
}

/// A session that answers.
pub(super) struct AnsweringSession {
    pub(super) id: String,
    socket: SocketPlace,
    pub(super) jobs: Vec<JobRecord>,
}

/// One job of a session.
pub(super) struct ChosenJob<'a> {
    found: &'a FoundSessions,
    pub(super) session: &'a AnsweringSession,
    pub(super) number: u64,
}

impl FoundSessions {
    /// Asks all at the same time: one that hangs costs its time limit once.
    pub(super) async fn find(common: &Common) -> anyhow::Result<Self> {
        let rescue = Rescue::open(&common.options())?;
        let asked = rescue.state.live_sessions().all().into_iter().map(|session| async {
            let answer = ask(&session.socket.path(), &Ask::List {}).await;
            (session, answer)
        });
        let answers = join_all(asked).await;
        let mut found = Self { rescue, sessions: Vec::new(), silent: Vec::new() };
        for (LiveSession { id, socket }, answer) in answers {
            match answer {
                Ok(Answer::Jobs(jobs)) => {
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
    pub(super) fn job(&self, given: &str) -> anyhow::Result<ChosenJob<'_>> {
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
    pub(super) fn silence(&self) -> String {
        self.silent.iter().map(|(id, why)| format!("\nSession {id}: {why}")).collect()
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
    pub(super) async fn ask(&self, question: &Ask) -> Result<Answer, NoAnswer> {
        ask(&self.socket.path(), question).await
    }

    /// Returns where its holder listens.
    pub(super) fn socket(&self) -> std::path::PathBuf {
        self.socket.path()
    }
}

impl ChosenJob<'_> {
    fn runs(&self) -> bool {
        self.session.jobs.iter().any(|job| job.number == self.number && job.running)
    }

    /// Asks the holder about this job; fails with words for a person.
    pub(super) async fn ask(&self, question: &Ask) -> anyhow::Result<Answer> {
        let id = &self.session.id;
        Ok(match self.session.ask(question).await {
            Ok(Answer::NoJob) => bail!("session {id} does not remember job {} any more", self.number),
            Ok(Answer::Job { came, job }) => Answer::Job { came, job: self.found.hidden(job) },
            Ok(Answer::Output { text, left_out, position, job }) => {
                Answer::Output { text, left_out, position, job: self.found.hidden(job) }
            }
            Ok(other) => other,
            // Nothing that was typed is wrong.
            Err(NoAnswer::Gone) => return Err(failed(format!("session {id} has ended, and its jobs with it"))),
            Err(why) => return Err(failed(format!("session {id}: {why}"))),
        })
    }
}

fn failed(what: String) -> anyhow::Error {
    std::io::Error::other(what).into()
}

/// Returns how people call a job.
pub(super) fn title(job: &JobRecord) -> String {
    match &job.name {
        Some(name) => format!("job {} \"{name}\"", job.number),
        None => format!("job {}", job.number),
    }
}

/// Says how a job is.
pub(super) fn state(job: &JobRecord) -> String {
    let tenths = (job.duration_ms + 50) / 100;
    let running = || format!("is running ({}.{} s)", tenths / 10, tenths % 10);
    format!("{} {}", title(job), job.ended.clone().unwrap_or_else(running))
}

/// Returns a job for programs.
pub(super) fn record(session: &str, job: &JobRecord) -> Value {
    json!({
        "session": session, "number": job.number, "name": job.name, "command": job.command, "running": job.running,
        "duration_ms": job.duration_ms, "exit_code": job.exit_code, "change_set": job.change_set, "ended": job.ended
    })
}
