//! Paths and names of files: where a command reaches, and what lies there.

mod bare_repositories;
mod file_names;
mod folders;
mod listed_names;
mod local_code;
mod names_that_leave;
mod new_links;
mod project_settings;
