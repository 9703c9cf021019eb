//! Commands and their processes: every call ends in its time, and nothing that it started is left.
//!
//! Through the library, with the real `haft` as launcher, at every level that this system gives.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out folders, starts processes and kills them"
)]

#[path = "processes/at_once.rs"]
mod at_once;
#[path = "processes/cases.rs"]
mod cases;
#[path = "processes/endings.rs"]
mod endings;
#[path = "processes/house.rs"]
mod house;
#[path = "processes/output.rs"]
mod output;
#[path = "processes/refusals.rs"]
mod refusals;
