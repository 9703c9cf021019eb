//! State that a session shares with its tools: a storage, and the state of the agent that calls them.
//!
//! A call copies nothing. A tool that never asks costs nothing, and parallel calls see one storage.
//!
//! Not here: where the storage is kept (`haft-runtime`), how a function in another language asks (`haft-tools`).

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::BoxFuture;
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;

/// The key of the list of what is to be done.
pub const TASKS: &str = "haft.todo";
/// The key of the notes of the scratchpad.
pub const THOUGHTS: &str = "haft.thoughts";
/// The keys whose values a resumed session has again.
pub const LASTING: [&str; 2] = [TASKS, THOUGHTS];

/// What the tools of one session keep for each other.
pub trait Storage: Send + Sync {
    /// Returns what is kept under a key.
    fn get(&self, key: &str) -> Option<Arc<Value>>;

    /// Keeps a value under a key. What does not fit is an error, and what was there before stays.
    fn set(&self, key: &str, value: Value) -> Result<(), ToolError>;

    /// Removes what is kept under a key; returns whether something was.
    fn delete(&self, key: &str) -> bool;

    /// Returns all keys, in the order in which they came.
    fn keys(&self) -> Vec<String>;

    /// Waits until no other call holds the lock of this name, and holds it until the guard is dropped.
    fn lock<'a>(&'a self, name: &'a str) -> BoxFuture<'a, LockGuard>;
}

/// Holds a lock of a storage until it is dropped.
pub type LockGuard = Box<dyn Send + Sync>;

/// What a tool may know of the agent that calls it.
pub trait AgentState: Send + Sync {
    /// Returns the number of the step that the agent is at, from 1.
    fn current_iteration(&self) -> u64;

    /// Returns how many messages the conversation has.
    fn history_length(&self) -> usize;

    /// Returns some messages of the conversation; what is beyond its end is left out.
    fn history(&self, range: Range<usize>) -> Vec<Value>;

    /// Ends the work of the agent. What does not fit what is wanted is an error, and the work continues.
    fn finish(&self, _finished: FinishReport) -> BoxFuture<'_, Result<FinishScope, ToolError>> {
        Box::pin(async { Ok(FinishScope::NoRun) })
    }
}

/// The summary and the result that a model gives when its work is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FinishReport {
    /// In words.
    pub summary: Option<String>,
    /// The result itself.
    pub result: Option<Value>,
}

/// Says which run ends when a model reports that its work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishScope {
    /// The run of the agent that made the call.
    OfRun,
    /// Nothing: no agent of haft made the call.
    NoRun,
}

/// The state of a call that belongs to no session: it keeps nothing, and its conversation is empty.
#[derive(Clone, Copy, Debug)]
pub struct NoState;

impl Storage for NoState {
    fn get(&self, _key: &str) -> Option<Arc<Value>> {
        None
    }

    fn set(&self, _key: &str, _value: Value) -> Result<(), ToolError> {
        Err(ToolError::of(ErrorKind::Unavailable, "Nothing can be kept here: the call belongs to no session."))
    }

    fn delete(&self, _key: &str) -> bool {
        false
    }

    fn keys(&self) -> Vec<String> {
        Vec::new()
    }

    fn lock<'a>(&'a self, _name: &'a str) -> BoxFuture<'a, LockGuard> {
        Box::pin(async { Box::new(()) as LockGuard })
    }
}

impl AgentState for NoState {
    fn current_iteration(&self) -> u64 {
        1
    }

    fn history_length(&self) -> usize {
        0
    }

    fn history(&self, _range: Range<usize>) -> Vec<Value> {
        Vec::new()
    }
}
