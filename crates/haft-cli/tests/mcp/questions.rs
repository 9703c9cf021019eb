//! Who approves: the person behind the client, in the way of its era, or no person at all.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Place, Server, code, record, text};
use crate::processes::until;

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn write() -> Value {
    json!({ "path": "a.txt", "content": "yes\n" })
}

fn say(server: &mut Server, question: &Value, result: Value) {
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

fn accept(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

/// Returns the answers that a question offers.
fn offered(params: &Value) -> Vec<String> {
    let answer = &params["requestedSchema"]["properties"]["answer"];
    let list = answer["oneOf"].as_array().map(|list| list.iter().map(|one| one["const"].clone()).collect());
    let list: Vec<Value> = list.or_else(|| answer["enum"].as_array().cloned()).unwrap_or_else(|| panic!("{params}"));
    list.iter().map(|answer| answer.as_str().expect("text").to_owned()).collect()
}

#[test]
fn a_yes_of_the_person_lets_the_call_run() {
    for version in ["2025-06-18", "2025-11-25"] {
        let place = Place::new();
        let mut server = place.serve(&[]);
        server.shake_hands(version, json!({ "elicitation": {} }));
        let id = server.begin_call("write_file", write());
        let question = server.told("elicitation/create");
        let words = question["params"]["message"].as_str().expect("it says what is asked");
        assert!(words.contains("create a.txt") && words.contains("+ yes") && words.contains("rule"), "{words}");
        assert_eq!(offered(&question["params"]).first().map(String::as_str), Some("yes"));
        assert_eq!(place.get("ws/a.txt"), None, "nothing happens before the answer");
        say(&mut server, &question, accept("yes"));
        let answer = server.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert_eq!(place.get("ws/a.txt").as_deref(), Some("yes\n"));
    }
}

#[test]
fn anything_but_a_clear_yes_is_a_no() {
    let place = Place::new();
    let mut server = place.shaken(&[], forms());
    let answers = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "answer": true } }),
        accept("YES"),
        accept("yes-99"),
        accept("yes-0"),
        accept("no"),
        json!({ "action": "perhaps" }),
        json!({}),
        json!([]),
        json!(7),
    ];
    for said in answers {
        let id = server.begin_call("write_file", write());
        let question = server.told("elicitation/create");
        say(&mut server, &question, said.clone());
        let answer = server.answer(id);
        assert_eq!(record(&answer["result"])["status"], "refused", "{said}: {answer}");
        assert_eq!(place.get("ws/a.txt"), None, "{said}");
    }
    let id = server.begin_call("write_file", write());
    let question = server.told("elicitation/create");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "no screen" } }));
    let answer = server.answer(id);
    assert_eq!(record(&answer["result"])["error"]["kind"], "needs_approval", "{answer}");
    assert_eq!(place.get("ws/a.txt"), None);
}

#[test]
fn a_word_of_the_person_reaches_the_model() {
    let mut server = Place::new().shaken(&[], forms());
    let id = server.begin_call("write_file", write());
    let question = server.told("elicitation/create");
    let content = json!({ "answer": "no", "note": "use the other file" });
    say(&mut server, &question, json!({ "action": "accept", "content": content }));
    let answer = server.answer(id);
    assert!(text(&answer["result"]).contains("use the other file"), "{answer}");
    assert_eq!(record(&answer["result"])["error"]["kind"], "declined");
}

#[test]
fn a_yes_for_longer_answers_the_next_question_too() {
    let mut server = Place::new().shaken(&[], forms());
    let id = server.begin_call("write_file", write());
    let question = server.told("elicitation/create");
    let widest = offered(&question["params"]).into_iter().rfind(|answer| answer.starts_with("yes-")).expect("an offer");
    say(&mut server, &question, accept(&widest));
    server.answer(id);
    let result = server.call("write_file", json!({ "path": "b.txt", "content": "x" }));
    assert_eq!(result["isError"], false, "{result}");
    assert!(server.heard.is_empty(), "{:?}", server.heard);
}

#[test]
fn dangerous_things_are_asked_each_time_even_with_yes() {
    let mut server = Place::new().shaken(&["--yes"], forms());
    let id = server.begin_call("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" }));
    let question = server.told("elicitation/create");
    assert_eq!(offered(&question["params"]), ["yes", "no"], "{question}");
    say(&mut server, &question, accept("no"));
    assert_eq!(record(&server.answer(id)["result"])["status"], "refused");
}

#[test]
fn a_client_that_cannot_ask_is_refused_at_once_with_the_rule_that_would_allow_it() {
    let url_only = json!({ "elicitation": { "url": {} } });
    for mut server in [
        Place::new().shaken(&[], json!({})),
        Place::new().shaken(&[], url_only.clone()),
        Place::new().modern(&[], json!({})),
        Place::new().modern(&[], url_only),
    ] {
        let began = Instant::now();
        let refused = server.call("bash", json!({ "command": "cargo build" }));
        assert!(began.elapsed() < Duration::from_secs(10));
        assert_eq!((&refused["isError"], &record(&refused)["error"]["kind"]), (&json!(true), &json!("needs_approval")));
        assert!(text(&refused).contains("Next: ") && text(&refused).contains("--yes"), "{refused}");
        let rule = refused["content"][1]["text"].as_str().expect("it is for the user");
        assert!(rule.contains("[[rule]]") && rule.contains("cargo build"), "{rule}");
        assert_eq!(refused["content"][1]["annotations"]["audience"], json!(["user"]));
    }
}

#[test]
fn a_question_is_taken_back_when_its_call_is_cancelled() {
    let place = Place::new();
    let mut server = place.shaken(&[], forms());
    let id = server.begin_call("write_file", write());
    let question = server.told("elicitation/create");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    let taken_back = server.told("notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    // An answer that comes too late changes nothing.
    say(&mut server, &question, accept("yes"));
    server.assert_well();
    assert_eq!(place.get("ws/a.txt"), None);
}

#[test]
fn questions_come_one_at_a_time_and_other_calls_go_on() {
    let mut server = Place::new().shaken(&[], forms());
    let first = server.begin_call("write_file", json!({ "path": "1.txt", "content": "x" }));
    let question = server.told("elicitation/create");
    let second = server.begin_call("write_file", json!({ "path": "2.txt", "content": "x" }));
    assert!(text(&server.call("read_file", json!({ "path": "src/main.rs" }))).contains("main"));
    assert!(server.heard.is_empty(), "{:?}", server.heard);
    say(&mut server, &question, accept("yes"));
    server.answer(first);
    let question = server.told("elicitation/create");
    say(&mut server, &question, accept("yes"));
    assert_eq!(server.answer(second)["result"]["isError"], false);
}

#[test]
fn the_end_of_the_input_ends_an_open_question() {
    let place = Place::new();
    let mut server = place.shaken(&[], forms());
    server.begin_call("write_file", write());
    server.told("elicitation/create");
    assert!(server.end().0.success());
    assert_eq!(place.get("ws/a.txt"), None);
}

/// Sends a call again with an answer and a state.
fn again(server: &mut Server, arguments: &Value, (state, answer): (&Value, Value)) -> Value {
    let params = json!({
        "name": "write_file", "arguments": arguments, "requestState": state, "inputResponses": { "approval": answer },
    });
    server.request("tools/call", params)
}

fn asked(server: &mut Server, arguments: &Value) -> Value {
    let result = server.call("write_file", arguments.clone());
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().is_some_and(|words| words.contains("a.txt")), "{question}");
    result["requestState"].clone()
}

#[test]
fn in_the_new_era_a_question_is_a_result_and_the_call_comes_again_with_the_answer() {
    let place = Place::new();
    let mut server = place.modern(&[], forms());
    let state = asked(&mut server, &write());
    assert_eq!(place.get("ws/a.txt"), None);
    let answer = again(&mut server, &write(), (&state, accept("yes")));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("yes\n"));
    let state = asked(&mut server, &json!({ "path": "a.txt", "content": "2", "write_mode": "overwrite" }));
    let other = json!({ "path": "a.txt", "content": "2", "write_mode": "overwrite" });
    let answer = again(&mut server, &other, (&state, json!({ "action": "decline" })));
    assert_eq!(record(&answer["result"])["error"]["kind"], "declined", "{answer}");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("yes\n"));
}

#[test]
fn a_state_of_somebody_else_or_for_another_call_is_refused() {
    let place = Place::new();
    let mut server = place.modern(&[], forms());
    let state = asked(&mut server, &write());
    let other = json!({ "path": "b.txt", "content": "yes\n" });
    assert_eq!(code(&again(&mut server, &other, (&state, accept("yes")))), -32602);
    let text = state.as_str().expect("text");
    for forged in [format!("{text}A"), text[1..].to_owned(), text.replace('.', "-"), String::new(), "x".repeat(100_000)]
    {
        assert_eq!(code(&again(&mut server, &write(), (&json!(forged), accept("yes")))), -32602, "{forged:.40}");
    }
    let foreign = asked(&mut Place::new().modern(&[], forms()), &write());
    assert_eq!(code(&again(&mut server, &write(), (&foreign, accept("yes")))), -32602);
    assert_eq!((place.get("ws/a.txt"), place.get("ws/b.txt")), (None, None));
    assert_eq!(again(&mut server, &write(), (&state, accept("yes")))["result"]["isError"], false);
}

#[test]
fn an_answer_counts_once_and_only_for_what_was_shown() {
    let place = Place::new();
    place.put("ws/a.txt", "one\n");
    let mut server = place.modern(&[], forms());
    let arguments = json!({ "path": "a.txt", "content": "two\n", "write_mode": "overwrite" });
    let state = asked(&mut server, &arguments);
    // What was shown is not what would happen now.
    place.put("ws/a.txt", "another\n");
    let answer = again(&mut server, &arguments, (&state, accept("yes")));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("another\n"));
    let state = &answer["result"]["requestState"];
    assert_eq!(again(&mut server, &arguments, (state, accept("yes")))["result"]["isError"], false);
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("two\n"));
    place.put("ws/a.txt", "another\n");
    let answer = again(&mut server, &arguments, (state, accept("yes")));
    assert_eq!(answer["result"]["resultType"], "input_required", "an answer serves once: {answer}");
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("another\n"));
}

#[test]
fn a_call_that_comes_again_without_an_answer_is_asked_again() {
    let place = Place::new();
    let mut server = place.modern(&[], forms());
    let state = asked(&mut server, &write());
    for responses in [json!({}), json!({ "other": accept("yes") }), json!({ "approval": 7 })] {
        let params = json!({
            "name": "write_file", "arguments": write(), "requestState": state, "inputResponses": responses,
        });
        let answer = server.request("tools/call", params);
        assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    }
    let params = json!({ "name": "write_file", "arguments": write(), "inputResponses": { "approval": accept("yes") } });
    let answer = server.request("tools/call", params);
    assert_eq!(answer["result"]["resultType"], "input_required", "an answer to nothing: {answer}");
    until("nothing was written", || place.get("ws/a.txt").is_none());
}

/// Returns a call whose command connects to a host that its words do not name, and counts its runs in `ran.txt`.
fn fetching(place: &Place) -> Value {
    let request = "GET / HTTP/1.0\\r\\nHost: api.invalid\\r\\n\\r\\n";
    let script =
        format!("echo run >> ran.txt; exec 3<>/dev/tcp/api.invalid/80; printf '{request}' >&3; cat <&3; exit 1");
    place.put("ws/fetch.sh", &script);
    json!({ "command": "bash fetch.sh" })
}

/// Sends a call of bash again with an answer to its question.
fn answered(server: &mut Server, arguments: &Value, (asked, answer): (&Value, &str)) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let params = json!({
        "name": "bash", "arguments": arguments, "requestState": asked["requestState"],
        "inputResponses": { "approval": accept(answer) },
    });
    server.request("tools/call", params)["result"].clone()
}

#[test]
fn in_the_new_era_a_command_that_wants_a_connection_runs_once_and_the_host_is_asked_about_before_the_next_run() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let mut server = place.modern(&[], forms());
    let arguments = fetching(&place);
    let runs = || place.get("ws/ran.txt").unwrap_or_default().lines().count();

    let asked = server.call("bash", arguments.clone());
    let result = answered(&mut server, &arguments, (&asked, "yes"));
    assert!(text(&result).contains("[network] allow = [\"api.invalid\"]"), "{result}");
    assert_eq!(runs(), 1);

    let asked = server.call("bash", arguments.clone());
    let question = &asked["inputRequests"]["approval"]["params"];
    assert!(question["message"].as_str().is_some_and(|words| words.contains("api.invalid (port 80)")), "{asked}");
    assert!(!offered(question).contains(&"yes".to_owned()), "nothing waits that it could hold for: {asked}");
    assert_eq!(runs(), 1, "it is asked before anything runs");
    let asked = answered(&mut server, &arguments, (&asked, "yes-1"));
    let result = answered(&mut server, &arguments, (&asked, "yes"));
    assert!(text(&result).contains("there is no host of this name"), "it was tried: {result}");
    assert_eq!(runs(), 2);
}

#[test]
fn in_the_new_era_a_no_to_a_host_refuses_its_connection_in_the_next_run() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let mut server = place.modern(&[], forms());
    let arguments = fetching(&place);
    let asked = server.call("bash", arguments.clone());
    answered(&mut server, &arguments, (&asked, "yes"));
    let asked = server.call("bash", arguments.clone());
    let asked = answered(&mut server, &arguments, (&asked, "no"));
    let result = answered(&mut server, &arguments, (&asked, "yes"));
    assert!(text(&result).contains("The user said no"), "{result}");
}

#[test]
fn an_answer_that_holds_always_is_written_to_the_settings_of_the_user() {
    let place = Place::new();
    if !place.is_full() {
        return;
    }
    let mut server = place.shaken(&[], forms());
    let id = server.begin_call("bash", fetching(&place));
    let question = server.told("elicitation/create");
    say(&mut server, &question, accept("yes"));
    let question = server.told("elicitation/create");
    assert!(offered(&question["params"]).contains(&"always".to_owned()), "{question}");
    assert!(question.to_string().contains(r#"adds \"api.invalid\" to [network] allow"#), "{question}");
    say(&mut server, &question, accept("always"));
    let result = server.answer(id);
    assert!(text(&result["result"]).contains("there is no host of this name"), "it was tried: {result}");
    assert_eq!(place.get("config/haft/config.toml").as_deref(), Some("[network]\nallow = [\"api.invalid\"]\n"));
    // It is none where no setting could allow it.
    let id = server.begin_call("write_file", write());
    let question = server.told("elicitation/create");
    assert!(!offered(&question["params"]).contains(&"always".to_owned()), "{question}");
    say(&mut server, &question, accept("always"));
    assert_eq!(record(&server.answer(id)["result"])["status"], "refused");
}

fn questions() -> Value {
    let options = json!([{ "label": "CSV", "description": "rows" }, { "label": "JSON", "description": "trees" }]);
    json!({ "questions": [
        { "question": "Which?", "header": "Format", "options": options, "multi_select": true },
        { "question": "Sure?", "type": "yesno" },
    ] })
}

#[test]
fn questions_of_the_model_are_a_form_in_every_era() {
    for version in ["2025-06-18", "2025-11-25"] {
        let place = Place::new();
        let mut server = place.serve(&[]);
        server.shake_hands(version, json!({ "elicitation": {} }));
        let id = server.begin_call("ask_user", questions());
        let question = server.told("elicitation/create");
        let fields = &question["params"]["requestedSchema"]["properties"];
        let is_old = version == "2025-06-18";
        assert_eq!(fields["answer_1_2"]["type"] == "boolean", is_old, "{question}");
        let chosen = if is_old {
            json!({ "answer_1_2": true, "answer_2": false })
        } else {
            json!({ "answer_1": ["JSON"], "answer_2": false })
        };
        say(&mut server, &question, json!({ "action": "accept", "content": chosen }));
        let answer = server.answer(id);
        assert_eq!(text(&answer["result"]), "Which?\n→ JSON\nSure?\n→ no", "{answer}");
        let id = server.begin_call("ask_user", questions());
        let question = server.told("elicitation/create");
        say(&mut server, &question, json!({ "action": "decline" }));
        let answer = server.answer(id);
        assert_eq!(answer["result"]["isError"], false, "a dismissed question is no error: {answer}");
        assert!(text(&answer["result"]).starts_with("The user dismissed"), "{answer}");
    }
}

#[test]
fn in_the_new_era_questions_of_the_model_are_a_result_and_the_call_comes_again() {
    let place = Place::new();
    let mut server = place.modern(&[], forms());
    let result = server.call("ask_user", questions());
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert_eq!(result["inputRequests"]["approval"]["method"], "elicitation/create", "{result}");
    let answer = json!({ "action": "accept", "content": { "answer_1": ["CSV", "JSON"], "answer_2": true } });
    let params = json!({
        "name": "ask_user", "arguments": questions(), "requestState": result["requestState"], "inputResponses": { "approval": answer },
    });
    let answer = server.request("tools/call", params);
    assert_eq!(text(&answer["result"]), "Which?\n→ CSV, JSON\nSure?\n→ yes", "{answer}");
}

#[test]
fn a_client_without_forms_gets_a_clear_refusal_for_a_question_of_the_model() {
    let place = Place::new();
    let mut server = place.shaken(&[], json!({}));
    let result = server.call("ask_user", questions());
    assert_eq!(record(&result)["error"]["kind"], "needs_approval", "{result}");
    assert!(text(&result).contains("this client cannot show questions"), "{result}");
}
