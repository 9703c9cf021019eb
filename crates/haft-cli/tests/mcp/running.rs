//! Calls while they run: what they tell, and how they are stopped.

use serde_json::{Value, json};

use crate::client::{Place, Server, code, text};
use crate::processes::{assert_end, until, with_word};

fn cancel(server: &mut Server, id: u64) {
    let params = json!({ "requestId": id, "reason": "test" });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

#[test]
fn a_command_tells_its_last_lines_in_order_and_nothing_after_its_end() {
    for mut server in [Place::new().shaken(&["--yes"], json!({})), Place::new().modern(&["--yes"], json!({}))] {
        let command =
            "for i in 1 2 3 4 5 6; do echo line $i; read -t 0.15 < <(:) ; timeout 0.15 tail -f /dev/null; done; true";
        let params = json!({
            "name": "bash", "arguments": { "command": command }, "_meta": { "progressToken": "p1" },
        });
        let id = server.begin("tools/call", params);
        let result = server.answer(id);
        assert!(text(&result["result"]).contains("line 6"), "{result}");
        let told: Vec<Value> = server.heard.drain(..).collect();
        assert!(told.len() >= 2, "{told:?}");
        let mut last = 0.0;
        for message in &told {
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "p1");
            let value = message["params"]["progress"].as_f64().expect("a number");
            assert!(value > last, "{told:?}");
            last = value;
            assert!(message["params"]["message"].as_str().is_some_and(|line| line.contains("line ")), "{message}");
        }
        server.assert_well();
        assert!(server.heard.is_empty(), "{:?}", server.heard);
    }
}

#[test]
fn who_gives_no_token_is_told_nothing() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    server.call("bash", json!({ "command": "echo a; timeout 0.3 tail -f /dev/null; echo b" }));
    assert!(server.heard.is_empty(), "{:?}", server.heard);
}

#[test]
fn a_flood_of_output_makes_few_messages() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let params = json!({
        "name": "bash", "arguments": { "command": "seq 1 300000" }, "_meta": { "progressToken": 7 },
    });
    let id = server.begin("tools/call", params);
    server.answer(id);
    assert!(server.heard.len() < 300, "{}", server.heard.len());
    assert!(server.heard.iter().all(|message| message.to_string().len() < 1_000));
}

#[test]
fn a_cancelled_command_is_killed_with_everything_it_started_and_never_answered() {
    for mut server in [Place::new().shaken(&["--yes"], json!({})), Place::new().modern(&["--yes"], json!({}))] {
        let word = format!("9001.{}", server.child.id());
        let command = format!("(setsid sleep {word} &) ; trap '' TERM; sleep {word} & sleep {word}");
        let id = server.begin_call("bash", json!({ "command": command }));
        until("the command runs", || with_word(&word).len() >= 3);
        let processes = with_word(&word);
        cancel(&mut server, id);
        assert_end(&processes);
        assert!(with_word(&word).is_empty());
        server.assert_well();
        assert!(server.heard.is_empty(), "{:?}", server.heard);
        // Its id is free again.
        let again = json!({ "jsonrpc": "2.0", "id": id, "method": "nobody/knows" });
        until("the id is free", || {
            server.send(&again);
            let answer = server.answer(id);
            code(&answer) != -32600
        });
    }
}

#[test]
fn what_is_cancelled_before_it_begins_or_does_not_exist_is_no_trouble() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    for id in [1_000, 1_001] {
        cancel(&mut server, id);
    }
    let ids: Vec<u64> = (0..30)
        .map(|_| {
            let id = server.begin_call("bash", json!({ "command": "sleep 100" }));
            cancel(&mut server, id);
            id
        })
        .collect();
    server.assert_well();
    let answered = |message: &Value| ids.iter().any(|id| message["id"] == *id);
    assert!(!server.heard.iter().any(answered), "{:?}", server.heard);
}

#[test]
fn an_id_that_is_in_use_is_refused_and_the_first_call_goes_on() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let id = server.begin_call("bash", json!({ "command": "timeout 0.5 tail -f /dev/null; echo done" }));
    let params = json!({ "name": "read_file", "arguments": { "path": "src/main.rs" } });
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    assert_eq!(code(&server.answer(id)), -32600);
    let first = server.answer(id);
    assert!(text(&first["result"]).contains("done"), "{first}");
}

#[test]
fn a_ping_and_cancellations_are_read_however_much_is_queued() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let word = format!("9003.{}", server.child.id());
    let ids: Vec<u64> =
        (0..300).map(|_| server.begin_call("bash", json!({ "command": format!("sleep {word}") }))).collect();
    until("commands run", || !with_word(&word).is_empty());
    // None of them ends, so nothing makes room.
    assert!(server.request("ping", json!({})).get("result").is_some());
    for id in &ids {
        cancel(&mut server, *id);
    }
    server.assert_well();
    until("all are gone", || with_word(&word).is_empty());
    let answered = |message: &Value| ids.iter().any(|id| message["id"] == *id);
    assert!(!server.heard.iter().any(answered), "{:?}", server.heard);
}
