//! Defines the messages between a client and the holder of jobs, and how they travel.

use std::io;
use std::time::Duration;

use haft_contract::doors::job::JobFacts;
use haft_contract::files::path::one_line;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the protocol.
const VERSION: u32 = 1;
/// Longest question, in bytes.
pub(super) const LONGEST_ASK: usize = 64 * 1024;
/// Longest answer, in bytes.
pub(super) const LONGEST_ANSWER: usize = 2 * 1024 * 1024;
/// Most bytes of output in one answer. As JSON they may be six times as many.
pub(super) const MOST_OUTPUT: usize = 256 * 1024;
/// Longest command of a job that is shown, in characters.
const LONGEST_COMMAND: usize = 2_000;
/// How long a holder waits for what a client wants to know; then the client asks again.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What a client wants to know, or to have done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// All jobs.
    List {},
    /// The last bytes of what a job printed behind a position; all wait for more than that.
    Output {
        /// Its number.
        job: u64,
        /// The position.
        from: u64,
        /// Most bytes.
        most: usize,
        /// Whether to wait until there is something, or the job has ended.
        waits: bool,
    },
    /// Waits until a job has printed a line that holds a text, or has ended.
    Line {
        /// Its number.
        job: u64,
        /// The text.
        text: String,
    },
    /// Waits until a job has ended.
    End {
        /// Its number.
        job: u64,
    },
    /// Whether a program listens on a port.
    Port {
        /// The port.
        port: u16,
    },
    /// Sends a signal to all processes of a job.
    Signal {
        /// Its number.
        job: u64,
        /// The number of the signal.
        signal: i32,
    },
    /// Stops a job, and waits until its changes are in the workspace.
    Stop {
        /// Its number.
        job: u64,
    },
    /// Stops a job, and starts its command again.
    Restart {
        /// Its number.
        job: u64,
    },
    /// Commits what a job has changed so far.
    Sync {
        /// Its number.
        job: u64,
    },
    /// Waits for the end of the session.
    Stay {},
    /// A connection to a port; its descriptor comes with the answer.
    Connect {
        /// The port.
        port: u16,
    },
}

/// An answer of the holder of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobAnswer {
    /// All jobs.
    Jobs(Vec<JobRecord>),
    /// Output.
    Output {
        /// The text.
        text: String,
        /// How many bytes before it are left out.
        left_out: u64,
        /// The position behind it.
        position: u64,
        /// The job.
        job: JobRecord,
    },
    /// What was waited for has come, or not yet; how the job is now.
    Job {
        /// Whether it has come, or was done.
        came: bool,
        /// The job.
        job: JobRecord,
    },
    /// A job was stopped, and runs again as another one.
    Restarted {
        /// How the job ended.
        ended: JobRecord,
        /// The job that runs.
        job: JobRecord,
    },
    /// A job was not restarted, for this reason.
    NotRestarted(String),
    /// A job has committed what it had changed, or not for this reason.
    Synced {
        /// Whether it has.
        done: bool,
        /// What was committed, in words that follow the name of the job; else why not.
        words: String,
        /// The change set.
        change_set: Option<u64>,
    },
    /// Whether it is so; nothing where that is not known.
    Is(Option<bool>),
    /// The session lives.
    Stays,
    /// The connection comes with this.
    Connected,
    /// There is no connection, for this reason.
    NotConnected(String),
    /// There is no such job.
    NoJob,
    /// The question is not understood, for this reason.
    Refused(String),
}

/// A job, as a client sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its number in the session.
    pub number: u64,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The command, on one line.
    pub command: String,
    /// Whether it runs.
    pub running: bool,
    /// How long it has run, or ran.
    pub duration_ms: u64,
    /// Its exit code, where it ended by itself.
    pub exit_code: Option<i32>,
    /// The change set with what it changed.
    pub change_set: Option<u64>,
    /// How it ended, in words that follow its name.
    pub ended: Option<String>,
}

impl From<&JobFacts> for JobRecord {
    fn from(job: &JobFacts) -> Self {
        let end = job.end.as_ref();
        Self {
            number: job.number,
            name: job.name.clone(),
            command: one_line(&job.line).chars().take(LONGEST_COMMAND).collect(),
            running: end.is_none(),
            duration_ms: u64::try_from(job.took.as_millis()).unwrap_or(u64::MAX),
            exit_code: end.and_then(|end| end.how.exit_code()),
            change_set: end.and_then(|end| end.change_set).map(|number| number.0),
            ended: end.map(|end| end.words(job.took)),
        }
    }
}

/// A message as one line, with the version of the protocol.
#[derive(Serialize, Deserialize)]
struct VersionedMessage<T> {
    v: u32,
    say: T,
}

/// Only its version, which every later one has, too.
#[derive(Deserialize)]
struct AnyMessage {
    v: u32,
}

/// Writes a message.
pub(super) fn to_line(say: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&VersionedMessage { v: VERSION, say }).map_err(io::Error::other)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a message; says what it is where it is none of ours.
pub(super) fn from_line<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    match serde_json::from_slice::<AnyMessage>(line) {
        Ok(AnyMessage { v: VERSION }) => {}
        Ok(AnyMessage { v }) => {
            return Err(format!("it speaks version {v} of the protocol, and this haft version {VERSION}"));
        }
        Err(_) => return Err("it is not a message of haft".to_owned()),
    }
    serde_json::from_slice::<VersionedMessage<T>>(line).map(|message| message.say).map_err(|error| error.to_string())
}
