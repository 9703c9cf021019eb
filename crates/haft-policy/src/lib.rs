//! Judges planned effects: allow, ask or deny, by which rule, and what a grant covers.
//!
//! Everything here is a pure and total function of values it is given, so that a decision can be
//! explained, tested and repeated. The strictest opinion wins; adding a rule never loosens. One value may look things up
//! when it is asked: the hosts of the settings (`hosts`).
//!
//! Not here: asking anybody, I/O, names of tools in code.

pub mod command;
pub mod containment;
pub mod decision;
pub mod full_journal;
pub mod grant;
pub mod hosts;
mod named;
pub mod policy;
pub mod reach;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
#[expect(dead_code, reason = "other crates use the rest")]
mod require;
pub mod rule;
pub mod rule_to_paste;
pub mod rules;
pub mod sort_names;
pub mod taints;
pub mod undoable;
pub mod web_address;
mod zone;
