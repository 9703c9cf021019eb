//! A home, a workspace and a model of their own for one test.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use haft_model::wire::Wire;
use haft_testkit::scripted_model::ScriptedModel;
use serde_json::Value;
use tempfile::TempDir;

/// A key that must be found nowhere.
pub const KEY: &str = "sk-canary-4711-never-shown";

/// A home and a workspace.
pub struct Place {
    pub folder: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir_all(folder.path().join("ws")).expect("folders can be made");
        std::fs::write(folder.path().join("ws/a.txt"), "one\ntwo\n").expect("a file can be written");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the place")).expect("folders can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    pub fn has(&self, name: &str) -> bool {
        self.path("ws").join(name).exists()
    }

    /// Returns the command with nothing in its environment but the home.
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("haft"));
        command.env_clear().env("HOME", self.path("home")).env("TMPDIR", self.folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(self.path("ws")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
    pub fn haft(&self, model: &ScriptedModel, arguments: &[&str]) -> Said {
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
pub fn said(mut command: Command) -> Said {
    said_of(command.output().expect("the command runs"))
}

pub fn said_of(output: Output) -> Said {
    Said {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

/// Reads lines of records.
pub fn records(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect()
}
