//! Commands that show, undo and free changes.

pub(crate) mod blame;
pub(crate) mod diff;
pub(crate) mod gc;
pub(crate) mod log;
pub(crate) mod undo;
