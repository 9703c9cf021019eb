//! Tests the scripted model with a client that reads bytes.

#![expect(clippy::disallowed_types, reason = "the client of a server on loopback")]

use std::io::{Read, Write};
use std::net::TcpStream;

use haft_model::wire::Wire;
use serde_json::{Value, json};

use super::{
    Expect, Fault, ModelScript, RetryAfter, ScriptedModel, ScriptedPart, ScriptedStopReason, ScriptedTurn, StatusFault,
};

/// A response, byte for byte, as far as it was read before the connection ended.
struct RawHttpResponse {
    status: Option<u16>,
    head: String,
    body: String,
    /// Whether the answer came to its end.
    is_whole: bool,
}

fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "/v1/messages",
        Wire::Chat => "/v1/chat/completions",
        Wire::Responses => "/v1/responses",
        Wire::Gemini => "/v1beta/models/scripted:streamGenerateContent?alt=sse",
    }
}

/// The request that begins a conversation.
fn begins(wire: Wire) -> Value {
    match wire {
        Wire::Anthropic => {
            json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "go"}]})
        }
        Wire::Chat => json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "go"}]}),
        Wire::Responses => json!({"model": "m", "stream": true, "input": [{"role": "user", "content": "go"}]}),
        Wire::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}]}),
    }
}

fn send(model: &ScriptedModel, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(model.address).expect("the server listens");
    stream.write_all(bytes).expect("the server reads");
    stream
}

fn post(path: &str, body: &str) -> Vec<u8> {
    format!("POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn rest(mut stream: TcpStream) -> RawHttpResponse {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the server closes in order");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let is_chunked = head.contains("transfer-encoding: chunked");
    let is_whole = if is_chunked { body.ends_with("0\r\n\r\n") } else { !head.is_empty() };
    RawHttpResponse { status, head: head.into(), body: body.into(), is_whole }
}

fn ask(model: &ScriptedModel, wire: Wire, body: &Value) -> RawHttpResponse {
    rest(send(model, &post(path(wire), &body.to_string())))
}

fn events(answered: &RawHttpResponse) -> usize {
    answered.body.matches("data: ").count()
}

#[test]
fn a_reply_comes_in_pieces_and_ends_as_the_provider_ends_it() {
    for (wire, end) in [
        (Wire::Anthropic, "event: message_stop"),
        (Wire::Chat, "data: [DONE]"),
        (Wire::Responses, "event: response.completed"),
        (Wire::Gemini, r#""finishReason":"STOP""#),
    ] {
        let model =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::text("One text that is longer than one piece.")]));

        let answered = ask(&model, wire, &begins(wire));

        assert_eq!((answered.status, answered.is_whole), (Some(200), true), "{wire:?}");
        assert!(answered.body.contains("One text that is") && answered.body.contains(end), "{}", answered.body);
        assert!(!answered.body.contains("One text that is longer than") || wire == Wire::Responses, "{wire:?}");
        model.assert_told();
    }
}

#[test]
fn each_fault_is_met_once_and_then_the_reply_comes() {
    for wire in Wire::ALL {
        for fault in Fault::one_of_each() {
            let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]).fault(0, fault.clone()));

            let faulty = ask(&model, wire, &begins(wire));
            let whole = ask(&model, wire, &begins(wire));

            let is_right = match &fault {
                Fault::Status(status) => faulty.status == Some(status.code) && faulty.body.contains("error"),
                Fault::CutBeforeHeaders => faulty.status.is_none(),
                Fault::CutAfterBytes(_) | Fault::CutAfterEvents(_) => faulty.status == Some(200) && !faulty.is_whole,
                Fault::EndsAfterEvents(count) => faulty.is_whole && events(&faulty) == *count,
                Fault::Empty => faulty.status == Some(200) && faulty.body.is_empty(),
                Fault::Page => faulty.head.contains("text/html"),
                Fault::GarbageAfterEvents(_) => faulty.is_whole && faulty.body.contains("garbage"),
                Fault::BrokenEvent(_) => faulty.is_whole && events(&faulty) == events(&whole),
                Fault::ErrorAfterEvents(count) => faulty.body.contains("error") && events(&faulty) == count + 1,
                Fault::TooLong
                | Fault::NotStreamed
                | Fault::HangBeforeHeaders
                | Fault::HangAfterEvents(_)
                | Fault::Slow(_) => false,
            };
            assert!(is_right, "{wire:?}, {fault:?}: {}\n{}", faulty.head, faulty.body);
            assert_eq!((whole.status, whole.is_whole), (Some(200), true), "{wire:?}, {fault:?}");
            model.assert_told();
        }
    }
}

#[test]
fn a_cut_comes_after_exactly_so_many_bytes() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done").fault(Fault::CutAfterBytes(10))]));

    let answered = ask(&model, Wire::Chat, &begins(Wire::Chat));

    assert_eq!(answered.body, "a\r\ndata: {\"id\r\n");
}

#[test]
fn retry_after_is_a_number_or_a_date_and_other_headers_come_along() {
    let limited = StatusFault {
        code: 429,
        retry_after: Some(RetryAfter::Seconds(7)),
        headers: [("x-ratelimit-reset".into(), "3s".into())].into(),
        message: Some("slower".into()),
    };
    let turn = ScriptedTurn::text("done").fault(Fault::Status(limited)).fault(Fault::limited(RetryAfter::Date(0)));
    let model = ScriptedModel::start(ModelScript::of([turn]));

    let number = ask(&model, Wire::Chat, &begins(Wire::Chat));
    let date = ask(&model, Wire::Chat, &begins(Wire::Chat));

    assert!(number.head.contains("retry-after: 7") && number.head.contains("x-ratelimit-reset: 3s"), "{}", number.head);
    assert!(number.body.contains("slower"), "{}", number.body);
    assert!(date.head.contains(" GMT"), "{}", date.head);
}

#[test]
fn who_hangs_stays_until_the_client_goes() {
    for fault in [Fault::HangBeforeHeaders, Fault::HangAfterEvents(1)] {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done").fault(fault)]));

        let stream = send(&model, &post(path(Wire::Chat), &begins(Wire::Chat).to_string()));
        model.wait_until_asked(1);
        drop(stream);

        let whole = ask(&model, Wire::Chat, &begins(Wire::Chat));
        assert!(whole.body.contains("[DONE]"), "{}", whole.body);
    }
}

#[test]
fn a_slow_reply_is_whole_and_each_of_its_events_takes_its_time() {
    for wire in Wire::ALL {
        let turn = ScriptedTurn::text("One text that is longer than one piece.");
        let slow = turn.clone().fault(Fault::status(500)).fault(Fault::Slow(3));
        let model = ScriptedModel::start(ModelScript::of([turn, slow]));

        let at_once = ask(&model, wire, &begins(wire));
        let broken = ask(&model, wire, &begins(wire));
        let began = std::time::Instant::now();
        let slowly = ask(&model, wire, &begins(wire));
        let took = began.elapsed();

        assert_eq!((broken.status, slowly.is_whole), (Some(500), true), "{wire:?}");
        assert_eq!(events(&slowly), events(&at_once), "{wire:?}");
        let least = std::time::Duration::from_millis(3) * u32::try_from(events(&slowly)).expect("they are few");
        assert!(took >= least, "{wire:?}: {took:?} of {least:?}");
        model.assert_told();
    }
}

#[test]
fn a_held_reply_comes_event_by_event_as_they_are_released() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done").held()]));
    let mut stream = send(&model, &post(path(Wire::Anthropic), &begins(Wire::Anthropic).to_string()));
    model.wait_until_asked(1);

    model.release(1);
    let mut bytes = vec![0; 4096];
    let mut first = String::new();
    while !first.contains("message_start") {
        let count = stream.read(&mut bytes).expect("an event comes");
        first.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    model.release_all();
    let mut others = String::new();
    stream.read_to_string(&mut others).expect("the others come");

    assert!(!first.contains("ping"), "{first}");
    assert!(others.contains("ping") && others.contains("message_stop"), "{others}");
}

#[test]
fn the_script_goes_where_the_request_leads_it() {
    let turn = ScriptedTurn::text("yes").expect(Expect::user_says("stay")).otherwise(ScriptedTurn::text("no"));
    let model = ScriptedModel::start(ModelScript::of([turn.clone(), turn]));

    let other = ask(&model, Wire::Chat, &begins(Wire::Chat));
    let stay = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "stay"}]});
    let expected = ask(&model, Wire::Chat, &stay);

    assert!(other.body.contains(r#""no""#) && expected.body.contains(r#""yes""#));
}

#[test]
fn what_does_not_fit_is_answered_with_the_reason_and_told_to_the_test() {
    let model =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("x").expect(Expect::tool_result_contains("42"))]));

    let answered = ask(&model, Wire::Anthropic, &begins(Wire::Anthropic));

    assert_eq!(answered.status, Some(400));
    let misfits = model.take_misfits();
    let [misfit] = &misfits[..] else { panic!("there is one, not {misfits:?}") };
    assert_eq!(
        misfit,
        r#"request 0 does not fit the script: turn 0 of 1: a result should contain "42", but the last ones are []"#
    );
    assert!(answered.body.contains("does not fit the script"));
    assert_eq!(model.turns_left(), 1);
}

#[test]
#[should_panic(expected = "all 1 turns of the script have been used")]
fn a_request_too_many_makes_the_test_fail() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]));

    ask(&model, Wire::Chat, &begins(Wire::Chat));
    ask(&model, Wire::Chat, &begins(Wire::Chat));
}

#[test]
fn a_call_without_its_result_is_taken_in_no_form() {
    let unanswered = [
        (
            Wire::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
                {"role": "user", "content": "and?"},
            ]}),
        ),
        (
            Wire::Chat,
            json!({"model": "m", "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": ""}}]},
                {"role": "tool", "tool_call_id": "2", "content": "x"},
            ]}),
        ),
        (
            Wire::Responses,
            json!({"model": "m", "input": [
                {"role": "user", "content": "go"},
                {"type": "function_call", "call_id": "1", "name": "a", "arguments": ""},
            ]}),
        ),
        (
            Wire::Gemini,
            json!({"contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "a"}}, {"functionCall": {"name": "a"}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}]},
            ]}),
        ),
    ];
    for (wire, body) in unanswered {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]));

        let answered = ask(&model, wire, &body);

        assert_eq!(answered.status, Some(400), "{wire:?}");
        let misfits = model.take_misfits().concat();
        assert!(misfits.contains("no provider would take this history"), "{misfits}");
    }
}

#[test]
fn results_come_back_with_the_thoughts_that_led_to_the_calls() {
    let turns = || [ScriptedTurn::thinking("hm").and_call("a", json!({})), ScriptedTurn::text("done")];
    let reply = |thought: &[Value]| {
        let call = json!({"type": "tool_use", "id": "call_0_1", "name": "a", "input": {}});
        let content = [thought, &[call]].concat();
        json!({"model": "m", "max_tokens": 9, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": content},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0_1", "content": "x"}]},
        ]})
    };
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": super::tongue::signature("hm")});
    let other = json!({"type": "thinking", "thinking": "hmm", "signature": super::tongue::signature("hm")});
    for (thoughts, status) in [(vec![thought], 200), (vec![other], 400), (vec![], 400)] {
        let model = ScriptedModel::start(ModelScript::of(turns()));
        ask(&model, Wire::Anthropic, &begins(Wire::Anthropic));

        let answered = ask(&model, Wire::Anthropic, &reply(&thoughts));

        assert_eq!(answered.status, Some(status), "{thoughts:?}: {}", answered.body);
        model.take_misfits();
    }
}

#[test]
fn a_reply_that_ends_with_a_thought_is_not_taken_by_those_who_refuse_it() {
    let sign = super::tongue::signature("hm");
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": sign});
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [{"text": "hm"}], "encrypted_content": sign});
    let bodies = [
        (
            Wire::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": [
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": [thought]},
                {"role": "user", "content": "and?"},
            ]}),
            "cannot be `thinking`",
        ),
        (
            Wire::Responses,
            json!({"model": "m", "input": [{"role": "user", "content": "go"}, reasoning, {"role": "user", "content": "and?"}]}),
            "without what follows it",
        ),
    ];
    for (wire, body, why) in bodies {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]));

        let answered = ask(&model, wire, &body);

        assert_eq!(answered.status, Some(400), "{wire:?}");
        assert!(model.take_misfits().concat().contains(why), "{}", answered.body);
    }
}

#[test]
fn several_requests_go_over_one_connection_with_bodies_in_chunks_too() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("one"), ScriptedTurn::text("two")]));
    let body = begins(Wire::Chat).to_string();
    let (front, back) = body.split_at(9);
    let chunked = format!(
        "POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{front}\r\n{:x}\r\n{back}\r\n0\r\n\r\n",
        back.len()
    );
    let both = [chunked.into_bytes(), post("/chat/completions", &body)].concat();

    let answered = rest(send(&model, &both));

    assert!(answered.body.contains(r#""one""#) && answered.body.contains(r#""two""#), "{}", answered.body);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn what_is_no_http_and_what_nobody_speaks_is_refused() {
    let model = ScriptedModel::start(ModelScript::of([]));

    let noise = rest(send(&model, b"\x16\x03\x01 hello\r\n\r\n"));
    let endless = rest(send(&model, b"POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n"));
    let elsewhere = rest(send(&model, &post("/v1/embeddings", "{}")));
    let no_json = rest(send(&model, &post("/v1/messages", "{")));

    let statuses = [noise.status, endless.status, elsewhere.status, no_json.status];
    assert_eq!(statuses, [Some(400), Some(400), Some(404), Some(400)]);
    assert_eq!(model.take_misfits().len(), 2);
}

#[test]
fn others_read_through_http_what_was_asked_and_how_it_went() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]));
    ask(&model, Wire::Gemini, &begins(Wire::Gemini));
    let look = |path: &str| {
        let answered = rest(send(&model, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()));
        serde_json::from_str::<Value>(&answered.body).expect("it is JSON")
    };

    let requests = look("/script/requests");

    assert_eq!(requests[0]["wire"], "gemini");
    assert_eq!(requests[0]["body"], begins(Wire::Gemini));
    assert!(requests[0]["answered_us"].as_u64() >= requests[0]["came_us"].as_u64());
    assert_eq!(look("/script/verdict"), json!({"ok": true, "turns_left": 0, "misfits": []}));
    assert_eq!(look("/v1/models")["data"][0]["id"], ScriptedModel::NAME);
}

#[test]
fn a_script_is_read_from_yaml() {
    let script = ModelScript::from_yaml(
        "turns:\n- faults: [cut_before_headers, {status: {code: 429, retry_after: {date: 3}}}, {cut_after_events: 2}]\n  \
         reply:\n  - text: hi\n  - call: {name: a, arguments: {b: 1, a: 2}}\n  - call: {name: b, arguments: '{\"x\": '}\n  \
         stop: length\n  expect: {user_says: go, tool_results: 0}\n",
    );

    let script = script.expect("it is right");
    let turn = &script.turns[0];
    let limited = Fault::limited(RetryAfter::Date(3));
    assert_eq!(turn.faults, [Fault::CutBeforeHeaders, limited, Fault::CutAfterEvents(2)]);
    let arguments: Vec<&str> = turn.reply.iter().map(ScriptedPart::text).collect();
    assert_eq!(arguments, ["hi", r#"{"b":1,"a":2}"#, r#"{"x": "#]);
    assert_eq!((turn.stop, turn.expect.tool_results), (Some(ScriptedStopReason::Length), Some(0)));
}

#[test]
fn a_script_that_is_wrong_says_where() {
    let wrong = |text: &str| ModelScript::from_yaml(text).expect_err("it is wrong");

    assert!(wrong("turns:\n- replies: []\n").contains("replies"));
    assert!(wrong("turns: [{faults: [explode]}]").contains("explode"));
    assert!(wrong("turns: []\npiece_chars: 0\n").contains("at least 1"));
    assert!(wrong("turns: [{faults: [{slow: 5}, empty]}]").contains("put `slow` last"));
    assert!(wrong("turns: [{otherwise: {faults: [{slow: 5}, {slow: 5}]}}]").contains("put `slow` last"));
}

#[test]
fn the_scripts_of_the_guide_are_right() {
    let guide = include_str!("../../../../../docs/guide/scripted-model.md");
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());

    let scripts: Vec<ModelScript> = blocks.map(|block| ModelScript::from_yaml(block).expect(block)).collect();

    assert_eq!(scripts.iter().map(|script| script.turns.len()).collect::<Vec<_>>(), [2, 3]);
}

#[tokio::test]
async fn a_test_that_is_asynchronous_starts_it_and_waits_for_requests() {
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("done")]));
    let stream = send(&model, &post(path(Wire::Chat), &begins(Wire::Chat).to_string()));

    model.when_asked(1).await;

    assert!(rest(stream).body.contains("done"));
}
