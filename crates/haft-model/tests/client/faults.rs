//! Everything that can go wrong on the way, and what comes of it: another try, what came so far, or a word about it.

use std::time::Duration;

use haft_model::client::{ModelConnection, Times};
use haft_model::conversation::StopReason;
use haft_model::provider::ModelErrorKind;
use haft_model::wire::Wire;
use haft_net::HttpClient;
use tokio_util::sync::CancellationToken;

use crate::conversation::{KEY, Outcome, ask, ask_until, endpoint, endpoint_at, said};
use crate::server::{Answered, Ends, Server};

const ANTHROPIC: &str = include_str!("../streams/anthropic/written_text.sse");
const RESPONSES: &str = include_str!("../streams/responses/written_text.sse");
const WHOLE: &str = "Hello world, é😀.";

/// Returns a stream of this wire that says [`WHOLE`].
fn good(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => ANTHROPIC,
        Wire::Responses => RESPONSES,
        Wire::Chat => concat!(
            r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            "\n\n",
            r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}"#,
            "\n\n",
            r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" world"}}]}"#,
            "\n\n",
            r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":", é😀."}}]}"#,
            "\n\n",
            r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            "\n\ndata: [DONE]\n\n",
        ),
        Wire::Gemini => concat!(
            ": begins\n\n",
            r#"data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}]}"#,
            "\n\n",
            r#"data: {"candidates":[{"content":{"parts":[{"text":" world"}],"role":"model"},"index":0}]}"#,
            "\n\n",
            r#"data: {"candidates":[{"content":{"parts":[{"text":", é😀."}],"role":"model"},"finishReason":"STOP"}]}"#,
            "\n\n",
        ),
    }
}

/// Returns the stream up to its first words, and up to a place behind them.
fn beginnings(wire: Wire) -> (&'static str, &'static str) {
    let stream = good(wire);
    let up_to = |words: &str| {
        let at = stream.find(words).expect("it says so");
        &stream[..stream[..at].rfind("\n\n").expect("in an event") + 2]
    };
    (up_to("Hello"), up_to("\" world\""))
}

/// Meets a fault once, and after it an answer.
async fn after(wire: Wire, fault: Answered) -> Outcome {
    let server = Server::start([fault, Answered::stream(good(wire))]).await;
    ask(endpoint(wire, &server), &[said("Hello?")]).await
}

/// Asserts that a fault costs one more try and nothing else.
async fn is_tried_again(wire: Wire, fault: Answered, why: &str) {
    let outcome = after(wire, fault).await;
    assert_eq!(outcome.text(), WHOLE, "{why}");
    let [pause] = outcome.pauses()[..] else { panic!("one pause: {:?}", outcome.told) };
    assert!(pause.contains(why), "{pause}");
    let words = outcome.told.iter().filter(|piece| piece.starts_with("text"));
    assert_eq!(words.count(), 3, "each piece was told once: {:?}", outcome.told);
}

/// Asserts that a fault ends a reply with what came of it, and with the reason.
async fn cuts(wire: Wire, fault: Answered, why: &str) {
    let outcome = after(wire, fault).await;
    let reply = outcome.reply.as_ref().expect("what came counts");
    assert_eq!((reply.stop, reply.text().as_str()), (StopReason::Cut, "Hello"), "{:?}", outcome.told);
    assert!(outcome.pauses().is_empty(), "{:?}", outcome.told);
    let told = reply.why_cut.as_deref().unwrap_or_default();
    assert!(told.contains(why), "{wire:?}: {told}");
    assert!(told.starts_with("the ") && !told.ends_with('.') && !told.contains('\n') && !told.contains(KEY), "{told}");
}

#[tokio::test]
async fn what_breaks_before_anything_was_told_is_tried_again() {
    for wire in Wire::ALL {
        let (before, _) = beginnings(wire);
        let html = [("content-type", "text/html")];
        is_tried_again(wire, Answered::bytes("", Ends::Closed), "broke off before it answered").await;
        is_tried_again(wire, Answered::bytes("HTTP/1.1 20", Ends::Closed), "broke off before it answered").await;
        is_tried_again(wire, Answered::with("500 Internal Server Error", &[], "{}"), "status 500").await;
        is_tried_again(wire, Answered::with("503 Service Unavailable", &html, "<p>busy"), "status 503").await;
        is_tried_again(wire, Answered::with("529 Overloaded", &[], "x"), "status 529").await;
        is_tried_again(wire, Answered::with("408 Request Timeout", &[], "x"), "status 408").await;
        is_tried_again(wire, Answered::stream(""), "answer is empty").await;
        is_tried_again(wire, Answered::stream(" \n\n"), "answer is empty").await;
        is_tried_again(wire, Answered::cut("", Ends::Closed), "broke off").await;
        is_tried_again(wire, Answered::stream(before), "ended before the reply did").await;
        is_tried_again(wire, Answered::cut(before, Ends::Closed), "broke off").await;
        is_tried_again(wire, Answered::stream("%PDF-1.7 \0\u{1}\n\nfoo: bar\n\n"), "ended before").await;
        is_tried_again(wire, Answered::stream("data: not json\n\n"), "not an event of this wire format").await;
        is_tried_again(wire, Answered::stream(format!("{before}data: {{\"type\": \n\n")), "not an event").await;
        is_tried_again(wire, Answered::stream("{\"half\": "), "not an event of this wire format").await;
        is_tried_again(wire, Answered::stream("{\"type\":\"other\"}"), "is not a reply").await;
        is_tried_again(
            wire,
            Answered::with("200 OK", &html, "<!doctype html><title>Hi</title>"),
            "instead of a reply: \"Hi\"",
        )
        .await;
        let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n";
        is_tried_again(wire, Answered::stream(format!("{before}{error}")), "Busy").await;
        is_tried_again(wire, Answered::stream("{\"error\":{\"message\":\"Busy\"}}"), "Busy").await;
    }
}

#[tokio::test]
async fn what_breaks_after_something_was_told_ends_with_it() {
    for wire in Wire::ALL {
        let (_, told) = beginnings(wire);
        cuts(wire, Answered::stream(told), "ended before the reply did").await;
        cuts(wire, Answered::cut(told, Ends::Closed), "broke off: ").await;
        cuts(
            wire,
            Answered::stream(format!("{told}data: {{\"type\": \n\n")),
            "not an event of this wire format: {\"type\":",
        )
        .await;
        cuts(wire, Answered::stream(format!("{told}data: {{\"half\": ")), "ended before the reply did").await;
        let error = |words: &str| {
            let error = format!(r#"{{"type":"error","error":{{"type":"overloaded_error","message":"{words}"}}}}"#);
            Answered::stream(format!("{told}event: error\ndata: {error}\n\n"))
        };
        cuts(wire, error("Busy"), "the provider ended the reply early: Busy").await;
        cuts(wire, error(&format!("{KEY} is\\nbusy")), "ended the reply early: [key] is\\nbusy").await;
        cuts(wire, error(&"Busy ".repeat(200)), "Busy Busy").await;
    }
}

#[tokio::test]
async fn a_stream_may_be_cut_at_every_seventh_byte() {
    for wire in Wire::ALL {
        let stream = good(wire).as_bytes();
        let places: Vec<usize> = (0..stream.len()).step_by(7).collect();
        let faults = places.iter().map(|at| Answered::cut(&stream[..*at], Ends::Closed));
        let server = Server::start(faults.chain([Answered::stream(stream)])).await;
        let mut endpoint = endpoint(wire, &server);
        endpoint.times = Times { back_off: Duration::ZERO, ..endpoint.times };
        let connection = ModelConnection::new(endpoint, HttpClient::new());
        let mut left = places.len();
        while left > 0 {
            let before = server.asked().len();
            let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
            left = left.saturating_sub(server.asked().len() - before);
            match outcome.reply {
                Ok(reply) => assert!(WHOLE.starts_with(&reply.text()), "{:?}", outcome.told),
                Err(error) => assert_eq!(error.kind, ModelErrorKind::Broken, "{error:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_provider_is_left_alone_as_long_as_it_asks_and_no_longer() {
    let asks = |name: &'static str, value: &str| {
        Answered::with("429 Too Many Requests", &[(name, value)], r#"{"error":{"message":"Slow down"}}"#)
    };
    let outcome = after(Wire::Anthropic, asks("retry-after", "0")).await;
    assert_eq!(outcome.pauses(), ["0ns: The provider answered with status 429: Slow down"]);
    assert_eq!(outcome.text(), WHOLE);
    let outcome = after(Wire::Responses, asks("retry-after-ms", "20")).await;
    assert_eq!(outcome.pauses(), ["20ms: The provider answered with status 429: Slow down"]);
    let outcome = after(Wire::Anthropic, asks("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")).await;
    let [pause] = outcome.pauses()[..] else { panic!("one pause: {:?}", outcome.told) };
    assert!(!pause.starts_with("0ns"), "a moment that is long over asks for nothing: {pause}");
}

#[tokio::test]
async fn who_asks_to_be_left_alone_for_too_long_is_told_of() {
    let busy = Answered::with("429 Too Many Requests", &[("retry-after", "86400")], "{}");
    let outcome = after(Wire::Anthropic, busy).await;
    let error = outcome.error();
    assert!(error.starts_with("Limited: ") && error.contains("retry in 86400 s, which is too long"), "{error}");
    assert!(outcome.pauses().is_empty());
}

#[tokio::test]
async fn what_will_not_change_is_not_tried_again() {
    let cases = [
        ("401 Unauthorized", r#"{"error":{"message":"no"}}"#, ModelErrorKind::NotAdmitted),
        ("400 Bad Request", r#"{"error":{"message":"no"}}"#, ModelErrorKind::BadRequest),
        ("404 Not Found", "", ModelErrorKind::BadRequest),
        (
            "400 Bad Request",
            r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ModelErrorKind::TooLong,
        ),
        ("429 Too Many Requests", r#"{"error":{"message":"m","code":"insufficient_quota"}}"#, ModelErrorKind::NoCredit),
        (
            "200 OK",
            "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}\n\n",
            ModelErrorKind::NoCredit,
        ),
        (
            "400 Bad Request",
            r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#,
            ModelErrorKind::NoCredit,
        ),
        ("402 Payment Required", "{}", ModelErrorKind::NoCredit),
    ];
    for (status, body, kind) in cases {
        let server = Server::start([Answered::with(status, &[], body)]).await;
        let outcome = ask(endpoint(Wire::Responses, &server), &[said("Hello?")]).await;
        assert_eq!(outcome.reply.as_ref().map(|_| ()).map_err(|error| error.kind), Err(kind), "{status} {body}");
        assert_eq!(server.asked().len(), 1, "{status} {body}");
    }
    let says_no = Answered::with("500 Internal Server Error", &[("x-should-retry", "false")], "{}");
    let server = Server::start([says_no]).await;
    let outcome = ask(endpoint(Wire::Anthropic, &server), &[said("Hello?")]).await;
    assert_eq!((outcome.reply.is_err(), server.asked().len()), (true, 1));
}

#[tokio::test]
async fn a_model_that_refuses_to_be_asked_for_its_thoughts_is_asked_without() {
    let words = r#"{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}"#;
    let refusal = || Answered::with("400 Bad Request", &[], words);
    let server = Server::start([refusal(), Answered::stream(RESPONSES)]).await;
    let connection = ModelConnection::new(endpoint(Wire::Responses, &server), HttpClient::new());
    for _ in 0..2 {
        let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
        assert_eq!((outcome.text().as_str(), outcome.pauses().len()), (WHOLE, 0));
    }
    let asks = server.asked().iter().map(|asked| asked.body.contains("encrypted_content")).collect::<Vec<_>>();
    assert_eq!(asks, [true, false, false], "it is learned once");

    let server = Server::start([refusal()]).await;
    let outcome = ask(endpoint(Wire::Responses, &server), &[said("Hello?")]).await;
    assert!(outcome.error().starts_with("BadRequest: "), "{}", outcome.error());
    assert_eq!(server.asked().len(), 2, "who refuses without it too is believed");
}

#[tokio::test]
async fn it_is_not_tried_for_ever() {
    let server = Server::start([Answered::with("500 Internal Server Error", &[], "down")]).await;
    let mut endpoint = endpoint(Wire::Anthropic, &server);
    endpoint.times = Times { tries: 4, ..endpoint.times };
    let outcome = ask(endpoint, &[said("Hello?")]).await;
    assert_eq!(
        outcome.error(),
        "Broken: The provider answered with status 500: down. haft tried 4 times. Next: try again later, or use another model"
    );
    assert_eq!((outcome.pauses().len(), server.asked().len()), (3, 4));
}

#[tokio::test]
async fn a_key_is_never_told() {
    let words = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let outcome = after(Wire::Responses, Answered::with("401 Unauthorized", &[], words)).await;
    assert!(outcome.error().contains("Incorrect API key provided: [key]"), "{}", outcome.error());
    // Also where what is told of long words ends in the middle of it.
    for before in (500..720).step_by(5) {
        let words = format!("{}{KEY}{}", "x".repeat(before), "y".repeat(900));
        for fault in [
            Answered::with("400 Bad Request", &[], &words),
            Answered::stream(format!("data: {words}\n\n")),
            Answered::stream(format!("data: {{\"error\":{{\"message\":\"{words}\"}}}}\n\n")),
            Answered::stream(format!("<title>{words}</title>")),
        ] {
            let server = Server::start([fault]).await;
            let mut endpoint = endpoint(Wire::Chat, &server);
            endpoint.times = Times { tries: 1, ..endpoint.times };
            let error = ask(endpoint, &[said("Hello?")]).await.error();
            assert!(!error.contains("sk-") && error.len() < 900, "{error}");
        }
    }
    let endpoint = endpoint_at(Wire::Responses, "http://127.0.0.1:9");
    assert!(!format!("{endpoint:?}").contains(KEY));

    let mut endpoint = endpoint;
    endpoint.key = Some("two\nlines".into());
    let error = ask(endpoint, &[said("Hello?")]).await.error();
    assert!(error.starts_with("NotAdmitted") && error.contains("line ends") && !error.contains("two"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_because_the_key_would_go_with_it() {
    let elsewhere = Server::start([Answered::stream(ANTHROPIC)]).await;
    let location = format!("{}/v1/messages?token=secret", elsewhere.base_url);
    let moved = Answered::with("308 Permanent Redirect", &[("location", &location)], "");
    let server = Server::start([moved]).await;
    let error = ask(endpoint(Wire::Anthropic, &server), &[said("Hello?")]).await.error();
    assert!(error.contains("redirects to") && !error.contains("secret"), "{error}");
    assert_eq!((elsewhere.asked().len(), server.asked().len()), (0, 1));
}

#[tokio::test]
async fn an_address_at_which_nobody_answers_is_told_of_soon() {
    let server = Server::start([]).await;
    let base_url = server.base_url.replace("http://", "http://user:secret@");
    drop(server);
    // The port is closed when its task is gone.
    tokio::task::yield_now().await;
    let outcome = ask(endpoint_at(Wire::Anthropic, &base_url), &[said("Hello?")]).await;
    let error = outcome.error();
    assert!(error.starts_with("Unreachable: http://127.0.0.1:") && error.contains("cannot be reached"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    assert_eq!(outcome.pauses().len(), 2);

    let error = ask(endpoint_at(Wire::Anthropic, "ftp://a"), &[said("Hello?")]).await.error();
    assert!(error.contains("begins with \"ftp\""), "{error}");
}

#[tokio::test]
async fn whoever_writes_https_to_a_server_without_it_is_told_to_write_http() {
    let server = Server::start([Answered::bytes("HTTP/1.1 400 Bad Request\r\n\r\n", Ends::Closed)]).await;
    let base_url = server.base_url.replace("http://", "https://");
    let error = ask(endpoint_at(Wire::Anthropic, &base_url), &[said("Hello?")]).await.error();
    assert!(error.starts_with("Unreachable: https://127.0.0.1:"), "{error}");
    assert!(error.ends_with("write http:// in the base URL: the server there has no TLS"), "{error}");
}

#[tokio::test]
async fn a_web_page_in_place_of_a_reply_names_the_base_url() {
    let page = Answered::with("200 OK", &[], "<html><title>Sign in</title>");
    let server = Server::start([page]).await;
    let error = ask(endpoint(Wire::Anthropic, &server), &[said("Hello?")]).await.error();
    assert!(error.contains("The provider sent a web page instead of a reply: \"Sign in\""), "{error}");
    assert!(error.contains("check the base URL"), "{error}");
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn an_answer_has_a_longest_length_and_so_has_an_event() {
    let line = |begin: &str| format!("{begin}{}\n", "x".repeat(1024 * 1024));
    let cases = [
        (line("data: ").repeat(17), "an event of more than 16 MiB"),
        (line(": ").repeat(65), "has more than 64 MiB"),
        (format!("{{{}", line(" ").repeat(17)), "has more than 16 MiB"),
    ];
    for (body, why) in cases {
        let server = Server::start([Answered::stream(body)]).await;
        let mut endpoint = endpoint(Wire::Anthropic, &server);
        endpoint.times = Times { tries: 1, ..endpoint.times };
        let error = ask(endpoint, &[said("Hello?")]).await.error();
        assert!(error.contains(why), "{error}");
    }
    // What is in it is limited too, and what came up to there is kept.
    let begin = include_str!("../streams/anthropic/written_empty_reply.sse").split("event: message_delta").next();
    let begin = begin.expect("it has a beginning");
    let start = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let text = "x".repeat(1024 * 1024);
    let delta = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    );
    let outcome = after(Wire::Anthropic, Answered::stream(format!("{begin}{start}{}", delta.repeat(20)))).await;
    let reply = outcome.reply.as_ref().expect("somebody heard of it");
    assert_eq!(reply.why_cut.as_deref(), Some("the provider's reply has more than 8 MiB"));
    assert_eq!(reply.text().len(), 9 * 1024 * 1024);

    let refusal = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "x".repeat(1024 * 1024));
    let outcome = after(Wire::Anthropic, Answered::with("400 Bad Request", &[], refusal)).await;
    assert!(outcome.error().len() < 1000, "{}", outcome.error().len());
}

#[tokio::test]
async fn a_reply_that_is_whole_counts_although_its_farewell_is_missing() {
    let stream = include_str!("../streams/anthropic/written_empty_reply.sse");
    let without_farewell = stream.split("event: message_stop").next().expect("it has a farewell");
    let outcome = after(Wire::Anthropic, Answered::cut(without_farewell, Ends::Closed)).await;
    let reply = outcome.reply.as_ref().expect("it is whole");
    assert_eq!((reply.stop, reply.parts.len(), outcome.pauses().len()), (StopReason::Finished, 0, 0));

    let cancelled = r#"{"object":"response","status":"cancelled","output":[]}"#;
    is_tried_again(Wire::Responses, Answered::stream(cancelled), "answer is empty").await;
}
