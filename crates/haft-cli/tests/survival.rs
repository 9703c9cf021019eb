//! The command when it is killed, when many run side by side, and when the disk reports errors.
//!
//! Not here: what needs no process of its own (`haft-workspace`, `torture`).
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out folders, starts processes and kills them"
)]

#[path = "survival/at_once.rs"]
mod at_once;
#[path = "survival/commands.rs"]
mod commands;
#[path = "survival/disk.rs"]
mod disk;
#[path = "survival/each_call.rs"]
mod each_call;
#[path = "survival/kills.rs"]
mod kills;
#[path = "survival/owners.rs"]
mod owners;
#[path = "survival/place.rs"]
mod place;
