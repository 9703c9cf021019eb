//! Covers a call that the agent makes: haft runs commands itself, and records what file tools change.
//!
//! Before the call haft writes a ticket for the command, or keeps the contents of the files. After the call it records
//! what changed. If any of this fails, haft only judges the call, and the answer says that it cannot be undone.

use std::path::{Path, PathBuf};

use anyhow::Context;
use haft_config::environment::{own_program, variable};
use haft_contract::call::CallId;
use haft_contract::doors::door::{OldChanges, Provenance, Purpose, SessionName};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::files::{AgentEdit, AgentTurn};
use haft_workspace::state::sessions::SessionId;
use haft_workspace::state::{AgentProcess, Covers, JudgedCall, WorkspaceState};
use serde_json::{Map, Value};

use super::events::event::GuardEvent;
use super::events::form::GuardEventForm;
use super::judged::{AgentCallJudge, Follows};
use super::rewrite::{self, Prefix, Spelling};

/// Where Claude Code says which process it is.
const CLAUDE_PROCESS: &str = "CLAUDE_PID";

/// The calls of one agent in one workspace.
pub(super) struct Recording<'a> {
    judge: &'a AgentCallJudge,
    event: &'a GuardEvent,
    state: WorkspaceState,
    run: String,
    turn: u64,
    agent: Option<AgentProcess>,
}

impl<'a> Recording<'a> {
    /// Looks up the session and the turn of an event.
    pub(super) fn of(judge: &'a AgentCallJudge, event: &'a GuardEvent) -> Self {
        let state = judge.state();
        let agent = variable(CLAUDE_PROCESS)
            .filter(|_| event.recipient.form == GuardEventForm::Claude)
            .and_then(|pid| AgentProcess::of(pid.parse().ok()?))
            .or_else(AgentProcess::above_this);
        let unnamed = || agent.map_or_else(|| "agent".to_owned(), |agent| format!("agent-{}", agent.pid));
        let run = event.names.session.clone().unwrap_or_else(unnamed);
        let turn = state.agent_turns().number(&SessionId::of_agent(&run).to_string(), event.names.turn.as_deref());
        Self { judge, event, state, run, turn, agent }
    }

    /// Prepares for a call that may be made. Returns its arguments, if haft has rewritten them.
    pub(super) fn before(&self, follows: Follows, redactor: &Redactor) -> anyhow::Result<Option<Map<String, Value>>> {
        self.close_left();
        match follows {
            Follows::Nothing => Ok(None),
            Follows::Command { text, folder, covers } => self.command((&text, &folder), covers, redactor),
            Follows::Edit(places) if places.is_empty() => Ok(None),
            Follows::Edit(places) => {
                let edit = AgentEdit { errand: &self.errand(), places: &places, agent: self.agent };
                self.judge.workspace.begin_edit(&self.state, &edit).context("haft cannot keep the file")?;
                Ok(None)
            }
        }
    }

    /// Records what a call has changed.
    pub(super) fn after(&self) -> anyhow::Result<()> {
        if !self.judge.places_of(self.event).is_empty() {
            self.judge.workspace.end_edit(&self.state, &self.errand())?;
        }
        self.close_left();
        Ok(())
    }

    /// Closes edits whose end was not seen.
    fn close_left(&self) {
        let now = AgentTurn { run: &self.run, turn: self.turn };
        self.judge.workspace.close_left_edits(&self.state, Some(now));
    }

    fn command(
        &self,
        (text, folder): (&str, &Path),
        covers: Covers,
        redactor: &Redactor,
    ) -> anyhow::Result<Option<Map<String, Value>>> {
        let form = self.event.recipient.form;
        // The agent's own question is about a call that was rewritten before.
        if form == GuardEventForm::Permission || rewrite::only_goes(form, text) {
            return Ok(None);
        }
        let (going, line, folder) = self.with_lasting_folder(text, folder);
        let session = SessionId::of_agent(&self.run).to_string();
        let call = JudgedCall {
            line: line.to_owned(),
            folder,
            agent: self.agent_name(),
            call: self.call(),
            session: session.clone(),
            run: self.run.clone(),
            turn: self.turn,
            covers,
            owner: self.agent,
        };
        let not_text = "the path is not UTF-8";
        let added: Option<Vec<String>> =
            self.judge.options.added.iter().map(|folder| rewrite::text_of(folder)).collect();
        let workspace = rewrite::text_of(self.judge.workspace.path()).context(not_text)?;
        let program = own_program().context("haft cannot find its own program")?;
        let ticket = self.state.judged_calls().add(&call).context("haft cannot write its state")?;
        let prefix = Prefix {
            program: rewrite::text_of(&program).context(not_text)?,
            session,
            workspace: (workspace, added.context(not_text)?),
            ticket,
            going: going.to_owned(),
            spelling: Spelling::of(line, redactor),
        };
        Ok(rewrite::rewritten(self.event, line, &prefix))
    }

    /// Returns what the agent's own shell does first, the rest, which haft runs, and the folder of the rest. The shell goes
    /// only to a folder that is there now, by its real path: then the rest runs exactly where it would without haft.
    fn with_lasting_folder<'t>(&self, text: &'t str, folder: &Path) -> (&'t str, &'t str, PathBuf) {
        let whole = ("", text, folder.to_owned());
        let Some(going) = rewrite::lasting_folder(self.event.recipient.form, text) else { return whole };
        let named = rewrite::joined(folder, going.folder);
        let is_real = self.judge.folder(&named).is_ok_and(|real| real == named);
        if is_real && named.starts_with(self.judge.workspace.path()) {
            (going.before, going.rest, named)
        } else {
            whole
        }
    }

    fn errand(&self) -> Provenance {
        Provenance {
            call: CallId::new(self.call()),
            tool: self.event.tool.clone(),
            session: SessionName::new(&SessionId::of_agent(&self.run).to_string()),
            run: self.run.as_str().into(),
            turn: self.turn,
            purpose: Purpose { agent: Some(self.agent_name()), command: None, description: None },
            old_changes: OldChanges::Stay,
        }
    }

    /// Returns the agent's name for the call. An agent without one sends the same arguments before and after it.
    fn call(&self) -> String {
        self.event.names.call.clone().unwrap_or_else(|| {
            let arguments = Value::Object(self.event.input.clone()).to_string();
            SessionId::of_agent(&format!("{} {arguments}", self.event.tool)).to_string()
        })
    }

    fn agent_name(&self) -> String {
        let known = agent_name(self.event);
        self.event.names.agent.clone().unwrap_or_else(|| known.to_owned())
    }
}

/// Returns what people call the agent that sends a form.
pub(super) fn agent_name(event: &GuardEvent) -> &'static str {
    match event.recipient.form {
        GuardEventForm::Codex => "Codex",
        GuardEventForm::Claude | GuardEventForm::Permission if event.is_of_codex => "Codex",
        GuardEventForm::Claude | GuardEventForm::Permission => "Claude Code",
        GuardEventForm::Gemini => "Gemini CLI",
        GuardEventForm::Cursor | GuardEventForm::CursorTool => "Cursor",
        GuardEventForm::Copilot => "Copilot CLI",
        GuardEventForm::Opencode => "opencode",
    }
}
