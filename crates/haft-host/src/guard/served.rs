//! Knows the names under which haft's own server serves tools: haft's own, those of the dialects, and those of definitions.
//!
//! The server judges each call itself, so the guard does not ask about it a second time. The agent's settings say which
//! dialect the server uses, and the guard does not read them: the names of all dialects count.

use std::path::Path;

use haft_contract::dialect::{Dialect, ForeignTool};
use haft_tools::dialect::foreign_tools;

use crate::described_tools::Found;
use crate::dialects::own_dialects;
use crate::project_files::ProjectFiles;

/// Returns whether haft's server serves a tool of this name, with these settings and the files of a trusted project.
pub(super) fn serves(tool: &str, (config, workspace): (&Path, &Path), files: Option<ProjectFiles>) -> bool {
    let is_meant = |dialect: &dyn Dialect| dialect.tools().iter().any(|known| known.name() == tool);
    let files = files.unwrap_or_default();
    haft_tools::names().contains(&tool)
        || foreign_tools().any(|(_, known)| known.name() == tool)
        || own_dialects(config, &files).iter().any(|dialect| is_meant(dialect.as_ref()))
        || Found::in_folders(config, workspace, files).tools.iter().any(|known| known.definition.name == tool)
}
