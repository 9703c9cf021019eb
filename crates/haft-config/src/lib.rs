//! Reads environment, home and configuration files into small settings that others are handed.
//!
//! This is the only crate that reads the environment and knows where home is.
//!
//! Not here: touching files (they are read through `haft-workspace`), flags (`haft-cli`).

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
