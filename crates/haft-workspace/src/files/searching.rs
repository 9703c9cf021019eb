//! Finds names and lines in many files.

pub(crate) mod find;
pub(crate) mod list;
pub(crate) mod order;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod tracked;
pub(crate) mod walk;
