//! A server over HTTP, and a client that knows nothing but bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{NEW_ERA, Place};

/// How long anything may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server over HTTP.
pub struct HttpServer {
    pub child: Child,
    /// Its host and port.
    pub authority: String,
}

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    body: String,
}

impl HttpServer {
    pub fn start(place: &Place, flags: &[&str]) -> Self {
        let arguments = [flags, &["mcp", "serve", "--http", "127.0.0.1:0"]].concat();
        let mut child = place.command(&arguments).spawn().expect("it can be started");
        let mut said = String::new();
        BufReader::new(child.stderr.take().expect("it is piped")).read_line(&mut said).expect("it says something");
        let url = said.trim().rsplit(' ').next().unwrap_or_default();
        let authority = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let authority = authority.unwrap_or_else(|| panic!("no address: {said}")).to_owned();
        Self { child, authority }
    }

    /// Sends bytes; returns the open connection.
    pub fn send_raw(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.authority).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        // A request that is refused by its head may not be read to its end.
        let _ = stream.write_all(bytes);
        stream
    }

    /// Sends a request with exactly these headers.
    pub fn exchange(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = self.send_raw(format!("{request}\r\n{body}").as_bytes());
        let mut got = Vec::new();
        // A connection that is closed early has said what it had to say.
        let _ = stream.read_to_end(&mut got);
        Answer::of(&String::from_utf8_lossy(&got))
    }

    /// Sends a message with these headers beside the usual ones.
    pub fn post(&self, message: &Value, more: &[(&str, &str)]) -> Answer {
        let usual = [
            ("Host", self.authority.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let kept = usual.into_iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
        let headers: Vec<(&str, &str)> = kept.chain(more.iter().copied()).collect();
        self.exchange("POST /mcp", &headers, &message.to_string())
    }

    /// Sends a request of the new era; returns its answer.
    pub fn ask(&self, method: &str, params: Value) -> Value {
        self.ask_with(method, params, &[]).message()
    }

    pub fn ask_with(&self, method: &str, params: Value, more: &[(&str, &str)]) -> Answer {
        let (message, name) = modern(method, params);
        let mut headers = vec![("MCP-Protocol-Version", NEW_ERA), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        headers.extend(more);
        self.post(&message, &headers)
    }

    /// Tells the server to end; returns how it did.
    pub fn end(mut self) -> ExitStatus {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
        self.child.wait().expect("it can be waited for")
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a request of the new era, of a client that can ask its user; returns also what it is about.
pub fn modern(method: &str, mut params: Value) -> (Value, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW_ERA,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let about = params.get("name").or_else(|| params.get("uri"));
    let name = about.and_then(Value::as_str).unwrap_or_default().to_owned();
    (json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }), name)
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {text:?}"));
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { joined(body) } else { body.to_owned() };
        Self { status, head: head.to_owned(), body }
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the answer to the request, be it alone or the last of several messages.
    pub fn message(&self) -> Value {
        let alone = serde_json::from_str(&self.body).ok();
        let events =
            || self.body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok());
        let answer = alone.or_else(|| events().find(|message: &Value| message.get("id").is_some()));
        answer.unwrap_or_else(|| panic!("no message: {self:?}"))
    }
}

/// Joins the chunks of a body.
fn joined(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, more)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        let Some(chunk) = more.get(..length).filter(|_| length > 0) else { break };
        body.push_str(chunk);
        rest = more[length..].trim_start_matches("\r\n");
    }
    body
}
