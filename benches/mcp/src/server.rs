//! A server with its pipes, and a client that waits for each answer.
//!
//! The client is the same for every server and does the minimum: it writes one line, then reads lines until the answer.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

/// A server that runs; it is ended when this is dropped.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    line: Vec<u8>,
}

/// Gives a command a home of its own, where no settings are, and nothing else.
pub fn in_home(mut command: Command, home: &Path) -> Command {
    command.current_dir(home).env_clear().env("HOME", home);
    for folder in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(folder, home.join(folder));
    }
    command
}

/// What tells an answer from other messages.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// An answer, and how long it was waited for.
pub struct Answer {
    pub took: Duration,
    pub message: Value,
}

impl Server {
    /// Starts a server in a home of its own, where no settings are.
    pub fn start(words: &[String], home: &Path) -> Result<Server, String> {
        let (program, arguments) = words.split_first().ok_or("no program was given")?;
        let mut command = in_home(Command::new(program), home);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().expect("its output is a pipe");
        Ok(Server { child, input, output: BufReader::with_capacity(1 << 16, output), last_id: 0, line: Vec::new() })
    }

    /// Shakes hands as of 2025-11-25, the newest version that both servers speak.
    pub fn shake_hands(&mut self) -> Result<(), String> {
        let client = json!({ "name": "haft-bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.request("initialize", hello)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// Sends a request and waits for its answer, which must be a result.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Answer, String> {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let began = Instant::now();
        self.send(&message)?;
        loop {
            self.line.clear();
            let length = self.output.read_until(b'\n', &mut self.line).map_err(|error| error.to_string())?;
            let took = began.elapsed();
            if length == 0 {
                return Err(format!("the server ended while `{method}` waited"));
            }
            let envelope: Envelope =
                serde_json::from_slice(&self.line).map_err(|error| format!("no message: {error}"))?;
            if envelope.method.is_some() || envelope.id != Some(id.into()) {
                continue;
            }
            let message: Value = serde_json::from_slice(&self.line).map_err(|error| error.to_string())?;
            if message["result"].is_null() || message["result"]["isError"] == true {
                return Err(format!("`{method}` failed: {message}"));
            }
            return Ok(Answer { took, message });
        }
    }

    /// Resident memory of the server and of all that it started, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        tree(self.child.id()).into_iter().map(resident_bytes).sum()
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let mut line = message.to_string();
        line.push('\n');
        let input = self.input.as_mut().expect("open until it is dropped");
        input.write_all(line.as_bytes()).map_err(|error| format!("the server takes nothing: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // Node ends only by signal when its client is gone; what has ended already does not mind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process and all below it.
fn tree(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let folder = format!("/proc/{process}/task");
        for task in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        next += 1;
    }
    found
}

fn resident_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kibibytes| kibibytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}
