//! Which spans there are, what they say, and what they never say.

use std::process::Command;

use haft_model::wire::Wire;
use haft_testkit::scratch_home::CapturedOutput;
use haft_testkit::scripted::collector::{Answers, CollectedSpan, Collector};
use haft_testkit::scripted::scripted_model::{Fault, ModelScript, ScriptedModel, ScriptedTurn, Usage};
use haft_testkit::snapshot;
use serde_json::{Value, json};

use crate::place::{KEY, Place, said};

const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Runs haft with a collector.
fn traced(place: &Place, model: &ScriptedModel, collector: &Collector, arguments: &[&str]) -> CapturedOutput {
    said(command(place, model, collector, arguments))
}

fn command(place: &Place, model: &ScriptedModel, collector: &Collector, arguments: &[&str]) -> Command {
    let mut command = place.with(model, Wire::Chat, arguments);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    command
}

/// The spans as lines: name, where it hangs, what it says; without what differs each time.
fn shown(spans: &[CollectedSpan]) -> String {
    let above = |span: &CollectedSpan| {
        let parent = spans.iter().find(|other| other.id == span.parent);
        parent.map_or_else(|| "(nobody)".to_owned(), |parent| parent.name.clone())
    };
    let lines = spans.iter().map(|span| {
        let mut attributes = span.attributes.clone();
        for varies in ["gen_ai.conversation.id", "server.port", "gen_ai.response.time_to_first_chunk", "haft.sandbox"] {
            if let Some(value) = attributes.get_mut(varies) {
                *value = json!("…");
            }
        }
        let attributes: String = attributes.iter().map(|(name, value)| format!("\n    {name} = {value}")).collect();
        let fault = if span.is_error { ", error" } else { "" };
        format!("{} beneath {}, {:?}{fault}{attributes}\n", span.name, above(span), span.kind)
    });
    lines.collect()
}

fn named<'s>(spans: &'s [CollectedSpan], name: &str) -> &'s CollectedSpan {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} among {}", shown(spans)))
}

#[test]
fn a_run_is_a_span_with_its_questions_and_calls_beneath_it() {
    let place = Place::new();
    let usage = Usage { input: 40, output: 7, cache_read: 30, ..Usage::default() };
    let look = ScriptedTurn::text("I look.")
        .and_call("read_file", json!({ "path": "a.txt" }))
        .and_call("bash", json!({ "command": "exit 3" }))
        .usage(usage);
    let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("Two lines.").usage(usage)]));
    let collector = Collector::start(Answers::Taken);
    let said = traced(&place, &model, &collector, &["run", "--yes", "how long is a.txt?"]);
    assert_eq!((said.out.as_str(), said.code), ("Two lines.\n", 0), "{}", said.err);
    let spans = collector.spans();
    assert_eq!((spans.len(), spans[4].name.as_str()), (5, "chat scripted"), "{}", shown(&spans));
    snapshot!(shown(&spans[..4]), @r#"
    invoke_agent haft beneath (nobody), Internal
        gen_ai.agent.name = "haft"
        gen_ai.agent.version = "0.1.0"
        gen_ai.conversation.id = "…"
        gen_ai.operation.name = "invoke_agent"
        gen_ai.provider.name = "openai"
        gen_ai.request.model = "scripted"
        gen_ai.usage.cache_read.input_tokens = 60
        gen_ai.usage.input_tokens = 80
        gen_ai.usage.output_tokens = 14
        haft.how = "finished"
        haft.steps = 2
    chat scripted beneath invoke_agent haft, Client
        gen_ai.conversation.id = "…"
        gen_ai.operation.name = "chat"
        gen_ai.provider.name = "openai"
        gen_ai.request.model = "scripted"
        gen_ai.request.stream = true
        gen_ai.response.finish_reasons = ["tool_call"]
        gen_ai.response.time_to_first_chunk = "…"
        gen_ai.usage.cache_read.input_tokens = 30
        gen_ai.usage.input_tokens = 40
        gen_ai.usage.output_tokens = 7
        server.address = "127.0.0.1"
        server.port = "…"
    execute_tool read_file beneath invoke_agent haft, Internal
        gen_ai.agent.name = "haft"
        gen_ai.operation.name = "execute_tool"
        gen_ai.tool.call.id = "call_0_1"
        gen_ai.tool.name = "read_file"
        gen_ai.tool.type = "function"
        haft.did = "nothing"
        haft.status = "ok"
    execute_tool bash beneath invoke_agent haft, Internal
        gen_ai.agent.name = "haft"
        gen_ai.operation.name = "execute_tool"
        gen_ai.tool.call.id = "call_0_2"
        gen_ai.tool.name = "bash"
        gen_ai.tool.type = "function"
        haft.did = "nothing"
        haft.exit_code = 3
        haft.sandbox = "…"
        haft.status = "ok"
    "#);
}

#[test]
fn the_spans_of_a_run_are_one_trace_of_its_session() {
    let place = Place::new();
    let look = ScriptedTurn::call("read_file", json!({ "path": "a.txt" }));
    let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("Two lines.")]));
    let collector = Collector::start(Answers::Taken);
    let said = traced(&place, &model, &collector, &["run", "how long is a.txt?"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.trace == spans[0].trace && span.times.0 <= span.times.1));
    assert!(spans.iter().all(|span| span.times.1 <= spans[0].times.1), "the run ends last");
    let session = place.sessions()[0]["id"].clone();
    assert_eq!(spans[0].attributes["gen_ai.conversation.id"], session);
    let resource = &spans[0].resource;
    assert_eq!((&resource["service.name"], resource.contains_key("service.version")), (&json!("haft"), true));
    let request = &collector.requests()[0];
    assert_eq!(request.path, "/v1/traces");
    assert!(request.headers.contains(&("content-type".to_owned(), "application/x-protobuf".to_owned())));
}

#[test]
fn what_went_wrong_has_its_kind_and_no_words() {
    let place = Place::new();
    let calls = ScriptedTurn::call("read_file", json!({ "path": "missing.txt" }))
        .and_call("write_file", json!({ "path": "b.txt", "content": "x" }));
    let denied = ScriptedTurn::text("").fault(Fault::status(401));
    let model = ScriptedModel::start(ModelScript::of([calls, denied]));
    let collector = Collector::start(Answers::Taken);
    let said = traced(&place, &model, &collector, &["run", "look"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let spans = collector.spans();
    let error = |name: &str| {
        let span = named(&spans, name);
        assert!(span.is_error && span.message.is_empty(), "{}", shown(&spans));
        span.attributes["error.type"].clone()
    };
    assert_eq!(error("execute_tool read_file"), "missing_file");
    assert_eq!(error("execute_tool write_file"), "needs_approval");
    assert_eq!(error("invoke_agent haft"), "not_admitted");
    let refused = named(&spans, "execute_tool write_file");
    assert_eq!(
        (&refused.attributes["haft.status"], &refused.attributes["haft.verdict"]),
        (&json!("refused"), &json!("no_answer"))
    );
    let chats: Vec<bool> = spans.iter().filter(|span| span.name == "chat scripted").map(|span| span.is_error).collect();
    assert_eq!(chats, [false, true], "{}", shown(&spans));
    assert_eq!(named(&spans, "invoke_agent haft").attributes["haft.how"], "failed");
}

#[test]
fn a_call_that_changes_something_names_its_change_set() {
    let place = Place::new();
    let write = ScriptedTurn::call("write_file", json!({ "path": "b.txt", "content": "x" }));
    let model = ScriptedModel::start(ModelScript::of([write, ScriptedTurn::text("Done.")]));
    let collector = Collector::start(Answers::Taken);
    let said = traced(&place, &model, &collector, &["run", "--yes", "write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let spans = collector.spans();
    let attributes = &named(&spans, "execute_tool write_file").attributes;
    assert_eq!((&attributes["haft.did"], &attributes["haft.change_set"]), (&json!("changed"), &json!(1)));
    assert_eq!(attributes["haft.verdict"], "allow_once");
}

#[test]
fn calls_that_are_not_run_and_questions_that_are_asked_again_are_told() {
    let place = Place::new();
    let call = || ScriptedTurn::call("read_file", json!({ "path": "missing.txt" }));
    let busy = call().fault(Fault::status(503));
    let script = [busy, call(), call(), call(), ScriptedTurn::text("I give up.")];
    let model = ScriptedModel::start(ModelScript::of(script));
    let collector = Collector::start(Answers::Taken);
    let said = traced(&place, &model, &collector, &["run", "look"]);
    let spans = collector.spans();
    let agains: Vec<Value> = spans.iter().filter_map(|span| span.attributes.get("haft.again").cloned()).collect();
    assert_eq!(agains, [json!(1)], "{}{}", said.err, shown(&spans));
    let of_calls = spans.iter().filter(|span| span.name == "execute_tool read_file");
    let statuses: Vec<Value> = of_calls.map(|span| span.attributes["haft.status"].clone()).collect();
    assert_eq!(statuses, ["failed", "failed", "failed", "not_run"], "{}", shown(&spans));
}

#[test]
fn nothing_that_was_said_or_done_and_no_key_is_in_a_span() {
    let place = Place::new();
    let call = ScriptedTurn::text("the-reply ").and_call("bash", json!({ "command": "echo the-argument; cat a.txt" }));
    let model = ScriptedModel::start(ModelScript::of([call, ScriptedTurn::text("the-answer")]));
    let collector = Collector::start(Answers::Taken);
    let mut command = command(&place, &model, &collector, &["run", "--yes", "--json", "the-prompt"]);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=the-key-of-the-collector").env("OTEL_SERVICE_NAME", "mine");
    let said = said(command);
    assert_eq!(said.code, 0, "{}", said.err);
    let requests = collector.requests();
    let words = ["the-reply", "the-argument", "one", "the-answer", "the-prompt", KEY, "the-key-of-the-collector"];
    for (word, request) in words.iter().flat_map(|word| requests.iter().map(move |request| (word, request))) {
        assert!(!request.contains(word), "{word}");
    }
    let key = ("x-team".to_owned(), "the-key-of-the-collector".to_owned());
    assert!(requests.iter().all(|request| request.headers.contains(&key)));
    assert!(!said.out.contains(&key.1) && !said.err.contains(&key.1));
    assert_eq!(collector.spans()[0].resource["service.name"], "mine");
}

#[test]
fn content_comes_when_it_is_asked_for_and_without_secrets() {
    let place = Place::new();
    let call = ScriptedTurn::text("I say ")
        .and_call("bash", json!({ "command": format!("echo {KEY} the-key-of-the-collector") }));
    let model = ScriptedModel::start(ModelScript::of([call, ScriptedTurn::text("the-answer")]));
    let collector = Collector::start(Answers::Taken);
    let mut command = command(&place, &model, &collector, &["run", "--yes", &format!("tell {KEY}")]);
    command.env(CONTENT, "true").env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=the-key-of-the-collector");
    let said = said(command);
    assert_eq!(said.code, 0, "{}", said.err);
    let spans = collector.spans();
    let run = named(&spans, "invoke_agent haft");
    let said_by = |role: &str, part: Value| json!([{ "role": role, "parts": [part] }]).to_string();
    let told = said_by("user", json!({ "type": "text", "content": "tell [secret]" }));
    assert_eq!(run.attributes["gen_ai.input.messages"], told);
    let answer = said_by("assistant", json!({ "type": "text", "content": "the-answer" }));
    assert_eq!(run.attributes["gen_ai.output.messages"], answer);
    let call = named(&spans, "execute_tool bash");
    assert_eq!(call.attributes["gen_ai.tool.call.arguments"], r#"{"command":"echo [secret] [secret]"}"#);
    let result = call.attributes["gen_ai.tool.call.result"].as_str().expect("it is a text");
    assert!(result.contains("[secret] [secret]"), "{result}");
    let reply = named(&spans, "chat scripted").attributes["gen_ai.output.messages"].to_string();
    assert!(reply.contains("I say ") && reply.contains("tool_call") && reply.contains("[secret]"), "{reply}");
    for word in [KEY, "the-key-of-the-collector"] {
        assert!(!collector.requests().iter().any(|request| request.contains(word)), "{word}");
    }
}

#[test]
fn a_session_that_is_taken_up_has_the_same_conversation_in_another_trace() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]));
    let collector = Collector::start(Answers::Taken);
    for arguments in [&["run", "count"][..], &["resume", "go on"]] {
        let said = traced(&place, &model, &collector, arguments);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let spans = collector.spans();
    let runs: Vec<_> = spans.iter().filter(|span| span.name == "invoke_agent haft").collect();
    assert_eq!(runs[0].attributes["gen_ai.conversation.id"], runs[1].attributes["gen_ai.conversation.id"]);
    assert_ne!(runs[0].trace, runs[1].trace);
}

#[test]
fn every_form_says_whose_model_it_is() {
    let expected = [
        (Wire::Anthropic, "anthropic"),
        (Wire::Responses, "openai"),
        (Wire::Chat, "openai"),
        (Wire::Gemini, "gcp.gemini"),
    ];
    for (wire, provider) in expected {
        let place = Place::new();
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.")]));
        let collector = Collector::start(Answers::Taken);
        let mut command = place.with(&model, wire, &["run", "x"]);
        command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{}/somewhere", collector.url()));
        assert_eq!(said(command).code, 0);
        let spans = collector.spans();
        let chat = named(&spans, "chat scripted");
        assert_eq!(chat.attributes["gen_ai.provider.name"], provider);
        assert_eq!(chat.attributes["gen_ai.response.finish_reasons"], json!(["stop"]));
        assert_eq!(collector.requests()[0].path, "/somewhere");
    }
}
