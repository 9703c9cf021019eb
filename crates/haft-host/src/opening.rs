//! Opens a workspace: settings, trust, tools, rules, hooks and models.

pub(crate) mod described_tools;
pub(crate) mod dialects;
pub(crate) mod hooks;
pub mod hosts;
pub mod loaded_workspace;
#[cfg(feature = "agent")]
pub mod model;
pub mod project_files;
pub(crate) mod prompt_names;
pub(crate) mod reload;
pub mod rescue;
pub mod rulebook;
pub mod servers;
