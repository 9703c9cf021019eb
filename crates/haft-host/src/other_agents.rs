//! haft beside agents of others: judging their calls, and setting them up.

pub mod guard;
pub mod setup;
