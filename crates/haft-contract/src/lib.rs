//! The contract between a tool, the pipeline that runs it, and the doors it acts through.
//!
//! A tool author needs only this crate: say what the arguments are, say what a call
//! would touch ([`plan::Plan`]), then do it through the doors of a [`context::RunContext`]. Other code derives
//! everything that follows from the declared effects (questions, sandbox, overlap, undo).
//!
//! Not here: I/O, tasks, policy, provider formats. The doors are traits ([`doors::door`]), which
//! `haft-workspace` implements.

// `#[haft_contract::tool]` writes paths that begin with `haft_contract::`, also when it is used in this crate.
pub mod description;
pub mod doors;
pub mod files;
pub mod outcome;
pub mod text;

extern crate self as haft_contract;

pub mod call;
pub mod context;
pub mod effect;
pub mod limits;
pub mod plan;
pub mod prelude;
pub mod signals;
pub mod tool;

pub use haft_macros::tool;

use std::pin::Pin;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the code written by `#[haft_contract::tool]` refers to. Not part of the interface.
#[doc(hidden)]
pub mod written_by_macro {
    pub use schemars;
    pub use serde;
}
