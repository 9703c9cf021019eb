//! A recorded session once more: its replies against the tools of today, in a copy of the workspace.
//!
//! Not here: the copy (`haft_workspace::replica`), the command itself (`commands/replay`).

pub(crate) mod adapted;
pub(crate) mod answered;
pub(crate) mod compared;
pub(crate) mod recorded;
pub(crate) mod told;
