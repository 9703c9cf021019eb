//! Names the stages of a call in order, and records where a call stopped.

use haft_contract::outcome::error::ToolError;

/// One stage of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CallStage {
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

impl CallStage {
    /// All stages in order.
    pub const ALL: [CallStage; 10] = [
        CallStage::Resolve,
        CallStage::Parse,
        CallStage::Prepare,
        CallStage::BeforeHooks,
        CallStage::LineUp,
        CallStage::Authorize,
        CallStage::Recall,
        CallStage::Gate,
        CallStage::Execute,
        CallStage::AfterHooks,
    ];

    /// Returns the name of the stage in records.
    pub fn code(self) -> &'static str {
        match self {
            CallStage::Resolve => "resolve",
            CallStage::Parse => "parse",
            CallStage::Prepare => "prepare",
            CallStage::BeforeHooks => "before_hooks",
            CallStage::LineUp => "line_up",
            CallStage::Authorize => "authorize",
            CallStage::Recall => "recall",
            CallStage::Gate => "gate",
            CallStage::Execute => "execute",
            CallStage::AfterHooks => "after_hooks",
        }
    }
}

/// A call that stopped at a stage.
#[derive(Debug)]
pub(crate) struct Halt {
    pub(crate) at: CallStage,
    pub(crate) error: ToolError,
}
