//! Finds the places of a workspace that need special care: git repositories, secrets, and what protected names lead to.

pub(crate) mod followed;
pub(crate) mod git_stores;
pub(crate) mod guarded_folder;
pub(crate) mod repository;
pub(crate) mod secret_lookup;
pub(crate) mod secrets;
pub(crate) mod wide;
