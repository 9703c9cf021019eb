//! Speaks to model providers: the only crate that knows their JSON.
//!
//! Everything else in haft works with one JSON Schema per tool and one form of call. This crate translates that for
//! each provider, so a change at a provider changes one file.
//!
//! Not here: which tools there are (the catalogue) and what a call does (`haft-runtime`).

pub(crate) mod reading;
pub mod writing;

#[cfg(feature = "client")]
mod anthropic;
#[cfg(feature = "client")]
mod chat;
#[cfg(feature = "client")]
pub mod client;
pub mod conversation;
#[cfg(feature = "client")]
mod form;
#[cfg(feature = "client")]
mod gemini;
pub mod lower;
pub mod provider;
pub mod quirks;
#[cfg(feature = "client")]
mod responses;
pub mod wire;
