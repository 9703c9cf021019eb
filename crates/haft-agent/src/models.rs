//! Models that need no provider, and what a model costs.

pub(crate) mod gauge;
pub mod mock;
pub mod price;
pub mod recorded;
