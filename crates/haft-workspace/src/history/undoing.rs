//! Undoes and redoes change sets.

pub(crate) mod deed_notes;
pub(crate) mod partial;
pub(crate) mod request;
pub(crate) mod take_back;
pub(crate) mod taken_back;
pub(crate) mod unjudged;
