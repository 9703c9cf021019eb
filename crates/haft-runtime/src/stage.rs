//! The stages of a call, in order, and where a call stopped.

use haft_contract::error::ToolError;

/// One stage of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stage {
    /// Finds the tool.
    Resolve,
    /// Reads the arguments.
    Parse,
    /// Fits them to the schema and binds them.
    Prepare,
    /// Asks the hooks.
    BeforeHooks,
    /// Plans in the order of the turn.
    LineUp,
    /// Gets permission.
    Authorize,
    /// Looks for a kept result.
    Recall,
    /// Waits for conflicting calls of other sessions.
    Gate,
    /// Does it.
    Execute,
    /// Tells the hooks.
    AfterHooks,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Stage; 10] = [
        Stage::Resolve,
        Stage::Parse,
        Stage::Prepare,
        Stage::BeforeHooks,
        Stage::LineUp,
        Stage::Authorize,
        Stage::Recall,
        Stage::Gate,
        Stage::Execute,
        Stage::AfterHooks,
    ];

    /// Returns the name of the stage in records.
    pub fn code(self) -> &'static str {
        match self {
            Stage::Resolve => "resolve",
            Stage::Parse => "parse",
            Stage::Prepare => "prepare",
            Stage::BeforeHooks => "before_hooks",
            Stage::LineUp => "line_up",
            Stage::Authorize => "authorize",
            Stage::Recall => "recall",
            Stage::Gate => "gate",
            Stage::Execute => "execute",
            Stage::AfterHooks => "after_hooks",
        }
    }
}

/// A call that stopped at a stage.
#[derive(Debug)]
pub(crate) struct Halt {
    pub(crate) at: Stage,
    pub(crate) error: ToolError,
}
