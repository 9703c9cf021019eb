//! What a person types: keys, lines, completion.

pub(crate) mod call_line;
pub(crate) mod completion;
pub(crate) mod editor;
pub(crate) mod keys;
pub(crate) mod of_command;
pub(crate) mod slash;
