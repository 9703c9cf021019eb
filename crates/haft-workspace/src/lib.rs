//! The doors to the user's files and to haft's own state.
//!
//! `files` opens the user's files beneath the root of the workspace and nowhere else; `state` keeps
//! what belongs to haft in private folders outside the workspace; `history` takes changes back; `project` looks at what a
//! workspace brings along for haft; `replica` is a copy of a workspace as it once was.
//! This is the only crate that touches files.
//!
//! Not here: deciding whether something may be touched, running anything.

mod eager;
pub mod files;
pub mod history;
pub mod project;
pub mod replica;
#[cfg(test)]
#[path = "../../haft-testkit/src/require.rs"]
#[expect(dead_code, reason = "other crates use the rest")]
mod require;
pub mod state;
