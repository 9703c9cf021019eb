//! What git does by its settings and revisions, which its rows cannot say.

pub(crate) mod config;
pub(crate) mod revision;
mod settings;
