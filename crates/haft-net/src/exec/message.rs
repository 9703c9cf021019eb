//! What the client and the holder of a session say to each other.

use serde::{Deserialize, Serialize};

/// The version of these messages.
pub const VERSION: u32 = 1;

/// A command for a session. The descriptors of its streams that are not the terminal come with it, in their order, after
/// that of the process with which the session ends, if there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandRequest {
    /// The version of haft that asks.
    pub build: String,
    /// The command.
    pub line: String,
    /// The folder it starts in.
    pub folder: Vec<u8>,
    /// Its whole environment.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Which of its three streams are the terminal.
    pub terminals: [bool; 3],
    /// Whether it has hold of the terminal from the start.
    pub foreground: bool,
    /// How long it may run, in milliseconds.
    pub time: Option<u64>,
    /// The yes that was given beforehand: "undoable" or "all".
    pub yes: Option<String>,
    /// What happens to changes: "normal", "try" or "plan".
    pub mode: String,
    /// How questions are shown, where somebody can be asked.
    pub paper: Option<Paper>,
    /// Whether it is kept running in the background.
    pub background: bool,
    /// The name of the job then.
    pub name: Option<String>,
    /// Whether the session ends with a process whose descriptor comes first.
    pub has_owner: bool,
}

/// On what a question is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// How wide it is.
    pub columns: usize,
    /// Whether it has colours.
    pub colours: bool,
}

/// What a client says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromClient {
    /// Runs a command; comes first.
    Run(u32, Box<CommandRequest>),
    /// Sends a signal to the command.
    Signal(i32),
    /// Says that the terminal is connected.
    TerminalReady,
    /// Answers a question with a line; nothing at the end of input.
    Typed(Option<String>),
    /// Asks the holder to end as soon as it is idle. Every version understands it.
    EndWhenIdle,
}

/// What a holder says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToClient {
    /// The command was taken: it must not be brought again.
    Taken,
    /// The other end of the terminal comes with this; the client connects it.
    Terminal,
    /// This signal stopped the command.
    Suspended(i32),
    /// The command waits for the terminal.
    WantsTerminal,
    /// Shows a piece of a question.
    Say(String),
    /// Reads a line as the answer.
    Read,
    /// Reports something to the person.
    Note(String),
    /// The holder is another version of haft, named here; it ends when it is idle.
    OtherBuild(String),
    /// It speaks another version of these messages, and ends when it is idle.
    OtherVersion(u32),
    /// The command has ended; the last message.
    Ended(Box<Outcome>),
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The status of the call, as records have it.
    pub status: String,
    /// The exit code of the command, where it ran.
    pub exit_code: Option<i32>,
    /// Why it was refused or failed.
    pub error: Option<String>,
    /// What else is to be said, a line each.
    pub notes: Vec<String>,
    /// What it changed, in a line.
    pub changed: Option<String>,
    /// How files would differ, where it was only tried.
    pub differences: String,
    /// The whole record of the call.
    pub record: String,
}
