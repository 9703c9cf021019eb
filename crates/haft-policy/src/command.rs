//! Reads a command as the shell does, and says what it would do.
//!
//! Text becomes a tree ([`syntax`]), the tree is walked in the order in which the shell would run it (`walk`), words
//! become values as far as they can be known, and a table that is data says what a program does with its words
//! (`programs`). What is not understood is said to be unknown, and is at least asked about.
//!
//! Rules are advice: a command that deceives this reading still runs in the sandbox.
//!
//! Not here: where a path leads (`Locate` is asked), what is decided (`policy`).

pub mod act;
#[cfg_attr(not(test), expect(dead_code, reason = "the walk comes next"))]
mod languages;
#[expect(dead_code, reason = "the walk comes next")]
mod programs;
pub mod syntax;
pub mod value;
