//! `haft sessions export` and `haft sessions name`: write a conversation as a document, and name one.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use haft_host::conversations::session_export::{SessionExport, write_new_file};
use haft_host::conversations::session_names::{newest_session, session_name};
use haft_host::opening::rescue::Rescue;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

/// Arguments of `haft sessions export`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft sessions export > conversation.md
  haft sessions export k3f9-q2bx --json | jq '.messages[0]'
  haft sessions export k3f9-q2bx -o conversation.md

haft hides secrets, as everywhere. Images are named and left out.")]
pub(crate) struct Export {
    /// The session, by its ID or its name [default: the one used last in this workspace]
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Write Markdown (the default; --json writes JSON)
    #[arg(long, conflicts_with = "json")]
    md: bool,
    /// Write to a new file instead of stdout
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `haft sessions name`.
#[derive(Args)]
pub(crate) struct SessionsNameArguments {
    /// The session, by its ID or its current name
    #[arg(value_name = "ID")]
    session: String,
    /// The new name, one word; haft joins several with dashes
    #[arg(value_name = "NAME", required = true)]
    words: Vec<String>,
}

/// Runs `haft sessions export`.
pub(crate) fn run(common: &Common, arguments: &Export) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let sessions = host.state.sessions();
    let id = match &arguments.session {
        Some(name) => sessions.find(name)?,
        None => newest_session(&sessions)?,
    };
    let kept = sessions.read(&id)?;
    let export = SessionExport::new(&id, &kept, host.redactor());
    let Some(path) = &arguments.output else {
        match common.json {
            true => screen::record(&export.json().to_string())?,
            false => screen::answer(&export.markdown())?,
        }
        return Ok(Exit::Ok);
    };
    let text = if common.json { format!("{:#}\n", export.json()) } else { export.markdown() };
    write_new_file(path, &text)?;
    screen::talk(&format!("Wrote {}", path.display()));
    Ok(Exit::Ok)
}

/// Runs `haft sessions name`.
pub(crate) fn rename(common: &Common, arguments: &SessionsNameArguments) -> anyhow::Result<Exit> {
    let host = Rescue::open(&common.options())?;
    let name = session_name(&arguments.words.join(" "))?;
    let sessions = host.state.sessions();
    let id = sessions.find(&arguments.session)?;
    let (log, kept) = sessions.take_up(&id)?;
    log.rename(Some(&host.redactor().redact_known(&name)), kept.tally).context("the name cannot be written")?;
    screen::talk(&format!("Session {id} is called {name}; to continue it: haft resume {name}"));
    Ok(Exit::Ok)
}
