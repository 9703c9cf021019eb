//! Speaks to model providers: the only crate that knows their JSON.
//!
//! Everything else in haft works with one JSON Schema per tool and one form of call. This crate translates that for
//! each provider, so a change at a provider changes one file.
//!
//! Not here: which tools there are (the catalogue) and what a call does (`haft-runtime`).

#[cfg(feature = "client")]
mod anthropic;
#[cfg(feature = "client")]
mod chat;
#[cfg(feature = "client")]
pub mod client;
pub mod conversation;
pub mod effort;
#[cfg(feature = "client")]
mod foreign;
#[cfg(feature = "client")]
mod form;
#[cfg(feature = "client")]
mod gemini;
pub mod images;
pub mod lower;
#[cfg(feature = "client")]
mod made_ids;
#[cfg(feature = "client")]
mod offered_names;
pub mod provider;
pub mod quirks;
#[cfg_attr(not(feature = "client"), expect(dead_code, reason = "the forms of providers use the rest"))]
mod raw_json;
#[cfg(feature = "client")]
mod refused;
mod repaired;
#[cfg(feature = "client")]
mod responses;
pub mod wire;
#[cfg(feature = "client")]
mod written_calls;
#[cfg(all(test, feature = "client"))]
mod written_streams;
