//! Says what confines commands here, what is missing, and why a command was refused.

pub(crate) mod examination;
pub(crate) mod explain;
pub(crate) mod layer_cost;
pub(crate) mod platform;
pub(crate) mod refusal;
