//! A scene: given these files, when this is called, then haft reports that.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::description::dialect::Dialect;
use haft_contract::limits::Limits;
use haft_contract::outcome::result::ToolResult;
use haft_contract::tool::{AnyTool, Tool, Typed};
use haft_policy::policy::Policy;
use haft_runtime::asking::approval::Approver;
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::{ToolList, ToolsetExt};
use haft_runtime::hooks::Hook;
use haft_runtime::redaction::redact::Redactor;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
use haft_workspace::files::Workspace;
use haft_workspace::state::{JournalLimits, WorkspaceState};
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::ScriptedCommand;
use crate::scripted::approver::nobody;
use crate::scripted::web::Web;
use crate::{sample, snapshot};

/// A workspace in a temporary folder, with everything that a call needs.
pub struct Scene {
    folder: TempDir,
    setting: Setting,
    stage: OnceLock<(Runtime, Session)>,
    before: OnceLock<Vec<(String, Vec<u8>)>>,
}

struct Setting {
    built_in: Vec<Arc<dyn AnyTool>>,
    dialect: Option<Arc<dyn Dialect>>,
    tools: Vec<Arc<dyn AnyTool>>,
    hooks: Vec<Arc<dyn Hook>>,
    approver: Arc<dyn Approver>,
    limits: Limits,
    policy: Policy,
    redactor: Redactor,
    command: Option<ScriptedCommand>,
    web: Option<Web>,
    journal: JournalLimits,
}

impl Scene {
    /// Makes an empty workspace with the built-in tools and no person to answer.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("haft-scene-").tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(folder.path().join("ws")).expect("the folder is new");
        let setting = Setting {
            built_in: haft_tools::all(),
            dialect: None,
            tools: Vec::new(),
            hooks: Vec::new(),
            approver: Arc::new(nobody()),
            limits: Limits::default(),
            policy: Policy::default(),
            redactor: Redactor::default(),
            command: None,
            web: None,
            journal: JournalLimits::default(),
        };
        Self { folder, setting, stage: OnceLock::new(), before: OnceLock::new() }
    }

    /// Makes the workspace that the examples of manuals run in.
    pub fn sample() -> Self {
        sample::FILES.iter().fold(Self::new(), |scene, (path, content)| scene.file(path, content))
    }

    /// Puts a file into the workspace.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        std::fs::write(path, content).expect("a file can be written");
        self
    }

    /// Puts a file beside the workspace, where no tool may go.
    pub fn outside_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        std::fs::write(path, content).expect("a file can be written");
        self
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Tool) -> Self {
        self.any_tool(Arc::new(Typed::new(tool)))
    }

    /// Adds a tool that has no types.
    pub fn any_tool(mut self, tool: Arc<dyn AnyTool>) -> Self {
        self.setting.tools.push(tool);
        self
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.setting.hooks.push(Arc::new(hook));
        self
    }

    /// Lets this approver answer.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.setting.approver = Arc::new(approver);
        self
    }

    /// Changes the limits.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.setting.limits);
        self
    }

    /// Judges by these rules.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.setting.policy = policy;
        self
    }

    /// Gives the journal of changes this room, in bytes.
    pub fn journal_room(mut self, room: u64) -> Self {
        self.setting.journal.room = room;
        self
    }

    /// Hides this value.
    pub fn secret(mut self, value: &str) -> Self {
        self.setting.redactor = Redactor::of_values([value.to_owned()]);
        self
    }

    /// Lets every command do this.
    pub fn command(mut self, command: &ScriptedCommand) -> Self {
        self.setting.command = Some(command.clone());
        self
    }

    /// Lets documents be fetched from these pages.
    pub fn web(mut self, web: Web) -> Self {
        self.setting.web = Some(web);
        self
    }

    /// Shows the built-in tools and tells results in this dialect.
    pub fn dialect(mut self, name: &str) -> Self {
        self.setting.dialect = haft_tools::dialect::named(name);
        assert!(self.setting.dialect.is_some(), "there is a dialect {name}");
        self
    }

    /// Calls a tool as a model does, with an object.
    pub async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.send(ToolCall::new(tool, RawArguments::from(arguments))).await
    }

    /// Calls a tool as a model does, with the raw text of its arguments.
    pub async fn call_text(&self, tool: &str, arguments: &str) -> ToolResult {
        self.send(ToolCall::new(tool, RawArguments::Text(arguments.to_owned()))).await
    }

    /// Sends a call.
    pub async fn send(&self, call: ToolCall) -> ToolResult {
        self.runtime().call(self.session(), call).await
    }

    /// Sends the calls of one message together, with ids from 1.
    pub async fn turn(&self, calls: &[(&str, Value)]) -> Vec<ToolResult> {
        let calls = calls.iter().zip(1..).map(|((tool, arguments), id)| {
            ToolCall::new(*tool, RawArguments::from(arguments.clone())).with_id(id.to_string())
        });
        self.runtime().call_all(self.session(), calls.collect()).await
    }

    /// Calls a tool and returns the result as a test reads it.
    pub async fn told(&self, tool: &str, arguments: Value) -> String {
        snapshot::told(&self.call(tool, arguments).await)
    }

    /// Returns the runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.stage().0
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.stage().1
    }

    /// Opens another session of the same runtime.
    pub fn another_session(&self, name: &str) -> Session {
        self.runtime().session(name, SharedApprover(self.setting.approver.clone()))
    }

    /// Returns the root of the workspace.
    pub fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("ws")
    }

    /// Returns the content of a file.
    pub fn read(&self, path: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.root().join(path)).expect("the file is there")).into_owned()
    }

    /// Asserts that nothing in the workspace or beside it has changed since the first call.
    pub fn assert_untouched(&self) {
        let before = self.before.get().expect("a call was made before");
        assert_eq!(*before, everything(self.folder.path()), "something was touched");
    }

    fn stage(&self) -> &(Runtime, Session) {
        self.stage.get_or_init(|| {
            self.before.get_or_init(|| everything(self.folder.path()));
            let workspace = Workspace::open(&self.root()).expect("the workspace is there");
            let state = WorkspaceState::new(&self.folder.path().join("state"), workspace.path());
            let state = state.with_journal_limits(self.setting.journal);
            let catalog = catalog(self.setting.built_in.clone(), self.setting.dialect.clone());
            for tool in &self.setting.tools {
                catalog.register(tool.clone()).expect("the tools of a scene can be registered");
            }
            let doors = workspace.doors(&state);
            let doors = match &self.setting.command {
                Some(command) => command.behind(doors),
                None => doors,
            };
            let doors = match &self.setting.web {
                Some(web) => doors.with_net(web.clone()),
                None => doors,
            };
            let mut runtime = Runtime::new(catalog, doors)
                .with_policy(self.setting.policy.clone())
                .with_limits(self.setting.limits.clone())
                .with_redactor(self.setting.redactor.clone());
            if let Some(dialect) = &self.setting.dialect {
                runtime = runtime.with_dialect(dialect.clone());
            }
            for hook in &self.setting.hooks {
                runtime = runtime.with_hook(SharedHook(hook.clone()));
            }
            let session = runtime.session("scene", SharedApprover(self.setting.approver.clone()));
            (runtime, session)
        })
    }
}

/// The built-in tools, as the dialect shows them.
fn catalog(built_in: Vec<Arc<dyn AnyTool>>, dialect: Option<Arc<dyn Dialect>>) -> Catalog {
    let catalog = Catalog::default();
    let list = ToolList::new("the built-in tools", built_in);
    match dialect {
        None => catalog.add_list(list).expect("the built-in tools can be registered"),
        Some(dialect) => {
            let shown = list.in_dialect(dialect);
            // Nothing in it waits, so one look is enough.
            let added = std::pin::pin!(catalog.add(&shown)).poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(added, Poll::Ready(Ok(()))), "the tools of a dialect can be registered: {added:?}");
        }
    }
    catalog
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

/// Larger files are compared by their size.
const LARGEST_COMPARED: u64 = 16 * 1024 * 1024;

/// All files below a folder but haft's own state, with their content.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder_below) = folders.pop() {
        for entry in std::fs::read_dir(&folder_below).into_iter().flatten().flatten() {
            let path = entry.path();
            if path == folder.join("state") {
                continue;
            }
            let Ok(facts) = entry.metadata() else { continue };
            // Pipes would block and giants would fill the memory: what they are is enough.
            let content = match facts.len() {
                size if facts.is_file() && size < LARGEST_COMPARED => std::fs::read(&path).unwrap_or_default(),
                size => format!("{:?} {size}", facts.file_type()).into_bytes(),
            };
            if facts.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), content));
            }
        }
    }
    found.sort();
    found
}

/// An approver that several sessions of a scene share.
struct SharedApprover(Arc<dyn Approver>);

impl Approver for SharedApprover {
    fn ask<'a>(
        &'a self,
        request: &'a haft_runtime::asking::approval::ApprovalRequest,
    ) -> haft_contract::BoxFuture<'a, haft_runtime::asking::approval::Verdict> {
        self.0.ask(request)
    }

    fn ask_user<'a>(
        &'a self,
        questionnaire: &'a haft_runtime::asking::approval::Questionnaire,
    ) -> haft_contract::BoxFuture<'a, haft_contract::doors::user_questions::UserReply> {
        self.0.ask_user(questionnaire)
    }
}

struct SharedHook(Arc<dyn Hook>);

impl Hook for SharedHook {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn concerns(&self, tool: &str) -> bool {
        self.0.concerns(tool)
    }

    fn longest(&self) -> std::time::Duration {
        self.0.longest()
    }

    fn before<'a>(
        &'a self,
        call: &'a haft_runtime::hooks::HookedCall,
        cx: &'a haft_runtime::hooks::HookContext<'a>,
    ) -> haft_contract::BoxFuture<'a, haft_runtime::hooks::Before> {
        self.0.before(call, cx)
    }

    fn after<'a>(
        &'a self,
        call: &'a haft_runtime::hooks::HookedCall,
        output: haft_contract::outcome::output::ToolOutput,
        cx: &'a haft_runtime::hooks::HookContext<'a>,
    ) -> haft_contract::BoxFuture<'a, haft_contract::outcome::output::ToolOutput> {
        self.0.after(call, output, cx)
    }
}
