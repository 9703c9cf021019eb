//! The sections of `config.toml`.

pub mod hooks;
pub mod journal;
pub mod mcp;
pub mod model;
pub mod network;
pub mod patience;
pub mod price;
