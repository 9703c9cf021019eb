//! Keeps a session where it survives the process: what an agent tells before anything that depends on it goes on.
//!
//! Not here: how it lies on the disk (`haft-workspace`).

use std::io;

use haft_model::conversation::{Answer, Call, Message};
use serde_json::Value;

/// Writes down what was said and done.
///
/// Each method returns when it is written. What it returns an error for does not happen: nothing is run that a later
/// process would not know of.
pub trait Record: Send + Sync {
    /// Writes down a message, before anything follows from it.
    fn message(&self, message: &Message) -> io::Result<()>;

    /// Writes down that a call is about to run. From here on it may have happened.
    fn began(&self, call: &Call) -> io::Result<()>;

    /// Writes down what came of a call, as soon as it has ended; the others of its reply may still run.
    fn answered(&self, answer: &Answer) -> io::Result<()>;

    /// Writes down a value that the tools of the session share and that a resumed session has again; null when it is gone.
    fn shared(&self, _key: &str, _value: &Value) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps nothing, for agents whose session nobody will resume.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unrecorded;

impl Record for Unrecorded {
    fn message(&self, _message: &Message) -> io::Result<()> {
        Ok(())
    }

    fn began(&self, _call: &Call) -> io::Result<()> {
        Ok(())
    }

    fn answered(&self, _answer: &Answer) -> io::Result<()> {
        Ok(())
    }
}
