//! `haft guard`: judges one call that another agent is about to make, as a hook of that agent.
//!
//! The event comes on stdin; which agent sent it is seen from the event, and the answer has that agent's form. Nothing is
//! run here: there is no sandbox and no undo around what the agent does next, so what haft itself would allow because of
//! them is a question.
//!
//! An agent goes on when its hook fails. So whatever happens there is an answer and the exit code is 0: what cannot be
//! read or judged is asked about.

mod address;
mod answer;
mod event;
mod form;
mod judged;
mod paste;
mod patch;
mod place;
mod secrets;
mod served;
mod server_tool;
mod unique;
mod wanted;

use std::io::{self, IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::bail;
use clap::Args;
use haft_runtime::redact::Redactor;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;
use answer::Answer;
use event::{Event, Unread};
use form::Recipient;
use judged::Judge;

/// Longest event, in bytes. It holds the content of a file that is written, and in some agents of one that is read.
const LONGEST_EVENT: u64 = 64 * 1024 * 1024;

#[derive(Args)]
#[command(after_help = "Examples:
  haft guard --print-config claude
  echo '{\"hook_event_name\":\"PreToolUse\",\"cwd\":\"/home/ann/work\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | haft guard
The exit code is 0 whatever was decided. With --yes ordinary questions are allowed, but for commands only where the
settings say that they need no sandbox.")]
pub(crate) struct Guard {
    /// Print the lines that make an agent ask haft, and say where they go: claude, codex, copilot, cursor or gemini; all if left out
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "all", value_parser = paste::agents)]
    print_config: Option<paste::Agents>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, guard: &Guard) -> anyhow::Result<Exit> {
    if let Some(agents) = &guard.print_config {
        return paste::print(common, agents);
    }
    if io::stdin().is_terminal() {
        bail!(
            "guard reads one event of another agent from stdin; \"haft guard --print-config\" says how to set that up"
        );
    }
    // A defect must not let anything through: the agent would go on.
    let answer = catch_unwind(AssertUnwindSafe(|| answer(common)));
    let answer = answer.unwrap_or_else(|_| Answer::unread(Recipient::default(), "of a defect in haft"));
    screen::record(&answer.line())?;
    Ok(Exit::Ok)
}

fn answer(common: &Common) -> Answer {
    let event = match read_event().and_then(|bytes| Event::read(&bytes)) {
        Ok(event) => event,
        Err(Unread { recipient, why }) => return Answer::unread(recipient, &why),
    };
    let recipient = event.recipient;
    // Whatever breaks from here on is answered in the form of the agent.
    let judged = catch_unwind(AssertUnwindSafe(|| judge(common, &event)));
    judged.unwrap_or_else(|_| Answer::unjudged(recipient, "of a defect in haft", &Redactor::default()))
}

fn judge(common: &Common, event: &Event) -> Answer {
    match Judge::open(common, event) {
        Ok(judge) => match judge.judge(event) {
            Ok(ruling) => Answer::of(event.recipient, &ruling, &judge.redactor()),
            Err(error) => Answer::unjudged(event.recipient, &format!("{error:#}"), &judge.redactor()),
        },
        Err(error) => Answer::unjudged(event.recipient, &format!("{error:#}"), &Redactor::default()),
    }
}

/// Reads all of stdin; of what is too long nothing is kept.
fn read_event() -> Result<Vec<u8>, Unread> {
    let unread = |why: String| Unread { recipient: Recipient::default(), why };
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    let read = stdin.by_ref().take(LONGEST_EVENT + 1).read_to_end(&mut bytes);
    read.map_err(|error| unread(format!("the event cannot be read: {error}")))?;
    if bytes.len() as u64 > LONGEST_EVENT {
        // An agent that cannot write all of it takes the hook for a broken one.
        let _ = io::copy(&mut stdin, &mut io::sink());
        return Err(unread(format!("the event is longer than {} MiB", LONGEST_EVENT / 1024 / 1024)));
    }
    Ok(bytes)
}
