//! Tools that read, search and change files, and what they share.

pub(crate) mod change;
pub mod edit;
pub mod edit_file;
pub mod glob;
pub mod grep;
pub mod in_braces;
pub mod inspect_data;
pub(crate) mod left_out;
pub mod list_dir;
pub(crate) mod paged;
pub(crate) mod picture;
pub mod read_file;
pub(crate) mod utf8_only;
pub mod write_file;
