//! Speaks to model providers: the only crate that knows their JSON.
//!
//! Everything else in haft works with one JSON Schema per tool and one form of call. What a provider
//! wants instead is decided here, so that a provider's change of mind is a change of one file.
//!
//! Not here: which tools there are (the catalogue) and what a call does (`haft-runtime`).

mod anthropic;
mod chat;
pub mod client;
pub mod conversation;
pub mod effort;
mod foreign;
mod form;
mod gemini;
pub mod images;
pub mod lower;
mod made_ids;
mod offered_names;
pub mod provider;
pub mod quirks;
mod raw_json;
mod refused;
mod repaired;
mod responses;
mod sse;
pub mod wire;
mod written_calls;
#[cfg(test)]
mod written_streams;
