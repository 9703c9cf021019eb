//! `haft new tool`: writes a working tool for the user to change.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use haft_host::reports::new_tool;
use haft_host::reports::new_tool::{NewToolDestination, WrittenTool, write_tool};
use serde_json::json;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};

#[derive(Args)]
pub(crate) struct NewCommandArguments {
    #[command(subcommand)]
    what: NewSubcommand,
}

#[derive(Subcommand)]
enum NewSubcommand {
    /// Create a working tool to edit: a definition and a program
    Tool(NewTool),
}

#[derive(Args)]
struct NewTool {
    /// The name of the tool in calls
    name: String,
    /// The program's language: a Python function or a shell script
    #[arg(long = "lang", value_name = "LANGUAGE")]
    language: LanguageArgument,
    /// Create it for all your projects instead of this workspace
    #[arg(long, conflicts_with = "folder")]
    user: bool,
    /// Create it in this folder instead of the workspace's .haft/tools
    #[arg(long = "dir", value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LanguageArgument {
    Python,
    Sh,
}

/// Runs the command.
pub(crate) fn run(common: &Common, new: &NewCommandArguments) -> anyhow::Result<Exit> {
    let NewSubcommand::Tool(tool) = &new.what;
    if common.plan {
        screen::talk("haft: plan mode writes nothing; leave out --plan.");
        return Ok(Exit::Refused);
    }
    let destination = match (&tool.folder, tool.user) {
        (Some(folder), _) => NewToolDestination::Folder(folder.clone()),
        (None, true) => NewToolDestination::User,
        (None, false) => NewToolDestination::Workspace,
    };
    let language = match tool.language {
        LanguageArgument::Python => new_tool::NewToolLanguage::Python,
        LanguageArgument::Sh => new_tool::NewToolLanguage::Sh,
    };
    let wanted = new_tool::NewTool { name: tool.name.clone(), language, destination };
    let WrittenTool { files, next } = write_tool(&common.options(), &wanted)?;
    if common.json {
        screen::record(&json!({ "v": 1, "files": files }).to_string())?;
        return Ok(Exit::Ok);
    }
    for path in &files {
        screen::line(&[StyledText::Plain("Wrote "), StyledText::Strong(path)])?;
    }
    screen::talk(&next);
    Ok(Exit::Ok)
}
