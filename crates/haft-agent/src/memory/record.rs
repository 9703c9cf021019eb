//! Keeps a session beyond its process: the agent records each step before anything depends on it.
//!
//! Not here: the format on disk (`haft-workspace`).

use std::io;

use haft_model::conversation::{Message, ModelToolCall, ToolAnswer};
use serde_json::Value;

/// Writes down what was said and done.
///
/// Each method returns when it is written. What it returns an error for does not happen: nothing is run that a later
/// process would not know of.
pub trait Record: Send + Sync {
    /// Writes down a message, before anything follows from it.
    fn message(&self, message: &Message) -> io::Result<()>;

    /// Writes down that a call is about to run. From here on it may have happened.
    fn began(&self, call: &ModelToolCall) -> io::Result<()>;

    /// Writes down what came of a call, as soon as it has ended; the others of its reply may still run.
    fn answered(&self, answer: &ToolAnswer) -> io::Result<()>;

    /// Writes down a value that the tools of the session share and that a resumed session has again; null when it is gone.
    fn shared(&self, _key: &str, _value: &Value) -> io::Result<()> {
        Ok(())
    }
}

/// Records nothing, for agents whose session will not be resumed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecord;

impl Record for NoRecord {
    fn message(&self, _message: &Message) -> io::Result<()> {
        Ok(())
    }

    fn began(&self, _call: &ModelToolCall) -> io::Result<()> {
        Ok(())
    }

    fn answered(&self, _answer: &ToolAnswer) -> io::Result<()> {
        Ok(())
    }
}
