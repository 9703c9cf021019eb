//! Which tools exist, and how a model sees them.

pub mod catalog;
pub mod entry;
pub mod toolset;
