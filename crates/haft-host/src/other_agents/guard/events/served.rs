//! Knows the names under which haft's own server serves tools: haft's own, those of the dialects, and those of definitions.
//!
//! The server judges each call itself, so the guard does not ask about it a second time. The agent's settings say which
//! dialect the server uses, and the guard does not read them: the names of all dialects count.

use std::path::Path;

use haft_config::settings::Settings;
use haft_contract::description::dialect::{Dialect, ForeignTool};
use haft_contract::tool::Tool;
use haft_tools::defined::skill::Skill;
use haft_tools::dialect::foreign_tools;

use crate::opening::described_tools::ToolDescriptions;
use crate::opening::dialects::own_dialects;
use crate::opening::project_files::ProjectFiles;
use crate::opening::servers::{ServerScope, ServerTransport, configured};

/// The name under which haft's own server stands in the settings of agents.
const OWN_NAME: &str = "haft";

/// Returns whether haft's server serves a tool of this name, with these settings and the files of a trusted project.
pub(in crate::other_agents::guard) fn serves(
    tool: &str,
    (config, workspace): (&Path, &Path),
    files: Option<ProjectFiles>,
) -> bool {
    let is_meant = |dialect: &dyn Dialect| dialect.tools().iter().any(|known| known.name() == tool);
    let files = files.unwrap_or_default();
    haft_tools::names().contains(&tool)
        || tool == Skill::NAME
        || foreign_tools().any(|(_, known)| known.name() == tool)
        || own_dialects(config, &files).iter().any(|dialect| is_meant(dialect.as_ref()))
        || ToolDescriptions::in_folders(config, workspace, files)
            .tools
            .iter()
            .any(|known| known.definition.name == tool)
}

/// Returns whether a file of an agent gives the name of haft's server to another one. A project can bring such a file.
pub(in crate::other_agents::guard) fn is_other_server(settings: &Settings, workspace: &Path) -> bool {
    let (servers, _) = configured(&ServerScope::new(settings.clone(), workspace.to_owned()));
    let is_haft = |reach: &ServerTransport| match reach {
        ServerTransport::Command { words, .. } => starts_haft(words, workspace),
        ServerTransport::Url(_) => false,
    };
    let mut named = servers.iter().filter(|server| server.name == OWN_NAME);
    named.any(|server| server.spec.as_ref().map_or(true, |spec| !is_haft(&spec.reach)))
}

/// Returns whether a command line starts `haft mcp serve`, with a haft that does not come from the workspace.
fn starts_haft(words: &[String], workspace: &Path) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let program = Path::new(program);
    let is_named = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OWN_NAME));
    let is_elsewhere = program.components().count() == 1 || program.has_root() && !program.starts_with(workspace);
    let serves = rest.windows(2).any(|two| two == ["mcp", "serve"]);
    is_named && is_elsewhere && serves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_haft_from_elsewhere_is_haft() {
        let starts =
            |line: &str| starts_haft(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), Path::new("/home/u/ws"));
        for line in ["haft mcp serve", "/usr/bin/haft -C /x mcp serve --yes", "/opt/haft-0.2/haft mcp serve"] {
            assert!(starts(line), "{line}");
        }
        for line in [
            "sh ./evil.sh",
            "sh -c haft mcp serve",
            "./haft mcp serve",
            "tools/haft mcp serve",
            "/home/u/ws/haft mcp serve",
            "haft call",
            "npx haft mcp serve",
        ] {
            assert!(!starts(line), "{line}");
        }
    }
}
