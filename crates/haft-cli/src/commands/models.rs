//! Commands that let a model work, and their sessions.

pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sessions;
