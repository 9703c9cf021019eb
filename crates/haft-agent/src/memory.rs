//! The conversation: what counts, what is left out, and what survives the process.

pub mod compaction;
pub mod history;
pub mod record;
pub(crate) mod state;
