//! Servers with so many tools that their definitions would fill a model's window.

use haft_testkit::scratch_home::{records, said};
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::client::{record, text};
use crate::place::{Place, tool};

/// Tools whose definitions are far beyond the share of a window.
fn many() -> Vec<Value> {
    let padding = "It has many details that a model must know before it calls this tool. ".repeat(4);
    let mut tools: Vec<Value> = (0..80)
        .map(|number| tool(&format!("report_{number}"), &format!("Writes report {number}. {padding}")))
        .collect();
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    tools.push(
        json!({ "name": "create_issue", "description": "Opens a ticket in the tracker.", "inputSchema": schema }),
    );
    tools
}

fn listed(text: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(text).expect("it is JSON");
    let tools = list.as_array().expect("a list").iter();
    tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

#[test]
fn definitions_beyond_their_share_of_the_window_are_deferred_and_haft_says_so() {
    let Some(place) = Place::new() else { return };
    place.add("large", &json!({ "tools": many() }));
    place.add("small", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let shown = listed(&place.run(&["tools", "--json"]).out);
    assert!(!shown.iter().any(|name| name.starts_with("large__")), "{shown:?}");
    for name in ["small__echo", "search_tools", "call_tool"] {
        assert!(shown.contains(&name.to_owned()), "{name}: {shown:?}");
    }
    let told = place.run(&["tools"]);
    assert!(told.err.contains("deferred") && told.err.contains("large (81 tools, about "), "{}", told.err);
    let all = listed(&place.run(&["tools", "--all", "--json"]).out);
    assert_eq!(all.iter().filter(|name| name.starts_with("large__")).count(), 81);
    // A larger window has room for all of them, and the user can list single ones.
    let config = place.get("config/haft/config.toml").expect("it was written");
    place.put("config/haft/config.toml", &format!("{config}\n[model]\nwindow = 1000000\n"));
    let shown = listed(&place.run(&["tools", "--json"]).out);
    assert!(shown.contains(&"large__create_issue".to_owned()) && !shown.contains(&"search_tools".to_owned()));
    place.put("config/haft/config.toml", &format!("{config}\n[tools]\nshow = [\"large__create_issue\"]\n"));
    let shown = listed(&place.run(&["tools", "--json"]).out);
    assert!(shown.contains(&"large__create_issue".to_owned()) && !shown.contains(&"large__report_1".to_owned()));
}

#[test]
fn a_deferred_tool_is_found_by_words_and_its_call_is_one_of_that_tool() {
    let Some(place) = Place::new() else { return };
    place.add("large", &json!({ "tools": many() }));
    let mut gateway = place.gateway(&["--yes=all"], &["large"], json!({}));
    let list = gateway.request("tools/list", json!({}));
    let names: Vec<&Value> =
        list["result"]["tools"].as_array().expect("a list").iter().map(|tool| &tool["name"]).collect();
    assert!(names.iter().all(|name| !name.to_string().contains("large__")), "{names:?}");
    let found = gateway.call("search_tools", json!({ "query": "open a ticket" }));
    assert!(text(&found).contains("\nlarge__create_issue\nOpens a ticket in the tracker.\narguments: {"), "{found}");
    let arguments = json!({ "name": "large__create_issue", "arguments": { "title": "x" } });
    let called = gateway.call("call_tool", arguments);
    assert!(text(&called).starts_with("\"create_issue\" {\"title\":\"x\"}"), "{called}");
    assert_eq!(record(&called)["did"], "unknown", "{called}");
    // Arguments are those of the other tool, also where they came as text.
    let wrong = gateway.call("call_tool", json!({ "name": "large__create_issue", "arguments": {} }));
    assert!(text(&wrong).contains("large__create_issue") && text(&wrong).contains("title"), "{wrong}");
    let as_text =
        gateway.call("call_tool", json!({ "tool": "large__create_issue", "arguments": "{\"title\": \"y\"}" }));
    assert!(text(&as_text).starts_with("\"create_issue\" {\"title\":\"y\"}"), "{as_text}");
    let direct = gateway.call("large__create_issue", json!({ "title": "z" }));
    assert!(text(&direct).starts_with("\"create_issue\" {\"title\":\"z\"}"), "{direct}");
    let unknown = gateway.call("call_tool", json!({ "name": "large__create_isue", "arguments": {} }));
    assert!(text(&unknown).contains("large__create_issue"), "{unknown}");
    let itself = gateway.call("call_tool", json!({ "name": "call_tool", "arguments": { "name": "x" } }));
    assert!(text(&itself).contains("cannot call itself"), "{itself}");
}

#[test]
fn a_call_through_another_tool_is_judged_and_asked_about_as_the_tool_that_it_means() {
    let Some(place) = Place::new() else { return };
    place.add("large", &json!({ "tools": many() }));
    place.put(
        "config/haft/rules.toml",
        "[[rule]]\nname = \"no issues\"\ndecision = \"deny\"\nreason = \"not here\"\ntool = \"large__create_issue\"\n",
    );
    let arguments = json!({ "name": "large__create_issue", "arguments": { "title": "x" } }).to_string();
    let denied = place.run(&["call", "--yes=all", "--json", "call_tool", &arguments]);
    assert!(denied.out.contains("\"denied\"") && denied.out.contains("no issues"), "{}{}", denied.out, denied.err);
    place.put("config/haft/rules.toml", "");
    let asked = place.run(&["call", "--json", "call_tool", &arguments]);
    assert!(
        asked.out.contains("needs_approval") && asked.out.contains("large__create_issue"),
        "{}{}",
        asked.out,
        asked.err
    );
}

#[test]
fn a_model_of_haft_run_finds_and_calls_a_deferred_tool_and_its_list_stays_the_same() {
    let Some(place) = Place::new() else { return };
    place.add("large", &json!({ "tools": many() }));
    let search = ScriptedTurn::call("search_tools", json!({ "query": "open ticket" }));
    let found = Expect::tool_result_contains("large__create_issue");
    let call = json!({ "name": "large__create_issue", "arguments": { "title": "x" } });
    let called = Expect::tool_result_contains("\"create_issue\" {\"title\":\"x\"}");
    let script =
        [search, ScriptedTurn::call("call_tool", call).expect(found), ScriptedTurn::text("Done.").expect(called)];
    let model = ScriptedModel::start(ModelScript::of(script));
    let said = said(place.with_model(&model, &["run", "--yes=all", "--json", "open a ticket"]), "");
    model.assert_told();
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.err.contains("large (81 tools, about "), "{}", said.err);
    let lists: Vec<Value> = model.requests().iter().map(|asked| asked.body["tools"].clone()).collect();
    assert_eq!(lists.len(), 3);
    assert!(lists.iter().all(|list| *list == lists[0]), "the list of tools changed");
    assert!(!lists[0].to_string().contains("large__report_1"), "{}", lists[0]);
    // The records contain the call and its arguments although haft asked no person.
    let records: Vec<Value> = records(&said.out);
    let call = records.iter().find(|record| record["event"] == "call" && record["tool"] == "call_tool");
    assert_eq!(call.expect("it is told")["arguments"]["arguments"], json!({ "title": "x" }));
    let result = records.iter().find(|record| record["event"] == "result" && record["tool"] == "large__create_issue");
    assert_eq!(result.expect("it is told")["did"], "unknown", "{}", said.out);
}
