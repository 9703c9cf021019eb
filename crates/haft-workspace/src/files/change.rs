//! Changes files: all or nothing, journalled, and recovered after a kill.

pub(crate) mod ancestors;
pub(crate) mod apply;
pub(crate) mod bring;
pub(crate) mod copy;
#[cfg(test)]
pub(crate) mod crash_points;
pub(crate) mod durable;
pub(crate) mod recover;
pub(crate) mod refused;
pub(crate) mod removal_mark;
pub(crate) mod replace;
pub(crate) mod snapshot;
pub(crate) mod step_back;
pub(crate) mod transaction;
pub(crate) mod unwritable_dirs;
pub(crate) mod write;
