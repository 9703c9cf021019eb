//! The subcommands, one file each.

pub(crate) mod call;
pub(crate) mod call_lines;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod gc;
pub(crate) mod guard;
pub(crate) mod jobs;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod new_tool;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod welcome;
