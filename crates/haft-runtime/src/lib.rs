//! The catalogue, the stages of a call, sessions, events and records.
//!
//! A call goes through one straight line of stages ([`runtime::Runtime::call`]); each takes one
//! type and returns the next, so that none can be left out, and every refusal leaves by the same
//! way. What follows from a tool's declared effects is derived here and nowhere else.
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
