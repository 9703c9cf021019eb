//! What a client is told without asking again: changed tools, changed resources, and what haft has to report.

use serde_json::{Value, json};

use crate::client::{Place, Server, code};

const TOOL: &str = "name: greet\ndescription: Greets somebody.\nbinding: {command: [\"true\"]}\neffects: []\n\
                    input_schema: {type: object, properties: {}}\n";

fn has_greet(server: &mut Server) -> bool {
    let list = server.request("tools/list", json!({}));
    list["result"]["tools"].as_array().expect("a list").iter().any(|tool| tool["name"] == "greet")
}

#[test]
fn a_client_is_told_when_a_definition_comes_and_lists_the_new_tool() {
    let place = Place::new();
    let mut server = place.shaken(&[], json!({}));
    assert!(!has_greet(&mut server));
    place.put("config/haft/tools/greet.yaml", TOOL);
    server.told("notifications/tools/list_changed");
    assert!(has_greet(&mut server));
}

#[test]
fn a_subscription_of_the_new_era_is_told_what_it_named_and_nothing_else() {
    let place = Place::new();
    let mut server = place.modern(&["--yes"], json!({}));
    let wanted =
        json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["haft://log"] });
    let id = server.begin("subscriptions/listen", json!({ "notifications": wanted }));
    let begun = server.told("notifications/subscriptions/acknowledged");
    assert_eq!(begun["params"]["notifications"].get("promptsListChanged"), None, "haft has no prompts: {begun}");
    server.call("bash", json!({ "command": "seq 1 20000" }));
    server.call("write_file", json!({ "path": "a.txt", "content": "one\n" }));
    let updated = server.told("notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], "haft://log");
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{updated}");
    place.put("config/haft/tools/greet.yaml", TOOL);
    let changed = server.told("notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{changed}");
    let others = |message: &Value| message["method"] == "notifications/resources/list_changed";
    assert!(!server.heard.iter().any(others), "{:?}", server.heard);
}

#[test]
fn who_subscribes_to_the_log_is_told_of_changes_until_the_subscription_ends() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let log = json!({ "uri": "haft://log" });
    assert!(server.request("resources/subscribe", log.clone()).get("error").is_none());
    server.call("write_file", json!({ "path": "a.txt", "content": "one\n" }));
    assert_eq!(server.told("notifications/resources/updated")["params"]["uri"], "haft://log");
    server.call("read_file", json!({ "path": "a.txt" }));
    assert!(server.request("resources/unsubscribe", log).get("error").is_none());
    server.call("write_file", json!({ "path": "b.txt", "content": "one\n" }));
    server.assert_well();
    assert!(server.heard.is_empty(), "{:?}", server.heard);
    let unknown = server.request("resources/subscribe", json!({ "uri": "haft://none" }));
    assert_eq!((code(&unknown), &unknown["error"]["data"]["uri"]), (-32602, &json!("haft://none")));
}

#[test]
fn what_haft_reports_reaches_the_client_from_the_level_on_that_it_set() {
    let place = Place::new();
    let mut server = place.shaken(&[], json!({}));
    assert!(server.request("logging/setLevel", json!({ "level": "notice" })).get("error").is_none());
    place.put("config/haft/tools/broken.yaml", "name: broken\nbinding: {command: []}\n");
    server.assert_well();
    let report = server.told("notifications/message");
    assert_eq!((&report["params"]["level"], &report["params"]["logger"]), (&json!("notice"), &json!("haft")));
    assert!(report["params"]["data"].as_str().is_some_and(|text| text.contains("broken.yaml")), "{report}");
    assert!(server.request("logging/setLevel", json!({ "level": "emergency" })).get("error").is_none());
    place.put("config/haft/tools/worse.yaml", "name: worse\n");
    server.assert_well();
    server.assert_well();
    assert!(!server.heard.iter().any(|message| message["method"] == "notifications/message"), "{:?}", server.heard);
    assert_eq!(code(&server.request("logging/setLevel", json!({ "level": "loud" }))), -32602);
}

#[test]
fn methods_that_are_not_declared_are_unknown() {
    for mut server in [Place::new().shaken(&[], json!({})), Place::new().modern(&[], json!({}))] {
        let reference = json!({ "type": "ref/prompt", "name": "x" });
        for (method, params) in [
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "x" })),
            ("completion/complete", json!({ "ref": reference, "argument": { "name": "a", "value": "b" } })),
            ("tasks/get", json!({ "taskId": "x" })),
        ] {
            assert_eq!(code(&server.request(method, params)), -32601, "{method}");
        }
        server.assert_well();
    }
}
