//! `haft` alone: shows what it found here, and what to type.

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::host::Host;

/// Runs the command.
pub(super) fn run(common: &Common) -> anyhow::Result<Exit> {
    let host = Host::open(&common.options())?;
    let tools = host.runtime.catalog().list();
    let names: Vec<&str> = tools.iter().map(|entry| entry.shown().name.as_str()).collect();
    screen::line(&[StyledText::Strong("haft"), StyledText::Plain(": the handle between a model and its tools")])?;
    screen::line(&[StyledText::Faint("workspace  "), StyledText::Plain(&host.workspace.display().to_string())])?;
    screen::line(&[StyledText::Faint("profile    "), StyledText::Plain(host.settings.profile.name())])?;
    screen::line(&[StyledText::Faint("tools      "), StyledText::Plain(&names.join(", "))])?;
    screen::line(&[StyledText::Plain("")])?;
    for (command, does) in [
        ("haft tour", "see it work, in five seconds"),
        ("haft tools", "see the tools as a model sees them"),
        ("haft call list_dir", "be the model: make a call yourself"),
        ("haft run \"TASK\"", "let a model work on a task (to choose one: haft models)"),
        ("haft --help", "everything else"),
    ] {
        screen::line(&[StyledText::Strong(&format!("  {command:<20}")), StyledText::Plain(does)])?;
    }
    Ok(Exit::Ok)
}
