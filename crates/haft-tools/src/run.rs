//! Tools that run commands and code, and their background jobs.

pub mod bash;
pub(crate) mod hidden_values;
pub mod jobs;
pub mod run_code;
