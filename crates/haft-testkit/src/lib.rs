//! Scenes, scripted approvers and test tools, for haft's own tests and those of tool authors.
//!
//! A scene is a workspace in a temporary folder with real doors, a real runtime and a session. Tests reach the code
//! through it, so a changed interface needs an edit in only one place.

pub mod commands;
pub mod conformance;
pub mod corpora;
pub mod facility;
pub mod file_tools;
pub mod require;
pub mod sample;
pub mod scene;
pub mod scratch_home;
pub mod scripted;
pub mod seccomp_filter;
pub mod snapshot;
pub mod tools;
