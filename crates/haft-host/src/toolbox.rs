//! Guarded tools for a program: one workspace and one session, without a model.
//!
//! Every call goes through the whole pipeline: haft judges it, asks about it, confines it and records it, and can undo it.

use std::path::PathBuf;
use std::sync::Arc;

use haft_config::environment::current_folder;
use haft_config::profile::Profile;
use haft_contract::BoxFuture;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::description::dialect::Dialect;
use haft_contract::description::spec::Spec;
use haft_contract::outcome::error::AdvanceYes;
use haft_contract::outcome::result::ToolResult;
use haft_contract::tool::{AnyTool, Tool, Typed};
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict, YesToOrdinary};
use haft_runtime::events::Subscription;
use haft_runtime::state::session::Session;
use haft_workspace::history::{ChangeLog, HistoryError, TakenBack, UndoSelection};

use crate::host::{Host, nobody};
use crate::notices::Notices;
use crate::opening::project_files::OnUntrusted;
use crate::options::{BuiltIn, Options};

/// Guarded tools of one workspace, with one session.
pub struct Toolbox {
    host: Arc<Host>,
    session: Session,
}

/// Why a workspace could not be opened, and what to do.
pub struct OpenError(anyhow::Error);

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// The same text: a `main` that returns the error shows it in this form.
impl std::fmt::Debug for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OpenError {}

impl From<anyhow::Error> for OpenError {
    fn from(error: anyhow::Error) -> Self {
        Self(error)
    }
}

impl Toolbox {
    /// Starts a description of a toolbox. Without more, it has haft's own tools in the current folder, and refuses what
    /// a person would be asked about.
    #[must_use]
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// Opens a folder with haft's own tools.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be opened, or settings have a mistake.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, OpenError> {
        Self::builder().folder(folder).build()
    }

    /// Makes a toolbox of an opened workspace and a session of it.
    #[must_use]
    pub fn of(host: Arc<Host>, session: Session) -> Self {
        Self { host, session }
    }

    /// Calls a tool. The arguments are an object, or text exactly as a model sent it.
    pub async fn call(&self, tool: &str, arguments: impl Into<RawArguments>) -> ToolResult {
        self.run(ToolCall::new(tool, arguments.into())).await
    }

    /// Runs a call, with its id and origin.
    pub async fn run(&self, call: ToolCall) -> ToolResult {
        let result = self.host.runtime.call(&self.session, call).await;
        self.host.note_call(&result);
        result
    }

    /// Runs the calls of one reply together; the results are in their order.
    pub async fn call_all(&self, calls: Vec<ToolCall>) -> Vec<ToolResult> {
        self.host.runtime.call_all(&self.session, calls).await
    }

    /// Subscribes to everything that happens to calls from now on.
    #[must_use]
    pub fn events(&self) -> Subscription {
        self.host.runtime.events().subscribe()
    }

    /// Returns the tools as a model would see them.
    #[must_use]
    pub fn tools(&self) -> Vec<Spec> {
        self.host.runtime.catalog().list().iter().map(|entry| entry.shown().clone()).collect()
    }

    /// Lists the change sets of the workspace, the newest first.
    ///
    /// # Errors
    ///
    /// Fails when the journal cannot be read.
    pub fn log(&self) -> Result<ChangeLog, HistoryError> {
        self.host.history.log()
    }

    /// Takes the newest change set back that is not taken back yet. Repeating it goes further back.
    ///
    /// # Errors
    ///
    /// Fails when there is nothing to take back, or later changes are in the way; then nothing is changed.
    pub fn undo(&self) -> Result<TakenBack, HistoryError> {
        self.undo_what(UndoSelection::Newest)
    }

    /// Takes back what this names: a number, a turn, a session, or the last undo.
    ///
    /// # Errors
    ///
    /// As [`Toolbox::undo`].
    pub fn undo_what(&self, which: UndoSelection) -> Result<TakenBack, HistoryError> {
        self.host.history.undo(which, None)
    }

    /// Returns the opened workspace.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Returns the session: turns, grants, cancelling.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}

/// A toolbox that is being described.
#[derive(Default)]
pub struct ToolboxBuilder {
    options: Options,
    approver: Option<Box<dyn Approver>>,
    name: Option<String>,
}

impl ToolboxBuilder {
    /// Works in this folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.folder = Some(folder.into());
        self
    }

    /// Counts the files of this folder as inside, too.
    #[must_use]
    pub fn also(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.added.push(folder.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(self, tool: impl Tool) -> Self {
        self.any_tool(Arc::new(Typed::new(tool)))
    }

    /// Adds a tool whose type is not known here.
    #[must_use]
    pub fn any_tool(mut self, tool: Arc<dyn AnyTool>) -> Self {
        self.options.tools.push(tool);
        self
    }

    /// Returns the names of the tools that were added.
    #[cfg(feature = "agent")]
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.options.tools.iter().map(|tool| format!("{:?}", tool.spec().name)).collect()
    }

    /// Leaves haft's own tools out.
    #[must_use]
    pub fn without_built_in_tools(mut self) -> Self {
        self.options.built_in = BuiltIn::LeftOut;
        self
    }

    /// Answers questions with this function.
    #[must_use]
    pub fn approve(self, answer: impl Fn(&ApprovalRequest) -> Verdict + Send + Sync + 'static) -> Self {
        self.approver(AnsweredBy(answer))
    }

    /// Sends questions to this approver.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// Answers ordinary questions about what undo can take back with yes, and refuses the other ordinary ones; dangerous
    /// ones still go to the approver.
    #[must_use]
    pub fn yes_to_undoable(mut self) -> Self {
        self.options.yes = Some(AdvanceYes::ToUndoable);
        self
    }

    /// Answers all ordinary questions with yes, also those about other hosts, publishing, and commands that undo does not
    /// cover; dangerous ones still go to the approver.
    #[must_use]
    pub fn yes_to_ordinary(mut self) -> Self {
        self.options.yes = Some(AdvanceYes::ToAll);
        self
    }

    /// Says what happens to changes: [`Mode::Plan`] makes none.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.options.mode = mode;
        self
    }

    /// Uses the limits of this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.options.profile = Some(profile);
        self
    }

    /// Shows the built-in tools in a dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: Arc<dyn Dialect>) -> Self {
        self.options.own_dialect = Some(dialect);
        self
    }

    /// Keeps journal, spills and sessions below this folder instead of the user's state folder.
    #[must_use]
    pub fn state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder: PathBuf = folder.into();
        // Commands see the folder from elsewhere, where a relative path would lead nowhere.
        let here = current_folder().unwrap_or_default();
        self.options.state_folder = Some(here.join(folder));
        self
    }

    /// Reports what is left out or has changed to this sink.
    #[must_use]
    pub fn notices(mut self, notices: impl Notices + 'static) -> Self {
        self.options.notices = Arc::new(notices);
        self
    }

    /// Names the session in the log.
    #[must_use]
    pub fn session_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Opens the workspace.
    ///
    /// # Errors
    ///
    /// Fails when the folder cannot be opened, settings have a mistake, or two tools have the same name.
    pub fn build(self) -> Result<Toolbox, OpenError> {
        let Self { options, approver, name } = self;
        let host = open_on_a_thread(&options)?;
        if options.built_in == BuiltIn::Shown && cfg!(feature = "sandbox") && !host.runtime.doors().processes.can_run()
        {
            options.notices.warn(NO_COMMANDS);
        }
        let base = approver.unwrap_or_else(|| Box::new(nobody()));
        let approver = YesToOrdinary::given(options.yes, base);
        let session = host.session(name.as_deref().unwrap_or("library"), approver);
        Ok(Toolbox { host: Arc::new(host), session })
    }
}

/// What a program is told whose tools could run commands.
const NO_COMMANDS: &str = "Commands cannot be run, and haft does not hide the values of old secret files that git keeps: this \
                           program did not call haft::sandbox_launcher(). Next: add it as the first line of main.";

/// Opens a workspace. Described tools may be asked for their words, which blocks; the caller may be in a runtime.
fn open_on_a_thread(options: &Options) -> Result<Host, OpenError> {
    let opened = std::thread::scope(|scope| scope.spawn(|| Host::open_for(options, OnUntrusted::Report)).join());
    opened
        .unwrap_or_else(|_| Err(anyhow::anyhow!("a defect in haft while the workspace was opened")))
        .map_err(OpenError)
}

/// Answers with a function.
struct AnsweredBy<F>(F);

impl<F: Fn(&ApprovalRequest) -> Verdict + Send + Sync> Approver for AnsweredBy<F> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let verdict = (self.0)(request);
        Box::pin(async { verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_state_folder_counts_from_the_current_folder() {
        let toolbox = ToolboxBuilder::default().state_folder("state");
        assert!(toolbox.options.state_folder.is_some_and(|folder| folder.is_absolute() && folder.ends_with("state")));
    }
}
