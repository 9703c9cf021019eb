//! Starts commands and attends to them until no process is left.

pub(crate) mod attend;
pub(crate) mod child;
pub(crate) mod detached;
pub(crate) mod exact;
pub(crate) mod input;
pub(crate) mod orders;
pub(crate) mod process_list;
pub(crate) mod source;
pub(crate) mod standby;
pub(crate) mod started;
pub(crate) mod strays;
pub(crate) mod wake;
pub(crate) mod wire;
pub(crate) mod worker;
