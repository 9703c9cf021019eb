//! The stages of a call, their order, and what keeps conflicting calls apart.

pub(crate) mod call_context;
pub(crate) mod conflict;
pub(crate) mod gate;
pub mod stage;
pub(crate) mod stages;
pub(crate) mod turn;
