//! Tests the results of streams in this format, and its requests.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Gemini;
use crate::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage};
use crate::form::WireFormat;
use crate::lower::{ProviderDialect, ToolOffer, lower_all};
use crate::provider::ModelRequest;
use crate::reading::written_streams::{StreamFixture, compare, streams};
use crate::wire::Wire;

#[test]
fn streams_become_replies_and_the_next_request() {
    for stream in streams(Wire::Gemini) {
        compare(Wire::Gemini, &stream.name, &stream.said(&Gemini, ProviderDialect::Gemini));
    }
}

#[test]
fn a_stream_may_end_anywhere_and_the_next_request_is_whole() {
    for stream in streams(Wire::Gemini) {
        stream.check_every_end(&Gemini, ProviderDialect::Gemini, |request| check_pairs(&stream.name, request));
    }
}

/// Behind a content with calls stands one with as many answers, in the same order.
fn check_pairs(name: &str, request: &Value) {
    let mut open: Vec<(Value, Value)> = Vec::new();
    for content in request["contents"].as_array().expect("there are contents") {
        let parts = content["parts"].as_array().expect("there are parts");
        assert!(!parts.is_empty(), "{name}: {request}");
        let of = |member: &str| -> Vec<(Value, Value)> {
            let held = parts.iter().filter_map(|part| part.get(member));
            held.map(|held| (held["id"].clone(), held["name"].clone())).collect()
        };
        assert_eq!(of("functionResponse"), open, "{name}: {request}");
        open = of("functionCall");
    }
    assert!(open.is_empty(), "{name}: {request}");
}

#[test]
fn a_conversation_with_another_model_has_signatures_where_they_are_asked_for() {
    let schema = json!({ "type": "object" });
    let bash = ToolOffer { name: "bash", title: None, description: "", input_schema: &schema, read_only: None };
    let tools = lower_all(&[bash], ProviderDialect::Gemini);
    let call = |id: &str, arguments: &str| {
        ReplyPart::Call(ModelToolCall {
            id: id.to_owned(),
            name: "bash".to_owned(),
            arguments: arguments.to_owned(),
            is_cut: false,
        })
    };
    let json = serde_json::value::to_raw_value(&json!({ "role": "assistant" })).expect("it is JSON");
    let native = Native { wire: Wire::Chat, model: "another".to_owned(), json };
    let parts = vec![
        ReplyPart::Thinking("Hm.".to_owned()),
        ReplyPart::Text("Two.".to_owned()),
        call("a", "{\"n\":1}"),
        call("b", "{oops"),
    ];
    let answer = |id: &str, is_error: bool| ToolAnswer {
        call: id.to_owned(),
        name: "bash".to_owned(),
        text: "said".to_owned(),
        is_error,
        images: Vec::new(),
    };
    let messages = [
        Message::user("Do it."),
        Message::Model(Reply {
            parts,
            native: native.clone(),
            stop: StopReason::Calls,
            usage: Usage::default(),
            why_cut: None,
        }),
        Message::Tools { answers: vec![answer("a", false), answer("b", true)] },
        Message::Model(Reply {
            parts: Vec::new(),
            native,
            stop: StopReason::Cut,
            usage: Usage::default(),
            why_cut: None,
        }),
        Message::user("Go on."),
    ];
    let request = ModelRequest {
        instructions: "Be short.",
        tools: &tools,
        messages: &messages,
        most_tokens: Some(9),
        effort: None,
        must_call: true,
    };
    let body: Value = serde_json::from_slice(&Gemini.request("gemini-3-pro", &request)).expect("it is JSON");
    check_pairs("another", &body);
    insta::assert_json_snapshot!("another_models_conversation", body);
    let old = Gemini.request("gemini-2.5-flash", &request);
    assert!(!String::from_utf8_lossy(&old).contains("thoughtSignature"));
}

#[test]
fn a_model_stands_in_the_address() {
    assert_eq!(Gemini.path("gemini-3-pro"), "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
    assert_eq!(Gemini.path("models/x"), "/v1beta/models/x:streamGenerateContent?alt=sse");
    assert_eq!(Gemini.path("a?b #"), "/v1beta/models/a%3Fb%20%23:streamGenerateContent?alt=sse");
    assert_eq!(Gemini.headers(Some("k")), [("x-goog-api-key", "k".to_owned())]);
}

/// An event whose members are the right ones and whose values may be anything.
fn event() -> impl Strategy<Value = String> {
    let odd = proptest::sample::select(vec![
        Value::Null,
        json!(""),
        json!("bash"),
        json!("STOP"),
        json!("SAFETY"),
        json!("MALFORMED_FUNCTION_CALL"),
        json!(7),
        json!(true),
        json!([1]),
        json!({ "path": 1 }),
    ]);
    let part = proptest::collection::vec(odd.clone(), 5).prop_map(|odd| match odd[0].as_str() {
        Some(text) => json!({ "text": text, "thought": odd[1], "thoughtSignature": odd[2] }),
        None => json!({ "functionCall": { "name": odd[1], "args": odd[2], "id": odd[3].as_str() }, "thoughtSignature": odd[4] }),
    });
    (proptest::collection::vec(part, 0..4), odd.clone(), odd).prop_map(|(parts, finish, usage)| {
        let candidate = json!({ "content": { "parts": parts, "role": "model" }, "finishReason": finish });
        json!({ "candidates": [candidate], "usageMetadata": usage }).to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_server_sends_the_conversation_can_go_on(
        events in proptest::collection::vec(prop_oneof![9 => event(), 1 => ".{0,20}"], 0..6)
    ) {
        let stream = events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
        let stream = StreamFixture::of("random", &stream);
        stream.check_every_end(&Gemini, ProviderDialect::Gemini, |request| check_pairs("random", request));
    }
}
