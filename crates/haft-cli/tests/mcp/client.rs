//! A home, a workspace, and a client that knows nothing but lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{ScratchHome, said};
use serde_json::{Value, json};

/// How long anything may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);
pub const NEW_ERA: &str = "2026-07-28";

/// A home and a workspace of their own.
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
        Self::of(ScratchHome::new(env!("CARGO_BIN_EXE_haft")))
    }

    /// Makes one whose commands have this variable.
    pub fn with_variable(name: &str, value: &str) -> Self {
        Self::of(ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_variable(name, value))
    }

    fn of(home: ScratchHome) -> Self {
        let home = home.with_own_folders();
        std::fs::create_dir_all(home.path("config/haft/tools")).expect("it is new");
        home.put("ws/src/main.rs", "fn main() {}\n");
        Self { home }
    }

    /// Runs another command of haft here; returns what it printed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let said = said(self.command(arguments), "");
        said.out + &said.err
    }

    /// Returns whether commands can be confined here.
    pub fn is_full(&self) -> bool {
        let said = self.run(&["doctor", "--json"]);
        Need::Full.met(said.contains("\"full\"") && !said.contains("untried"))
    }

    /// Starts a server with these flags before its name.
    pub fn serve(&self, flags: &[&str]) -> Server {
        self.start(&[flags, &["mcp", "serve"]].concat())
    }

    /// Starts a server with these flags behind its name.
    pub fn serve_behind(&self, flags: &[&str]) -> Server {
        self.start(&[&["mcp", "serve"], flags].concat())
    }

    /// Starts a server whose output is open, but has no reader.
    pub fn unread(&self, flags: &[&str]) -> Server {
        self.unheard(self.command(&[flags, &["mcp", "serve"]].concat()).spawn().expect("it can be started"))
    }

    /// Starts a server whose output is closed.
    pub fn silent(&self, flags: &[&str]) -> Server {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let mut command = self.command(&[flags, &["mcp", "serve"]].concat());
        self.unheard(command.stdout(writer).spawn().expect("it can be started"))
    }

    /// A server without a listener; its pipes stay unchanged.
    fn unheard(&self, mut child: Child) -> Server {
        let ((_, told), (_, said)) = (channel(), channel());
        let stdin = child.stdin.take();
        Server { child, stdin, told, said, heard: Vec::new(), next_id: 0, meta: None, _home: self.home.clone() }
    }

    fn start(&self, arguments: &[&str]) -> Server {
        Server::start(&self.home, arguments)
    }

    /// Starts a server and shakes hands; the client can do this.
    pub fn shaken(&self, flags: &[&str], capabilities: Value) -> Server {
        let mut server = self.serve(flags);
        server.shake_hands("2025-11-25", capabilities);
        server
    }

    /// Starts a server for a client of the new era that can do this.
    pub fn modern(&self, flags: &[&str], capabilities: Value) -> Server {
        let mut server = self.serve(flags);
        server.be_modern(capabilities);
        server
    }
}

/// A server that runs, and everything it has said so far.
pub struct Server {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    told: Receiver<String>,
    said: Receiver<String>,
    /// Messages that were no answer to what was waited for.
    pub heard: Vec<Value>,
    next_id: u64,
    /// What every request says of itself, in the new era.
    pub meta: Option<Value>,
    /// It is there as long as the server is.
    _home: ScratchHome,
}

impl Server {
    /// Starts haft with these words in a home.
    pub fn start(home: &ScratchHome, arguments: &[&str]) -> Self {
        let mut child = home.command(arguments).spawn().expect("it can be started");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut stderr = child.stderr.take().expect("it is piped");
        let (tell, told) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let (say, said) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            // Whatever came until then is what was said.
            let _ = stderr.read_to_string(&mut text);
            say.send(text)
        });
        let stdin = child.stdin.take();
        Server { child, stdin, told, said, heard: Vec::new(), next_id: 0, meta: None, _home: home.clone() }
    }

    /// Sends requests as the new era does, as a client that can do this.
    pub fn be_modern(&mut self, capabilities: Value) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": NEW_ERA,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
    }

    pub fn shake_hands(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub fn send_line(&mut self, line: &[u8]) {
        self.send_bytes(line);
        self.send_bytes(b"\n");
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        // It may have ended; then the next look at its answers says so.
        let _ = self.stdin.as_mut().expect("it is open").write_all(bytes);
    }

    /// Sends a request; returns its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if let Some(meta) = self.meta.as_ref().and_then(Value::as_object) {
            let told = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = meta.clone().into_iter().chain(told).collect();
        }
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for the next message, whatever it is.
    pub fn next(&mut self) -> Value {
        let line = self.told.recv_timeout(PATIENCE).unwrap_or_else(|why| panic!("nothing came ({why})"));
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("no message ({why}): {line}"))
    }

    /// Waits for the answer to a request; whatever comes before is put aside.
    pub fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(place) = self.heard.iter().position(is_answer) {
            return self.heard.remove(place);
        }
        loop {
            let message = self.next();
            if is_answer(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Waits for a request or a notification of the server.
    pub fn told(&mut self, method: &str) -> Value {
        let is_meant = |message: &Value| message["method"] == method;
        if let Some(place) = self.heard.iter().position(is_meant) {
            return self.heard.remove(place);
        }
        loop {
            let message = self.next();
            if is_meant(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool; returns its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Makes sure that it still serves.
    pub fn assert_well(&mut self) {
        let list = self.request("tools/list", json!({}));
        assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() >= 7), "{list}");
    }

    /// Waits for its end, which comes in less than a second; returns how it ended, and what it had said to people.
    pub fn end(mut self) -> (ExitStatus, String) {
        let began = Instant::now();
        drop(self.stdin.take());
        let status = self.wait();
        let took = began.elapsed();
        // Its own limit is 0.95 s; this machine may have more to do than this test.
        assert!(took < Duration::from_secs(3), "it took {took:?} to end");
        (status, self.said.recv_timeout(PATIENCE).unwrap_or_default())
    }

    /// Waits until it has ended by itself.
    pub fn wait(&mut self) -> ExitStatus {
        // Its output ends with it, so there is nothing to look at again and again.
        while self.told.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait().expect("it can be waited for")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// Returns what became of a call.
pub fn record(result: &Value) -> &Value {
    &result["_meta"]["haft/record"]
}

/// Returns the code of an error.
pub fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}
