//! Which protocol is spoken: with a handshake, without one, both, and what is answered to neither.

use serde_json::json;

use crate::client::{NEW_ERA, Place, code, text};

#[test]
fn every_version_with_a_handshake_is_answered_in_kind() {
    let place = Place::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = place.serve(&[]);
        let answer = server.shake_hands(version, json!({}));
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "haft");
        assert!(answer["result"]["capabilities"]["tools"].is_object());
        let result = server.call("read_file", json!({ "path": "src/main.rs" }));
        assert!(text(&result).contains("fn main() {}"), "{result}");
        assert!(result.get("resultType").is_none(), "older clients do not know it: {result}");
        assert!(server.end().0.success());
    }
}

#[test]
fn a_version_that_nobody_knows_is_answered_with_the_newest_that_has_a_handshake() {
    let place = Place::new();
    for version in ["1999-01-01", NEW_ERA, "2099-01-01"] {
        let mut server = place.serve(&[]);
        let answer = server.shake_hands(version, json!({}));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{version}");
        server.assert_well();
    }
}

#[test]
fn the_new_era_needs_no_handshake_and_every_result_says_who_made_it() {
    let place = Place::new();
    let mut server = place.modern(&[], json!({}));
    let found = server.request("server/discover", json!({}));
    let found = &found["result"];
    assert!(found["supportedVersions"].as_array().expect("a list").contains(&json!(NEW_ERA)), "{found}");
    assert!(found["instructions"].as_str().expect("text").contains(&*place.path("ws").to_string_lossy()), "{found}");
    let list = server.request("tools/list", json!({}));
    assert_eq!(list["result"]["resultType"], "complete");
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["cacheScope"].is_string(), "{list}");
    let result = server.call("read_file", json!({ "path": "src/main.rs" }));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "haft");
}

#[test]
fn requests_that_do_not_say_what_they_speak_are_refused_and_later_ones_are_not() {
    let mut server = Place::new().serve(&[]);
    assert_eq!(code(&server.request("tools/list", json!({}))), -32602);
    assert_eq!(code(&server.request("server/discover", json!({}))), -32602);
    let half = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": NEW_ERA } });
    assert_eq!(code(&server.request("tools/list", half)), -32602);
    let odd = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2033-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let answer = server.request("tools/list", odd);
    assert_eq!(code(&answer), -32022);
    assert!(answer["error"]["data"]["supported"].is_array(), "{answer}");
    assert!(server.request("ping", json!({})).get("result").is_some());
    server.shake_hands("2025-11-25", json!({}));
    server.assert_well();
}

#[test]
fn both_eras_may_come_through_one_pipe() {
    let mut server = Place::new().modern(&[], json!({}));
    server.assert_well();
    let meta = server.meta.take();
    server.shake_hands("2025-06-18", json!({}));
    server.assert_well();
    assert!(server.request("ping", json!({})).get("result").is_some());
    server.meta = meta;
    assert_eq!(code(&server.request("ping", json!({}))), -32601, "the new era has none");
    server.assert_well();
}

#[test]
fn a_handshake_may_be_repeated() {
    let mut server = Place::new().serve(&[]);
    server.shake_hands("2025-11-25", json!({}));
    let again = server.shake_hands("2025-06-18", json!({}));
    assert_eq!(again["result"]["protocolVersion"], "2025-06-18");
    server.assert_well();
}

#[test]
fn the_instructions_are_short_and_name_the_workspace_and_the_way_back() {
    let place = Place::new();
    let mut server = place.serve(&[]);
    let answer = server.shake_hands("2025-11-25", json!({}));
    let words = answer["result"]["instructions"].as_str().expect("there are some");
    assert!(words.lines().count() <= 15, "{words}");
    for needed in ["edit_file", "haft undo", "spill:", "refusal", &place.path("ws").to_string_lossy()] {
        assert!(words.contains(needed), "{needed}: {words}");
    }
}
