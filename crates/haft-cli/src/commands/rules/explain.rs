//! `haft rules explain`: shows what a command would do, and which rule decides.
//!
//! It runs nothing and asks nothing: it reads and judges the command like a call of `bash`. It starts without runtime,
//! session and trial of the sandbox, because other programs call it often. So it names the required sandbox, not the
//! available one (`haft doctor` does).

use std::io;

use clap::Args;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::calling::call_lines::{CallInputLine, read_line};
use haft_host::reports::explain::judged::CommandJudge;
use haft_host::reports::explain::record;
use haft_host::reports::explain::shown::lines;

#[derive(Args)]
#[command(after_help = "Examples:
  haft rules explain 'git push --force'
  haft rules explain --json -- '-x'
  printf '%s\\n' '\"ls\"' '{\"id\":7,\"command\":\"rm -r build\"}' | haft rules explain -

haft runs nothing. The exit code is 0 whatever the decision.")]
pub(crate) struct Explain {
    /// The command (haft joins several words with spaces), or - to read one JSON string or one {"id", "command"} per line from stdin
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
}

/// Runs the command.
pub(super) fn run(common: &Common, explain: &Explain) -> anyhow::Result<Exit> {
    let judge = CommandJudge::open(&common.options())?;
    if explain.commands == ["-"] {
        return answer_lines(&judge);
    }
    let explained = judge.explain(&explain.commands.join(" "));
    if common.json {
        screen::record(&record::of(&explained).to_string())?;
    } else {
        for line in lines(&explained, screen::width()) {
            screen::line(&line.pieces().map(StyledText::from).collect::<Vec<_>>())?;
        }
    }
    Ok(Exit::Ok)
}

/// Answers each line with one record, so that a driver may write a line and read its answer.
fn answer_lines(judge: &CommandJudge) -> anyhow::Result<Exit> {
    let mut stdin = io::stdin().lock();
    for number in 1.. {
        let Some(line) = read_line(&mut stdin, number)? else { break };
        let record = match line {
            CallInputLine::Call(_, bytes) => record::answer(judge, &bytes),
            CallInputLine::TooLong(_) => record::no_command("The line is longer than 64 MiB."),
            CallInputLine::EndOfTurn => record::no_command("The line is empty."),
        };
        screen::record(&record.to_string())?;
    }
    Ok(Exit::Ok)
}
