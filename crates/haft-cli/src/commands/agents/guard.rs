//! `haft guard`: judges one call that another agent is about to make, as a hook of that agent.
//!
//! An agent continues when its hook fails, so the exit code is always 0 (`haft_host::other_agents::guard`).

use std::io::{self, IsTerminal, Read};

use anyhow::bail;
use clap::Args;
use haft_host::other_agents::guard::setup_lines;
use haft_host::other_agents::guard::setup_lines::Agents;
use haft_host::other_agents::guard::{GuardMode, LONGEST_EVENT, answer_event, answer_unread};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};

#[derive(Args)]
#[command(after_help = "Examples:
  haft guard --print-config claude
  haft guard < event.json

An event is one JSON object, such as {\"hook_event_name\": \"PreToolUse\", \"cwd\": \"/home/ann/work\", \"tool_name\": \"Bash\", \
\"tool_input\": {\"command\": \"ls\"}}.

The exit code is 0, whatever haft decides. With --yes, haft allows changes to files of the workspace, and commands \
that it runs in its sandbox and can undo. With --yes=all, it also allows every other ordinary call. haft allows a \
command that it only judges with --yes=all, and only if your settings have [sandbox] required = \"none\".")]
pub(crate) struct Guard {
    /// Print the settings that make an agent ask haft, and where to put them: claude, codex, copilot, cursor or gemini; without AGENT, for all of them
    #[arg(long, value_name = "AGENT", num_args = 0..=1, default_missing_value = "all", value_parser = setup_lines::agents)]
    print_config: Option<Agents>,
    /// Only judge calls: do not run commands in haft's sandbox, and do not record changes
    #[arg(long)]
    judge_only: bool,
}

impl Guard {
    fn reach(&self) -> GuardMode {
        if self.judge_only { GuardMode::Judges } else { GuardMode::Contains }
    }
}

/// Runs the command.
pub(crate) fn run(common: &Common, guard: &Guard) -> anyhow::Result<Exit> {
    if let Some(agents) = &guard.print_config {
        return print(common, guard.reach(), agents);
    }
    if io::stdin().is_terminal() {
        bail!(
            "haft guard reads one event of another agent from stdin; \"haft guard --print-config\" shows how to set that up"
        );
    }
    let answer = match read_event() {
        Ok(bytes) => answer_event(&common.options(), guard.reach(), &bytes),
        Err(error) => answer_unread(&format!("the event cannot be read: {error}")),
    };
    screen::record(&answer)?;
    Ok(Exit::Ok)
}

/// Prints the lines of these agents. Those of one go to stdout alone, so that they can be sent into a file.
fn print(common: &Common, reach: GuardMode, Agents(agents): &Agents) -> anyhow::Result<Exit> {
    let command = setup_lines::hook_command(&common.options(), reach)?;
    for agent in agents {
        let heading = format!("{}: {}", agent.title, agent.file);
        let lines = serde_json::to_string_pretty(&agent.lines(&command))?;
        if agents.len() == 1 {
            screen::talk_part(&StyledText::Strong(&heading));
            screen::record(&lines)?;
            screen::talk(agent.note);
            screen::talk(&agent.gap());
            continue;
        }
        screen::line(&[StyledText::Strong(&heading)])?;
        screen::record(&lines)?;
        screen::line(&[StyledText::Faint(agent.note)])?;
        screen::line(&[StyledText::Faint(&agent.gap())])?;
    }
    Ok(Exit::Ok)
}

/// Reads all of stdin; of an event that is too long only the beginning is kept.
fn read_event() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    stdin.by_ref().take(LONGEST_EVENT as u64 + 1).read_to_end(&mut bytes)?;
    // An agent that cannot write all of it takes the hook for a broken one.
    let _ = io::copy(&mut stdin, &mut io::sink());
    Ok(bytes)
}
