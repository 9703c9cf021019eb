//! Changes to `config.toml` that keep the rest of the file.

pub mod mcp_edit;
pub mod network_edit;
pub(crate) mod toml_words;
