//! Names of tools and arguments, and the tools that find other tools.

pub mod call_tool;
pub mod common_names;
pub mod search_tools;
pub(crate) mod shapes;
