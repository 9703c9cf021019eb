//! Speaks to model providers: the only crate that knows their JSON.
//!
//! Everything else in haft works with one JSON Schema per tool and one form of call. What a provider
//! wants instead is decided here, so that a provider's change of mind is a change of one file.
//!
//! Not here: which tools there are (the catalogue) and what a call does (`haft-runtime`).

pub mod conversation;
mod form;
pub mod lower;
pub mod provider;
pub mod wire;
