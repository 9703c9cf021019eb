//! Builds the file system that a command sees.

pub(crate) mod caches;
pub(crate) mod code;
pub(crate) mod covers;
pub(crate) mod grounds;
pub(crate) mod layer;
pub(crate) mod mounts;
pub(crate) mod new_root;
pub(crate) mod partly;
pub(crate) mod places;
pub(crate) mod sources;
