//! Opens and reads files beneath the root of the workspace.

pub(crate) mod at_once;
pub(crate) mod facts;
pub(crate) mod folder;
pub(crate) mod locate;
pub(crate) mod missing;
pub(crate) mod names;
pub(crate) mod open;
pub(crate) mod open_file;
pub(crate) mod owner;
pub(crate) mod page;
pub(crate) mod same_file;
pub(crate) mod stepwise;
