//! `haft mcp serve --with`: tools of other servers behind haft's rules, questions, limits and log.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Server, code, record, text};
use crate::place::{Place, tool};

fn names(gateway: &mut Server) -> Vec<String> {
    let list = gateway.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {list}"));
    tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

#[test]
fn tools_of_the_named_servers_are_served_beside_haft_s_own_and_no_others() {
    let Some(place) = Place::new() else { return };
    place.add("one", &json!({ "tools": [tool("echo", "Repeats.")] }));
    place.add("other", &json!({ "tools": [tool("echo", "Repeats.")] }));
    for is_modern in [false, true] {
        let mut gateway = match is_modern {
            false => place.gateway(&["--yes=all"], &["one"], json!({})),
            true => {
                let mut gateway = Server::start(&place, &["--yes=all", "mcp", "serve", "--with", "one"]);
                gateway.be_modern(json!({}));
                gateway
            }
        };
        let names = names(&mut gateway);
        assert!(names.contains(&"one__echo".to_owned()) && names.contains(&"read_file".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("other__")), "{names:?}");
        let result = gateway.call("one__echo", json!({ "a": "x" }));
        assert_eq!(text(&result), "\"echo\" {\"a\":\"x\"}", "{result}");
        assert_eq!(record(&result)["did"], "unknown", "{result}");
        // Arguments are checked before the server hears of them.
        let wrong = gateway.call("one__echo", json!({ "a": { "b": 1 } }));
        assert_eq!(record(&wrong)["error"]["kind"], "bad_arguments", "{wrong}");
        assert!(gateway.end().0.success());
    }
}

#[test]
fn a_name_that_no_file_has_is_an_error_before_anything_is_served() {
    let Some(place) = Place::new() else { return };
    place.add("tracker", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let said = place.run(&["mcp", "serve", "--with", "traker"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("no file names an MCP server \"traker\" (did you mean \"tracker\"?)."), "{}", said.err);
}

#[test]
fn a_call_is_asked_about_through_the_client_and_refused_where_it_cannot_ask() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let mut gateway = place.gateway(&[], &["s"], json!({}));
    let refused = gateway.call("s__echo", json!({}));
    assert_eq!(record(&refused)["error"]["kind"], "needs_approval", "{refused}");
    gateway.end();
    let mut gateway = place.gateway(&[], &["s"], json!({ "elicitation": { "form": {} } }));
    let before = place.heard("s").matches("tools/call").count();
    let id = gateway.begin_call("s__echo", json!({ "a": "x" }));
    let question = gateway.told("elicitation/create");
    let words = question["params"]["message"].as_str().unwrap_or_default();
    assert!(words.contains("MCP(s/echo)") && words.contains("echo of the server s"), "{words}");
    assert_eq!(place.heard("s").matches("tools/call").count(), before);
    gateway.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }));
    let declined = gateway.answer(id);
    assert_eq!(record(&declined["result"])["error"]["kind"], "declined", "{declined}");
    assert_eq!(place.heard("s").matches("tools/call").count(), before);
}

#[test]
fn promised_objects_and_images_of_a_server_reach_the_client() {
    let Some(place) = Place::new() else { return };
    let schema = json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] });
    let mut add = tool("add", "Adds.");
    add["outputSchema"] = schema.clone();
    // One pixel.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = json!({ "type": "image", "data": png, "mimeType": "image/png" });
    let result =
        json!({ "content": [{ "type": "text", "text": "the sum is 3" }, image], "structuredContent": { "sum": 3 } });
    place.add("s", &json!({ "tools": [add], "result": result }));
    let mut gateway = place.gateway(&["--yes=all"], &["s"], json!({}));
    let list = gateway.request("tools/list", json!({}));
    let listed = list["result"]["tools"].as_array().expect("a list").iter().find(|tool| tool["name"] == "s__add");
    assert_eq!(listed.expect("it is listed")["outputSchema"], schema);
    let result = gateway.call("s__add", json!({}));
    assert_eq!(result["structuredContent"], json!({ "sum": 3 }), "{result}");
    assert!(result["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "image")));
}

#[test]
fn progress_and_cancellation_pass_through() {
    let Some(place) = Place::new() else { return };
    place.add("steps", &json!({ "behaviour": "progress", "tools": [tool("echo", "Repeats.")] }));
    place.add("never", &json!({ "tools": [tool("echo", "Repeats.")] }));
    place.script("never", &json!({ "behaviour": "never", "tools": [tool("echo", "Repeats.")] }));
    let mut gateway = place.gateway(&["--yes=all"], &["steps", "never"], json!({}));
    let call = json!({ "name": "steps__echo", "arguments": {}, "_meta": { "progressToken": "p" } });
    gateway.request("tools/call", call);
    let told: Vec<Value> = gateway.heard.drain(..).collect();
    let is_step = |message: &Value| {
        message["params"]["progressToken"] == "p"
            && message["params"]["message"].as_str().is_some_and(|words| words.contains("working"))
    };
    assert!(told.iter().any(is_step), "{told:?}");
    let id = gateway.begin_call("never__echo", json!({}));
    let until = Instant::now() + Duration::from_secs(20);
    while !place.heard("never").contains("tools/call") {
        assert!(Instant::now() < until, "it is not called");
        gateway.request("ping", json!({}));
    }
    gateway.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    while !place.heard("never").contains("notifications/cancelled") {
        assert!(Instant::now() < until, "the server is not told");
        gateway.request("ping", json!({}));
    }
    gateway.request("ping", json!({}));
    assert!(!gateway.heard.iter().any(|message| message["id"] == id), "{:?}", gateway.heard);
}

#[test]
fn dead_servers_delay_neither_the_start_nor_the_list_nor_other_calls() {
    let Some(place) = Place::new() else { return };
    place.add("good", &json!({ "tools": [tool("echo", "Repeats.")] }));
    for behaviour in ["silent", "exit", "die"] {
        place.add(behaviour, &json!({ "tools": [tool("echo", "Repeats.")] }));
        place.script(behaviour, &json!({ "behaviour": behaviour, "tools": [tool("echo", "Repeats.")] }));
    }
    let began = Instant::now();
    let mut gateway = place.gateway(&["--yes=all"], &["good", "silent", "exit", "die"], json!({}));
    assert_eq!(names(&mut gateway).iter().filter(|name| name.contains("__")).count(), 4);
    let silent = gateway.begin_call("silent__echo", json!({}));
    assert_eq!(text(&gateway.call("good__echo", json!({}))), "\"echo\" {}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let exit = gateway.call("exit__echo", json!({}));
    assert!(text(&exit).contains("ended with status 3") && !text(&exit).contains('\u{1b}'), "{exit}");
    let died = gateway.call("die__echo", json!({}));
    assert_eq!((&record(&died)["status"], &record(&died)["did"]), (&json!("failed"), &json!("unknown")), "{died}");
    assert!(!gateway.heard.iter().any(|message| message["id"] == silent));
    // The end does not wait for it either.
    assert!(gateway.end().0.success());
}

#[test]
fn changed_tools_are_listed_only_after_a_person_agreed_to_them() {
    let Some(place) = Place::new() else { return };
    let after = json!([tool("mul", "Multiplies."), tool("div", "Divides.")]);
    place.add(
        "s",
        &json!({ "behaviour": "changes", "tools": [tool("mul", "Multiplies.")], "then": { "tools": after } }),
    );
    let mut gateway = place.gateway(&["--yes=all"], &["s"], json!({}));
    assert_eq!(record(&gateway.call("s__mul", json!({})))["status"], "ok");
    let refused = gateway.call("s__mul", json!({}));
    assert_eq!(record(&refused)["error"]["kind"], "needs_approval", "{refused}");
    assert!(!names(&mut gateway).contains(&"s__div".to_owned()));
    let is_change = |message: &Value| message["method"] == "notifications/tools/list_changed";
    assert!(!gateway.heard.iter().any(is_change), "{:?}", gateway.heard);
    // What "haft mcp add s" writes when a person says yes to the difference.
    place.script("s", &json!({ "tools": after }));
    place.agree_to("s", &after);
    gateway.told("notifications/tools/list_changed");
    assert!(names(&mut gateway).contains(&"s__div".to_owned()));
    assert_eq!(record(&gateway.call("s__div", json!({})))["status"], "ok");
}

#[test]
fn a_removed_server_loses_its_tools_and_its_process() {
    let Some(place) = Place::new() else { return };
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")] }));
    let mut gateway = place.gateway(&["--yes=all"], &["s"], json!({}));
    assert_eq!(record(&gateway.call("s__echo", json!({})))["status"], "ok");
    let marker = format!("HAFT_SCRIPTED_SERVER={}", place.root().to_string_lossy());
    let runs = || {
        let processes = std::fs::read_dir("/proc").expect("there is one").flatten();
        let mut environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
        environments.any(|environment| String::from_utf8_lossy(&environment).contains(&marker))
    };
    assert!(runs());
    assert_eq!(place.run(&["mcp", "remove", "s"]).code, 0);
    gateway.told("notifications/tools/list_changed");
    assert!(!names(&mut gateway).contains(&"s__echo".to_owned()));
    let unknown = gateway.request("tools/call", json!({ "name": "s__echo", "arguments": {} }));
    assert_eq!(code(&unknown), -32602, "{unknown}");
    let until = Instant::now() + Duration::from_secs(10);
    while runs() {
        assert!(Instant::now() < until, "its process is left");
        gateway.request("ping", json!({}));
    }
}

#[test]
fn secrets_in_results_of_servers_are_hidden_and_what_strangers_said_makes_the_next_way_out_a_question() {
    let Some(place) = Place::new() else { return };
    place.put("ws/.env", "API_TOKEN=tops3cretvalue42\n");
    let said = json!({ "content": [{ "type": "text", "text": "it is tops3cretvalue42" }] });
    place.add("s", &json!({ "tools": [tool("echo", "Repeats.")], "result": said }));
    let mut gateway = place.gateway(&["--yes=all"], &["s"], json!({}));
    let result = gateway.call("s__echo", json!({}));
    assert!(!result.to_string().contains("tops3cretvalue42"), "{result}");
}
