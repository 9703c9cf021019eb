//! What the terminal shows, as lines.

pub(crate) mod markdown;
pub(crate) mod marked_command;
pub(crate) mod painted;
pub(crate) mod region;
pub(crate) mod shown_change;
