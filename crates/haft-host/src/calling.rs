//! Calls and commands that a person makes, and the jobs that they start.

pub mod call_lines;
pub mod call_words;
#[cfg(all(feature = "model", feature = "sandbox"))]
pub mod exec;
#[cfg(feature = "model")]
pub(crate) mod job_publication;
#[cfg(feature = "model")]
pub mod jobs;
pub mod stop_signals;
pub mod typed_words;
pub mod user_questions;
