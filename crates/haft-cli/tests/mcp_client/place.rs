//! A home, a workspace, and servers in it.

use std::path::Path;

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{Said, ScratchHome, said};
use haft_testkit::scripted_server::{HEARD, serve};
use serde_json::{Value, json};

/// The variable that names the script of a server.
const SCRIPT: &str = "HAFT_SCRIPTED_SERVER";

/// Not a test by itself: it is the server when it is started as one.
#[test]
fn serves() {
    if let Ok(script) = std::env::var(SCRIPT) {
        serve(Path::new(&script));
        std::process::exit(0);
    }
}

/// A home and a workspace of their own.
pub(crate) struct Place {
    home: ScratchHome,
}

impl std::ops::Deref for Place {
    type Target = ScratchHome;

    fn deref(&self) -> &ScratchHome {
        &self.home
    }
}

/// A tool without arguments that must be given.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

impl Place {
    /// Makes one; nothing where servers cannot be confined.
    pub(crate) fn new() -> Option<Self> {
        let place = Self { home: ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_own_folders() };
        let doctor = place.run(&["doctor", "--json"]);
        let is_full = doctor.out.contains("\"full\"") && !doctor.out.contains("untried");
        Need::Full.met(is_full).then_some(place)
    }

    /// Runs haft.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments), "")
    }

    /// Writes the script of a server.
    pub(crate) fn script(&self, server: &str, script: &Value) {
        self.put(&format!("ws/{server}.json"), &script.to_string());
    }

    /// Returns the command line of a server.
    pub(crate) fn words(&self) -> Vec<String> {
        let program = std::env::current_exe().expect("it is known");
        let program = program.to_string_lossy().into_owned();
        [&program, "--exact", "place::serves", "--nocapture"].map(ToString::to_string).to_vec()
    }

    /// Uses a server from now on; returns what haft said.
    pub(crate) fn add(&self, server: &str, script: &Value) -> Said {
        self.script(server, script);
        let variable = format!("{SCRIPT}={}", self.path(&format!("ws/{server}.json")).display());
        let words = self.words();
        let mut arguments = vec!["mcp", "add", server, "--env", &variable, "--"];
        arguments.extend(words.iter().map(String::as_str));
        self.run(&arguments)
    }

    /// Calls a tool and agrees to it; returns the record.
    pub(crate) fn call(&self, tool: &str) -> Value {
        let said = self.run(&["call", "--yes=all", "--json", tool]);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{tool}: {} {}", said.out, said.err))
    }

    /// Returns what a server heard.
    pub(crate) fn heard(&self, server: &str) -> String {
        let folders = std::fs::read_dir(self.path("state/haft/mcp")).into_iter().flatten().flatten();
        let own = folders.map(|folder| folder.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(&format!("{server}-")) && name.ends_with(".own")
        });
        own.and_then(|own| std::fs::read_to_string(own.join("home").join(HEARD)).ok()).unwrap_or_default()
    }
}
