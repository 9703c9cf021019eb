//! Finds the interpreter: in the project's virtual environment first, then on the system.
//!
//! The environment of a workspace is code of the workspace, so only tools that the workspace defines use it.
//!
//! The interpreter of an environment is mostly a link to one that was installed for the user (pyenv, uv, conda), in a home
//! that commands do not see. So a worker may read the files of that installation, and nothing beside it. A model can
//! easily make such a link, so its target counts only if it stands beside the library of such an interpreter.

use std::path::{Path, PathBuf};

use haft_contract::context::RunContext;
use haft_contract::doors::door::Look;
use haft_contract::outcome::error::{Next, ToolError};

use super::super::DefinitionOrigin;

/// Where a virtual environment has its interpreter.
const ENVIRONMENTS: [&str; 2] = [".venv/bin/python", "venv/bin/python"];
/// What the interpreter is called elsewhere.
const NAMES: [&str; 2] = ["python3", "python"];
/// Where an installation has its library.
const LIBRARIES: [&str; 2] = ["lib", "lib64"];

/// An interpreter.
pub(crate) struct Interpreter {
    /// The program, as it is to be started.
    pub(crate) program: PathBuf,
    /// What it consists of, where it is a link to another.
    pub(crate) parts: Vec<PathBuf>,
}

/// Says what to do about an interpreter that cannot be started because it leads to where commands see nothing.
pub(super) fn not_started(mut error: ToolError, program: &Path, look: &dyn Look) -> ToolError {
    let way = look.way_to(program);
    if let [_, .., real] = &*way
        && parts(program, look).is_empty()
    {
        error.next = Next::AskUser(format!(
            "it leads to {}, which has no Python library beside it; ask the user to recreate the virtual environment",
            real.display()
        ));
    }
    error
}

impl Interpreter {
    /// Finds the one for a tool.
    pub(super) fn find(home: &DefinitionOrigin, cx: &RunContext<'_>) -> Option<Self> {
        let folders: Vec<PathBuf> = home.code_folders().into_iter().rev().collect();
        Self::of_folders(&folders, cx)
    }

    /// Finds the one for code that runs in the workspace.
    pub(crate) fn of_workspace(folder: &Path, cx: &RunContext<'_>) -> Option<Self> {
        Self::of_folders(&[folder.to_owned()], cx)
    }

    fn of_folders(folders: &[PathBuf], cx: &RunContext<'_>) -> Option<Self> {
        let mut places = folders.iter().flat_map(|folder| ENVIRONMENTS.map(|place| folder.join(place)));
        match places.find(|place| cx.look().is_file(place)) {
            Some(program) => Some(Self { parts: parts(&program, cx.look()), program }),
            // What is found is visible.
            None => cx.find_program(&NAMES).map(|program| Self { program, parts: Vec::new() }),
        }
    }
}

/// Returns the programs that an environment's own leads to, and the libraries beside them.
fn parts(program: &Path, look: &dyn Look) -> Vec<PathBuf> {
    let way = look.way_to(program);
    let Some(version) = way.last().and_then(|real| real.file_name()) else { return Vec::new() };
    let mut parts = Vec::new();
    for program in &way {
        let Some(installation) = program.parent().and_then(Path::parent) else { continue };
        let libraries = LIBRARIES.map(|library| installation.join(library));
        // By this file the interpreter knows its library itself.
        let found: Vec<_> =
            libraries.into_iter().filter(|library| look.is_file(&library.join(version).join("os.py"))).collect();
        if !found.is_empty() {
            parts.extend(found);
            parts.push(program.clone());
        }
    }
    parts
}
