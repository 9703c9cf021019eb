//! The events of an agent's run: enough to print a session as it happens.

use std::time::Duration;

use haft_contract::outcome::result::ToolResult;
use haft_model::conversation::{ModelToolCall, Reply, ToolAnswer, Usage};

use crate::memory::compaction::CompactionReport;

/// A callback that receives the events of a run.
pub type RunListener<'a> = &'a (dyn Fn(RunEvent<'_>) + Send + Sync);

/// One event of an agent's run.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// The model is asked, for the how-manieth time since the prompt.
    Step(u32),
    /// More of the model's text.
    Text(&'a str),
    /// More of what the model thinks.
    Thinking(&'a str),
    /// The model begins to write a call of this tool; its arguments still come.
    Writing(&'a str),
    /// More of the arguments of that call, in bytes.
    Arguments(usize),
    /// The provider is asked again after this time, for this reason.
    Again(Duration, &'a str),
    /// A reply is whole.
    Replied {
        /// The reply.
        reply: &'a Reply,
        /// What it cost, or is taken to have cost where the provider counts nothing.
        usage: Usage,
        /// What all of them have cost since the prompt.
        total: Usage,
    },
    /// The model is given a message that came while it worked.
    Steered(&'a str),
    /// A call is about to run.
    CallBegan {
        /// The call.
        call: &'a ModelToolCall,
        /// What it is about, on one short line.
        preview: &'a str,
    },
    /// A call has ended.
    CallEnded {
        /// The call.
        call: &'a ModelToolCall,
        /// How.
        result: &'a ToolResult,
        /// What the model reads of it.
        answer: &'a ToolAnswer,
    },
    /// A call was not run; the answer says why.
    NotRun {
        /// The call.
        call: &'a ModelToolCall,
        /// What the model reads instead of a result.
        answer: &'a ToolAnswer,
    },
    /// The model was asked to go on, for this reason.
    GoesOn(&'a str),
    /// The answer does not fit the schema that it has to, for this reason; the model is told.
    Unfit(&'a str),
    /// The run ends with a call, and these are its last words.
    Finished(&'a str),
    /// Room was made in the conversation.
    Compacted(&'a CompactionReport),
}
