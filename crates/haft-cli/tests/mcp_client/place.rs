//! A home, a workspace, and servers in it.

use std::io::{Read, Write};
use std::path::Path;

use haft_model::wire::Wire;
use haft_testkit::require::Need;
use haft_testkit::scratch_home::{CapturedOutput, ScratchHome, said};
use haft_testkit::scripted::scripted_model::ScriptedModel;
use haft_testkit::scripted::scripted_server::{HEARD, serve};
use pty_process::Size;
use pty_process::blocking::{Command, open};
use serde_json::{Value, json};

use crate::client::Server;

/// The variable that names the script of a server.
pub(crate) const SCRIPT: &str = "HAFT_SCRIPTED_SERVER";

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
    pub(crate) fn run(&self, arguments: &[&str]) -> CapturedOutput {
        said(self.command(arguments), "")
    }

    /// Returns the command with this model in its environment.
    pub(crate) fn with_model(&self, model: &ScriptedModel, arguments: &[&str]) -> std::process::Command {
        let mut command = self.command(arguments);
        command.env("HAFT_MODEL", ScriptedModel::NAME).env("HAFT_WIRE", Wire::Chat.name());
        command.env("HAFT_BASE_URL", model.base_url(Wire::Chat)).env("HAFT_API_KEY", "sk-of-a-test");
        command
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
    pub(crate) fn add(&self, server: &str, script: &Value) -> CapturedOutput {
        self.script(server, script);
        let variable = format!("{SCRIPT}={}", self.path(&format!("ws/{server}.json")).display());
        let words = self.words();
        let mut arguments = vec!["mcp", "add", server, "--env", &variable, "--"];
        arguments.extend(words.iter().map(String::as_str));
        self.run(&arguments)
    }

    /// Writes a record of a server as if a person had agreed to these tools at a terminal.
    pub(crate) fn agree_to(&self, server: &str, tools: &Value) {
        let folder = self.path("state/haft/mcp");
        let records = std::fs::read_dir(&folder).expect("there are records").flatten().map(|entry| entry.path());
        let is_meant = |path: &std::path::PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(&format!("{server}-")) && name.ends_with(".json")
        };
        let path = records.into_iter().find(is_meant).expect("it is known");
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let mut record: Value = serde_json::from_str(&text).expect("it is JSON");
        let listed = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] });
        let mut tools: Vec<Value> = tools.as_array().expect("a list").iter().map(listed).collect();
        tools.sort_by_key(|tool| tool["name"].to_string());
        record["manifest"]["tools"] = tools.into();
        let new = path.with_extension("new");
        std::fs::write(&new, record.to_string()).expect("it can be written");
        std::fs::rename(&new, &path).expect("it can be replaced");
    }

    /// Serves the tools of haft and of these servers, to a client that has shaken hands and can do this.
    pub(crate) fn gateway(&self, flags: &[&str], servers: &[&str], capabilities: Value) -> Server {
        let mut gateway = Server::start(self, &[flags, &["mcp", "serve", "--with"], servers].concat());
        gateway.shake_hands("2025-11-25", capabilities);
        gateway
    }

    /// Calls a tool and agrees to it; returns the record.
    pub(crate) fn call(&self, tool: &str) -> Value {
        let said = self.run(&["call", "--yes=all", "--json", tool]);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{tool}: {} {}", said.out, said.err))
    }

    /// Runs haft at a terminal and types each answer once its question is there; returns what the terminal showed.
    pub(crate) fn typed(&self, arguments: &[&str], answers: &[(&str, &str)]) -> String {
        let (pty, pts) = open().expect("a terminal can be opened");
        pty.resize(Size::new(200, 400)).expect("a terminal has a size");
        let usual = self.command(arguments);
        let variables = usual.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let command = Command::new(env!("CARGO_BIN_EXE_haft")).args(arguments).env_clear().envs(variables);
        let command = command.env("TERM", "xterm").current_dir(self.path("ws"));
        let mut child = command.spawn(pts).expect("the command runs");
        let (mut shown, mut seen, mut buffer) = (String::new(), 0, [0; 4096]);
        let mut answers = answers.iter();
        let mut next = answers.next();
        // The system answers with an error when the command has gone.
        while let Ok(read @ 1..) = (&pty).read(&mut buffer) {
            shown.push_str(&String::from_utf8_lossy(&buffer[..read]));
            while let Some((question, answer)) = next {
                let Some(at) = shown[seen..].find(question) else { break };
                // The sign behind which the answer is typed.
                let Some(sign) = shown[seen + at..].find("\n> ") else { break };
                seen += at + sign + 3;
                (&pty).write_all(answer.as_bytes()).expect("a terminal takes keys");
                next = answers.next();
            }
        }
        child.wait().expect("it ends");
        shown
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
