//! `haft resume`: continues a session.

use std::io::{self, IsTerminal, Write};

use clap::Args;

use super::run::from_stdin;
use crate::agent::flags::{HowFar, ModelFlags};
use crate::agent::output::OutputFlags;
use crate::agent::work::AgentRun;
use crate::arguments::Common;
use crate::caller::CallerKind;
use crate::exit::Exit;
use crate::screen;
use haft_host::calling::user_questions::typed_line;
use haft_host::conversations::session_names::newest_session;
use haft_host::conversations::session_records::{ResumedSession, SessionRecorder};
use haft_host::conversations::user_commands::UserCommands;
use haft_host::host::block_on;
use haft_host::opening::model::choice::Choice;
use haft_host::opening::model::tuning::Tuning;

/// Arguments of `haft resume`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft resume
  haft resume k3f9-q2bx \"now the same for the other file\"
  haft resume k3 \"now the same for the other file\"
  haft resume \"now the same for the other file\"
  echo \"and then?\" | haft resume

Without a terminal and without a message, haft reads the message from stdin. An empty message lets the model continue.

A schema for the answer applies to one run only: name it again.")]
pub(crate) struct Resume {
    /// The session, as named by "haft sessions", or the beginning of its name [default: the one used last in this workspace];
    /// then the message
    #[arg(value_name = "ID] [MESSAGE")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
    #[command(flatten)]
    pub(crate) how_far: HowFar,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Resume) -> anyhow::Result<Exit> {
    let (name, words) = match arguments.words.split_first() {
        Some((first, rest)) if names_session(first) => (Some(first), rest),
        Some(_) | None => (None, arguments.words.as_slice()),
    };
    let output = arguments.output.schema()?;
    let host = CallerKind::Agent.opens(common)?;
    host.runtime.learn_secrets();
    let sessions = host.state.sessions();
    let id = match name {
        Some(name) => sessions.find(name)?,
        None => newest_session(&sessions)?,
    };
    let (log, kept) = sessions.take_up(&id)?;
    let left = ResumedSession::of(&kept);
    left.remarks(&kept.damage, host.runtime.redactor()).iter().for_each(|remark| screen::talk(remark));
    let line = message(words)?;
    let message = UserCommands::of(&host).expand(&line)?.with_images_of(&line, &host)?;
    let choice = Choice::new(arguments.model.or(message.model.clone()), &host.settings, left.model)?;
    host.runtime.also_hide(choice.secrets());
    block_on(async {
        let chosen = choice.made().await?;
        let how_far = &arguments.how_far;
        let tuning = Tuning::new(&how_far.tuning(), &host.settings, &chosen.endpoint.model)?;
        let keeping = SessionRecorder::new(log, kept.tally, host.runtime.redactor());
        let (past, shared) = (left.past, left.shared);
        let work = AgentRun { host: &host, common, how_far, tuning, keeping, chosen, past, output, shared };
        work.on(message).await
    })?
}

/// Returns whether the first argument is meant as the name of a session. One word is, also a wrong one: what is said to one
/// session must not go to another because of a letter.
fn names_session(argument: &str) -> bool {
    argument != "-" && argument.bytes().all(|byte| byte.is_ascii_graphic()) && !argument.is_empty()
}

fn message(words: &[String]) -> anyhow::Result<String> {
    match words {
        [dash] if dash == "-" => from_stdin(),
        [] if !io::stdin().is_terminal() => from_stdin(),
        [] => {
            screen::talk("What should the model do next? An empty line lets it continue.");
            let _ = write!(io::stderr(), "> ");
            Ok(typed_line(&mut io::stdin().lock())?.unwrap_or_default())
        }
        words => Ok(words.join(" ")),
    }
}
