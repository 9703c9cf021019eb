//! Commands for agents of others, and for running a command under haft.

pub(crate) mod exec;
pub(crate) mod guard;
pub(crate) mod mcp;
pub(crate) mod setup;
