//! The shared cases about servers and clients, as far as they concern what haft serves.

use serde_json::{Value, json};

use crate::client::Place;

const CASES: &str = include_str!("../../../../tests/cases/mcp.jsonl");

/// Cases about servers that haft would call, which needs a client.
const OF_THE_CLIENT: [&str; 4] = ["sm002", "sm003", "sm004", "sm005"];

fn definition(tool: &Value) -> String {
    let tool = json!({
        "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"],
        "binding": { "command": ["true"] },
    });
    tool.to_string()
}

#[test]
fn every_case_is_tried_or_named() {
    for line in CASES.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let id = case["id"].as_str().expect("it has a name");
        if OF_THE_CLIENT.contains(&id) {
            continue;
        }
        let place = Place::new();
        let tool = &case["server"]["tools"][0];
        place.put("config/haft/tools/case.yaml", &definition(tool));
        let mut server = place.shaken(&[], json!({}));
        let list = server.request("tools/list", json!({}));
        let listed =
            list["result"]["tools"].as_array().expect("a list").iter().find(|listed| listed["name"] == tool["name"]);
        match case["expect"].as_str() {
            Some("shown-in-full") => {
                assert_eq!(listed.expect("it is shown")["description"], tool["description"], "{id}")
            }
            Some("refused") => {
                assert!(listed.is_none(), "{id}: {listed:?}");
                server.assert_well();
            }
            other => panic!("{id}: nobody knows what {other:?} means here"),
        }
    }
}
