//! The cases of `tests/cases/mcp.jsonl`: a server each, and what must come of it.

use serde_json::{Value, json};

use crate::place::{Place, tool};

#[test]
fn every_case_comes_out_as_one_of_its_right_answers() {
    let Some(place) = Place::new() else { return };
    let cases = include_str!("../../../../tests/cases/mcp.jsonl");
    for case in cases.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(case).expect("a case is JSON");
        let id = case["id"].as_str().expect("a case has an id");
        let came = outcome(&place, id, &case["server"]);
        let accepted = case["accept"].as_array().expect("a case has right answers");
        assert!(accepted.iter().any(|right| *right == came), "{id} ({}): {came}", case["why"]);
    }
}

fn outcome(place: &Place, id: &str, server: &Value) -> String {
    let usual = json!([tool("mul", "Multiplies.")]);
    let tools = if server["tools"].is_array() { server["tools"].clone() } else { usual };
    let name = tools[0]["name"].as_str().expect("a tool has a name").to_owned();
    let mut script = json!({ "tools": tools });
    if server["reply"] == "not-json" {
        script["behaviour"] = "noise".into();
    }
    let added = place.add(id, &script);
    let call = || place.call(&format!("{id}__{name}"));
    if server["reply"] == "never" {
        script["behaviour"] = "never".into();
        place.script(id, &script);
        let config = place.get("config/haft/config.toml").expect("it was written");
        place.put("config/haft/config.toml", &format!("{config}timeout = 0.5\n"));
        return if call()["status"] == "timed_out" { "time-limit" } else { "hung" }.to_owned();
    }
    if server["reply"] == "not-json" {
        return if call()["status"] == "ok" { "skipped" } else { "error" }.to_owned();
    }
    if server["then"].is_object() {
        place.script(id, &server["then"]);
        return if call()["error"]["kind"] == "needs_approval" { "consent-again" } else { "trusted" }.to_owned();
    }
    if call()["error"]["kind"] == "unknown_tool" {
        return if added.err.contains("refers to http://evil.example/s") { "refused" } else { "lost" }.to_owned();
    }
    let description = tools_description(server);
    let is_whole = added.out.contains(&description);
    let model = place.run(&["tools", &format!("{id}__{name}")]).out;
    match (description.contains('<'), is_whole && model.contains(&description)) {
        (true, true) => "shown-in-full",
        (true, false) => "hidden",
        (false, _) => "prefixed",
    }
    .to_owned()
}

fn tools_description(server: &Value) -> String {
    server["tools"][0]["description"].as_str().unwrap_or_default().to_owned()
}
