//! Reads the YAML of a definition with lines for every problem.

pub(crate) mod fields;
pub(crate) mod keywords;
pub(crate) mod node;
pub(crate) mod placeholders;
pub(crate) mod problem;
pub(crate) mod template;
pub(crate) mod unreadable;
