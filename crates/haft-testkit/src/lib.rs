//! Scenes, scripted approvers and test tools, for haft's own tests and those of tool authors.
//!
//! A scene is a workspace in a temporary folder with real doors, a real runtime and a session. Tests reach the code
//! through it, so a changed interface needs an edit in only one place.

pub mod approver;
#[cfg(feature = "otel")]
pub mod collector;
pub mod command_cases;
pub mod commands;
pub mod conformance;
pub mod everyday;
pub mod facility;
pub mod file_tools;
pub mod mutator;
pub mod parted;
pub mod require;
pub mod sample;
pub mod scene;
pub mod scratch_home;
pub mod scripted_model;
pub mod scripted_server;
pub mod seccomp_filter;
pub mod snapshot;
pub mod tools;
pub mod web;
