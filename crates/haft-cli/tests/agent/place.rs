//! A home, a workspace and a model of their own for one test.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, ScratchHome};
use haft_testkit::scripted::scripted_model::ScriptedModel;
use serde_json::Value;

/// A key that must be found nowhere.
pub const KEY: &str = "sk-canary-4711-never-shown";

/// A home and a workspace.
pub struct Place {
    home: ScratchHome,
}

impl std::ops::Deref for Place {
    type Target = ScratchHome;

    fn deref(&self) -> &ScratchHome {
        &self.home
    }
}

impl Place {
    pub fn new() -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_variable("PATH", &path);
        home.put("ws/a.txt", "one\ntwo\n");
        Self { home }
    }

    pub fn has(&self, name: &str) -> bool {
        self.path("ws").join(name).exists()
    }

    /// Returns the command with nothing in its environment but the home.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// Returns the command with this model in its environment.
    pub fn with(&self, model: &ScriptedModel, wire: Wire, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        command.env("HAFT_MODEL", ScriptedModel::NAME).env("HAFT_WIRE", wire.name());
        command.env("HAFT_BASE_URL", model.base_url(wire)).env("HAFT_API_KEY", KEY);
        command
    }

    /// Runs the command with this model, in the form of Chat.
    pub fn haft(&self, model: &ScriptedModel, arguments: &[&str]) -> CapturedOutput {
        said(self.with(model, Wire::Chat, arguments))
    }

    /// Returns the sessions of the workspace.
    pub fn sessions(&self) -> Vec<Value> {
        let said = said(self.bare(&["sessions", "--json"]));
        let list: Value = serde_json::from_str(&said.out).expect("it is a record");
        list["sessions"].as_array().expect("it has sessions").clone()
    }

    /// Returns the file of the only session.
    pub fn session_file(&self) -> PathBuf {
        let workspaces = self.path("home/.local/state/haft/workspaces");
        let inside = |folder: PathBuf| {
            std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path())
        };
        let mut files = inside(workspaces).flat_map(|workspace| inside(workspace.join("sessions")));
        files.next().expect("there is a session")
    }
}

/// Runs a command to its end.
pub fn said(mut command: Command) -> CapturedOutput {
    command.output().expect("the command runs").into()
}
