//! The caller of a command: opens the host for it, answers questions for it, and reports to it.

use std::path::Path;

use haft_contract::call::CallOrigin;
use haft_contract::files::path::one_line;
use haft_contract::outcome::error::{AdvanceYes, ToolError};
use haft_host::host::{Host, nobody};
use haft_host::opening::hosts::HostLists;
use haft_host::opening::project_files::OnUntrusted;
use haft_mcp::client::servers::Servers;
use haft_runtime::asking::approval::{Approver, Nobody, YesToOrdinary};
use haft_runtime::state::session::Session;
use haft_workspace::state::real_path_of;

use crate::arguments::Common;
use crate::live::LiveLine;
use crate::prompt::{AtTerminal, somebody_is_there};
use crate::screen;

/// The kind of caller that a command serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerKind {
    /// One call from the command line.
    OneCall,
    /// Lines from a program.
    Lines,
    /// A model that works on a task.
    Agent,
}

/// What a person does about an ordinary question that no one answers.
pub(crate) const HOW_TO_ALLOW: &str = "run it with --yes, or at a terminal where you can answer";
/// The same, of what undo cannot take back.
pub(crate) const HOW_TO_ALLOW_THE_REST: &str =
    "run it with --yes=all, because undo cannot take it back, or at a terminal where you can answer";

impl CallerKind {
    /// Opens the workspace for calls. Untrusted files of the project are asked about, or reported.
    pub(crate) fn opens(self, common: &Common) -> anyhow::Result<Host> {
        let on_untrusted = match self {
            CallerKind::OneCall => OnUntrusted::Ask,
            CallerKind::Lines => OnUntrusted::Report,
            CallerKind::Agent => OnUntrusted::AskAboutWords,
        };
        let host = Host::open_for(&Servers::added_to(common.options()), on_untrusted)?;
        if common.workspace.is_some() && host.workspace != real_path_of(Path::new(".")) {
            screen::talk(&one_line(&format!("Workspace: {}", host.workspace.display())));
        }
        Ok(host)
    }

    /// Opens a session for this caller.
    pub(crate) fn session(self, host: &Host, common: &Common) -> Session {
        let session = host.session("call", self.approver((host, common), LiveLine::default()));
        match self {
            CallerKind::OneCall => session.without_jobs(),
            CallerKind::Lines | CallerKind::Agent => session,
        }
    }

    /// Returns who answers its questions. What its calls print is on this line.
    pub(crate) fn approver(self, (host, common): (&Host, &Common), line: LiveLine) -> Box<dyn Approver> {
        let lists = || HostLists::of_file(&host.settings.config_file);
        let base: Box<dyn Approver> = match self {
            CallerKind::OneCall if somebody_is_there() => Box::new(AtTerminal::ForOneCall(lists())),
            CallerKind::Agent if somebody_is_there() => Box::new(AtTerminal::ForSession(line, lists())),
            CallerKind::OneCall => Box::new(Nobody::there(HOW_TO_ALLOW).or_if_not_undoable(HOW_TO_ALLOW_THE_REST)),
            // Even at a terminal: what is typed there are calls, not answers.
            CallerKind::Agent | CallerKind::Lines => Box::new(nobody()),
        };
        YesToOrdinary::given(common.yes(), base)
    }

    /// Says who makes the calls: a person sees the question and answers it.
    pub(crate) fn origin(self, common: &Common) -> CallOrigin {
        match self {
            CallerKind::Lines | CallerKind::Agent => CallOrigin::Model,
            CallerKind::OneCall if somebody_is_there() && common.yes().is_none() => CallOrigin::Person,
            CallerKind::OneCall => CallOrigin::Script,
        }
    }
}

/// Returns what a person can do about a refusal that a model reads; nothing where the model reads it too.
pub(crate) fn how_to_allow(error: &ToolError, caller: CallerKind) -> Option<&'static str> {
    Some(match (caller, error.about.allowed_by?) {
        (CallerKind::Lines, AdvanceYes::ToUndoable) => {
            "run it with --yes, or call the tool alone at a terminal: haft call TOOL …"
        }
        (CallerKind::Lines, AdvanceYes::ToAll) => {
            "run it with --yes=all, because undo cannot take it back, or call the tool alone at a terminal: haft call TOOL …"
        }
        (CallerKind::OneCall | CallerKind::Agent, AdvanceYes::ToUndoable) => HOW_TO_ALLOW,
        (CallerKind::OneCall | CallerKind::Agent, AdvanceYes::ToAll) => HOW_TO_ALLOW_THE_REST,
    })
}
