//! What servers ask during a call, and what they have beside tools.

use serde_json::{Value, json};

use crate::place::{Place, tool};

fn form() -> Value {
    let schema = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "title": "Your name" }, "size": { "type": "integer", "default": 3 },
    } });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "Who?", "requestedSchema": schema } })
}

fn asking(asks: Value) -> Value {
    json!({ "tools": [tool("go", "Goes.")], "behaviour": "asks", "asks": asks })
}

fn added(place: &Place, script: &Value) {
    let said = place.add("s", script);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn a_question_that_nobody_can_answer_is_declined_and_the_result_says_so() {
    let Some(place) = Place::new() else { return };
    for era in ["handshake", "stateless"] {
        let mut script = asking(form());
        script["era"] = era.into();
        added(&place, &script);
        let content = place.call("s__go")["content"].as_str().unwrap_or_default().to_owned();
        assert!(content.contains("\"action\":\"decline\""), "{era}: {content}");
        assert!(
            content.contains("[The MCP server \"s\" asked the user something, and haft declined:"),
            "{era}: {content}"
        );
        if era == "stateless" {
            // What the server wants back comes back exactly.
            assert!(content.contains("\"{\\\"a\\\": 1} ü\""), "{content}");
        }
    }
}

#[test]
fn a_person_fills_a_form_in_and_sends_it_with_the_last_yes() {
    let Some(place) = Place::new() else { return };
    added(&place, &asking(form()));
    let answers = [
        ("The MCP server \"s\" asks you 1 of 3", "\n"),
        ("2 of 3", "x\n"),
        ("3 of 3", "y\n"),
        ("\"name\" needs an answer.", "Ada\n"),
        ("2 of 3", "\n"),
        ("Send these answers to the server?", "y\n"),
    ];
    let shown = place.typed(&["call", "--yes=all", "s__go"], &answers);
    assert!(shown.contains(r#"{"action":"accept","content":{"name":"Ada","size":3}}"#), "{shown}");

    let url = json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "Pay", "url": "https://pay.example/x?y=z", "elicitationId": "1",
    } });
    added(&place, &asking(url));
    let shown = place.typed(&["call", "--yes=all", "s__go"], &[("https://pay.example/x?y=z", "n\n")]);
    assert!(shown.contains("an address of https://pay.example:") && shown.contains("decline"), "{shown}");
}

#[test]
fn a_flood_of_questions_ends_at_its_bound() {
    let Some(place) = Place::new() else { return };
    let mut script = asking(json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "Again", "url": "https://x.example/", "elicitationId": "1",
    } }));
    script["times"] = 200.into();
    added(&place, &script);
    let answers: Vec<(&str, &str)> = (0..10).map(|_| ("Type y or n.", "y\n")).collect();
    let shown = place.typed(&["call", "--yes=all", "s__go"], &answers);
    assert_eq!(shown.matches("\"accept\"").count(), 10, "{shown}");
    assert!(shown.contains("asked more than 10 times in one call"), "{shown}");
}

#[test]
fn the_model_of_the_user_is_asked_only_within_a_budget_that_the_user_set() {
    let Some(place) = Place::new() else { return };
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Why?" } });
    let mut script =
        asking(json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 10 } }));
    script["times"] = 5.into();
    added(&place, &script);
    let content = place.call("s__go")["content"].as_str().unwrap_or_default().to_owned();
    assert_eq!(content.matches("does not allow it (sampling").count(), 6, "{content}");
}

#[test]
fn a_request_that_cannot_be_read_is_answered_with_an_error() {
    let Some(place) = Place::new() else { return };
    added(&place, &asking(json!({ "method": "elicitation/create", "params": { "mode": "form", "message": 7 } })));
    let content = place.call("s__go")["content"].as_str().unwrap_or_default().to_owned();
    assert!(content.contains("-32602") || content.contains("-32601"), "{content}");
}

#[test]
fn a_storm_of_log_lines_costs_no_call_and_commands_no_terminal() {
    let Some(place) = Place::new() else { return };
    added(&place, &json!({ "tools": [tool("go", "Goes.")], "behaviour": "logs" }));
    let said = place.run(&["call", "--yes=all", "s__go"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains('\u{1b}') && !said.out.contains('\u{1b}'), "{}", said.err);
}

#[test]
fn resources_are_listed_and_read_by_two_tools_and_prompts_by_a_person() {
    let Some(place) = Place::new() else { return };
    let script = json!({
        "tools": [tool("go", "Goes.")],
        "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {} },
        "resources": [{ "uri": "mem://a", "name": "A\u{1b}[2J" }],
        "resourceTemplates": [{ "uriTemplate": "mem://{id}", "name": "any" }],
        "prompts": [{ "name": "review", "description": "Reviews.", "arguments": [{ "name": "branch", "required": true }] }],
        "resources/read": { "contents": [{ "uri": "mem://a", "text": "the text" }], "ttlMs": 0, "cacheScope": "private" },
        "prompts/get": { "messages": [{ "role": "user", "content": { "type": "text", "text": "Review main." } }] },
        "completion/complete": { "completion": { "values": ["main", "next"] } },
    });
    added(&place, &script);
    let listed = place.call("list_mcp_resources")["content"].as_str().unwrap_or_default().to_owned();
    assert_eq!(listed, "s  mem://a  A\\u{1b}[2J\ns  mem://{id} (fill in the braces)  any");
    let read = place.run(&["call", "--yes=all", "read_mcp_resource", "server=s", "uri=mem://a"]);
    assert!(read.out.contains("[mem://a]\nthe text"), "{}{}", read.out, read.err);

    let prompts = place.run(&["mcp", "prompt", "s"]);
    assert_eq!(prompts.out, "review branch=…  Reviews.\n", "{}", prompts.err);
    let missing = place.run(&["mcp", "prompt", "s", "review"]);
    assert!(missing.code == 1 && missing.err.contains("the server suggests: main, next"), "{}", missing.err);
    let prompt = place.run(&["mcp", "prompt", "s", "review", "branch=main"]);
    assert_eq!(prompt.out, "Review main.\n", "{}", prompt.err);
    let doctor = place.run(&["mcp", "doctor", "s"]);
    assert!(
        doctor.out.contains("prompts   1: review") && doctor.out.contains("resources 1, and 1 patterns"),
        "{}",
        doctor.out
    );
}
