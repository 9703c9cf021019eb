//! `haft` alone: what was found here, and what to type.

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, Part};
use haft_host::host::Host;

/// Runs the command.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let host = Host::open(&common.options())?;
    let tools = host.runtime.catalog().list();
    let names: Vec<&str> = tools.iter().map(|entry| entry.shown().name.as_str()).collect();
    screen::line(&[Part::Strong("haft"), Part::Plain(": the handle between a model and its tools")])?;
    screen::line(&[Part::Faint("workspace  "), Part::Plain(&host.workspace.display().to_string())])?;
    screen::line(&[Part::Faint("profile    "), Part::Plain(host.settings.profile.name())])?;
    screen::line(&[Part::Faint("tools      "), Part::Plain(&names.join(", "))])?;
    screen::line(&[Part::Plain("")])?;
    for (command, does) in [
        ("haft tour", "see it work, in five seconds"),
        ("haft tools", "see the tools as a model sees them"),
        ("haft call list_dir", "be the model: make a call yourself"),
        ("haft run \"TASK\"", "let a model work on a task (to choose one: haft models)"),
        ("haft --help", "everything else"),
    ] {
        screen::line(&[Part::Strong(&format!("  {command:<20}")), Part::Plain(does)])?;
    }
    Ok(Exit::Ok)
}
