//! Runs tool calls: the catalogue, the stages of a call, sessions, events and records.
//!
//! A call goes through one straight line of stages ([`runtime::Runtime::call`]). Each stage takes one type and returns
//! the next, so no stage can be left out. Every refusal takes the same path out. This crate alone derives the
//! consequences of a tool's declared effects.
//!
//! Not here: any concrete tool, model or terminal.

pub mod approval;
pub mod arguments;
mod asked;
pub mod bits;
mod call_context;
pub mod catalog;
mod conflict;
pub mod conformance;
pub mod containment;
pub mod entry;
pub mod events;
mod gate;
pub mod hooks;
pub mod inspecting;
mod jobs;
mod kept;
mod memory;
mod permits;
mod purpose;
mod question;
pub mod record;
pub mod redact;
pub mod runtime;
mod secrets;
pub mod session;
pub mod stage;
mod stages;
mod storage;
pub mod toolset;
mod turn;
