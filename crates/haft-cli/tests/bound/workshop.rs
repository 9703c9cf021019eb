//! A workspace with definitions and what they are bound to.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use haft_contract::BoxFuture;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::doors::door::Doors;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::outcome::output::Content;
use haft_contract::outcome::result::{Status, ToolResult};
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::runtime::Runtime;
use haft_runtime::state::session::Session;
use haft_sandbox::{Launcher, Network, Sandbox, SandboxSettings};
use haft_testkit::require::Need;
use haft_tools::defined::bound::{Bindings, DefinitionOrigin, ToolOwner};
use haft_tools::defined::definition::{Definition, DefinitionProblem};
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;
use serde_json::Value;
use tempfile::TempDir;

/// A workspace, a folder of definitions beside it, and everything that a call needs.
pub struct Workshop {
    folder: TempDir,
    definitions: Vec<Definition>,
    bindings: Bindings,
    stage: OnceLock<(Runtime, Session)>,
    owner: ToolOwner,
}

impl Workshop {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("haft-bound-").tempdir().expect("it can be made");
        for name in ["ws", "tools", "state"] {
            std::fs::create_dir(folder.path().join(name)).expect("it is new");
        }
        let bindings = Bindings::new(haft_tools::all());
        Self { folder, definitions: Vec::new(), bindings, stage: OnceLock::new(), owner: ToolOwner::User }
    }

    /// Takes the tools for those of a trusted workspace.
    pub fn of_workspace(mut self) -> Self {
        self.owner = ToolOwner::Workspace;
        self
    }

    /// Makes one where there is a Python.
    #[track_caller]
    pub fn with_python(module: &str) -> Option<Self> {
        let workshop = Self::new().file("tools/functions.py", module);
        let has_python = workshop.doors().processes.find_program(&["python3"]).is_some();
        Need::Python.found(has_python.then_some(workshop))
    }

    /// Puts a file into `ws/` or `tools/`.
    pub fn file(self, path: &str, content: &str) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        std::fs::write(&path, content).expect("it can be written");
        if content.starts_with("#!") {
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
        }
        self
    }

    /// Adds a tool by the text of its definition.
    pub fn tool(mut self, yaml: &str) -> Self {
        let told = |problems: Vec<DefinitionProblem>| panic!("{yaml}: {problems:?}");
        self.definitions.push(Definition::from_yaml(yaml).unwrap_or_else(told));
        self
    }

    /// Adds a Python tool whose arguments are not looked at, with more lines for its definition.
    pub fn function(self, name: &str, more: &str) -> Self {
        let schema = "input_schema: {type: object, additionalProperties: true}";
        let binding = format!("binding: functions:{name}");
        let binding = if more.contains("binding:") { String::new() } else { binding };
        self.tool(&format!("name: {name}\ndescription: Is tried.\n{schema}\n{binding}\n{more}\n"))
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let (runtime, session) = self.stage();
        runtime.call(session, ToolCall::new(tool, RawArguments::from(arguments))).await
    }

    /// Calls a tool that works; returns what the model reads.
    pub async fn works(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.status, Status::Ok, "{}", text(&result));
        text(&result)
    }

    /// Calls a tool that fails; returns what the model reads, and what the person gets beside it.
    pub async fn fails(&self, tool: &str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.status, Status::Failed, "{}", text(&result));
        let detail = result.error.as_ref().and_then(|error| error.detail.clone()).unwrap_or_default();
        (text(&result), detail)
    }

    /// Returns what is wrong with a definition and its binding, as `haft check` says it.
    pub async fn problems(&self, tool: &str) -> Vec<String> {
        let definition = self.definition(tool);
        let problems = self.bindings.check(&definition, &self.home(), self.runtime()).await;
        problems.iter().map(ToString::to_string).collect()
    }

    pub fn definition(&self, tool: &str) -> Definition {
        self.definitions.iter().find(|definition| definition.name == tool).expect("it was added").clone()
    }

    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    pub fn home(&self) -> DefinitionOrigin {
        DefinitionOrigin::new(self.real("tools"), self.real("ws")).with_owner(self.owner)
    }

    pub fn runtime(&self) -> &Runtime {
        &self.stage().0
    }

    pub fn session(&self) -> &Session {
        &self.stage().1
    }

    pub fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(path)).ok()
    }

    /// Returns where something in the folder of everything lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn real(&self, folder: &str) -> PathBuf {
        self.folder.path().join(folder).canonicalize().expect("it is there")
    }

    fn stage(&self) -> &(Runtime, Session) {
        self.stage.get_or_init(|| {
            let catalog = Catalog::default();
            for definition in &self.definitions {
                let tool = self.bindings.bind(definition.clone(), self.home()).expect("it can be bound");
                catalog.register(tool).expect("it has a name of its own");
            }
            let runtime = Runtime::new(catalog, self.doors());
            let session = runtime.session("workshop", Yes);
            (runtime, session)
        })
    }

    pub fn doors(&self) -> Doors {
        let workspace = Workspace::open(&self.real("ws")).expect("it is there");
        let state = WorkspaceState::new(&self.real("state"), workspace.path());
        let launcher = Launcher::at(Path::new(env!("CARGO_BIN_EXE_haft")));
        workspace.doors(&state).with_processes(Sandbox::new(launcher, settings()))
    }
}

fn settings() -> SandboxSettings {
    let readable = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"];
    SandboxSettings {
        required: haft_sandbox::Requirement::Set(ConfinementLevel::None),
        network: Network::Off,
        job_environment: Vec::new(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("HOME".into(), "/nowhere".into())],
        readable: readable.iter().map(PathBuf::from).collect(),
        home: "/nowhere".into(),
        hidden: Vec::new(),
        home_files: Vec::new(),
        processes: 2000,
        caches: Vec::new(),
        cache_room: 0,
        memory: None,
        disk: None,
    }
}

/// Says yes to everything.
struct Yes;

impl Approver for Yes {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::AllowOnce })
    }
}

/// Returns what the model reads.
pub fn text(result: &ToolResult) -> String {
    result.content.iter().filter_map(Content::text).collect::<Vec<_>>().join("\n")
}
