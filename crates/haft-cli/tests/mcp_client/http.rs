//! Servers at an address, on the loopback of this machine.

use haft_testkit::scripted::scripted_server::{HEARD, HttpServer};
use serde_json::{Value, json};

use crate::place::{Place, tool};

/// Lets the user's file name a server.
fn configured(place: &Place, server: &HttpServer) {
    place.put("config/haft/config.toml", &format!("[mcp.servers.web]\nurl = \"{}\"\n", server.url));
}

fn scripted(more: Value) -> Value {
    let mut script = json!({ "tools": [tool("echo", "Repeats.")] });
    script.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    script
}

#[test]
fn a_server_at_an_address_is_used_after_consent_in_both_eras_and_both_forms_of_answers() {
    let Some(place) = Place::new() else { return };
    for script in [
        json!({}),
        json!({ "sse": true, "session": "abc" }),
        json!({ "era": "stateless" }),
        json!({ "era": "stateless", "sse": true }),
    ] {
        let server = HttpServer::start(scripted(script.clone()), &place.path("home"));
        configured(&place, &server);
        assert_eq!(place.call("web__echo")["error"]["kind"], "unknown_tool");
        let added = place.run(&["mcp", "add", "web", "--", &server.url]);
        assert_eq!(added.code, 0, "{script}: {}{}", added.out, added.err);
        let record = place.call("web__echo");
        assert_eq!(record["content"], "\"echo\" {}", "{script}: {record}");
        let heard = place.get(&format!("home/{HEARD}")).unwrap_or_default();
        if script["era"] == "stateless" {
            assert!(heard.contains("mcp-method: tools/call") && heard.contains("mcp-name: echo"), "{heard}");
            assert!(heard.contains("mcp-protocol-version: 2026-07-28"), "{heard}");
        } else {
            assert!(heard.contains("mcp-protocol-version: 2025-11-25"), "{heard}");
        }
        if script["session"] == "abc" {
            assert!(heard.contains("mcp-session-id: abc") && heard.contains("DELETE"), "{heard}");
        }
        std::fs::remove_file(place.path(&format!("home/{HEARD}"))).expect("it was written");
    }
}

#[test]
fn a_forgotten_session_costs_no_call_and_a_refusal_says_what_to_do() {
    let Some(place) = Place::new() else { return };
    let server = HttpServer::start(scripted(json!({ "session": "abc", "forgets": true })), &place.path("home"));
    let added = place.run(&["mcp", "add", "web", "--", &server.url]);
    assert_eq!(added.code, 0, "{}{}", added.out, added.err);
    let both = haft_testkit::scratch_home::said(
        place.command(&["call", "--yes=all", "-"]),
        "{\"name\":\"web__echo\"}\n\n{\"name\":\"web__echo\"}\n",
    );
    let results: Vec<Value> = both.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(results[0]["status"] == "ok" && results[1]["status"] == "ok", "{}", both.out);
    drop(server);

    let locked = HttpServer::start(scripted(json!({ "token": "right" })), &place.path("home"));
    let added = place.run(&["mcp", "add", "locked", "--", &locked.url]);
    assert!(added.code == 1 && added.err.contains("needs a login; run \"haft mcp login locked\""), "{}", added.err);
    // Without a person there is no login.
    let login = place.run(&["mcp", "login", "locked"]);
    assert!(login.code == 3 && login.err.contains("at a terminal") && login.err.contains("headers ="), "{}", login.err);
}
