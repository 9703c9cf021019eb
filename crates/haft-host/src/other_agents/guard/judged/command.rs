//! Judges commands of an agent.
//!
//! A command that haft will run itself is judged as haft's own: its changes stay in a layer and can be undone. The answer
//! says which questions it covers, because the sandbox may be weaker when the command runs. Other commands are judged as
//! without a sandbox.

use std::path::Path;

use anyhow::Context;
use haft_contract::doors::door::Look;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::{CommandLine, Effect, Exposure, StepEffect};
use haft_contract::outcome::error::AdvanceYes;
use haft_policy::containment::{Containment, only_looks};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::effect_kind::EffectKind;
use haft_policy::effect_kind::can_be_undone;
use haft_policy::policy::Mode;
use haft_tools::run::bash::reading::{read_command, runs_typed_text, scene};
use haft_workspace::state::{Covers, WorkspaceState};

use super::super::rewrite;
use super::super::secrets;
use super::{AgentCallJudge, AgentCallJudgement, COMMANDS, Follows, said_yes};
use crate::other_agents::guard::events::event::GuardEvent;
use crate::other_agents::guard::events::form::GuardEventForm;

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    /// haft, in its sandbox.
    Haft(UndoExtent),
    /// The agent, as it is written.
    Agent,
}

/// Whether haft can undo what a command changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UndoExtent {
    Whole,
    Partly,
}

impl AgentCallJudge {
    /// Judges a command that may start in each of these folders; the strictest ruling counts. If haft runs it, it starts in
    /// the first one.
    pub(super) fn command_in_each(
        &self,
        text: &str,
        folder: &Path,
        folders: &[Option<String>],
    ) -> anyhow::Result<AgentCallJudgement> {
        let judge = |elsewhere: &Option<String>| match elsewhere {
            Some(elsewhere) => self.command(text, &self.folder(&folder.join(elsewhere))?),
            None => self.command(text, folder),
        };
        let (first, others) = folders.split_first().context("the call has no folder")?;
        let mut judged = judge(first)?;
        for other in others {
            judged.ruling = judged.ruling.stricter(judge(other)?.ruling);
        }
        Ok(judged)
    }

    /// Judges a command that starts in this folder. haft runs none that starts outside the workspace: the sandbox has no
    /// such folder.
    pub(super) fn command(&self, text: &str, folder: &Path) -> anyhow::Result<AgentCallJudgement> {
        let scene = scene(&self.workspace, folder).context("the workspace has no real path")?;
        let parts = read_command(text, &scene, &self.workspace);
        let looks = only_looks(&parts);
        let mut effects = vec![Effect::Run(CommandLine(text.to_owned()))];
        effects.extend(self.planted(&parts));
        effects.extend(parts);
        // A command that only lists the home does nothing that it could not do elsewhere.
        let wide = self.workspace.wide_workspace().filter(|_| !looks);
        effects.extend(wide.map(|path| Effect::Expose(Exposure::WideWorkspace(path))));
        let alone = self.by_effects(COMMANDS, &effects);
        let covers = if alone.decision == Decision::Allow { Covers::All } else { Covers::Undoable };
        let contained = Containment::Contained.of_call(&effects);
        let is_undoable = effects.iter().all(|effect| can_be_undone(effect, contained));
        let runner = match self.rewrites && folder.starts_with(self.workspace.path()) {
            true => Runner::Haft(if is_undoable { UndoExtent::Whole } else { UndoExtent::Partly }),
            false => Runner::Agent,
        };
        let mut ruling = match runner {
            Runner::Haft(_) => self.by_effects_where(COMMANDS, &effects, contained),
            Runner::Agent => alone,
        };
        ruling = secrets::of_named(ruling, &effects);
        if let Some(question) = secrets::question(&self.workspace, &effects) {
            ruling = ruling.stricter(question);
        }
        if self.never_asks && ruling.is_ordinary_question() && effects.iter().any(is_not_known) {
            ruling = Ruling { class: Class::Dangerous, ..ruling };
        }
        let ruling = match ruling {
            ruling if self.mode != Mode::Normal && !looks && ruling.decision != Decision::Deny => {
                ruling.stricter(cannot_be_thrown_away(self.mode))
            }
            ruling if self.leaves_questions && ruling.is_ordinary_question() && reads_elsewhere(&effects) => {
                ruling.stricter(unasked_read())
            }
            ruling if self.types_unheard && runs_typed_text(text, &scene, &self.workspace) => {
                ruling.stricter(typed_unheard())
            }
            ruling => ruling,
        };
        let (ruling, covers) = self.with_yes(ruling, covers, runner);
        let follows = match runner {
            Runner::Haft(_) => Follows::Command { text: text.to_owned(), folder: folder.to_owned(), covers },
            Runner::Agent => Follows::Nothing,
        };
        Ok(AgentCallJudgement { ruling, follows })
    }

    /// Answers an ordinary question where the user's yes beforehand covers it. Returns which questions need no second
    /// answer when the command runs.
    fn with_yes(&self, ruling: Ruling, covers: Covers, runner: Runner) -> (Ruling, Covers) {
        match (self.yes.filter(|_| ruling.is_ordinary_question()), runner) {
            (Some(yes @ AdvanceYes::ToUndoable), Runner::Haft(UndoExtent::Whole)) => {
                (said_yes(ruling, yes), Covers::Undoable)
            }
            (Some(yes @ AdvanceYes::ToAll), Runner::Haft(_)) => (said_yes(ruling, yes), Covers::All),
            (Some(_), Runner::Haft(_)) => {
                let reason = format!("{} --yes does not answer that; --yes=all does.", ruling.reason);
                (Ruling { reason, ..ruling }, Covers::All)
            }
            (Some(_), Runner::Agent) => (self.yes_to_command(ruling), covers),
            // A person who is asked answers for the command as it is; an agent that decides alone does not.
            (None, _) if ruling.decision == Decision::Ask && !self.leaves_questions => (ruling, Covers::All),
            (None, _) => (ruling, covers),
        }
    }

    /// Says yes to a command only where the settings say that commands need no sandbox: here they have none, and haft cannot
    /// undo what they change.
    fn yes_to_command(&self, ruling: Ruling) -> Ruling {
        if self.settings.surroundings.required == ConfinementLevel::None {
            return self.answered(ruling, AdvanceYes::ToAll);
        }
        let reason =
            format!("{} --yes does not answer that, because it would not run in haft's sandbox.", ruling.reason);
        Ruling { reason, ..ruling }
    }

    /// Returns the state of the workspace.
    pub(in super::super) fn state(&self) -> WorkspaceState {
        WorkspaceState::new(&self.settings.environment.state_folder, self.workspace.path())
            .with_journal_limits(self.settings.journal.limits())
    }

    /// Returns the command that an agent wrote, where it asks for permission to run what haft made of it.
    pub(super) fn own_line(&self, event: &GuardEvent, text: String) -> String {
        let ticket = rewrite::ticket_in(&text).filter(|_| event.recipient.form == GuardEventForm::Permission);
        ticket.and_then(|id| self.state().judged_calls().find(id)).map_or(text, |call| call.line)
    }
}

/// Returns whether a part of a command touches or runs something that is known only when it runs.
fn is_not_known(effect: &Effect) -> bool {
    let is_open = |does: &StepEffect| {
        matches!(does, StepEffect::Unknown(_) | StepEffect::ReadUnknown | StepEffect::ChangeUnknown(_))
    };
    matches!(effect, Effect::Step(step) if is_open(&step.does))
}

/// Asks about text that is typed into a program: a shell runs it as the command that was judged, another program does
/// something else with it.
pub(super) fn typed(ruling: Ruling) -> Ruling {
    ruling.stricter(Ruling {
        decision: Decision::Ask,
        class: Class::Ordinary,
        rule: "typed input".to_owned(),
        reason: "It would type text into a running program, and haft does not know which one.".to_owned(),
        instead: "run a new command".to_owned(),
    })
}

/// Asks about a command that is to run outside of the sandbox that the agent has: a yes would be a yes to that.
pub(super) fn leaving(ruling: Ruling) -> Ruling {
    ruling.stricter(Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "weak sandbox".to_owned(),
        reason: "It would run outside the agent's sandbox.".to_owned(),
        instead: "run it in the sandbox, or ask the user".to_owned(),
    })
}

/// Returns whether a command reads a file outside of the workspace and the system, also through a link.
fn reads_elsewhere(effects: &[Effect]) -> bool {
    let is_read = |effect: &Effect| matches!(effect, Effect::Step(step) if matches!(step.does, StepEffect::Read(_)));
    effects.iter().any(|effect| is_read(effect) && EffectKind::of(effect) == EffectKind::CommandReadsElsewhere)
}

/// Refuses to read outside where the agent would not ask: the sandboxes of agents let commands read everything.
fn unasked_read() -> Ruling {
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: "commands that read elsewhere".to_owned(),
        reason: "It would read a file outside the workspace, and the agent would not ask about it.".to_owned(),
        instead: "read files of the workspace, or ask the user to copy that file into it".to_owned(),
    }
}

/// Refuses a command that runs its typed input, if haft does not judge the text that the agent types.
fn typed_unheard() -> Ruling {
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: "typed input".to_owned(),
        reason: "It would run the text that is typed into it, and the agent does not ask haft about that text."
            .to_owned(),
        instead: "write the text into the command, as in bash -c '…' or python3 -c '…'".to_owned(),
    }
}

/// Refuses a command whose changes should be shown and discarded: only haft's own sandbox can do that.
fn cannot_be_thrown_away(mode: Mode) -> Ruling {
    let rule = if mode == Mode::Try { "try mode" } else { "plan mode" };
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: rule.to_owned(),
        reason: "It may change something, and haft cannot discard its changes here.".to_owned(),
        instead: "describe what you would run, and let the user leave that mode".to_owned(),
    }
}
