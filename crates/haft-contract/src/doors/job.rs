//! Jobs: commands that a session keeps running between calls.
//!
//! A job belongs to the session that started it and ends with it. It works on a separate ground. When it ends, haft
//! commits its changes to the workspace as a separate change set.
//!
//! Not here: keeping them (`haft-runtime`), running a command (`process`).

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Weak;
use std::time::Duration;

use super::door::{ChangeSetId, Permit, Receipts};
use super::process::{CommandSpec, HowEnded};
use crate::BoxFuture;
use crate::outcome::error::{Next, ToolError};
use crate::outcome::kinds::ErrorKind;
use crate::signals::signal_words;

/// What a session keeps running between calls.
pub trait Jobs: Send + Sync {
    /// Starts a command that outlives the call of this permit. Returns the number of the job as soon as it runs.
    ///
    /// # Errors
    ///
    /// Fails where nothing was run.
    fn start<'a>(&'a self, permit: &'a Permit, job: NewJob) -> BoxFuture<'a, Result<u64, ToolError>>;

    /// Returns all jobs of the session, the oldest first.
    fn all(&self) -> Vec<JobFacts>;

    /// Returns what a job has printed behind this position, of at most so many bytes the last.
    fn output(&self, job: u64, from: u64, most: usize) -> Option<JobOutput>;

    /// Notes that the model was told all that a job printed up to this position.
    fn note_read(&self, job: u64, position: u64);

    /// Waits until a job has printed something behind this position, or has ended.
    fn news<'a>(&'a self, job: u64, position: u64) -> BoxFuture<'a, ()>;

    /// Sends a signal to every process of a job; returns whether it runs.
    fn signal(&self, job: u64, signal: i32) -> bool;

    /// Ends every process of a job, and waits until what it changed is in the workspace.
    fn stop<'a>(&'a self, job: u64) -> BoxFuture<'a, ()>;

    /// Commits what a running job has changed so far, as a change set of its own.
    ///
    /// # Errors
    ///
    /// Fails where there is no such job, where it has ended, or where its changes could not be committed.
    fn sync<'a>(&'a self, _job: u64) -> BoxFuture<'a, Result<JobSync, ToolError>> {
        Box::pin(async { Err(no_session()) })
    }

    /// Returns the command of a job, to be judged and started again.
    fn command(&self, _job: u64) -> Option<CommandSpec> {
        None
    }

    /// Stops a job, waits until what it changed is in the workspace, and starts its command again under the permission that
    /// it had. Returns the number of the new job. For a person: haft judges a model's call again, and starts a job.
    ///
    /// # Errors
    ///
    /// Fails where there is no such job, or where its command cannot be started again.
    fn restart<'a>(&'a self, _job: u64) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async { Err(no_session()) })
    }

    /// Notes that the model was told how a job ended. Returns what was done under its permit, the first time.
    fn note_told(&self, job: u64) -> Option<Receipts>;

    /// Returns whether a program listens on this port of the loopback that jobs have, where that is known.
    fn is_listening(&self, _port: u16) -> Option<bool> {
        None
    }

    /// Connects to a port of the loopback that jobs have. May wait for the program that listens there.
    ///
    /// # Errors
    ///
    /// Fails where no program accepts, or where there is no way to that loopback.
    fn connect(&self, _port: u16) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Lets other processes of the user see and control the jobs of a session.
pub trait JobService: Send + Sync {
    /// Publishes the jobs of the session of this name until what this returns is dropped.
    ///
    /// # Errors
    ///
    /// Fails where no place for that can be made; then only the session itself reaches its jobs.
    fn publish(&self, session: &str, jobs: Weak<dyn Jobs>) -> io::Result<Publication>;
}

/// Ends what was published when it is dropped.
pub type Publication = Box<dyn std::any::Any + Send + Sync>;

/// A job that is to be started.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The command. Its time does not count.
    pub command: CommandSpec,
    /// The name that the model gave it.
    pub name: Option<String>,
}

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFacts {
    /// Its number in the session, from 1.
    pub number: u64,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The command.
    pub line: String,
    /// How long it has run, or ran.
    pub took: Duration,
    /// How many bytes it has printed, as plain text.
    pub printed: u64,
    /// Up to where the model has read.
    pub read: u64,
    /// How it ended, where it has.
    pub end: Option<JobEnd>,
}

impl JobFacts {
    /// Returns how people and models call it.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("job {} \"{name}\"", self.number),
            None => format!("job {}", self.number),
        }
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    /// In which way.
    pub how: HowEnded,
    /// Under which number the journal has what it changed.
    pub change_set: Option<ChangeSetId>,
    /// What it changed, in words; empty when it changed nothing.
    pub changes: String,
    /// What else is worth knowing, a sentence each.
    pub notes: Vec<String>,
}

impl JobEnd {
    /// Says how it ended after this time and what it changed, as what follows the title of a job.
    pub fn words(&self, took: Duration) -> String {
        let took = (took.as_secs_f64() * 10.0).round() / 10.0;
        let how = match self.how {
            HowEnded::Exited(status) => format!("ended with exit code {status}"),
            HowEnded::Killed(signal) => format!("was ended by {}", signal_words(signal)),
            HowEnded::TimedOut => "was ended because its time was up".to_owned(),
            HowEnded::Stopped => "was stopped".to_owned(),
        };
        format!("{how} after {took} s{}", changed(self.change_set, &self.changes, &self.notes))
    }
}

/// What a running job had changed when it was asked to commit.
#[derive(Clone, Debug)]
pub struct JobSync {
    /// Under which number the journal has it; nothing where nothing was new.
    pub change_set: Option<ChangeSetId>,
    /// What was committed, in words; empty when nothing was new.
    pub changes: String,
    /// What else is worth knowing, a sentence each.
    pub notes: Vec<String>,
    /// What was done for it.
    pub receipts: Receipts,
}

impl JobSync {
    /// Says what was committed, as what follows the title of a job.
    pub fn words(&self) -> String {
        match self.changes.is_empty() {
            true => format!("has changed nothing new{}", changed(None, "", &self.notes)),
            false => format!("goes on running{}", changed(self.change_set, &self.changes, &self.notes)),
        }
    }
}

fn changed(change_set: Option<ChangeSetId>, changes: &str, notes: &[String]) -> String {
    let changes = match (change_set, changes) {
        (_, "") => String::new(),
        (Some(number), changes) => format!("; change set {number}: {changes}"),
        (None, changes) => format!("; {changes}"),
    };
    // More may follow: notes are parts of one sentence here.
    changes + &notes.iter().map(|note| format!("; {}", note.trim_end_matches('.'))).collect::<String>()
}

/// A part of what a job has printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOutput {
    /// Both streams as they came, as plain text without secrets.
    pub text: String,
    /// How many bytes before it are not kept or did not fit.
    pub left_out: u64,
    /// The position behind it.
    pub position: u64,
}

/// Where no command outlives its call.
#[derive(Clone, Copy, Debug)]
pub struct NoJobs;

impl Jobs for NoJobs {
    fn start<'a>(&'a self, _permit: &'a Permit, _job: NewJob) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async { Err(no_session()) })
    }

    fn all(&self) -> Vec<JobFacts> {
        Vec::new()
    }

    fn output(&self, _job: u64, _from: u64, _most: usize) -> Option<JobOutput> {
        None
    }

    fn note_read(&self, _job: u64, _position: u64) {}

    fn news<'a>(&'a self, _job: u64, _position: u64) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn signal(&self, _job: u64, _signal: i32) -> bool {
        false
    }

    fn stop<'a>(&'a self, _job: u64) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn note_told(&self, _job: u64) -> Option<Receipts> {
        None
    }
}

/// Says that a job would end with the call.
pub fn no_session() -> ToolError {
    let what = "A background job ends with its session, and this call is a session of its own. Nothing was run.";
    let next = "run it together with what uses it in one command, or make the calls in one session: \"haft call -\", \
                \"haft run\" or \"haft mcp serve\"";
    ToolError::new(ErrorKind::Unavailable, what, Next::FixArguments(next.into()))
}
