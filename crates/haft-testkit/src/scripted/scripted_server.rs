//! A server of the Model Context Protocol that follows a script: it behaves well, or harms a client in one way.
//!
//! It is no separate program: a test starts its own binary again, which calls [`serve`]. The script is a file, so a
//! test can change it between two starts.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "a program of its own when it runs, or a server on loopback for tests"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// The file in its home in which it notes each method that it heard, a line each.
pub const HEARD: &str = "heard";
/// How many notifications a storm has.
const STORM: usize = 100_000;
/// How many bytes a huge result has.
const HUGE: usize = 50 * 1024 * 1024;

/// How long a slow server takes to start: longer than haft waits for the answer to its first question.
const SLOW: std::time::Duration = std::time::Duration::from_millis(2_500);

/// How long a step of a call with progress takes.
const STEP: std::time::Duration = std::time::Duration::from_millis(150);

/// A server that behaves as a script says.
struct ScriptedServer<O> {
    script: Value,
    output: O,
    home: String,
    calls: usize,
    /// The call that waits for answers of the client, and those that came.
    pending: Option<(Value, Vec<Value>)>,
}

/// Serves the client at standard input and output until the input ends, as the script in this file says.
pub fn serve(script: &Path) {
    let script = std::fs::read_to_string(script).expect("there is a script");
    let script: Value = serde_json::from_str(&script).expect("the script is JSON");
    let home = std::env::var("HOME").unwrap_or_default();
    let mut server = ScriptedServer { script, output: std::io::stdout(), home, calls: 0, pending: None };
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

    fn begin(&mut self) {
        if self.is("exit") {
            eprintln!("\u{1b}[31mno configuration found");
            std::process::exit(3);
        }
        if self.is("slow-start") {
            std::thread::park_timeout(SLOW);
        }
        if self.is("fork") {
            let child =
                std::process::Command::new("setsid").args(["tail", "-f", "/dev/null"]).stdin(Stdio::null()).spawn();
            self.note(&format!("child {}", child.map_or(0, |child| child.id())));
        }
    }

    /// Notes what it heard where the test can read it.
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
            "" if message["id"].as_str().is_some_and(|id| id.starts_with("ask-")) => self.answered(message),
            "resources/list" | "resources/templates/list" | "prompts/list" => self.page(&method, &message["id"]),
            "resources/read" | "prompts/get" | "completion/complete" => {
                let result = self.script[method.as_str()].clone();
                self.answer(&message["id"], &result);
            }
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
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": self.capabilities(),
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
        let capabilities = self.capabilities();
        let result = json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": self.info() });
        self.answer(&message["id"], &result);
    }

    fn capabilities(&self) -> Value {
        let more = Some(self.script["capabilities"].clone()).filter(Value::is_object);
        more.unwrap_or_else(|| json!({ "tools": {} }))
    }

    /// Answers with one page that has everything.
    fn page(&mut self, method: &str, id: &Value) {
        let key = match method {
            "resources/list" => "resources",
            "prompts/list" => "prompts",
            _ => "resourceTemplates",
        };
        let listed = Some(self.script[key].clone()).filter(Value::is_array).unwrap_or_else(|| json!([]));
        self.answer(id, &json!({ key: listed, "ttlMs": 0, "cacheScope": "private" }));
    }

    /// What it asks during a call, as often as the script says.
    fn asks(&mut self, id: &Value, message: &Value) {
        let asked = self.script["asks"].clone();
        let params = &message["params"];
        if self.script["era"] != "stateless" {
            self.pending = Some((id.clone(), Vec::new()));
            return self.ask(&asked);
        }
        let result = match params.get("inputResponses") {
            Some(responses) => {
                let text = format!("{responses} {}", params["requestState"]);
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
            }
            None => json!({
                "resultType": "input_required", "inputRequests": { "first": asked }, "requestState": "{\"a\": 1} ü",
            }),
        };
        self.answer(id, &result);
    }

    fn ask(&mut self, asked: &Value) {
        let number = self.pending.as_ref().map_or(0, |(_, answers)| answers.len());
        let mut request = json!({ "jsonrpc": "2.0", "id": format!("ask-{number}") });
        for (key, value) in asked.as_object().into_iter().flatten() {
            request[key.as_str()] = value.clone();
        }
        self.send(&request);
    }

    /// Takes an answer of the client; asks again, or ends the call with all answers.
    fn answered(&mut self, message: &Value) {
        let answer = message.get("result").or_else(|| message.get("error")).cloned().unwrap_or_default();
        let Some((id, answers)) = &mut self.pending else { return };
        answers.push(answer);
        let times = self.script["times"].as_u64().unwrap_or(1);
        if (answers.len() as u64) < times {
            let asked = self.script["asks"].clone();
            return self.ask(&asked);
        }
        let (id, text) = (id.clone(), Value::Array(answers.clone()).to_string());
        self.pending = None;
        self.answer(&id, &json!({ "content": [{ "type": "text", "text": text }] }));
    }

    fn info(&self) -> Value {
        json!({ "name": "scripted", "version": "1" })
    }

    fn list(&mut self, id: &Value) {
        let then = self.script["then"]["tools"].clone();
        let tools = if self.calls > 0 && then.is_array() { then } else { self.script["tools"].clone() };
        if self.is("silent-list") {
            return;
        }
        let mut result = json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
        if self.is("endless-list") {
            // The same page again and again, with a cursor to the next one.
            result["tools"] = json!([]);
            result["nextCursor"] = "more".into();
        }
        self.answer(id, &result);
    }

    fn call(&mut self, message: &Value) {
        self.calls += 1;
        let (id, arguments) = (&message["id"], &message["params"]["arguments"]);
        match self.script["behaviour"].as_str().unwrap_or_default() {
            "never" => return,
            "asks" => return self.asks(&id.clone(), message),
            "logs" => {
                for number in 0..STORM {
                    let data = format!("line {number}\u{1b}[2J");
                    let params = json!({ "level": "info", "logger": "l", "data": data });
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }));
                }
            }
            "die" => {
                eprintln!("fatal: out of cheese");
                std::process::exit(70);
            }
            "half" => {
                self.line(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\"").as_bytes());
                std::process::exit(70);
            }
            "long-ids" => loop {
                // It asks and never reads the answers.
                self.send(&json!({ "jsonrpc": "2.0", "id": "x".repeat(HUGE / 10), "method": "ping" }));
            },
            "no-result" => return self.answer(id, &json!({ "content": 7, "isError": "maybe" })),
            "huge" => {
                let text = "x".repeat(HUGE);
                return self
                    .answer(id, &json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] }));
            }
            "progress" => {
                let token = &message["params"]["_meta"]["progressToken"];
                for progress in 1..=3 {
                    std::thread::park_timeout(STEP);
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

    /// A client that stopped listening is no reason to fail: the input ends next.
    fn line(&mut self, bytes: &[u8]) {
        let _ = self.output.write_all(bytes).and_then(|()| self.output.flush());
    }
}

/// A server at an address of this machine, which ends with the value.
pub struct HttpServer {
    /// Its address.
    pub url: String,
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Serves as this script says. `home` is a folder for the file [`HEARD`], which gets the headers of the protocol too.
    ///
    /// `"sse": true` answers with events, `"session": NAME` gives a session and refuses requests without it, `"forgets":
    /// true` forgets it with the first call, `"token": T` refuses requests without that token.
    pub fn start(script: Value, home: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, home) = (Arc::clone(&is_over), home.to_string_lossy().into_owned());
        let thread = std::thread::spawn(move || {
            let mut server = ScriptedServer { script, output: Vec::new(), home, calls: 0, pending: None };
            for stream in listener.incoming().map_while(Result::ok).take_while(|_| !over.load(Ordering::SeqCst)) {
                // A client that goes away is no reason to fail.
                let _ = server.answer_http(stream);
            }
        });
        Self { url: format!("http://{address}/mcp"), address, is_over, thread: Some(thread) }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl ScriptedServer<Vec<u8>> {
    /// Answers one request; each has a connection for itself.
    fn answer_http(&mut self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut headers = BTreeMap::new();
        let mut first = String::new();
        reader.read_line(&mut first)?;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        for (name, value) in headers.iter().filter(|(name, _)| name.starts_with("mcp-") || *name == "authorization") {
            self.note(&format!("{name}: {value}"));
        }
        let (status, more, body) = self.http_answer(&first, &headers, &body);
        let kind = if self.script["sse"] == true { "text/event-stream" } else { "application/json" };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)
    }

    fn http_answer(
        &mut self,
        first: &str,
        headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> (&'static str, String, Vec<u8>) {
        if first.starts_with("DELETE") {
            self.note("DELETE");
            return ("200 OK", String::new(), Vec::new());
        }
        let token = self.script["token"].as_str().map(|token| format!("Bearer {token}"));
        if token.is_some() && token.as_ref() != headers.get("authorization") {
            return ("401 Unauthorized", String::new(), Vec::new());
        }
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let session = self.script["session"].as_str().map(str::to_owned);
        let begins = message["method"] == "initialize" || message["method"] == "server/discover";
        if !begins && session.as_ref().is_some_and(|session| headers.get("mcp-session-id") != Some(session)) {
            return ("404 Not Found", String::new(), Vec::new());
        }
        if message["method"] == "tools/call" && self.script["forgets"] == true && self.calls == 0 {
            self.calls += 1;
            return ("404 Not Found", String::new(), Vec::new());
        }
        self.output.clear();
        self.hear(&message);
        let given = session.filter(|_| message["method"] == "initialize");
        let more = given.map(|session| format!("mcp-session-id: {session}\r\n")).unwrap_or_default();
        if self.output.is_empty() {
            return ("202 Accepted", more, Vec::new());
        }
        let answer = match self.script["sse"] == true {
            true => {
                let text = String::from_utf8_lossy(&self.output).into_owned();
                let events: String = text.lines().map(|line| format!("event: message\ndata: {line}\n\n")).collect();
                format!(": keep-alive\n\n{events}").into_bytes()
            }
            false => self.output.clone(),
        };
        ("200 OK", more, answer)
    }
}
