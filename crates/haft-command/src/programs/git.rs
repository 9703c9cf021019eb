//! Effects of git's settings and revisions, which its rows cannot describe.

pub(crate) mod config;
pub(crate) mod revision;
mod settings;
