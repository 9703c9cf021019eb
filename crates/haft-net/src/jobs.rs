//! The jobs of a session for other processes of the same user: the holder serves them on a socket, a client asks.
//!
//! One connection is one question and one answer, each a line of JSON with the version of the protocol. The client keeps
//! its place in the output itself, and repeats a question that waits, so a holder has nothing to remember of its clients
//! and one that hangs is noticed soon. Both sides bound the size and the time of what they read, and accept a peer of the
//! same user only.
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
