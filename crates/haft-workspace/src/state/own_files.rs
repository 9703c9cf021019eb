//! haft's own files and folders: private, owned by the user, found again after a move.

pub(crate) mod config_file;
pub(crate) mod named_image;
pub(crate) mod new_files;
pub(crate) mod own_file;
pub(crate) mod ownership;
pub(crate) mod private;
pub(crate) mod registry;
pub(crate) mod root_record;
