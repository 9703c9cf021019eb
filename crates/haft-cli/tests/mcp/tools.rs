//! Tools as clients list and call them: hints, results, errors, flags, definitions, many calls side by side.

use serde_json::{Value, json};

use crate::client::{Place, code, record, text};

fn listed(place: &Place, flags: &[&str]) -> Vec<Value> {
    let mut server = place.shaken(flags, json!({}));
    let list = server.request("tools/list", json!({}));
    list["result"]["tools"].as_array().cloned().unwrap_or_else(|| panic!("no tools: {list}"))
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn tools_come_in_the_same_order_each_time_with_titles_schemas_and_honest_hints() {
    let place = Place::new();
    let tools = listed(&place, &[]);
    assert_eq!(
        names(&tools),
        ["read_file", "write_file", "edit_file", "list_dir", "glob", "grep", "bash", "jobs", "undo", "log"]
    );
    assert_eq!(tools, listed(&place, &[]));
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).expect("it is there");
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object");
        let hint = |hint: &str| tool["annotations"][hint].as_bool().expect("it is said");
        [hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"), hint("openWorldHint")]
    };
    for name in ["read_file", "list_dir", "glob", "grep", "log"] {
        assert_eq!(hints(name), [true, false, true, false], "{name}");
    }
    assert_eq!(hints("write_file"), [false, true, true, false]);
    assert_eq!(hints("edit_file"), [false, true, false, false]);
    assert_eq!(hints("bash"), [false, true, false, true]);
}

#[test]
fn skills_are_served_where_there_are_some() {
    let place = Place::new();
    place.put("config/haft/skills/notes/SKILL.md", "---\nname: notes\ndescription: Takes notes.\n---\nWrite them.\n");
    let tools = listed(&place, &[]);
    let skill = tools.iter().find(|tool| tool["name"] == "skill").expect("it is served");
    assert!(skill["description"].as_str().is_some_and(|words| words.contains("\n- notes: Takes notes.")), "{skill}");
    let mut server = place.shaken(&[], json!({}));
    let result = server.call("skill", json!({ "name": "notes" }));
    assert!(text(&result).starts_with("Write them."), "{result}");
}

#[test]
fn what_is_served_is_what_haft_tools_shows() {
    let place = Place::new();
    let shown: Value = serde_json::from_str(&place.run(&["tools", "--json"])).expect("a list");
    let served = listed(&place, &[]);
    for (served, shown) in served.iter().zip(shown.as_array().expect("a list")) {
        for part in ["name", "title", "description", "inputSchema"] {
            assert_eq!(served[part], shown[part]);
        }
        assert_eq!(served["annotations"]["readOnlyHint"], shown["annotations"]["readOnlyHint"]);
    }
}

#[test]
fn the_log_lists_changes_of_all_sessions_as_text_and_as_an_object_and_a_tool_of_the_user_takes_its_name() {
    let place = Place::new();
    place.run(&["call", "--yes", "write_file", "path=own.txt", "content=x"]);
    let mut server = place.shaken(&["--yes"], json!({}));
    server.call("write_file", json!({ "path": "a.txt", "content": "one\n" }));
    let log = server.call("log", json!({}));
    assert!(text(&log).contains("a.txt") && text(&log).contains("own.txt"), "{log}");
    let sets = log["structuredContent"]["change_sets"].as_array().expect("a list");
    assert_eq!((sets.len(), &sets[0]["number"]), (2, &json!(2)), "{log}");
    let newest = server.call("log", json!({ "limit": 1 }));
    assert!(!text(&newest).contains("own.txt") && text(&newest).contains("[1 older ones"), "{newest}");
    place.put(
        "config/haft/tools/log.yaml",
        "name: log\ndescription: Logs hours of work.\nbinding: {command: [\"true\"]}\neffects: []\n\
         input_schema: {type: object, properties: {}}\n",
    );
    server.told("notifications/tools/list_changed");
    let list = server.request("tools/list", json!({}));
    let log = list["result"]["tools"].as_array().expect("a list").iter().find(|tool| tool["name"] == "log");
    assert_eq!(log.expect("it is listed")["description"], "Logs hours of work.");
}

#[test]
fn a_change_is_made_recorded_and_can_be_taken_back_from_outside() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let result = server.call("write_file", json!({ "path": "a.txt", "content": "one\n" }));
    assert_eq!(result["isError"], false);
    let made = record(&result);
    assert_eq!((&made["status"], &made["did"], &made["files"]), (&json!("ok"), &json!("changed"), &json!(["a.txt"])));
    assert!(made["change_set"].is_u64(), "{made}");
    let edits = json!([{ "old_text": "one", "new_text": "two" }]);
    server.call("edit_file", json!({ "path": "a.txt", "edits": edits }));
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("two\n"));
    assert!(place.run(&["undo"]).contains("a.txt"));
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("one\n"));
    let log = server.request("resources/read", json!({ "uri": "haft://log" }));
    let log = log["result"]["contents"][0]["text"].as_str().expect("text").to_owned();
    assert!(log.contains("undo of 2") && log.contains("write_file by test "), "{log}");
}

#[test]
fn a_failed_tool_is_a_result_with_advice_and_an_unknown_one_is_an_error() {
    let mut server = Place::new().shaken(&[], json!({}));
    let missing = server.call("read_file", json!({ "path": "src/mian.rs" }));
    assert_eq!(missing["isError"], true);
    assert!(text(&missing).contains("Next: ") && text(&missing).contains("main.rs"), "{missing}");
    assert_eq!(record(&missing)["error"]["kind"], "missing_file");
    let misfit = server.call("read_file", json!({ "pfad": "x" }));
    assert_eq!(record(&misfit)["error"]["kind"], "bad_arguments");
    let unknown = server.request("tools/call", json!({ "name": "readfile", "arguments": {} }));
    assert_eq!(code(&unknown), -32602);
    assert!(unknown["error"]["message"].as_str().is_some_and(|words| words.contains("read_file")), "{unknown}");
    assert_eq!(code(&server.request("tools/call", json!({ "arguments": {} }))), -32602);
    assert_eq!(code(&server.request("tools/call", json!({ "name": "bash", "arguments": "x" }))), -32602);
    assert_eq!(code(&server.request("tools/list", json!({ "cursor": "x" }))), -32602);
    assert_eq!(code(&server.request("no/such", json!({}))), -32601);
}

#[test]
fn errors_of_the_protocol_name_no_secrets() {
    let place = Place::new();
    let value = "q8Zt3LmX0vRk7PwYbN2cDf6H";
    place.put("ws/.env", &format!("API_KEY={value}\n"));
    let mut server = place.shaken(&[], json!({}));
    server.call("bash", json!({ "command": "ls" }));
    let (begin, end) = value.split_at(12);
    for name in [value.to_owned(), format!("{begin}\u{1}{end}"), format!("x{value}"), format!("\n{value}\u{7f}")] {
        for (method, params) in [
            ("tools/call", json!({ "name": name, "arguments": {} })),
            ("tools/call", json!({ "name": "bash", "arguments": name })),
            ("tools/list", json!({ "cursor": name })),
            ("resources/read", json!({ "uri": name })),
            ("prompts/get", json!({ "name": name })),
            (&format!("tools/{name}"), json!({})),
        ] {
            let answer = server.request(method, params.clone()).to_string();
            let plain = answer.replace("\\u0001", "");
            assert!(!plain.contains(value), "{method} {params}: {answer}");
        }
    }
}

#[test]
fn a_client_that_reads_again_gets_the_file_again() {
    let mut server = Place::new().shaken(&[], json!({}));
    let ids: Vec<u64> = (0..3).map(|_| server.begin_call("read_file", json!({ "path": "src/main.rs" }))).collect();
    for id in ids {
        let answer = server.answer(id);
        assert!(text(&answer["result"]).contains("fn main() {}"), "{answer}");
        assert_eq!(answer["result"]["isError"], false);
    }
    let later = server.call("read_file", json!({ "path": "src/main.rs" }));
    assert!(!text(&later).contains("note:"), "{later}");
}

#[test]
fn forty_calls_at_once_are_all_answered_and_keep_their_order_where_they_meet() {
    let place = Place::new();
    let mut server = place.shaken(&["--yes"], json!({}));
    let mut ids = Vec::new();
    for number in 0..20 {
        let mode = "overwrite";
        let content = format!("{number}\n");
        ids.push(server.begin_call("write_file", json!({ "path": "a.txt", "content": content, "write_mode": mode })));
        ids.push(server.begin_call("read_file", json!({ "path": "a.txt" })));
    }
    for (place, id) in ids.into_iter().enumerate() {
        let answer = server.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        if place % 2 == 1 {
            assert!(text(&answer["result"]).contains(&format!("\t{}\n", place / 2)), "{answer}");
        }
    }
}

#[test]
fn forty_commands_at_once_are_all_answered() {
    let mut server = Place::new().shaken(&["--yes"], json!({}));
    let ids: Vec<u64> = (0..40)
        .map(|number| server.begin_call("bash", json!({ "command": format!("echo number {number}") })))
        .collect();
    for (number, id) in ids.into_iter().enumerate() {
        let answer = server.answer(id);
        assert!(text(&answer["result"]).contains(&format!("number {number}")), "{answer}");
    }
}

#[test]
fn a_dialect_is_spoken_to_clients_too() {
    let place = Place::new();
    let tools = listed(&place, &["--dialect", "nexau"]);
    assert!(names(&tools).contains(&"run_shell_command"), "{:?}", names(&tools));
    let shell = tools.iter().find(|tool| tool["name"] == "run_shell_command").expect("it is there");
    assert_eq!(shell["annotations"]["openWorldHint"], true);
    let mut server = place.shaken(&["--dialect", "nexau"], json!({}));
    let result = server.call("read_file", json!({ "file_path": "src/main.rs" }));
    assert!(text(&result).contains("fn main() {}"), "{result}");
    assert_eq!(code(&server.request("tools/call", json!({ "name": "bash", "arguments": {} }))), -32602);
}

#[test]
fn plan_changes_nothing_and_try_throws_away_what_commands_change() {
    let place = Place::new();
    let mut server = place.shaken(&["--plan", "--yes"], json!({}));
    let refused = server.call("write_file", json!({ "path": "a.txt", "content": "x" }));
    assert_eq!((&refused["isError"], &record(&refused)["status"]), (&json!(true), &json!("refused")), "{refused}");
    assert_eq!(place.get("ws/a.txt"), None);
    let mut server = place.shaken(&["--try", "--yes"], json!({}));
    let tried = server.call("bash", json!({ "command": "echo x > b.txt" }));
    assert!(text(&tried).contains("b.txt"), "{tried}");
    assert_eq!(place.get("ws/b.txt"), None);
}

#[test]
fn the_workspace_is_the_one_that_the_command_line_names() {
    let place = Place::new();
    std::fs::create_dir(place.path("other")).expect("it is new");
    place.put("other/here.txt", "here\n");
    let folder = place.path("other").to_string_lossy().into_owned();
    let mut server = place.shaken(&["-C", &folder], json!({}));
    assert!(text(&server.call("list_dir", json!({}))).contains("here.txt"));
}

#[test]
fn a_server_that_cannot_start_says_why_and_is_gone() {
    let place = Place::new();
    let server = place.serve(&["-C", "no/such/folder"]);
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("no/such/folder") && said.contains("name a folder that exists"), "{said}");
}

const GREET: &str = "name: greet
description: Greets somebody.
binding: {command: [\"sh\", \"-c\", \"echo '{\\\"greeting\\\": \\\"hello\\\"}'\"]}
effects: []
input_schema:
  type: object
  properties:
    name: {type: string, description: Who is greeted.}
  required: [name]
output_schema:
  type: object
  properties:
    greeting: {type: string}
  required: [greeting]
";

#[test]
fn tools_of_definitions_are_served_with_what_they_promise() {
    let place = Place::new();
    place.put("config/haft/tools/greet.yaml", GREET);
    let tools = listed(&place, &[]);
    let greet = tools.iter().find(|tool| tool["name"] == "greet").expect("it is listed");
    assert_eq!(greet["outputSchema"]["required"], json!(["greeting"]));
    assert_eq!(greet["annotations"]["readOnlyHint"], true, "it declares no effect");
    let mut server = place.shaken(&["--yes"], json!({}));
    let result = server.call("greet", json!({ "name": "you" }));
    assert_eq!(result["structuredContent"], json!({ "greeting": "hello" }), "{result}");
    let said: Value = serde_json::from_str(text(&result)).expect("the text is the same");
    assert_eq!(said, result["structuredContent"]);
}

#[test]
fn every_result_of_a_built_in_tool_is_also_a_report_that_fits_its_schema() {
    let place = Place::new();
    let tools = listed(&place, &[]);
    let mut server = place.shaken(&["--yes"], json!({}));
    let edits = json!([{ "old_text": "one", "new_text": "two" }]);
    for (tool, arguments) in [
        ("read_file", json!({ "path": "src/main.rs" })),
        ("read_file", json!({ "path": "none.rs" })),
        ("write_file", json!({ "path": "a.txt", "content": "one\n" })),
        ("edit_file", json!({ "path": "a.txt", "edits": edits })),
        ("list_dir", json!({})),
        ("glob", json!({ "pattern": "**/*.rs" })),
        ("grep", json!({ "pattern": "main" })),
        ("bash", json!({ "command": "echo b > b.txt; exit 3" })),
        ("bash", json!({ "command": "seq 1 20000" })),
        ("jobs", json!({})),
        ("undo", json!({})),
        ("undo", json!({ "number": "none" })),
    ] {
        let schema = &tools.iter().find(|listed| listed["name"] == tool).expect("it is listed")["outputSchema"];
        let result = server.call(tool, arguments);
        let report = &result["structuredContent"];
        assert_eq!(report["text"], text(&result), "{tool}");
        assert_eq!((&report["status"], &report["did"]), (&record(&result)["status"], &record(&result)["did"]));
        for name in schema["required"].as_array().expect("a list") {
            assert!(report.get(name.as_str().expect("text")).is_some(), "{tool}: {report}");
        }
        for (name, value) in report.as_object().expect("an object") {
            let property = &schema["properties"][name];
            let fits = match property["type"].as_str() {
                Some("string") => value.is_string(),
                Some("integer") => value.is_i64(),
                Some("array") => value.is_array(),
                Some("object") => value.is_object(),
                Some(other) => panic!("nobody knows {other}"),
                None => property["enum"].as_array().expect("a list").contains(value),
            };
            assert!(fits, "{tool}: {name} is {value}");
        }
    }
}
