//! `haft setup`: configures another agent to ask haft, shows the change first, and removes it on request.

use std::io;
use std::path::Path;

use clap::Args;
use haft_config::environment::current_folder;
use haft_contract::text::diff::Diff;
use haft_host::other_agents::guard::GuardMode;
use haft_host::other_agents::setup;
use haft_host::other_agents::setup::{Proposal, Setup as Agents, SetupAgent};
use haft_sandbox::try_hook;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use crate::shown_diff;
use haft_host::calling::user_questions::typed_line;

/// Most lines of a change that are shown.
const MOST_LINES: usize = 400;
/// Lines around a change.
const CONTEXT: usize = 2;

#[derive(Args)]
#[command(after_help = "Examples:
  haft setup
  haft setup claude
  haft setup codex --yes
  haft setup claude --remove

haft shows the lines and the file, and asks before it writes. The flags --yes, --add-dir and -C become part of the hook: \
with --yes, haft allows calls that \"haft undo\" can take back.")]
pub(crate) struct Setup {
    /// claude, codex, gemini, cursor, copilot, opencode or crush; without AGENT: list them and how far each is covered
    #[arg(value_parser = setup::agent)]
    agent: Option<&'static SetupAgent>,
    /// Restore the agent's settings from before "haft setup"
    #[arg(long, requires = "agent")]
    remove: bool,
    /// Only judge the agent's calls: no sandbox, no undo
    #[arg(long, requires = "agent", conflicts_with = "remove")]
    judge_only: bool,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Setup) -> anyhow::Result<Exit> {
    let agents = Agents::open(&common.options())?;
    match arguments.agent {
        None => list(common, &agents),
        Some(agent) if arguments.remove => {
            let restored = agents.remove(agent)?;
            for path in &restored {
                screen::talk(&format!("restored {path}"));
            }
            if restored.is_empty() {
                screen::talk(&match agents.named_by_hand(agent)? {
                    Some(path) => by_hand(agent, &path),
                    None => format!("haft has not set up {} here; nothing was changed.", agent.title),
                });
            }
            Ok(Exit::Ok)
        }
        Some(agent) => {
            let reach = if arguments.judge_only { GuardMode::Judges } else { GuardMode::Contains };
            set_up(common, &agents, (agent, reach))
        }
    }
}

fn list(common: &Common, agents: &Agents) -> anyhow::Result<Exit> {
    for status in agents.status() {
        let agent = status.agent;
        if common.json {
            let record = serde_json::json!({
                "agent": agent.name, "installed": status.is_installed, "set_up": status.covered.is_some(),
                "covered": status.covered, "obstacles": status.obstacles,
            });
            screen::record(&record.to_string())?;
            continue;
        }
        let (state, more) = match (status.covered, status.is_installed) {
            (Some(_), _) if !status.obstacles.is_empty() => ("switched off", status.obstacles.join(". ")),
            (Some(covered), _) => ("set up", covered.to_owned()),
            (None, true) => ("not set up", format!("haft setup {}", agent.name)),
            (None, false) => ("not found", String::new()),
        };
        let title = format!("{:<12} ", agent.title);
        screen::line(&[
            StyledText::Strong(&title),
            StyledText::Plain(&format!("{state:<12} ")),
            StyledText::Faint(&more),
        ])?;
    }
    Ok(Exit::Ok)
}

fn set_up(common: &Common, agents: &Agents, (agent, reach): (&'static SetupAgent, GuardMode)) -> anyhow::Result<Exit> {
    let options = common.options();
    if agents.is_set_up_like(agent, (&options, reach))? {
        screen::talk(&format!("{} is already set up like this; nothing was changed.", agent.title));
        tell_obstacles(agents, agent);
        return Ok(Exit::Ok);
    }
    if let Some(path) = agents.named_by_hand(agent)? {
        anyhow::bail!("{}", by_hand(agent, &path));
    }
    if agents.is_set_up(agent) {
        anyhow::bail!(
            "{} is set up with other flags, or with another haft. Run \"haft setup {} --remove\" first",
            agent.title,
            agent.name
        );
    }
    let proposals = agents.propose(agent, (&options, reach))?;
    proposals.iter().for_each(show);
    screen::talk("Write this? y  yes   n  no");
    let answer = typed_line(&mut io::stdin().lock())?.unwrap_or_default();
    if !matches!(answer.trim(), "y" | "yes") {
        screen::talk("Nothing was written.");
        return Ok(Exit::Refused);
    }
    for proposal in &proposals {
        agents.write(agent, proposal)?;
        screen::talk(&format!("wrote {}", proposal.path.display()));
    }
    try_out(agent, setup::trial_command(agent, (&options, reach))?)?;
    if !tell_obstacles(agents, agent) {
        screen::talk(&format!("{}: {}.", agent.title, agents.covered(agent)));
    }
    if agent.name == "codex" {
        screen::talk("Start Codex and type /hooks to trust the hook; Codex runs no hook before that.");
    }
    screen::talk(&format!("\"haft setup {} --remove\" restores the settings.", agent.name));
    Ok(Exit::Ok)
}

/// Says what keeps the agent from running the hook; returns whether there is anything.
fn tell_obstacles(agents: &Agents, agent: &SetupAgent) -> bool {
    let obstacles = agents.obstacles(agent);
    for obstacle in &obstacles {
        screen::talk(&format!("{} is not covered: {obstacle}.", agent.title));
    }
    !obstacles.is_empty()
}

fn by_hand(agent: &SetupAgent, path: &Path) -> String {
    let (title, path, name) = (agent.title, path.display(), agent.name);
    format!(
        "{path} runs haft in a line that \"haft setup\" did not write. Nothing was changed. To set up {title} by haft, remove \
         that line yourself, then run: haft setup {name}"
    )
}

fn show(proposal: &Proposal) {
    screen::talk_part(&StyledText::Strong(&proposal.path.display().to_string()));
    if let Some(why) = proposal.why {
        screen::talk(why);
    }
    let diff = Diff::between(proposal.before.as_deref().unwrap_or_default(), &proposal.after, CONTEXT);
    for line in shown_diff::lines(&diff, MOST_LINES) {
        screen::talk_part(&line.part());
    }
}

/// Gives the hook an event that it must refuse.
fn try_out(agent: &SetupAgent, command: Option<String>) -> anyhow::Result<()> {
    let Some(command) = command else { return Ok(()) };
    let event = setup::trial_event(&current_folder().unwrap_or_default());
    let answer = try_hook(&command, &event)?;
    anyhow::ensure!(answer.contains("\"deny\""), "the hook of {} does not work: {}", agent.title, answer.trim());
    screen::talk("Tried one event: haft refuses \"rm -rf ~\".");
    Ok(())
}
