//! The subcommands, one file each.

pub(crate) mod agents;
pub(crate) mod calls;
pub(crate) mod changes;
pub(crate) mod completions;
pub(crate) mod jobs;
pub(crate) mod man;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod rules;
pub(crate) mod tour;
pub(crate) mod trust;
