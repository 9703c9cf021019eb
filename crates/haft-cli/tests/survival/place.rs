//! A home and a workspace of their own, and the command in it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use haft_testkit::scratch_home::{ScratchHome, output_of};
use haft_workspace::files::Workspace;
use haft_workspace::history::WorkspaceHistory;
use haft_workspace::state::WorkspaceState;
use serde_json::{Value, json};

/// A home, a state and a workspace of their own.
pub(crate) struct Place {
    home: ScratchHome,
}

/// What is at a path: its mode, and its content where it is a file.
pub(crate) type Tree = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

impl Place {
    pub(crate) fn new() -> Self {
        Self { home: ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_own_folders() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.home.root()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path("ws").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        self.home.put(&format!("ws/{name}"), content);
    }

    /// Returns the command with its surroundings, around another program when there is one.
    pub(crate) fn haft(&self, around: &[&str], arguments: &[&str]) -> Command {
        self.home.command_behind(around, arguments)
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_around(&[], arguments, "")
    }

    pub(crate) fn run_around(&self, around: &[&str], arguments: &[&str], input: &str) -> Output {
        output_of(self.haft(around, arguments), input)
    }

    /// Makes calls and returns their records.
    pub(crate) fn call(&self, around: &[&str], calls: &[Value]) -> Vec<Value> {
        let output = self.run_around(around, &["--yes", "call", "-"], &lines(calls));
        let text = String::from_utf8_lossy(&output.stdout);
        let records: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert_eq!(records.len(), calls.len(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        records
    }

    pub(crate) fn tree(&self) -> Tree {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("it is a folder").flatten() {
                let (path, facts) = (entry.path(), entry.metadata().expect("it is there"));
                if facts.is_dir() {
                    folders.push(path.clone());
                }
                let content = facts.is_file().then(|| std::fs::read(&path).expect("it can be read"));
                tree.insert(path, (facts.permissions().mode() & 0o7777, content));
            }
        }
        tree
    }

    /// Returns what was changed here, as the library tells it: faster than a process for each look.
    pub(crate) fn history(&self) -> WorkspaceHistory {
        let workspace = Workspace::open(&self.path("")).expect("it is there");
        let state = WorkspaceState::new(&self.root().join("state/haft"), workspace.path());
        workspace.history(&state)
    }

    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        self.tree().into_keys().filter(|path| path.to_string_lossy().contains(".haft-")).collect()
    }
}

pub(crate) fn lines(calls: &[Value]) -> String {
    calls.iter().map(|call| format!("{call}\n")).collect()
}

pub(crate) fn read(path: &str) -> Value {
    json!({ "name": "read_file", "arguments": { "path": path } })
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    json!({ "name": "write_file", "arguments": { "path": path, "content": content, "write_mode": "overwrite" } })
}

pub(crate) fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "name": "edit_file", "arguments": { "path": path, "edits": [{ "old_text": old, "new_text": new }] } })
}
