//! Pure work on text: encodings, differences, merges, and what a terminal would show.

pub mod closest;
pub mod diff;
pub(crate) mod emoji;
pub mod encoding;
pub mod grouped;
pub mod head_and_tail;
pub mod hidden;
pub mod lines;
pub mod merge;
pub mod plain_text;
pub mod visible;
pub mod wrapping;
