//! `haft blame`: which change set wrote each line of a file, from the journal, without git.

use std::path::PathBuf;

use clap::Args;
use haft_host::changes::blame::{blame, margins, record};
use haft_host::opening::rescue::Rescue;
use haft_workspace::history::LineOrigin;
use haft_workspace::history::UndoSelection;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};

/// Arguments of `haft blame`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft blame src/main.rs
  haft blame src/main.rs --json

Each line shows the change set that wrote it, when, who made it, and SESSION:TURN:CALL where the terminal is wide enough. \
\"before haft\": the line is older than the first change that haft recorded. \"not through haft, after N\": the line was \
written without haft, after change set N had changed the file. haft follows renames, and a line that an undo restores belongs \
to the change set that wrote it.")]
pub(crate) struct BlameArguments {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &BlameArguments) -> anyhow::Result<Exit> {
    let rescue = Rescue::open(&common.options())?;
    let target = rescue.locate(&arguments.file)?;
    let blame = match blame(&rescue, &target) {
        Ok(blame) => blame,
        Err(error) => return super::undo::refused((common, UndoSelection::Newest), &error, rescue.redactor()),
    };
    if common.json {
        screen::record(&record(&rescue.redactor().redact_known(&target.to_string()), &blame).to_string())?;
        return Ok(Exit::Ok);
    }
    for (line, margin) in blame.lines.iter().zip(margins(&blame, screen::width())) {
        let margin = match line.origin {
            LineOrigin::ChangeSet(_) => StyledText::Plain(&margin),
            LineOrigin::BeforeJournal | LineOrigin::Outside { .. } => StyledText::Faint(&margin),
        };
        screen::line(&[margin, StyledText::Plain(&line.text)])?;
    }
    blame.warnings.iter().for_each(|warning| screen::talk(warning));
    Ok(Exit::Ok)
}
