//! Remembers the questions of a session, to show what a longer-lasting yes would have covered so far.
//!
//! The list is bounded: it forgets the oldest questions first.

use std::collections::VecDeque;
use std::sync::Arc;

use haft_contract::effect::Effect;

/// Most questions that are remembered.
const MOST: usize = 64;

/// The questions of a session, the newest last.
#[derive(Debug, Default)]
pub(crate) struct AskedCalls {
    calls: VecDeque<AskedCall>,
}

/// A call that caused a question.
#[derive(Clone, Debug)]
pub(crate) struct AskedCall {
    /// The tool, by its native name.
    pub(crate) tool: String,
    /// What is called, in a line: the command, or the effects in words.
    pub(crate) words: String,
    pub(crate) effects: Arc<[Effect]>,
}

impl AskedCalls {
    /// Remembers a question. The same one again counts as new.
    pub(crate) fn add(&mut self, call: AskedCall) {
        self.calls.retain(|other| other.words != call.words);
        self.calls.push_back(call);
        if self.calls.len() > MOST {
            self.calls.pop_front();
        }
    }

    /// Returns the questions so far, the newest first.
    pub(crate) fn newest_first(&self) -> Vec<AskedCall> {
        self.calls.iter().rev().cloned().collect()
    }
}
