//! `haft new tool`: writes a tool that works, for the user to change.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use haft_host::new_tool::{self, Destination, WrittenTool, write_tool};
use serde_json::json;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, Part};

#[derive(Args)]
pub(crate) struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Create a working tool to edit: a definition and a program
    Tool(NewTool),
}

#[derive(Args)]
struct NewTool {
    /// The name of the tool in calls
    name: String,
    /// The program's language: a Python function or a shell script
    #[arg(long = "lang", value_name = "LANGUAGE")]
    language: Language,
    /// Create it for all your projects instead of this workspace
    #[arg(long, conflicts_with = "folder")]
    user: bool,
    /// Create it in this folder instead of the workspace's .haft/tools
    #[arg(long = "dir", value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    Python,
    Sh,
}

/// Runs the command.
pub(crate) fn run(common: &Common, new: &New) -> anyhow::Result<Exit> {
    let What::Tool(tool) = &new.what;
    if common.plan {
        screen::talk("haft: plan mode writes nothing; leave out --plan.");
        return Ok(Exit::Refused);
    }
    let destination = match (&tool.folder, tool.user) {
        (Some(folder), _) => Destination::Folder(folder.clone()),
        (None, true) => Destination::User,
        (None, false) => Destination::Workspace,
    };
    let language = match tool.language {
        Language::Python => new_tool::Language::Python,
        Language::Sh => new_tool::Language::Sh,
    };
    let wanted = new_tool::NewTool { name: tool.name.clone(), language, destination };
    let WrittenTool { files, next } = write_tool(&common.options(), &wanted)?;
    if common.json {
        screen::record(&json!({ "v": 1, "files": files }).to_string())?;
        return Ok(Exit::Ok);
    }
    for path in &files {
        screen::line(&[Part::Plain("Wrote "), Part::Strong(path)])?;
    }
    screen::talk(&next);
    Ok(Exit::Ok)
}
