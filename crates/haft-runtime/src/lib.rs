//! Runs tool calls: the catalogue, the stages of a call, sessions, events and records.
//!
//! A call goes through one straight line of stages ([`runtime::Runtime::call`]). Each stage takes one type and returns
//! the next, so no stage can be left out. Every refusal takes the same path out. This crate alone derives the
//! consequences of a tool's declared effects.
//!
//! Not here: any concrete tool, model or terminal.

pub mod arguments;
pub mod asking;
pub mod catalogue;
pub mod confining;
pub mod conformance;
pub mod events;
pub mod hooks;
pub mod pipeline;
pub mod record;
pub mod redaction;
pub mod runtime;
pub mod state;
