//! The contract between a tool, the pipeline that runs it, and the doors it acts through.
//!
//! A tool author needs only this crate: say what the arguments are, say what a call
//! would touch ([`plan::Plan`]), then do it through the doors of a [`context::RunContext`]. Other code derives
//! everything that follows from the declared effects (questions, sandbox, overlap, undo).
//!
//! Not here: I/O, tasks, policy, provider formats. The doors are traits ([`door`]), which
//! `haft-workspace` implements.

// `#[haft_contract::tool]` writes paths that begin with `haft_contract::`, also when it is used in this crate.
extern crate self as haft_contract;

pub mod before_image;
pub mod call;
pub mod change_summary;
pub mod closest;
pub mod command_run;
pub mod connection;
pub mod context;
pub mod dialect;
pub mod diff;
pub mod door;
pub mod effect;
mod emoji;
pub mod encoding;
pub mod error;
pub mod grouped;
pub mod guarded;
pub mod head_and_tail;
pub mod hidden;
pub mod history;
pub mod idle_workers;
pub mod inspection;
pub mod job;
pub mod kinds;
pub mod lift;
pub mod limits;
pub mod lines;
pub mod manual;
pub mod merge;
pub mod net;
pub mod output;
pub mod page_style;
pub mod path;
pub mod plain_text;
pub mod plan;
pub mod prelude;
pub mod process;
pub mod reader;
pub mod result;
pub mod schema;
pub mod schema_rules;
pub mod search;
pub mod session_state;
pub mod shape;
pub mod signals;
pub mod spec;
pub mod stamp;
pub mod tool;
pub mod user_questions;
pub mod visible;
pub mod web;
pub mod wrapping;

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
