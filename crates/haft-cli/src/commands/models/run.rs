//! `haft run`: lets a model work on a task.

use std::io::{self, IsTerminal, Read};

use anyhow::{Context, bail};
use clap::Args;
use haft_config::sections::model::ModelSection;
use haft_workspace::state::sessions::Tally;

use crate::agent::flags::{HowFar, ModelFlags};
use crate::agent::output::OutputFlags;
use crate::agent::work::AgentRun;
use crate::arguments::Common;
use crate::caller::CallerKind;
use crate::exit::Exit;
use haft_host::conversations::session_records::SessionRecorder;
use haft_host::conversations::user_commands::UserCommands;
use haft_host::host::block_on;
use haft_host::opening::model::choice::Choice;
use haft_host::opening::model::tuning::Tuning;

/// Longest message, in bytes.
const LONGEST: u64 = 10 * 1024 * 1024;

/// Arguments of `haft run`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft run \"make the tests pass\"
  git diff | haft run --plan -
  haft run --model qwen3:8b --base-url http://127.0.0.1:11434/v1 \"explain src\"
  haft run --output-schema review.json \"review the last commit\" | jq .verdict

Without --json, stdout has the final answer and nothing else; with --output-schema, that is one line of JSON that fits the schema. \
\"haft undo --session\" undoes what the model changed. A task that begins with \"/NAME\" is a command of yours: .haft/commands/NAME.md.

Exit codes: 0 finished, 1 failed, out of steps, tokens or money, or no answer that fits the schema, 2 usage or configuration, \
3 the model refused, 4 timed out, 130 stopped.")]
pub(crate) struct Run {
    /// The task, or - to read it from stdin; without TASK, haft reads stdin if that is not a terminal
    #[arg(value_name = "TASK")]
    pub(crate) task: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
    #[command(flatten)]
    pub(crate) how_far: HowFar,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Run) -> anyhow::Result<Exit> {
    let output = arguments.output.schema()?;
    let line = task(&arguments.task)?;
    let host = CallerKind::Agent.opens(common)?;
    let prompt = UserCommands::of(&host).expand(&line)?.with_images_of(&line, &host)?;
    let choice = Choice::new(arguments.model.or(prompt.model.clone()), &host.settings, ModelSection::default())?;
    host.runtime.also_hide(choice.secrets());
    host.runtime.learn_secrets();
    block_on(async {
        let chosen = choice.made().await?;
        let how_far = &arguments.how_far;
        let tuning = Tuning::new(&how_far.tuning(), &host.settings, &chosen.endpoint.model)?;
        let keeping = SessionRecorder::new(
            host.state.sessions().begin(&host.runtime.redactor().redact_known(&line))?,
            Tally::default(),
            host.runtime.redactor(),
        );
        let (past, shared) = Default::default();
        let work = AgentRun { host: &host, common, how_far, tuning, keeping, chosen, past, output, shared };
        work.on(prompt).await
    })?
}

fn task(words: &[String]) -> anyhow::Result<String> {
    let task = match words {
        [dash] if dash == "-" => from_stdin()?,
        [] if !io::stdin().is_terminal() => from_stdin()?,
        [] => bail!("name a task: haft run \"make the tests pass\""),
        words => words.join(" "),
    };
    if task.trim().is_empty() {
        bail!("the task is empty; name a task: haft run \"make the tests pass\"");
    }
    Ok(task)
}

/// Reads a message from stdin to its end.
pub(in crate::commands) fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes).context("stdin cannot be read")?;
    if bytes.len() as u64 > LONGEST {
        bail!("the message on stdin is longer than 10 MiB; put it into a file of the workspace and name that file");
    }
    String::from_utf8(bytes).context("the message on stdin is not UTF-8; put it into a file and name that file")
}
