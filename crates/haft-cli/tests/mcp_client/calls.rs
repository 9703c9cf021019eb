//! Tools of servers that behave well.

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{records, said};
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::place::{Place, tool};

#[test]
fn a_tool_of_a_server_of_either_era_is_listed_and_called_under_the_name_of_both() {
    let Some(place) = Place::new() else { return };
    for (server, script) in [
        ("old", json!({ "version": "2025-06-18", "tools": [tool("echo", "Repeats.")] })),
        ("newer", json!({ "version": "2025-11-25", "tools": [tool("echo", "Repeats.")] })),
        ("newest", json!({ "era": "stateless", "tools": [tool("echo", "Repeats.")] })),
        ("gone", json!({ "behaviour": "exit-on-discover", "tools": [tool("echo", "Repeats.")] })),
        ("late", json!({ "behaviour": "slow-start", "era": "stateless", "tools": [tool("echo", "Repeats.")] })),
        ("later", json!({ "behaviour": "slow-start", "tools": [tool("echo", "Repeats.")] })),
        ("slow", json!({ "behaviour": "silent-on-discover", "tools": [tool("echo", "Repeats.")] })),
    ] {
        let added = place.add(server, &script);
        assert_eq!(added.code, 0, "{server}: {}{}", added.out, added.err);
        let result = place.call(&format!("{server}__echo"));
        assert_eq!(
            (&result["status"], &result["content"]),
            (&json!("ok"), &json!("\"echo\" {}")),
            "{server}: {result}"
        );
        assert_eq!(result["did"], "unknown", "{result}");
    }
    let tools = place.run(&["tools"]);
    assert!(tools.out.contains("old__echo") && tools.out.contains("newest__echo  Repeats"), "{}", tools.out);
    // The era is remembered: the second start asks no question that this server does not bear.
    assert_eq!(place.heard("gone").matches("server/discover").count(), 1);
    assert_eq!(place.heard("newest").matches("initialize").count(), 0);
}

#[test]
fn a_server_that_is_not_called_is_not_started() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let before = place.heard("s");
    for arguments in [&["tools"][..], &["tools", "--json"], &["call", "list_dir"], &["mcp", "list"]] {
        assert_eq!(place.run(arguments).code, 0, "{arguments:?}");
    }
    assert_eq!(place.heard("s"), before);
}

#[test]
fn a_call_is_asked_about_and_its_result_is_text_of_strangers() {
    let Some(place) = Place::new() else { return };
    let reads = json!({ "name": "peek", "description": "Looks.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } });
    place.add("s", &json!({ "tools": [tool("echo", "Repeats."), reads] }));
    for name in ["s__echo", "s__peek"] {
        let refused = place.run(&["call", "--json", "--yes", name]);
        assert_eq!(refused.code, 3, "{}", refused.out);
        assert!(refused.out.contains("needs_approval") && refused.out.contains("--yes=all"), "{}", refused.out);
    }
    let plain = place.run(&["call", "s__echo"]);
    assert!(
        plain.err.contains("call echo of the server s") || plain.out.contains("call echo of the server s"),
        "{}{}",
        plain.out,
        plain.err
    );
}

#[test]
fn arguments_are_checked_against_the_schema_of_the_server_before_anything_starts() {
    let Some(place) = Place::new() else { return };
    let strict = json!({ "name": "mul", "description": "Multiplies.", "inputSchema": {
        "type": "object", "properties": { "a": { "$ref": "#/$defs/n" } }, "required": ["a"], "$defs": { "n": { "type": "integer" } },
    } });
    place.add("s", &json!({ "tools": [strict] }));
    let before = place.heard("s");
    let result = place.call("s__mul");
    assert_eq!(result["error"]["kind"], "bad_arguments", "{result}");
    assert_eq!(place.heard("s"), before);
}

#[test]
fn progress_of_a_server_is_passed_on_and_a_long_result_is_kept() {
    let Some(place) = Place::new() else { return };
    let long = "line of a long result\n".repeat(10_000);
    let result = json!({ "content": [{ "type": "text", "text": long }] });
    place.add("s", &json!({ "behaviour": "progress", "result": result, "tools": [tool("echo", "Repeats.")] }));
    let result = place.call("s__echo");
    assert_eq!(result["status"], "ok", "{result}");
    assert!(
        result["spill"].is_string() && result["content"].as_str().is_some_and(|text| text.len() < 60_000),
        "{}",
        result["spill"]
    );
}

#[test]
fn the_list_says_where_each_server_comes_from_and_what_it_costs() {
    let Some(place) = Place::new() else { return };
    place.put("ws/.mcp.json", r#"{"mcpServers": {"theirs": {"command": "npx", "args": ["-y", "x"]}, "broken": {}}}"#);
    place.put(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"theirs": {"command": "other"}, "web": {"url": "https://h/mcp"}}}"#,
    );
    place.add("mine", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let list = place.run(&["mcp", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).expect("it is JSON");
    let of = |name: &str| -> Vec<String> {
        let servers = list["servers"].as_array().expect("a list").iter().filter(|server| server["name"] == name);
        servers
            .map(|server| {
                format!(
                    "{} {}",
                    server["product"].as_str().unwrap_or_default(),
                    server["state"].as_str().unwrap_or_default()
                )
            })
            .collect()
    };
    assert_eq!(of("mine"), ["haft allowed"]);
    assert_eq!(of("theirs"), ["Claude Code not allowed", "Cursor hidden"]);
    assert_eq!((of("broken"), of("web")), (vec!["Claude Code off".to_owned()], vec!["Cursor not allowed".to_owned()]));
    assert!(list["servers"][0]["tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{list}");
}

#[test]
fn doctor_shows_each_step_and_remove_forgets_the_server() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let doctor = place.run(&["mcp", "doctor", "s"]);
    for step in [
        "starts ",
        "start     answered",
        "revision  2025-11-25 (scripted 1)",
        "list      1 tools",
        "request   answered",
        "tools     1 tools",
    ] {
        assert!(doctor.out.contains(step), "{step}: {}", doctor.out);
    }
    assert_eq!(doctor.code, 0);
    assert_eq!(place.run(&["mcp", "remove", "s"]).code, 0);
    assert!(!place.run(&["tools"]).out.contains("s__echo"));
    assert!(!place.get("config/haft/config.toml").unwrap_or_default().contains("mcp"));
    assert_eq!(place.run(&["mcp", "doctor", "s"]).code, 1);
}

#[test]
fn a_call_that_nobody_is_asked_about_is_shown_with_its_server_and_its_arguments() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let script =
        ModelScript::of([ScriptedTurn::call("s__echo", json!({ "a": "what is sent" })), ScriptedTurn::text("Sent.")]);
    let model = ScriptedModel::start(script);
    let base_url = model.base_url(Wire::Chat);
    let ran =
        place.run(&["run", "--yolo", "--model", "scripted", "--wire", "chat", "--base-url", &base_url, "send it"]);
    assert_eq!((ran.out.as_str(), ran.code), ("Sent.\n", 0), "{}", ran.err);
    assert!(ran.err.contains("• MCP(s/echo) what is sent ("), "{}", ran.err);
}

#[test]
fn the_arguments_of_a_call_that_nobody_was_asked_about_are_in_the_records() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let call = ScriptedTurn::call("s__echo", json!({ "a": "what was sent" }));
    let model = ScriptedModel::start(ModelScript::of([call, ScriptedTurn::text("Done.")]));
    let run = said(place.with_model(&model, &["run", "--yes=all", "--json", "repeat it"]), "");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let records = records(&run.out);
    let call = records.iter().find(|record| record["event"] == "call").expect("it is told");
    assert_eq!((&call["tool"], &call["arguments"]), (&json!("s__echo"), &json!({ "a": "what was sent" })));
}
