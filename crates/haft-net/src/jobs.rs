//! Gives other processes of the same user access to the jobs of a session: the holder serves a socket, a client asks.
//!
//! One connection carries one question and one answer, each a line of JSON with the version of the protocol. The client
//! keeps its place in the output, and repeats a question that waits. So a holder keeps no state for its clients, and the
//! client soon notices a holder that hangs. Both sides limit the size and the time of what they read, and accept only a
//! peer of the same user.
//!
//! Not here: where the socket is (`haft-workspace`), the jobs themselves (`haft-runtime`).

mod client;
mod forward;
mod message;
mod service;
#[cfg(test)]
mod tests;

pub use client::{NoAnswer, ask, connect};
pub use forward::{Forward, LocalPort};
pub use message::{Ask, JobAnswer, JobRecord, LONGEST_WAIT};
pub use service::{ServedJobs, serve};
