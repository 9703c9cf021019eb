//! Events of other agents, in one form.

pub(crate) mod address;
pub(crate) mod doubtful;
pub(crate) mod event;
pub(crate) mod form;
pub(crate) mod narrowing;
pub(crate) mod patch;
pub(crate) mod place;
pub(crate) mod served;
pub(crate) mod server_tool;
pub(crate) mod unique;
pub(crate) mod wanted;
