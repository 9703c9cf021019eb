//! One command that haft itself runs outside any call, to find something out.
//!
//! What a function of a tool looks like, or whether commands can be undone here, shows only when a process runs. Such a
//! process is no call of a model, and no person is asked about it. So it gets less than a call: one command, no network,
//! and the runtime discards everything that it changes. The rules can deny it, it waits at the gate, and it has events.
//!
//! Not here: how it is run (`haft_runtime::confining::inspecting`).

use super::door::Doors;
use crate::BoxFuture;
use crate::context::RunContext;
use crate::effect::CommandLine;
use crate::outcome::error::ToolError;

/// Finds something out with one command.
pub trait Inspection: Send + Sync {
    /// What is found out.
    type Found: Send;

    /// Returns the tool that it is about, by its native name.
    fn tool(&self) -> &str;

    /// Returns the one command that it may run, as rules judge it and events show it.
    fn line(&self) -> CommandLine;

    /// Runs the command. The context admits nothing else, and discards what the command changes.
    fn run<'a>(&'a self, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<Self::Found, ToolError>>;
}

/// Runs inspections. The runtime is one: only it can issue a permit.
pub trait Inspector: Send + Sync {
    /// Returns the doors, for looking without a process.
    fn doors(&self) -> &Doors;

    /// Runs one inspection.
    fn inspect<'a, I: Inspection>(&'a self, inspection: &'a I) -> BoxFuture<'a, Result<I::Found, ToolError>>;
}
