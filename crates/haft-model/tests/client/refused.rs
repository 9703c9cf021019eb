//! Answers that are none: refusals and their words, packed bodies, and proxies in the way.

use std::time::Duration;

use haft_model::client::{ModelConnection, Times};
use haft_model::wire::Wire;
use haft_net::HttpClient;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::conversation::{ask, ask_until, endpoint, endpoint_at, said};
use crate::server::{Answered, Ends, Server};

#[tokio::test(start_paused = true)]
async fn the_words_of_a_refusal_that_do_not_end_are_not_waited_for() {
    let body = r#"{"error":{"message":"no such thing"}}"#;
    let head = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n", body.len() + 1);
    for (sent, told) in
        [(format!("{head}{body}"), "status 400: no such thing"), (head, "status 400 and without a message")]
    {
        let server = Server::start([Answered::bytes(sent, Ends::Never)]).await;
        let mut endpoint = endpoint(Wire::Chat, &server);
        endpoint.times = Times { connect: Duration::from_secs(3600), ..endpoint.times };
        let began = Instant::now();
        let error = ask(endpoint, &[said("Hello?")]).await.error();
        assert!(error.contains(told), "{error}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_key_that_could_be_a_word_leaves_the_words_as_they_are() {
    let server = Server::start([Answered::with("401 Unauthorized", &[], r#"{"error":"an answer"}"#)]).await;
    for key in ["a", "answer"] {
        let mut endpoint = endpoint(Wire::Chat, &server);
        endpoint.key = Some(key.into());
        let error = ask(endpoint, &[said("Hello?")]).await.error();
        assert!(error.contains("The provider answered with status 401: an answer"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_packed_is_named_and_not_asked_for_again() {
    let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00";
    let said_so = |packing: &str| Answered::with("200 OK", &[("content-encoding", packing)], gzip);
    for (packed, name) in [(said_so("gzip"), "gzip"), (said_so("BR"), "br"), (Answered::stream(gzip), "gzip")] {
        let server = Server::start([packed]).await;
        let error = ask(endpoint(Wire::Chat, &server), &[said("Hello?")]).await.error();
        assert!(error.contains(&format!("compressed as {name:?}, which haft did not ask for")), "{error}");
        assert_eq!(server.asked().len(), 1, "{name}");
        assert_eq!(server.asked()[0].header("accept-encoding"), Some("identity"));
    }
    let refusal = Answered::with("403 Forbidden", &[("content-encoding", "gzip")], gzip);
    let server = Server::start([refusal]).await;
    let error = ask(endpoint(Wire::Chat, &server), &[said("Hello?")]).await.error();
    assert!(error.contains("status 403 and without a message"), "{error}");
}

#[tokio::test]
async fn a_proxy_that_cannot_be_reached_is_named_without_its_password() {
    let gone = Server::start([]).await;
    let proxy = gone.base_url.replace("http://", "http://user:secret@");
    drop(gone);
    // The port is closed when its task is gone.
    tokio::task::yield_now().await;
    for base_url in ["http://model.example/v1", "https://model.example/v1"] {
        let connection =
            ModelConnection::new(endpoint_at(Wire::Chat, base_url), HttpClient::new().through(proxy.clone()));
        let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
        let error = outcome.error();
        assert!(error.starts_with("Unreachable: The proxy http://127.0.0.1:"), "{error}");
        assert!(error.contains("NO_PROXY") && !error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn what_a_proxy_refuses_names_both() {
    let proxy = Server::start([Answered::with("403 Forbidden", &[], "no")]).await;
    let endpoint = endpoint_at(Wire::Chat, "https://model.example/v1");
    let connection = ModelConnection::new(endpoint, HttpClient::new().through(proxy.base_url.clone()));
    let outcome = ask_until(&connection, &[said("Hello?")], &CancellationToken::new(), |_| {}).await;
    let error = outcome.error();
    let way = format!("https://model.example cannot be reached through the proxy {}: ", proxy.base_url);
    assert!(error.contains(&way), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_list_of_models_is_waited_for_as_long_as_is_said_and_in_its_own_words() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"] {
        let server = Server::start([Answered::bytes(sent, Ends::Never)]).await;
        let mut endpoint = endpoint(Wire::Chat, &server);
        endpoint.times = Times { connect: Duration::from_secs(3600), total: Duration::from_secs(5), ..endpoint.times };
        let listed = ModelConnection::new(endpoint, HttpClient::new()).models(&CancellationToken::new()).await;
        assert_eq!(listed.expect_err("nobody says it").what, "No list of models arrived within 5 s.");
    }
}
