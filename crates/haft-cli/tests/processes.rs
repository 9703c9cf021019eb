//! Commands and their processes: every call ends in its time, and nothing that it started is left.
//!
//! Through the library, with the real `haft` as launcher, at every level that this system gives.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test lays out folders, starts processes, kills them, and tells how long that took"
)]

#[path = "processes/at_once.rs"]
mod at_once;
#[path = "processes/bounds.rs"]
mod bounds;
#[path = "processes/cases.rs"]
mod cases;
#[path = "processes/denials.rs"]
mod denials;
#[path = "processes/endings.rs"]
mod endings;
#[path = "processes/given.rs"]
mod given;
#[path = "processes/house.rs"]
mod house;
#[path = "processes/network.rs"]
mod network;
#[path = "processes/output.rs"]
mod output;
#[path = "processes/owners.rs"]
mod owners;
#[path = "processes/refusals.rs"]
mod refusals;
#[path = "processes/workers.rs"]
mod workers;
#[path = "processes/workshop.rs"]
mod workshop;
