//! Judges planned effects: allow, ask or deny, by which rule, and what a grant covers.
//!
//! Everything here is a pure and total function of its arguments, so you can explain, test and repeat
//! a decision. The strictest opinion wins; adding a rule never loosens. One value may look things up
//! when it is asked: the hosts of the settings (`hosts`).
//!
//! Not here: asking a person, I/O, names of tools in code.

pub mod containment;
pub mod decision;
pub mod effect_kind;
pub mod examples;
pub mod full_journal;
pub mod grant;
pub mod hosts;
mod named;
pub mod policy;
pub mod rule;
pub mod rule_to_paste;
pub mod rules;
pub mod taints;
pub mod web_address;
