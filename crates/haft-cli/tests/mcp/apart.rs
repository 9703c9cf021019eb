//! What clients of one server over HTTP share: the workspace, and nothing else.

use serde_json::{Value, json};

use crate::client::{Place, text};
use crate::http_client::{Answer, HttpServer};
use crate::processes::{until, with_word};

/// A client with a handshake.
struct Client<'a> {
    server: &'a HttpServer,
    session: String,
}

impl<'a> Client<'a> {
    fn of(server: &'a HttpServer) -> Self {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let session = server.post(&message, &[]).header("Mcp-Session-Id").expect("it has a session").to_owned();
        let client = Self { server, session };
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn post(&self, message: &Value) -> Answer {
        self.server.post(message, &[("Mcp-Session-Id", &self.session)])
    }

    /// Makes a call; returns what the model reads.
    fn call(&self, tool: &str, arguments: Value) -> String {
        text(&self.post_call(tool, arguments).message()["result"]).to_owned()
    }

    fn post_call(&self, tool: &str, arguments: Value) -> Answer {
        let params = json!({ "name": tool, "arguments": arguments });
        self.post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }))
    }

    fn bash(&self, command: &str) -> String {
        self.call("bash", json!({ "command": command }))
    }

    fn snippet(&self, language: &str, code: &str) -> String {
        self.call("run_code", json!({ "language": language, "code": code }))
    }

    fn end(&self) {
        let headers = [("Host", self.server.authority.as_str()), ("Mcp-Session-Id", self.session.as_str())];
        assert_eq!(self.server.exchange("DELETE /mcp", &headers, "").status, 204);
    }
}

/// Returns the folders that hold the homes of sessions.
fn homes(place: &Place) -> usize {
    let mut folders = vec![place.path("")];
    let mut homes = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("haft-private-") {
                homes += 1;
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    homes
}

#[test]
fn what_one_client_leaves_behind_no_other_client_finds() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let server = HttpServer::start(&place, &["--yes=all"]);
    let (one, other) = (Client::of(&server), Client::of(&server));
    for folder in ["$HOME", "/tmp", "/var/tmp", "/dev/shm"] {
        let _ = one.bash(&format!("mkdir -p {folder}/bin && echo mark-of-one > {folder}/bin/f"));
        let look = format!("cat {folder}/bin/f");
        assert!(one.bash(&look).contains("mark-of-one"), "{folder}");
        assert!(!other.bash(&look).contains("mark-of-one"), "{folder}");
    }
    for (language, set, get) in [
        ("python", "import builtins; builtins.kept = 'mark-of-' + 'one'", "import builtins; print(builtins.kept)"),
        ("shell", "kept=mark-of-o; kept=${kept}ne", "echo \"$kept\""),
    ] {
        let _ = one.snippet(language, set);
        assert!(one.snippet(language, get).contains("mark-of-one"), "{language}");
        assert!(!other.snippet(language, get).contains("mark-of-one"), "{language}");
    }
    let serve = "import socket\ns = socket.create_server(('127.0.0.1', 8123))\nwhile True: s.accept()[0].sendall(b'mark-of-one')";
    place.put("ws/serve.py", serve);
    let started = one.call("bash", json!({ "command": "exec python3 serve.py", "background": true }));
    let look = "exec 3<>/dev/tcp/127.0.0.1/8123 && timeout 5 head -c 11 <&3";
    until(&format!("the port is open: {started}"), || one.bash(look).contains("mark-of-one"));
    assert!(!other.bash(look).contains("mark-of-one"));
    let long = one.bash("for i in $(seq 40000); do echo line-of-one-$i; done");
    let id = long.split("spill:").nth(1).expect("it is kept").split(|c: char| !c.is_ascii_hexdigit()).next();
    let page = json!({ "path": format!("spill:{}", id.expect("it has an id")), "offset": 1 });
    assert!(one.call("read_file", page.clone()).contains("line-of-one"), "{long}");
    assert!(!other.call("read_file", page).contains("line-of-one"));
}

#[test]
fn a_client_has_a_place_from_its_first_command_to_the_end_of_its_session() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let server = HttpServer::start(&place, &["--yes=all"]);
    let idle: Vec<Client<'_>> = (0..20).map(|_| Client::of(&server)).collect();
    assert!(idle.iter().all(|client| client.call("read_file", json!({ "path": "src/main.rs" })).contains("fn main")));
    assert_eq!(homes(&place), 0, "a client that runs nothing costs no folder");
    let word = format!("9021.{}", server.child.id());
    let one = Client::of(&server);
    let _ = one.snippet("python", "kept = 1");
    let _ = one.call("bash", json!({ "command": format!("exec sleep {word}"), "background": true }));
    until("the job runs", || !with_word(&word).is_empty());
    assert_eq!(homes(&place), 1);
    one.end();
    until("its processes end", || with_word(&word).is_empty());
    until("its home is removed", || homes(&place) == 0);
    drop(idle);
}

#[test]
fn a_snippet_of_one_client_keeps_no_other_client_waiting() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let server = HttpServer::start(&place, &["--yes=all"]);
    let (one, other) = (Client::of(&server), Client::of(&server));
    let _ = (one.snippet("python", "import subprocess"), other.snippet("python", "import subprocess"));
    let word = format!("9022.{}", server.child.id());
    std::thread::scope(|scope| {
        let busy = scope
            .spawn(|| one.post_call("run_code", json!({ "code": format!("subprocess.run(['sleep', '{word}'])") })));
        until("the snippet runs", || !with_word(&word).is_empty());
        let served = other.snippet("python", "print('ser' + 'ved')");
        assert!(served.contains("served"), "{served}");
        assert!(!with_word(&word).is_empty(), "the other one runs still");
        one.end();
        drop(busy.join());
    });
}
