//! How long haft waits, that a stop ends a wait immediately, and what goes over the line.

use std::time::Duration;

use haft_model::client::{ModelConnection, Times};
use haft_model::conversation::StopReason;
use haft_model::wire::Wire;
use haft_net::HttpClient;
use tokio_util::sync::CancellationToken;

use crate::conversation::{KEY, ask, ask_until, endpoint, endpoint_at, said};
use crate::server::{Answered, Ends, Server};

const STREAM: &str = include_str!("../streams/anthropic/written_text.sse");

/// Returns the stream up to a place behind its first words.
fn begun() -> &'static str {
    let at = STREAM.find("\" world\"").expect("it goes on");
    &STREAM[..STREAM[..at].rfind("event:").expect("in an event")]
}

#[tokio::test]
async fn silence_and_slowness_have_words_of_their_own() {
    let silent = Server::start([Answered::bytes("", Ends::Never)]).await;
    let mut endpoint = endpoint(Wire::Anthropic, &silent);
    let idle = Times { idle: Duration::from_millis(30), ..endpoint.times };
    endpoint.times = idle;
    let outcome = ask(endpoint.clone(), &[said("Hello?")]).await;
    let error = outcome.error();
    assert!(error.starts_with("TimedOut: The provider sent nothing for 0.03 s. haft tried 2 times."), "{error}");
    // Only once more, although other failures are tried six times.
    assert_eq!(outcome.pauses(), ["0ns: The provider sent nothing for 0.03 s."]);
    assert_eq!(silent.asked().len(), 2);

    endpoint.times = Times { idle: Duration::from_secs(60), total: Duration::from_millis(30), ..idle };
    let error = ask(endpoint, &[said("Hello?")]).await.error();
    assert_eq!(
        error,
        "TimedOut: The reply was not complete after 0.03 s, all attempts included. Next: ask for less in one request, or use a faster model"
    );
}

#[tokio::test]
async fn whoever_allows_all_the_time_in_the_world_may_do_so() {
    let server = Server::start([Answered::stream(STREAM)]).await;
    let mut endpoint = endpoint(Wire::Anthropic, &server);
    let most = Duration::MAX;
    endpoint.times = Times { connect: most, idle: most, total: most, back_off: most, tries: u32::MAX };
    assert!(ask(endpoint.clone(), &[said("Hello?")]).await.reply.is_ok());

    let server = Server::start([Answered::with("500 Internal Server Error", &[], "")]).await;
    endpoint.base_url.clone_from(&server.base_url);
    let stop = CancellationToken::new();
    let outcome =
        ask_until(&ModelConnection::new(endpoint, HttpClient::new()), &[said("Hello?")], &stop, |_| stop.cancel())
            .await;
    assert!(outcome.error().starts_with("Stopped"), "{:?}", outcome.told);
}

#[tokio::test]
async fn what_came_before_the_silence_counts() {
    let server = Server::start([Answered::cut(begun(), Ends::Never)]).await;
    let mut endpoint = endpoint(Wire::Anthropic, &server);
    endpoint.times = Times { idle: Duration::from_millis(30), ..endpoint.times };
    let reply = ask(endpoint, &[said("Hello?")]).await.reply.expect("what came counts");
    assert_eq!((reply.stop, reply.text().as_str()), (StopReason::Cut, "Hello"));
    assert_eq!(reply.why_cut.as_deref(), Some("the provider sent nothing for 0.03 s"));
}

/// Returns streams that say why the reply ended and lack what usually follows.
fn without_farewell() -> [(Wire, String); 4] {
    let chat = r#"data: {"choices":[{"index":0,"delta":{"content":"Hello world."},"finish_reason":"stop"}]}"#;
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#;
    let begins = r#"data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"}}]}"#;
    let ends = r#"data: {"candidates":[{"content":{"parts":[{"text":" world."}]},"finishReason":"STOP"}]}"#;
    let at_once = r#"data: {"candidates":[{"content":{"parts":[{"text":"Hello world."}]},"finishReason":"STOP"}]}"#;
    [
        (Wire::Anthropic, STREAM.split("event: message_stop").next().unwrap_or_default().to_owned()),
        (Wire::Chat, format!("{chat}\n\n{usage}\n\n")),
        (Wire::Gemini, format!("{begins}\n\n{ends}\n\n")),
        (Wire::Gemini, format!("{at_once}\n\n")),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_end_is_known_is_not_waited_for_although_the_line_stays_open() {
    for (wire, stream) in without_farewell() {
        let server = Server::start([Answered::cut(&stream, Ends::Never)]).await;
        let began = tokio::time::Instant::now();
        let mut endpoint = endpoint(wire, &server);
        // The paused clock jumps while all tasks are idle, and a socket may be late.
        endpoint.times = Times { connect: Duration::from_secs(3600), ..endpoint.times };
        let reply = ask(endpoint, &[said("Hello?")]).await.reply.expect("it is whole");
        assert!(reply.stop == StopReason::Finished && reply.text().starts_with("Hello world"), "{wire:?} {reply:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{wire:?} {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn who_stops_it_before_anything_was_told_gets_nothing_at_once() {
    let stop = CancellationToken::new();
    stop.cancel();
    let server = Server::start([Answered::stream(STREAM)]).await;
    let connection = ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new());
    let outcome = ask_until(&connection, &[said("Hello?")], &stop, |_| {}).await;
    assert_eq!(outcome.error(), "Stopped: The reply was stopped. Next: ask again when you are ready");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn who_stops_it_in_a_pause_does_not_wait_for_its_end() {
    let busy = Answered::with("429 Too Many Requests", &[("retry-after", "600")], "{}");
    let server = Server::start([busy]).await;
    let connection = ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new());
    let stop = CancellationToken::new();
    let outcome = ask_until(&connection, &[said("Hello?")], &stop, |_| stop.cancel()).await;
    assert!(outcome.error().starts_with("Stopped: "), "{:?}", outcome.told);
    assert_eq!(outcome.pauses().len(), 1);
}

#[tokio::test]
async fn who_stops_it_while_it_speaks_keeps_what_came() {
    let server = Server::start([Answered::cut(begun(), Ends::Never)]).await;
    let connection = ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new());
    let stop = CancellationToken::new();
    let words = |piece: &str| {
        if piece.starts_with("text") {
            stop.cancel();
        }
    };
    let reply = ask_until(&connection, &[said("Hello?")], &stop, words).await.reply.expect("what came counts");
    assert_eq!((reply.stop, reply.text().as_str()), (StopReason::Cut, "Hello"));
}

#[tokio::test]
async fn a_line_is_used_again() {
    let chunked =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{STREAM}\r\n0\r\n\r\n", STREAM.len());
    let server = Server::start([Answered::bytes(chunked, Ends::Well)]).await;
    let connection = ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new());
    for _ in 0..3 {
        let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
        assert!(outcome.reply.is_ok());
    }
    let lines: Vec<usize> = server.asked().iter().map(|asked| asked.line).collect();
    assert_eq!(lines, [0, 0, 0]);
}

#[tokio::test]
async fn a_request_has_the_path_and_the_headers_of_its_form() {
    let server = Server::start([Answered::with("400 Bad Request", &[], "")]).await;
    for (wire, base_url) in [
        (Wire::Anthropic, server.base_url.clone()),
        (Wire::Responses, format!("{}/v1/", server.base_url)),
        (Wire::Chat, server.base_url.clone()),
        (Wire::Gemini, server.base_url.clone()),
    ] {
        let _ = ask(endpoint_at(wire, &base_url), &[said("Hello?")]).await;
    }
    let mut without_key = endpoint(Wire::Anthropic, &server);
    without_key.key = None;
    let _ = ask(without_key, &[said("Hello?")]).await;

    let names = ["anthropic-version", "x-api-key", "authorization", "x-goog-api-key", "content-type", "user-agent"];
    let shown: Vec<String> = server
        .asked()
        .iter()
        .map(|asked| {
            let headers = names.iter().filter_map(|name| Some(format!("{name}: {}", asked.header(name)?)));
            format!("{}\n  {}", asked.first_line, headers.collect::<Vec<_>>().join("\n  "))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n").replace(KEY, "KEY"), @r"
    POST /v1/messages HTTP/1.1
      anthropic-version: 2023-06-01
      x-api-key: KEY
      content-type: application/json
      user-agent: haft/0.1.0
    POST /v1/responses HTTP/1.1
      authorization: Bearer KEY
      content-type: application/json
      user-agent: haft/0.1.0
    POST /v1/chat/completions HTTP/1.1
      authorization: Bearer KEY
      content-type: application/json
      user-agent: haft/0.1.0
    POST /v1beta/models/another:streamGenerateContent?alt=sse HTTP/1.1
      x-goog-api-key: KEY
      content-type: application/json
      user-agent: haft/0.1.0
    POST /v1/messages HTTP/1.1
      anthropic-version: 2023-06-01
      content-type: application/json
      user-agent: haft/0.1.0
    ");
}

#[tokio::test]
async fn a_proxy_gets_the_whole_address() {
    let proxy = Server::start([Answered::stream(STREAM)]).await;
    let connection = ModelConnection::new(
        endpoint_at(Wire::Anthropic, "http://model.example:81"),
        HttpClient::new().through(proxy.base_url.clone()),
    );
    let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
    assert!(outcome.reply.is_ok(), "{}", outcome.error());
    assert_eq!(proxy.asked()[0].first_line, "POST http://model.example:81/v1/messages HTTP/1.1");

    let unusable =
        ModelConnection::new(endpoint_at(Wire::Anthropic, "http://model.example"), HttpClient::new().through("::"));
    let outcome = ask_until(&unusable, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
    assert!(outcome.error().contains("The address of the proxy cannot be used"), "{}", outcome.error());
}
