//! Asks a person about a call.

pub mod approval;
pub(crate) mod asked;
pub(crate) mod purpose;
pub(crate) mod question;
