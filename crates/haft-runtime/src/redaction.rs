//! Hides secrets in everything that leaves haft.

pub mod redact;
pub(crate) mod secrets;
