//! Sends commands with their standard streams to the process that holds their session.
//!
//! Each connection carries one command. Both sides send lines of JSON, with descriptors attached. The client runs beside
//! the person: it shows questions, and passes on answers, signals and the modes of the terminal. When a client
//! disconnects, its command ends. A command without a session uses a pair of sockets in one process.
//!
//! Not here: where the socket is (`haft-workspace`), running commands and keeping the session (`haft-host`).

mod connection;
mod message;
#[cfg(test)]
mod tests;

pub use connection::{ExecConnection, ExecListener, PlainEnd, Receiver, Sender, connect, pair};
pub use message::{AgentCall, CommandRequest, ExecOutcome, FromClient, Paper, ToClient, VERSION};
