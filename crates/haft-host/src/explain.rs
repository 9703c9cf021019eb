//! Explains what a command would do, and which rule decides. Nothing runs, and no one is asked.

pub mod judged;
pub mod record;
