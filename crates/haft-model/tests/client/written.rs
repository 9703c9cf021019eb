//! Streams written from the published types of the providers' own libraries: what is read, and what is asked next.
//!
//! For each `written_*.sse` there is a snapshot with the reply in haft's form, what was told while it came, what stands
//! for it in later requests, and the messages of the next request. Beside that it is checked that what stands for a
//! reply goes back byte for byte, that a reply survives being written to disk and read again, and that each request fits
//! the published types (`published.rs`).
//!
//! The streams were also played once to the providers' own libraries: what those make of them is what stands for the
//! reply here, but for what a provider would refuse in a request (empty texts, what was thought and is not signed yet)
//! and for streams that they do not read to the end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use haft_model::client::Times;
use haft_model::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage};
use haft_model::wire::Wire;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversation::{ask, endpoint, model, next_after, part, said};
use crate::published;
use crate::server::{Answered, Server};

#[tokio::test]
async fn written_streams_of_anthropic_are_read_and_go_back_byte_for_byte() {
    check_all(Wire::Anthropic, "anthropic").await;
}

#[tokio::test]
async fn written_streams_of_responses_are_read_and_go_back_byte_for_byte() {
    check_all(Wire::Responses, "responses").await;
}

#[tokio::test]
async fn wherever_a_stream_is_cut_the_next_request_is_one_that_the_provider_takes() {
    for (wire, folder) in [(Wire::Anthropic, "anthropic"), (Wire::Responses, "responses")] {
        for (name, stream) in streams(folder) {
            let mut ends: Vec<usize> = stream.match_indices("\n\n").map(|(at, _)| at + 2).collect();
            // The last one is the whole.
            ends.pop();
            for end in ends {
                check_cut(wire, &stream[..end], &format!("{name} up to {end}")).await;
            }
        }
    }
}

/// Plays a stream that ends early, and asks once more where something came of it.
async fn check_cut(wire: Wire, stream: &str, place: &str) {
    let mut messages = vec![said("Begin."), Message::Model(earlier(wire)), answer_to_earlier(wire)];
    let server = Server::start([Answered::stream(stream)]).await;
    let mut endpoint = endpoint(wire, &server);
    endpoint.times = Times { tries: 1, ..endpoint.times };
    let outcome = ask(endpoint.clone(), &messages).await;
    let Ok(reply) = outcome.reply else {
        assert!(outcome.told.iter().all(|piece| piece.starts_with("usage")), "{place}: {:?}", outcome.told);
        return;
    };
    if reply.stop == StopReason::Cut {
        let told = outcome.told.iter().filter(|piece| piece.starts_with("call")).count();
        assert_eq!(reply.calls().count(), told, "{place}: {:?}", outcome.told);
    }
    messages.push(Message::Model(reply.clone()));
    messages.extend(next_after(&reply));
    let _ = ask(endpoint, &messages).await;
    published::check(wire, &server.asked()[1].body);
}

/// Returns the streams of a folder with their names.
fn streams(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sse"));
    files.sort();
    assert!(files.len() >= 20, "{} situations", files.len());
    let name = |file: &Path| file.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).expect("a stream"))).collect()
}

async fn check_all(wire: Wire, folder: &str) {
    for (name, stream) in streams(folder) {
        let story = story(wire, &stream).await;
        let path = Path::new("../streams").join(folder);
        insta::with_settings!({ snapshot_path => path, prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, story);
        });
    }
}

/// Plays a stream as the second reply of a conversation, and asks once more.
async fn story(wire: Wire, stream: &str) -> String {
    let mut messages = vec![said("Begin."), Message::Model(earlier(wire)), answer_to_earlier(wire)];
    let server = Server::start([Answered::stream(stream)]).await;
    let mut endpoint = endpoint(wire, &server);
    endpoint.times = Times { tries: 1, ..endpoint.times };
    let outcome = ask(endpoint.clone(), &messages).await;
    published::check(wire, &server.asked()[0].body);

    let mut story = String::new();
    let told = outcome.told.join("\n  ");
    let reply = match outcome.reply {
        Ok(reply) => reply,
        Err(error) => {
            return format!("told:\n  {told}\nerror: {:?}\n  {}\n  next: {}\n", error.kind, error.what, error.next);
        }
    };
    let parts: Vec<String> = reply.parts.iter().map(part).collect();
    let Usage { input, output, cache_read, cache_written } = reply.usage;
    let _ = writeln!(story, "stop: {:?}", reply.stop);
    let _ = writeln!(story, "usage: {input} in, {output} out, {cache_read} read, {cache_written} written");
    let _ = writeln!(story, "parts:\n  {}", parts.join("\n  "));
    let _ = writeln!(story, "told:\n  {told}");
    let _ = writeln!(story, "native: {}", reply.native.json);

    // As a session on disk would give it back.
    let line = serde_json::to_string(&Message::Model(reply.clone())).expect("a message can be written");
    assert!(!line.contains('\n'), "a record is one line: {line}");
    let back: Message = serde_json::from_str(&line).expect("a message can be read");
    assert_eq!(serde_json::to_string(&back).expect("a message can be written"), line);

    let native = reply.native.json.get().to_owned();
    messages.push(back);
    messages.extend(next_after(&reply));
    let next = Server::start([Answered::stream(stream)]).await;
    endpoint.base_url.clone_from(&next.base_url);
    let _ = ask(endpoint, &messages).await;
    let asked = next.asked().remove(0);
    published::check(wire, &asked.body);
    let items = native.strip_prefix('[').and_then(|native| native.strip_suffix(']')).expect("a list");
    assert!(asked.body.contains(items), "it does not go back as it came: {items}\n{}", asked.body);
    let _ = writeln!(story, "next request:");
    for message in asked.list(if wire == Wire::Anthropic { "messages" } else { "input" }).iter().skip(shown_from(wire))
    {
        let _ = writeln!(story, "  {message}");
    }
    story
}

/// How many messages of the next request are the same in every story.
fn shown_from(wire: Wire) -> usize {
    if wire == Wire::Anthropic { 2 } else { 3 }
}

/// A reply of another model, whose call has an id that the next reply of some stories has again.
fn earlier(wire: Wire) -> Reply {
    let json = RawValue::from_string(r#"{"role":"assistant"}"#.to_owned()).expect("it is JSON");
    let call = ModelToolCall {
        id: id_of_earlier(wire).to_owned(),
        name: "fs.list".to_owned(),
        arguments: r#"{"path":"."}"#.to_owned(),
        is_cut: false,
    };
    Reply {
        parts: vec![ReplyPart::Thinking("I list.".to_owned()), ReplyPart::Call(call)],
        native: Native { wire: Wire::Chat, model: "another".to_owned(), json },
        stop: StopReason::Calls,
        usage: Usage::default(),
        why_cut: None,
    }
}

fn answer_to_earlier(wire: Wire) -> Message {
    let answer = ToolAnswer {
        call: id_of_earlier(wire).to_owned(),
        name: "fs.list".to_owned(),
        text: "src".to_owned(),
        is_error: false,
        images: Vec::new(),
    };
    Message::Tools { answers: vec![answer] }
}

fn id_of_earlier(wire: Wire) -> &'static str {
    if wire == Wire::Anthropic { "toolu_00" } else { "call_00" }
}

#[tokio::test]
async fn what_another_model_said_is_told_without_what_it_thought() {
    for wire in [Wire::Anthropic, Wire::Responses] {
        let mut reply = earlier(wire);
        reply.native.wire = wire;
        reply.parts.insert(1, ReplyPart::Text("Hm.".to_owned()));
        let cut =
            ModelToolCall { id: "a:b".to_owned(), name: "bash".to_owned(), arguments: "{\"c".to_owned(), is_cut: true };
        reply.parts.push(ReplyPart::Call(cut));
        let next = next_after(&reply);
        let messages = [vec![said("Begin."), Message::Model(reply)], next, vec![said("And?")]].concat();
        let server = Server::start([Answered::with("400 Bad Request", &[], "")]).await;
        let _ = ask(endpoint(wire, &server), &messages).await;
        let asked = server.asked().remove(0);
        published::check(wire, &asked.body);
        assert!(!asked.body.contains("I list."), "{}", asked.body);
        let whole: Value = asked.json();
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(
                format!("request_{}_{}", wire.name(), model(wire)),
                serde_json::to_string_pretty(&whole).expect("it is JSON")
            );
        });
    }
}
