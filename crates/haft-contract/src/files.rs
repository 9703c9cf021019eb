//! Paths, versions and names of files.

pub mod change_summary;
pub mod guarded;
pub mod path;
pub mod search;
pub mod stamp;
