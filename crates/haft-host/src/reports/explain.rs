//! Explains what a command would do, and which rule decides. It runs nothing and asks no question.

pub mod judged;
pub mod record;
pub mod shown;
