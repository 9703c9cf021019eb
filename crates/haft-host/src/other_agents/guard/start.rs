//! The line for the user when an agent starts: how far haft covers the agent.

use super::events::event::GuardEvent;
use super::judged::AgentCallJudge;
use super::recording::agent_name;
use super::{GuardMode, Options};
use crate::other_agents::setup::runs_outside_codex;

/// Returns the line.
pub(super) fn line((options, reach): (&Options, GuardMode), event: &GuardEvent) -> String {
    let agent = agent_name(event);
    let judge = match AgentCallJudge::open((options, reach), event) {
        Ok(judge) => judge,
        Err(error) => {
            return format!("haft cannot judge here: {error:#}. It asks about every call, or refuses it.");
        }
    };
    let is_kept_out = event.is_of_codex && !runs_outside_codex(&judge.settings.surroundings.home);
    let takes_calls = event.recipient.form.takes_rewritten_calls();
    match () {
        () if reach == GuardMode::Judges => {
            format!("haft only judges the calls of {agent}: nothing is sandboxed, nothing can be undone.")
        }
        () if !takes_calls || is_kept_out => format!(
            "haft judges the calls of {agent} and can undo its edits (haft log, haft undo). Commands are only judged: \"haft setup\" says why."
        ),
        () => format!(
            "haft judges the calls of {agent}, runs its commands in the sandbox, and can undo its edits and commands (haft log, haft undo)."
        ),
    }
}
