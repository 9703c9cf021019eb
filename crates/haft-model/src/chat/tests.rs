//! Tests the results of streams in this format, and the requests to each server.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Chat;
use crate::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage};
use crate::form::WireFormat;
use crate::lower::{ProviderDialect, ToolOffer, lower_all};
use crate::provider::ModelRequest;
use crate::quirks::{ChatServer, Quirks};
use crate::reading::written_streams::{StreamFixture, compare, streams};
use crate::wire::Wire;

fn form_of(stream: &StreamFixture) -> Chat {
    Chat { quirks: Quirks::of(stream.setting("base_url").unwrap_or_default()) }
}

#[test]
fn streams_become_replies_and_the_next_request() {
    for stream in streams(Wire::Chat) {
        compare(Wire::Chat, &stream.name, &stream.said(&form_of(&stream), ProviderDialect::OpenAi));
    }
}

#[test]
fn a_stream_may_end_anywhere_and_the_next_request_is_whole() {
    for stream in streams(Wire::Chat) {
        stream
            .check_every_end(&form_of(&stream), ProviderDialect::OpenAi, |request| check_pairs(&stream.name, request));
    }
}

/// Every call has one answer behind it, and arguments that any server can read.
fn check_pairs(name: &str, request: &Value) {
    let mut open: Vec<String> = Vec::new();
    let mut all = HashSet::new();
    for message in request["messages"].as_array().expect("there are messages") {
        if message["role"] == "tool" {
            assert_eq!(message["tool_call_id"], json!(open.remove(0)), "{name}: {request}");
            continue;
        }
        assert!(open.is_empty(), "{name}: {request}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().expect("they are a text");
            let arguments: Value = serde_json::from_str(arguments).expect("they are JSON");
            assert!(arguments.is_object(), "{name}: {request}");
            let id = call["id"].as_str().expect("it has an id").to_owned();
            assert!(all.insert(id.clone()), "{name}: {id} twice");
            open.push(id);
        }
    }
    assert!(open.is_empty(), "{name}: {request}");
}

/// A conversation with another model, in which everything happened.
fn conversation() -> Vec<Message> {
    let json = serde_json::value::to_raw_value(&json!({ "role": "model" })).expect("it is JSON");
    let native = |model: &str| Native { wire: Wire::Gemini, model: model.to_owned(), json: json.clone() };
    let reply = |parts: Vec<ReplyPart>| {
        Message::Model(Reply {
            parts,
            native: native("gemini"),
            stop: StopReason::Calls,
            usage: Usage::default(),
            why_cut: None,
        })
    };
    let call = |id: &str, name: &str, arguments: &str| {
        ReplyPart::Call(ModelToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            is_cut: false,
        })
    };
    let answer = |id: &str, name: &str| ToolAnswer {
        call: id.to_owned(),
        name: name.to_owned(),
        text: "fine".to_owned(),
        is_error: false,
        images: Vec::new(),
    };
    let user = |text: &str| Message::user(text.to_owned());
    vec![
        user("Do it."),
        user("Now."),
        reply(vec![
            ReplyPart::Thinking("Hm.".to_owned()),
            ReplyPart::Text("I look.".to_owned()),
            call("toolu_0123", "docs.search/v2", "{\"q\":1}"),
            call("abcdefghi", "gone tool", "{oops"),
            call("fc_3", "bash", ""),
        ]),
        Message::Tools {
            answers: vec![
                answer("toolu_0123", "docs.search/v2"),
                answer("abcdefghi", "gone tool"),
                answer("fc_3", "bash"),
            ],
        },
        reply(vec![ReplyPart::Thinking("Nothing to say.".to_owned())]),
        user("And?"),
        reply(Vec::new()),
        user("Well?"),
    ]
}

fn written(quirks: Quirks, model: &str, request: &ModelRequest<'_>) -> Value {
    serde_json::from_slice(&Chat { quirks }.request(model, request)).expect("it is JSON")
}

#[test]
fn a_conversation_with_another_model_is_said_in_what_everybody_takes() {
    let schema = json!({ "type": "object" });
    let offered = ["bash", "docs.search/v2"].map(|name| ToolOffer {
        name,
        title: None,
        description: "",
        input_schema: &schema,
        read_only: None,
    });
    let tools = lower_all(&offered, ProviderDialect::OpenAi);
    let messages = conversation();
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &messages,
        most_tokens: None,
        effort: None,
        must_call: true,
    };
    for server in [ChatServer::Other, ChatServer::Mistral, ChatServer::DeepSeek] {
        let request = written(Quirks::of_server(server), "m", &request);
        insta::assert_json_snapshot!(format!("another_models_conversation_for_{server}"), request["messages"]);
        check_pairs(server.name(), &request);
        assert_eq!(request["tool_choice"], json!("required"));
    }
}

#[test]
fn a_reply_whose_ids_do_not_fit_is_said_with_others() {
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let mut messages = conversation();
    for message in &mut messages {
        if let Message::Model(reply) = message {
            reply.native.wire = Wire::Chat;
            reply.native.model = "mistralai/m".to_owned();
        }
    }
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &messages,
        most_tokens: None,
        effort: None,
        must_call: false,
    };
    let body = written(Quirks::of_server(ChatServer::OpenRouter), "mistralai/m", &request);
    check_pairs("openrouter", &body);
    let ids: Vec<&Value> =
        body["messages"][1]["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]).collect();
    assert_eq!(ids, [&json!("J1VwUjzvU"), &json!("abcdefghi"), &json!("rcm0HoNcp")]);
}

#[test]
fn models_of_mistral_speak_between_results_and_the_user() {
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let messages = conversation();
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &messages,
        most_tokens: None,
        effort: None,
        must_call: false,
    };
    for (server, model, is_wanted) in [
        (ChatServer::Mistral, "mistral-large-latest", true),
        (ChatServer::OpenRouter, "mistralai/mistral-large", true),
        (ChatServer::OpenRouter, "qwen/qwen3", false),
        (ChatServer::Vllm, "mistralai/mistral-small", false),
    ] {
        let body = written(Quirks::of_server(server), model, &request);
        let roles = body["messages"].as_array().expect("there are messages").iter().map(|message| &message["role"]);
        let roles: Vec<&str> = roles.filter_map(Value::as_str).collect();
        let has_user_behind_results = roles.windows(2).any(|pair| pair == ["tool", "user"]);
        assert_eq!(has_user_behind_results, !is_wanted, "{server} {model}: {roles:?}");
    }
}

#[test]
fn each_server_gets_the_members_that_it_documents() {
    let schema = json!({ "type": "object" });
    let bash = ToolOffer { name: "bash", title: None, description: "", input_schema: &schema, read_only: None };
    let tools = lower_all(&[bash], ProviderDialect::OpenAi);
    let messages = [Message::user("Do it.")];
    let request = ModelRequest {
        instructions: "Be short.",
        tools: &tools,
        messages: &messages,
        most_tokens: Some(9),
        effort: None,
        must_call: false,
    };
    let lines = ChatServer::ALL.map(|server| {
        let mut body = written(Quirks::of_server(server), "anthropic/m", &request);
        let members = body.as_object_mut().expect("it is an object");
        members.remove("tools");
        let role = members.remove("messages").map(|messages| messages[0]["role"].to_string()).unwrap_or_default();
        format!("{server}: {role} {body}")
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_request_without_tools_says_nothing_of_them() {
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &[],
        most_tokens: None,
        effort: None,
        must_call: true,
    };
    let body = written(Quirks::of_server(ChatServer::LlamaCpp), "m", &request);
    assert_eq!(
        body,
        json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true }, "messages": [] })
    );
}

#[test]
fn more_calls_than_any_model_makes_end_the_reply() {
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &[],
        most_tokens: None,
        effort: None,
        must_call: false,
    };
    let mut reading = Chat::default().reading("m", &request);
    let calls: Vec<Value> =
        (0..513).map(|at| json!({ "index": at, "function": { "name": "x", "arguments": "" } })).collect();
    let chunk = |calls: &[Value]| json!({ "choices": [{ "delta": { "tool_calls": calls } }] }).to_string();
    reading.event("", &chunk(&calls[..512]), &|_| {}).expect("so many are fine");
    let error = reading.event("", &chunk(&calls[512..]), &|_| {}).expect_err("that is one too many");
    assert_eq!(error.what, "The model makes more than 512 calls in one reply.");
}

#[test]
fn arguments_that_come_in_many_pieces_with_their_name_are_not_read_again_with_each() {
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let request = ModelRequest {
        instructions: "",
        tools: &tools,
        messages: &[],
        most_tokens: None,
        effort: None,
        must_call: false,
    };
    let piece = |arguments: &str| {
        let function = json!({ "name": "write_file", "arguments": arguments });
        json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "function": function }] } }] }).to_string()
    };
    // With what a cheap look could take for the end of an object.
    for middle in [piece("0123456789012345678"), piece("\\\"}}}}}}}}}}}}}}}}}")] {
        let began = std::time::Instant::now();
        let mut reading = Chat::default().reading("m", &request);
        reading.event("", &piece("{\"content\":\""), &|_| {}).expect("it begins");
        for _ in 0..20_000 {
            reading.event("", &middle, &|_| {}).expect("it goes on");
        }
        reading.event("", &piece("\"}"), &|_| {}).expect("it ends");
        let reply = reading.end().expect("it has begun");
        assert_eq!(reply.calls().map(|call| call.is_cut).collect::<Vec<_>>(), [false]);
        // It takes about a second; more than half a minute, if each piece costs as much as all before it.
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }
}

#[test]
fn the_key_stands_in_a_header_only_where_there_is_one() {
    let form = Chat::default();
    assert_eq!(form.headers(Some("k")), [("authorization", "Bearer k".to_owned())]);
    assert!(form.headers(None).is_empty());
    assert_eq!(form.path("m"), "/chat/completions");
}

/// A piece of a stream whose members are the right ones and whose values may be anything.
fn chunk() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!("{\"path\":")),
        Just(json!("\"a\"}")),
        Just(json!("bash")),
        Just(json!("<tool_call>{\"name\":\"bash\",\"arguments\":{}}</tool_call>")),
        Just(json!("stop")),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(-7.5)),
        Just(json!({})),
        Just(json!([[]])),
        Just(json!([{ "type": "thinking", "thinking": [{ "text": "hm" }] }, { "type": "text", "text": "so" }, 3])),
        Just(json!([{ "type": "reasoning.text", "text": "hm", "index": 0 }, "x"])),
    ];
    let call = proptest::collection::vec(odd.clone(), 4).prop_map(|odd| {
        json!({ "index": odd[0], "id": odd[1], "function": { "name": odd[2], "arguments": odd[3] }, "extra": odd[0] })
    });
    (proptest::collection::vec(odd, 7), proptest::collection::vec(call, 0..3)).prop_map(|(odd, calls)| {
        let delta = json!({
            "content": odd[0], "reasoning": odd[1], "reasoning_details": odd[2], "refusal": odd[3],
            "function_call": odd[4], "tool_calls": calls,
        });
        json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": odd[5] }], "usage": odd[6] }).to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_server_sends_the_conversation_can_go_on(
        chunks in proptest::collection::vec(prop_oneof![9 => chunk(), 1 => ".{0,20}"], 0..8)
    ) {
        let stream = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>();
        let stream = StreamFixture::of("random", &stream);
        stream.check_every_end(&form_of(&stream), ProviderDialect::OpenAi, |request| check_pairs("random", request));
    }
}
