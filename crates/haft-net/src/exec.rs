//! Brings commands with their standard streams to the process that holds their session.
//!
//! One connection is one command. Both sides say lines of JSON; descriptors travel with them. The client is where the
//! person is: it shows questions and passes answers, signals and the modes of the terminal on. When a client is gone, its
//! command ends. A command without a session takes the same way, over a pair of sockets in one process.
//!
//! Not here: where the socket is (`haft-workspace`), running commands and keeping the session (`haft-host`).

mod connection;
mod message;
#[cfg(test)]
mod tests;

pub use connection::{Connection, Listener, PlainEnd, Receiver, Sender, connect, pair};
pub use message::{CommandRequest, FromClient, Outcome, Paper, ToClient, VERSION};
