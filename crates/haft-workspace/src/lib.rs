//! The doors to the user's files and to haft's own state.
//!
//! `files` opens the user's files, only beneath the root of the workspace; `state` keeps what belongs to haft in private
//! folders outside the workspace; `history` undoes changes; `project` looks at what a workspace contains for haft; `replica`
//! copies a workspace, as it is or as it once was. This is the only crate that touches files.
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
