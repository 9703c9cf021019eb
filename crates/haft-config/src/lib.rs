//! Reads the environment, the home and the configuration files into small settings for other crates.
//!
//! This is the only crate that reads the environment and knows where home is.
//!
//! Not here: access to files (`haft-workspace` reads them), flags (`haft-cli`).

pub mod edits;
pub mod environment;
pub mod file;
mod git_identity;
pub mod keys;
pub mod profile;
pub mod proxy;
pub mod rules;
pub mod sections;
pub mod settings;
pub mod surroundings;
