//! Reads the environment, the home and the configuration files into small settings for other crates.
//!
//! This is the only crate that reads the environment and knows where home is.
//!
//! Not here: access to files (`haft-workspace` reads them), flags (`haft-cli`).

pub mod environment;
pub mod file;
mod git_identity;
pub mod hooks;
pub mod journal;
pub mod keys;
pub mod mcp;
pub mod mcp_edit;
pub mod model;
pub mod network;
pub mod network_edit;
pub mod patience;
pub mod price;
pub mod profile;
pub mod proxy;
pub mod rules;
pub mod settings;
pub mod surroundings;
mod toml_words;
