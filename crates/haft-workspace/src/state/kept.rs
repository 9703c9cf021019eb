//! What haft keeps beside the journal: results, outputs, recent calls; how much, and how to free it.

pub(crate) mod cleanup;
pub(crate) mod recent;
pub(crate) mod results;
pub(crate) mod spill;
pub(crate) mod store;
pub(crate) mod usage;
