//! Takes rights and namespaces from a command before it runs.

pub(crate) mod file_rights;
pub(crate) mod limits;
pub(crate) mod namespaces;
pub(crate) mod renames;
pub(crate) mod system_calls;
