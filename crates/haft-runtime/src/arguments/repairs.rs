//! Repairs arguments that have one honest reading.

pub(crate) mod dropped;
pub(crate) mod envelope;
pub(crate) mod literal;
pub(crate) mod not_meant;
pub(crate) mod repair;
