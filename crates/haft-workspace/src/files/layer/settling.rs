//! Commits or discards what a command changed, and reports it.

pub(crate) mod free_space;
pub(crate) mod keeping;
pub(crate) mod meanwhile;
pub(crate) mod moves;
pub(crate) mod removing;
pub(crate) mod report;
pub(crate) mod same_content;
pub(crate) mod settle;
pub(crate) mod show;
pub(crate) mod sync;
