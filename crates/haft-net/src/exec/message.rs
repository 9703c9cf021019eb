//! Defines the messages between the client and the holder of a session.

use serde::{Deserialize, Serialize};

/// The version of these messages.
pub const VERSION: u32 = 1;

/// A command for a session. Descriptors come with it: first that of the owner of the session, if there is one, then
/// those of the streams that are not the terminal, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandRequest {
    /// The version of haft that sends the request.
    pub build: String,
    /// The command.
    pub line: String,
    /// The folder it starts in.
    pub folder: Vec<u8>,
    /// Its whole environment.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Which of its three streams are the terminal.
    pub terminals: [bool; 3],
    /// Whether it starts in the foreground of the terminal.
    pub foreground: bool,
    /// How long it may run, in milliseconds.
    pub time: Option<u64>,
    /// The yes that was given beforehand: "undoable" or "all".
    pub yes: Option<String>,
    /// What happens to changes: "normal", "try" or "plan".
    pub mode: String,
    /// How to show questions; `None` if no person can be asked.
    pub paper: Option<Paper>,
    /// Whether it runs as a background job.
    pub background: bool,
    /// The name of that job.
    pub name: Option<String>,
    /// Whether the session has an owner, whose descriptor comes first.
    pub has_owner: bool,
    /// The call of another agent that haft has judged, if the command is one.
    #[serde(default)]
    pub agent: Option<AgentCall>,
}

/// A call of another agent that haft has judged already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCall {
    /// The agent.
    pub name: String,
    /// The agent's name for the call.
    pub call: String,
    /// The agent's own name for its session.
    pub run: String,
    /// The number of the turn.
    pub turn: u64,
    /// Whether the agent's answer covers all questions, and not only those about changes that undo can revert.
    pub covers_all: bool,
}

/// The display for questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// How wide it is.
    pub columns: usize,
    /// Whether it has colours.
    pub colours: bool,
}

/// A message from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromClient {
    /// Runs a command; the first message.
    Run(u32, Box<CommandRequest>),
    /// Sends a signal to the command.
    Signal(i32),
    /// Says that the terminal is connected.
    TerminalReady,
    /// Answers a question with a line; `None` at the end of input.
    Typed(Option<String>),
    /// Asks the holder to end as soon as it is idle. Every version understands it.
    EndWhenIdle,
}

/// A message from a holder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToClient {
    /// The holder accepted the command: the client must not send it again.
    Taken,
    /// The other end of the terminal comes with this message; the client connects it.
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
    /// The holder speaks another version of these messages, and ends when it is idle.
    OtherVersion(u32),
    /// The command has ended; the last message.
    Ended(Box<ExecOutcome>),
}

/// The end of a command, as the holder reports it to the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExecOutcome {
    /// The status of the call, as records have it.
    pub status: String,
    /// The exit code of the command, where it ran.
    pub exit_code: Option<i32>,
    /// Why it was refused or failed.
    pub error: Option<String>,
    /// Further notes, one line each.
    pub notes: Vec<String>,
    /// What it changed, in one line.
    pub changed: Option<String>,
    /// How files would differ, if the command was only tried.
    pub differences: String,
    /// The whole record of the call.
    pub record: String,
}
