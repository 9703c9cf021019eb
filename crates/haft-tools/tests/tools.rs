//! The built-in tools: what all keep, and what each does.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "scenes lay out links and odd files that no tool makes"
)]

#[path = "tools/bash.rs"]
mod bash;
#[path = "tools/broken_calls.rs"]
mod broken_calls;
#[path = "tools/conformance.rs"]
mod conformance;
#[path = "tools/definitions.rs"]
mod definitions;
#[path = "tools/dialect_advice.rs"]
mod dialect_advice;
#[path = "tools/dialect_arguments.rs"]
mod dialect_arguments;
#[path = "tools/dialects.rs"]
mod dialects;
#[path = "tools/edit_cases.rs"]
mod edit_cases;
#[path = "tools/edit_file.rs"]
mod edit_file;
#[path = "tools/edit_properties.rs"]
mod edit_properties;
#[path = "tools/edits_on_disk.rs"]
mod edits_on_disk;
#[path = "tools/fetch.rs"]
mod fetch;
#[path = "tools/glob.rs"]
mod glob;
#[path = "tools/grep.rs"]
mod grep;
#[path = "tools/grep_encodings.rs"]
mod grep_encodings;
#[path = "tools/hidden_values.rs"]
mod hidden_values;
#[path = "tools/ignored.rs"]
mod ignored;
#[path = "tools/in_dialect.rs"]
mod in_dialect;
#[path = "tools/inspect_data.rs"]
mod inspect_data;
#[path = "tools/limits.rs"]
mod limits;
#[path = "tools/list_dir.rs"]
mod list_dir;
#[path = "tools/mutations.rs"]
mod mutations;
#[path = "tools/paths.rs"]
mod paths;
#[path = "tools/planted.rs"]
mod planted;
#[path = "tools/prompt_files.rs"]
mod prompt_files;
#[path = "tools/read_file.rs"]
mod read_file;
#[path = "tools/read_globs.rs"]
mod read_globs;
#[path = "tools/read_notebook.rs"]
mod read_notebook;
#[path = "tools/read_pages.rs"]
mod read_pages;
#[path = "tools/session_tools.rs"]
mod session_tools;
#[path = "tools/undo.rs"]
mod undo;
#[path = "tools/walking.rs"]
mod walking;
#[path = "tools/whole_files.rs"]
mod whole_files;
#[path = "tools/write_file.rs"]
mod write_file;
