//! Many clients over HTTP: who may ask, both eras, several servers for one conversation, and the end.

use serde_json::{Value, json};

use crate::client::{Place, record, text};
use crate::http_client::{HttpServer, modern};
use crate::processes::{assert_end, until, with_word};

const TOKEN: &str = "a-secret-of-enough-length";

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

#[test]
fn requests_of_the_new_era_need_no_session() {
    let place = Place::new();
    let server = HttpServer::start(&place, &["--yes"]);
    let found = server.ask("server/discover", json!({}));
    assert!(found["result"]["capabilities"]["tools"].is_object(), "{found}");
    assert_eq!(found["result"]["capabilities"].get("prompts"), None, "the suite's tools are not served: {found}");
    let list = server.ask("tools/list", json!({}));
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() >= 9), "{list}");
    let made = server.ask("tools/call", call("write_file", json!({ "path": "a.txt", "content": "one\n" })));
    assert_eq!(record(&made["result"])["did"], "changed", "{made}");
    let read = server.ask_with("tools/call", call("read_file", json!({ "path": "a.txt" })), &[]);
    assert_eq!((read.status, read.header("Mcp-Session-Id")), (200, None));
    assert!(text(&read.message()["result"]).contains("one"), "{read:?}");
    let log = server.ask("resources/read", json!({ "uri": "haft://log" }));
    assert!(log["result"]["contents"][0]["text"].as_str().is_some_and(|log| log.contains("a.txt")), "{log}");
    let unknown = server.ask_with("no/such", json!({}), &[]);
    assert_eq!((unknown.status, &unknown.message()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn each_client_with_a_handshake_has_a_session_of_its_own_until_it_ends_it() {
    let place = Place::new();
    let server = HttpServer::start(&place, &["--yes"]);
    let begin = || {
        let answer = server.post(&initialize("2025-11-25"), &[]);
        assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25");
        let session = answer.header("Mcp-Session-Id").expect("it has a session").to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(server.post(&initialized, &[("Mcp-Session-Id", &session)]).status, 202);
        session
    };
    let (one, other) = (begin(), begin());
    assert_ne!(one, other);
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": call("read_file", json!({ "path": "src/main.rs" })) });
    for session in [&one, &other] {
        let answer = server.post(&read, &[("Mcp-Session-Id", session)]);
        assert!(text(&answer.message()["result"]).contains("fn main"), "{answer:?}");
    }
    let delete = |session: &str| {
        let headers = [("Host", server.authority.as_str()), ("Mcp-Session-Id", session)];
        server.exchange("DELETE /mcp", &headers, "").status
    };
    assert_eq!(delete(&one), 204);
    assert_eq!(server.post(&read, &[("Mcp-Session-Id", &one)]).status, 404);
    assert_eq!(server.post(&read, &[("Mcp-Session-Id", &other)]).status, 200);
    assert_eq!(server.post(&read, &[("Mcp-Session-Id", "never-given")]).status, 404);
}

#[test]
fn strangers_other_paths_and_too_large_messages_are_refused_and_the_next_request_is_served() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    let (message, _) = modern("server/discover", json!({}));
    let status = |more: &[(&str, &str)]| server.post(&message, more).status;
    assert_eq!(status(&[("Host", "evil.example")]), 403);
    assert_eq!(status(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(server.exchange("POST /mcp", &[("Content-Type", "application/json")], "{}").status, 403, "no Host");
    let host = [("Host", server.authority.as_str())];
    assert_eq!(server.exchange("POST /", &host, "{}").status, 404);
    assert_eq!(server.exchange("POST /mcp/more", &host, "{}").status, 404);
    let large = "x".repeat(5 * 1024 * 1024);
    assert_eq!(server.exchange("POST /mcp", &host, &large).status, 413);
    let heavy = format!("[{}0]", "0,".repeat(1_000_001));
    assert_eq!(server.exchange("POST /mcp", &host, &heavy).status, 413);
    assert!(server.ask("server/discover", json!({}))["result"].is_object());
}

#[test]
fn with_a_token_every_request_needs_it_and_other_machines_are_served_only_with_one() {
    let place = Place::new();
    let refused = place.run(&["mcp", "serve", "--http", "0.0.0.0:0"]);
    assert!(refused.contains("HAFT_MCP_TOKEN") && refused.contains("127.0.0.1"), "{refused}");
    assert!(place.run(&["mcp", "serve", "--http", "nowhere"]).contains("127.0.0.1:8700"));
    let place = Place::with_variable("HAFT_MCP_TOKEN", TOKEN);
    let server = HttpServer::start(&place, &[]);
    let bearer = format!("Bearer {TOKEN}");
    let answer = server.ask_with("server/discover", json!({}), &[]);
    assert_eq!(answer.status, 401);
    assert!(answer.header("WWW-Authenticate").is_some_and(|scheme| scheme.starts_with("Bearer")));
    assert_eq!(server.ask_with("server/discover", json!({}), &[("Authorization", "Bearer wrong")]).status, 401);
    assert_eq!(server.ask_with("server/discover", json!({}), &[("Authorization", &bearer)]).status, 200);
    let behind = [("Authorization", bearer.as_str()), ("Host", "tools.example")];
    assert_eq!(server.ask_with("server/discover", json!({}), &behind).status, 200, "a proxy has its own name");
}

#[test]
fn a_question_of_one_server_may_be_answered_to_another_with_the_same_token_and_counts_once() {
    let place = Place::with_variable("HAFT_MCP_TOKEN", TOKEN);
    let servers = [HttpServer::start(&place, &[]), HttpServer::start(&place, &[])];
    let bearer = format!("Bearer {TOKEN}");
    let ask = |server: &HttpServer, params: Value| {
        server.ask_with("tools/call", params, &[("Authorization", &bearer)]).message()["result"].clone()
    };
    let params = call("write_file", json!({ "path": "a.txt", "content": "yes\n" }));
    let asked = ask(&servers[0], params.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = params;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "approval": { "action": "accept", "content": { "answer": "yes" } } });
    let done = ask(&servers[1], again.clone());
    assert_eq!(record(&done)["did"], "changed", "{done}");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("yes\n"));
    let repeated = ask(&servers[1], again);
    assert_ne!(record(&repeated)["did"], "changed", "{repeated}");
}

#[test]
fn a_client_that_closes_its_request_stops_the_command_and_so_does_the_end_of_the_server() {
    let place = Place::new();
    let server = HttpServer::start(&place, &["--yes"]);
    let begin = |word: &str| {
        let command = format!("(setsid sleep {word} &) ; sleep {word}");
        let (message, name) = modern("tools/call", call("bash", json!({ "command": command })));
        let body = message.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {name}\r\n\r\n",
            server.authority,
            body.len()
        );
        let open = server.send_raw(format!("{head}{body}").as_bytes());
        until("the command runs", || with_word(word).len() >= 2);
        open
    };
    let word = format!("9011.{}", server.child.id());
    let open = begin(&word);
    let processes = with_word(&word);
    drop(open);
    assert_end(&processes);
    assert!(with_word(&word).is_empty());
    let word = format!("9012.{}", server.child.id());
    let _open = begin(&word);
    let processes = with_word(&word);
    assert!(server.end().success());
    assert_end(&processes);
    assert!(with_word(&word).is_empty());
}

#[test]
fn the_end_of_a_session_is_the_end_of_its_commands() {
    let place = Place::new();
    let server = HttpServer::start(&place, &["--yes"]);
    let answer = server.post(&initialize("2025-11-25"), &[]);
    let session = answer.header("Mcp-Session-Id").expect("it has a session").to_owned();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    server.post(&initialized, &[("Mcp-Session-Id", &session)]);
    let word = format!("9013.{}", server.child.id());
    let command = call("bash", json!({ "command": format!("sleep {word} & sleep {word}") }));
    let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": command }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.authority,
        body.len()
    );
    let _open = server.send_raw(format!("{head}{body}").as_bytes());
    until("the command runs", || with_word(&word).len() >= 2);
    let processes = with_word(&word);
    let headers = [("Host", server.authority.as_str()), ("Mcp-Session-Id", session.as_str())];
    let began = std::time::Instant::now();
    assert_eq!(server.exchange("DELETE /mcp", &headers, "").status, 204);
    assert_end(&processes);
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", began.elapsed());
}
