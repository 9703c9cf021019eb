//! Makes definitions callable: finds what each tool is bound to and connects it.
//!
//! A built-in tool runs under the words of the definition. A program gets the arguments on its input and answers on its
//! output. A worker that stays serves a Python function. A request goes to its host. All of them plan what the
//! definition declares, so rules, questions, the sandbox and undo work as for any command.
//!
//! Not here: reading definitions (`definition`), finding and trusting their files.

mod answer;
mod builtin;
mod claims;
mod command;
mod http;
mod log;
mod planned;
mod pool;
pub(crate) mod python;
mod script;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use haft_contract::doors::inspection::Inspector;
use haft_contract::doors::process::TrustedCode;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::closest::closest;
use haft_contract::tool::AnyTool;

use super::definition::{Binding, Definition, DefinitionProblem};
use builtin::Builtin;
use command::ToolProgram;
use http::Fetching;
use planned::DefinedTool;
use pool::Pools;
use python::Function;
pub use python::{Description, PythonParameter};
pub use script::{INTERPRETED, ScriptRun, script_tool};

/// Makes tools of definitions. One for each workspace: the workers of all its Python functions live in it.
pub struct Bindings {
    tools: HashMap<String, Arc<dyn AnyTool>>,
    pools: Arc<Pools>,
}

/// Where a binding is at home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionOrigin {
    /// The folder of the file that names the binding, by its real path.
    pub folder: PathBuf,
    /// The folder of the definition, where a list of another folder names the binding.
    pub beside: Option<PathBuf>,
    /// The workspace, by its real path.
    pub workspace: PathBuf,
    /// Arguments that presets give, so that the definition need not have them.
    pub preset: Vec<String>,
    /// Who defines the tool, which decides whose code it may import.
    pub owner: ToolOwner,
    /// The copy of the trusted code that the tool runs, where the workspace defines it.
    pub code: Option<TrustedCode>,
}

/// Who defines a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolOwner {
    /// The user: code of the workspace has no part in it.
    #[default]
    User,
    /// The workspace itself, which is trusted: its modules and its virtual environment are used.
    Workspace,
}

impl DefinitionOrigin {
    /// Names the folder of the file that names the binding, and the workspace, for a tool of the user.
    pub fn new(folder: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        let (folder, workspace) = (folder.into(), workspace.into());
        Self { folder, beside: None, workspace, preset: Vec::new(), owner: ToolOwner::User, code: None }
    }

    /// Names the folder of the definition, where code of the tool may lie too.
    pub fn with_definition_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.beside = Some(folder.into()).filter(|folder| *folder != self.folder);
        self
    }

    /// Returns the folders of the files that describe the tool: of the one that names the binding first.
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.folder].into_iter().chain(&self.beside)
    }

    /// Says who defines the tool.
    pub fn with_owner(mut self, owner: ToolOwner) -> Self {
        self.owner = owner;
        self
    }

    /// Runs the tool's code from a copy.
    pub fn with_code(mut self, code: Option<TrustedCode>) -> Self {
        self.code = code;
        self
    }

    /// Returns the folders that code of the tool may come from, each before the next.
    fn code_folders(&self) -> Vec<PathBuf> {
        let workspace = (self.owner == ToolOwner::Workspace).then_some(&self.workspace);
        self.folders().chain(workspace).cloned().collect()
    }

    /// Says which arguments presets give.
    pub fn with_presets(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.preset = names.into_iter().map(Into::into).collect();
        self
    }
}

impl Bindings {
    /// Knows these tools by their names: the built-in ones, and those that a program registers.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.spec().name.clone(), tool)).collect();
        Self { tools, pools: Arc::default() }
    }

    /// Makes a tool of a definition. Nothing is started, and no file is looked at.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the binding, with the fix.
    pub fn bind(&self, definition: Definition, home: DefinitionOrigin) -> Result<Arc<dyn AnyTool>, DefinitionProblem> {
        match definition.binding.clone() {
            None => Err(error(format!("\"{}\" is bound to nothing", definition.name), HOW_TO_BIND)),
            Some(Binding::Builtin(name)) => Builtin::new(definition, self.named(&name)?, &home).map(tool),
            Some(Binding::Command(words)) => {
                ToolProgram::new(definition, words, home).map(|program| tool(DefinedTool(program)))
            }
            Some(Binding::Http(call)) => Fetching::new(definition, *call).map(tool),
            Some(Binding::Python(name)) => {
                let function = Function::new(definition, name, home, Arc::clone(&self.pools));
                function.map(|function| tool(DefinedTool(function)))
            }
        }
    }

    /// Asks a worker what a Python function looks like; nothing for other bindings. Its module is imported, in the
    /// sandbox, and nothing of what that changes is kept.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be found out: no interpreter, no such module or function, no sandbox.
    pub async fn describe(
        &self,
        definition: &Definition,
        home: &DefinitionOrigin,
        inspector: &impl Inspector,
    ) -> Result<Option<Description>, ToolError> {
        let Some(Binding::Python(name)) = definition.binding.clone() else { return Ok(None) };
        let pools = Arc::clone(&self.pools);
        let function = Function::new(definition.clone(), name, home.clone(), pools)
            .map_err(|problem| ToolError::of(ErrorKind::Unavailable, problem.what))?;
        python::describe(function, inspector).await.map(Some)
    }

    /// Gives a definition without a description the first part of its function's docstring. A lazy one is left as it is,
    /// because nothing of it may be imported before its first call.
    ///
    /// # Errors
    ///
    /// As for [`Self::describe`].
    pub async fn with_docstring(
        &self,
        mut definition: Definition,
        home: &DefinitionOrigin,
        inspector: &impl Inspector,
    ) -> Result<Definition, ToolError> {
        if definition.description.is_none() && !definition.lazy {
            let description = self.describe(&definition, home, inspector).await?;
            definition.description = description.and_then(|description| description.summary());
        }
        Ok(definition)
    }

    /// Compares a definition with what it is bound to; returns everything that does not fit. `haft check` tells it.
    pub async fn check(
        &self,
        definition: &Definition,
        home: &DefinitionOrigin,
        inspector: &impl Inspector,
    ) -> Vec<DefinitionProblem> {
        if let Err(problem) = self.bind(definition.clone(), home.clone()) {
            return vec![problem];
        }
        match &definition.binding {
            Some(Binding::Command(words)) => command::missing(words, home, inspector.doors()).into_iter().collect(),
            Some(Binding::Python(_)) => match self.describe(definition, home, inspector).await {
                Ok(Some(description)) => description.compared_with(definition, &home.preset),
                Ok(None) => Vec::new(),
                // Where nothing can be tried, nothing is known to be wrong.
                Err(why) => vec![DefinitionProblem {
                    is_warning: why.kind != ErrorKind::Failed,
                    ..error(why.what.clone(), why.next.to_string())
                }],
            },
            Some(Binding::Builtin(_) | Binding::Http(_)) | None => Vec::new(),
        }
    }

    fn named(&self, name: &str) -> Result<Arc<dyn AnyTool>, DefinitionProblem> {
        self.tools.get(name).cloned().ok_or_else(|| {
            let fix = match closest(name, self.tools.keys().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "name one that `haft tools` lists".to_owned(),
            };
            error(format!("there is no built-in tool \"{name}\""), fix)
        })
    }
}

const HOW_TO_BIND: &str =
    "write binding: \"package.module:function\", {command: [PROGRAM]}, {http: {method, url}} or {builtin: NAME}";

fn error(what: impl Into<String>, fix: impl Into<String>) -> DefinitionProblem {
    DefinitionProblem { line: None, what: what.into(), fix: fix.into(), is_warning: false }
}

fn tool(tool: impl AnyTool) -> Arc<dyn AnyTool> {
    Arc::new(tool)
}
