//! A server of the Model Context Protocol that behaves as a script says: well, or in one of the ways that hurt a client.
//!
//! It is no program of its own: a test starts its own binary again, which calls [`serve`]. The script is a file, so a test
//! can change it between two starts.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

/// The file in its home in which it notes each method that it heard, a line each.
pub const HEARD: &str = "heard";
/// How many notifications a storm has.
const STORM: usize = 100_000;
/// How many bytes a huge result has.
const HUGE: usize = 50 * 1024 * 1024;

/// A server that behaves as a script says.
struct ScriptedServer<O> {
    script: Value,
    output: O,
    home: String,
    calls: usize,
}

/// Serves the client at standard input and output until the input ends, as the script in this file says.
#[expect(clippy::disallowed_methods, reason = "it is a program of its own when it runs")]
pub fn serve(script: &Path) {
    let script = std::fs::read_to_string(script).expect("there is a script");
    let script: Value = serde_json::from_str(&script).expect("the script is JSON");
    let home = std::env::var("HOME").unwrap_or_default();
    let mut server = ScriptedServer { script, output: std::io::stdout(), home, calls: 0 };
    server.begin();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.hear(&message);
        }
    }
    if server.is("fork") {
        // It ignores the end of its input.
        loop {
            std::thread::park();
        }
    }
}

impl<O: Write> ScriptedServer<O> {
    fn is(&self, behaviour: &str) -> bool {
        self.script["behaviour"] == behaviour
    }

    #[expect(clippy::disallowed_types, reason = "a server that leaves processes behind")]
    fn begin(&mut self) {
        if self.is("exit") {
            eprintln!("\u{1b}[31mno configuration found");
            std::process::exit(3);
        }
        if self.is("fork") {
            let child =
                std::process::Command::new("setsid").args(["tail", "-f", "/dev/null"]).stdin(Stdio::null()).spawn();
            self.note(&format!("child {}", child.map_or(0, |child| child.id())));
        }
    }

    /// Notes what it heard where the test can read it.
    #[expect(clippy::disallowed_methods, reason = "it is a program of its own when it runs")]
    fn note(&self, line: &str) {
        let path = Path::new(&self.home).join(HEARD);
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            let _ = writeln!(file, "{line}");
        }
    }

    fn hear(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.note(&method);
        if self.is("silent") {
            return;
        }
        match &*method {
            "server/discover" => self.discover(&message["id"]),
            "initialize" => self.initialize(message),
            "notifications/initialized" if self.is("storm") => {
                for _ in 0..STORM {
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                }
            }
            "ping" => self.answer(&message["id"], &json!({})),
            "tools/list" => self.list(&message["id"]),
            "tools/call" => self.call(message),
            _ if message.get("id").is_some_and(|_| message.get("method").is_some()) => {
                self.refuse(&message["id"], -32601, "method not found");
            }
            _ => {}
        }
    }

    fn discover(&mut self, id: &Value) {
        if self.is("exit-on-discover") {
            std::process::exit(1);
        }
        if self.is("silent-on-discover") {
            return;
        }
        if self.script["era"] != "stateless" {
            return self.refuse(id, -32601, "method not found");
        }
        let info = json!({ "io.modelcontextprotocol/serverInfo": self.info() });
        let result = json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private", "_meta": info,
        });
        self.answer(id, &result);
    }

    fn initialize(&mut self, message: &Value) {
        if self.script["era"] == "stateless" {
            return self.refuse(&message["id"], -32601, "method not found");
        }
        let usual = message["params"]["protocolVersion"].clone();
        let version = Some(self.script["version"].clone()).filter(Value::is_string).unwrap_or(usual);
        let result = json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": self.info() });
        self.answer(&message["id"], &result);
    }

    fn info(&self) -> Value {
        json!({ "name": "scripted", "version": "1" })
    }

    fn list(&mut self, id: &Value) {
        let then = self.script["then"]["tools"].clone();
        let tools = if self.calls > 0 && then.is_array() { then } else { self.script["tools"].clone() };
        let result = json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
        self.answer(id, &result);
    }

    fn call(&mut self, message: &Value) {
        self.calls += 1;
        let (id, arguments) = (&message["id"], &message["params"]["arguments"]);
        match self.script["behaviour"].as_str().unwrap_or_default() {
            "never" => return,
            "die" => {
                eprintln!("fatal: out of cheese");
                std::process::exit(70);
            }
            "huge" => {
                let text = "x".repeat(HUGE);
                return self
                    .answer(id, &json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] }));
            }
            "progress" => {
                let token = &message["params"]["_meta"]["progressToken"];
                for progress in 1..=3 {
                    let params =
                        json!({ "progressToken": token, "progress": progress, "total": 3, "message": "working" });
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
                }
            }
            "changes" => self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })),
            _ => {}
        }
        let result = self.script.get("result").cloned().unwrap_or_else(
            || json!({ "content": [{ "type": "text", "text": format!("{} {arguments}", message["params"]["name"]) }] }),
        );
        let mut result = result;
        result["resultType"] = "complete".into();
        self.answer(id, &result);
    }

    fn answer(&mut self, id: &Value, result: &Value) {
        if self.is("noise") {
            self.line(b"\x1b[2Jserver is starting\n[debug] {not json}\n");
        }
        if self.is("wrong-ids") {
            let other = json!({ "content": [{ "type": "text", "text": "for somebody else" }] });
            for wrong in [json!(4_711), json!(id.to_string()), json!("x"), Value::Null] {
                self.send(&json!({ "jsonrpc": "2.0", "id": wrong, "result": other }));
            }
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        if self.is("wrong-ids") {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
    }

    fn refuse(&mut self, id: &Value, code: i32, message: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn send(&mut self, message: &Value) {
        self.line(format!("{message}\n").as_bytes());
    }

    /// Whoever does not listen any more is no reason to fail: the input ends next.
    fn line(&mut self, bytes: &[u8]) {
        let _ = self.output.write_all(bytes).and_then(|()| self.output.flush());
    }
}
