//! A workspace that is only imagined, in which the examples of rules are read: nothing exists, nothing is a link.
//!
//! The same example means the same on every machine; so a rule that was checked once stays checked.

use std::sync::Arc;

use haft::effect::{Does, Effect, Step};

/// Says what a command would do in the imagined workspace.
pub fn read(command: &str) -> Vec<Effect> {
    let command: Arc<str> = command.into();
    let words = command.split_whitespace().map(str::to_owned).collect();
    let part = (0, command.len());
    vec![Effect::Step(Step { command, part, words, does: Does::Nothing })]
}
