//! `haft sessions`: lists the conversations that can be continued, the last used first.

mod export;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use haft_contract::files::path::one_line;
use haft_contract::text::grouped::GroupedNumber;
use haft_workspace::state::sessions::SessionSummary;
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::changes::change_log::ago;
use haft_host::opening::rescue::Rescue;

/// Most characters of the first words.
const LONGEST_WORDS: usize = 60;

/// Arguments of `haft sessions`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "haft keeps 500 sessions per workspace: those used last. To continue one: haft resume ID")]
pub(crate) struct Sessions {
    #[command(subcommand)]
    command: Option<SessionsCommand>,
    /// List at most N sessions
    #[arg(short = 'n', long = "most", value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
}

#[derive(Subcommand)]
enum SessionsCommand {
    /// Write a conversation as Markdown or JSON
    Export(export::Export),
    /// Give a session a name
    Name(export::SessionsNameArguments),
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Sessions) -> anyhow::Result<Exit> {
    match &arguments.command {
        Some(SessionsCommand::Export(export)) => return export::run(common, export),
        Some(SessionsCommand::Name(name)) => return export::rename(common, name),
        None => {}
    }
    let host = Rescue::open(&common.options())?;
    let mut all = host.state.sessions().list().context("the sessions of this workspace cannot be read")?;
    for words in all.iter_mut().take(arguments.most).filter_map(|session| session.words.as_mut()) {
        *words = host.redactor().redact_known(words).into_owned();
    }
    let shown = &all[..all.len().min(arguments.most)];
    if common.json {
        let sessions: Vec<Value> = shown.iter().map(record).collect();
        let record = json!({ "v": 1, "sessions": sessions, "older": all.len() - shown.len() });
        screen::record(&record.to_string())?;
        return Ok(Exit::Ok);
    }
    if all.is_empty() {
        screen::talk("No model has worked here yet. To start: haft run \"make the tests pass\"");
    }
    for session in shown {
        line(session)?;
    }
    if all.len() > shown.len() {
        screen::talk(&format!("[{} older ones; show them with -n {}]", all.len() - shown.len(), all.len()));
    }
    Ok(Exit::Ok)
}

fn line(session: &SessionSummary) -> anyhow::Result<()> {
    let words = one_line(session.words.as_deref().unwrap_or("(its beginning is lost)"));
    let words = match words.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.into_owned(),
    };
    let tally = session.tally;
    let cost = format!(
        "  {}, {}",
        GroupedNumber(tally.steps).of("step"),
        GroupedNumber(tally.input.saturating_add(tally.output)).of("token")
    );
    let name = session.name.as_deref().map(|name| format!("{}  ", one_line(name))).unwrap_or_default();
    screen::line(&[
        StyledText::Strong(&format!("{}  {name}", session.id)),
        StyledText::Faint(&format!("{:<11} ", ago(session.last_ms))),
        StyledText::Plain(&words),
        StyledText::Faint(&cost),
    ])?;
    Ok(())
}

fn record(session: &SessionSummary) -> Value {
    json!({
        "id": session.id.to_string(), "began_ms": session.began_ms, "last_ms": session.last_ms, "name": session.name,
        "words": session.words,
        "steps": session.tally.steps, "input_tokens": session.tally.input, "output_tokens": session.tally.output
    })
}
