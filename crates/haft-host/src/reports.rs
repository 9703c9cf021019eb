//! Checks and reports of tools, rules and the machine.

#[cfg(feature = "agent")]
pub mod check;
pub mod examination;
pub mod explain;
pub mod new_tool;
pub mod tour;
pub mod trust_listing;
