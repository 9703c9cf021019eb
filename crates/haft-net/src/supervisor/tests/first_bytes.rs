//! Tests what the first bytes of a connection must be, and that no other bytes reach a host.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::scene::{ALLOW, ALLOW_RAW, LoopbackServer, SupervisorScene, exchange, rest, scene, until, within};
use crate::supervisor::protocols::client_hello::tests::{hello, server_name};
use crate::supervisor::{ConnectionOutcome, Speaks};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

fn greeting(name: &[u8]) -> Vec<u8> {
    hello(&[server_name(name)])
}

/// Sends first bytes to a.test and expects that they reach it unchanged.
async fn assert_passes(scene: &SupervisorScene, server: &LoopbackServer, (port, bytes): (u16, &[u8])) {
    let before = server.received().len();
    let mut client = scene.connect("a.test", port).await;
    client.write_all(bytes).await.unwrap();
    let mut answer = vec![0; bytes.len()];
    within(client.read_exact(&mut answer)).await.unwrap();
    assert_eq!((answer.as_slice(), &server.received()[before..]), (bytes, bytes));
    assert_eq!(scene.flow("a.test", port).outcome, ConnectionOutcome::Reached);
}

/// Sends first bytes to a.test and expects that the connection ends, with a reason, and that nothing reaches a host.
async fn assert_refused(
    scene: &SupervisorScene,
    server: &LoopbackServer,
    (port, bytes, why): (u16, &[u8], &str),
) -> Vec<u8> {
    let mut client = scene.connect("a.test", port).await;
    let answer = exchange(&mut client, bytes).await;
    let outcome = scene.outcome("a.test", port);
    assert!(outcome.starts_with("Refused") && outcome.contains(why), "{outcome} {}", bytes.escape_ascii());
    assert_eq!((server.accepted(), scene.dialler.looked_up.lock().unwrap().len()), (0, 0), "{outcome}");
    answer
}

#[tokio::test]
async fn first_bytes_that_name_the_host_pass_unchanged() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let table: [(u16, &[u8]); 6] = [
        (443, &greeting(b"a.test")),
        (443, &greeting(b"A.TEST.")),
        (80, REQUEST),
        (80, b"POST /x HTTP/1.1\r\nHost: A.test:80\r\nContent-Length: 4\r\n\r\nbody"),
        (80, &greeting(b"a.test")),
        (443, REQUEST),
    ];
    for case in table {
        assert_passes(&scene, &server, case).await;
    }
}

#[tokio::test]
async fn first_bytes_that_name_another_host_or_none_never_leave() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let encrypted = hello(&[(0xfe0d, vec![1; 200])]);
    let table: [(u16, &[u8], &str); 14] = [
        (443, &greeting(b"b.test"), "names \\\"b.test\\\""),
        (443, &greeting(b"a.test.evil.test"), "a.test.evil.test"),
        (443, &greeting(b"a.test\0"), "a.test\\\\0"),
        (443, &greeting(b"xn--a.test"), "xn--a.test"),
        (443, &hello(&[]), "names no host (SNI)"),
        (443, &encrypted, "names no host (SNI)"),
        (443, &hello(&[server_name(b"a.test"), server_name(b"b.test")]), "neither TLS nor HTTP"),
        (80, b"GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", "names \\\"b.test\\\""),
        (80, b"GET / HTTP/1.1\r\n\r\n", "exactly one Host"),
        (80, b"GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", "exactly one Host"),
        (80, b"GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "two hosts"),
        (80, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 without TLS"),
        (80, b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "CONNECT"),
        (5432, b"\0\0\0\x08\x04\xd2\x16\x2f", "neither TLS nor HTTP"),
    ];
    for case in table {
        assert_refused(&scene, &server, case).await;
    }
}

#[tokio::test]
async fn a_refused_client_learns_why_in_its_own_protocol() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    let told = assert_refused(&scene, &server, (80, REQUEST, "No grant.")).await;
    let told = String::from_utf8(told).unwrap();
    assert!(told.starts_with("HTTP/1.1 403 Forbidden\r\n") && told.ends_with("\r\n\r\nhaft: a.test:80: No grant.\n"));
    let told = assert_refused(&scene, &server, (443, &greeting(b"a.test"), "No grant.")).await;
    assert_eq!(told, [21, 3, 3, 0, 2, 2, 49]);
    let told = assert_refused(&scene, &server, (5432, b"hello\n", "No grant.")).await;
    assert_eq!(told, b"");
}

#[tokio::test]
async fn a_greeting_may_arrive_byte_by_byte() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    for bytes in [greeting(b"a.test"), REQUEST.to_vec()] {
        let mut client = scene.connect("a.test", 443).await;
        client.set_nodelay(true).unwrap();
        for byte in &bytes {
            client.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        let mut answer = vec![0; bytes.len()];
        within(client.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, bytes);
    }
}

#[tokio::test]
async fn with_a_raw_grant_everything_passes_that_does_not_name_another_host() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW_RAW);
    let table: [(u16, &[u8]); 6] = [
        (5432, b"\0\0\0\x08\x04\xd2\x16\x2f"),
        (5432, b"*1\r\n$4\r\nPING\r\n"),
        (443, &hello(&[])),
        (80, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        (80, REQUEST),
        (22, b"SSH-2.0-OpenSSH_9.2\r\n"),
    ];
    for case in table {
        assert_passes(&scene, &server, case).await;
    }
    let mut client = scene.connect("a.test", 443).await;
    exchange(&mut client, &greeting(b"b.test")).await;
    assert!(scene.outcome("a.test", 443).contains("b.test"));
}

#[tokio::test]
async fn a_server_that_speaks_first_is_heard_with_a_raw_grant() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::greeting(b"SSH-2.0-server\r\n").await;
    scene.host("git.test", &server, ALLOW_RAW);
    let mut client = scene.connect("git.test", 22).await;
    let mut line = vec![0; 16];
    within(client.read_exact(&mut line)).await.unwrap();
    assert_eq!(line, b"SSH-2.0-server\r\n");
    let asked = scene.judge.asked();
    assert_eq!((asked.len(), asked[0].speaks), (1, Speaks::Other));
}

#[tokio::test]
async fn a_client_that_is_slow_to_speak_is_not_taken_for_a_silent_one() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let mut client = scene.connect("a.test", 5432).await;
    // The question about the silent client has been answered: TLS and HTTP only.
    until(|| scene.judge.asked().len() == 1).await;
    client.write_all(&greeting(b"a.test")).await.unwrap();
    within(client.read_exact(&mut [0; 10])).await.unwrap();
    let spoken: Vec<Speaks> = scene.judge.asked().iter().map(|wanted| wanted.speaks).collect();
    assert_eq!(spoken, [Speaks::Other, Speaks::Tls]);
}

#[tokio::test]
async fn a_silent_client_that_speaks_while_a_person_is_asked_is_asked_about_by_what_it_speaks() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let answer = scene.judge.hold("a.test");
    let mut client = scene.connect("a.test", 5432).await;
    until(|| scene.judge.asked().len() == 1).await;
    client.write_all(&greeting(b"a.test")).await.unwrap();
    until(|| scene.judge.asked().len() == 2).await;
    assert_eq!(scene.judge.asked()[1].speaks, Speaks::Tls);
    answer.send_replace(Some(ALLOW));
    within(client.read_exact(&mut [0; 10])).await.unwrap();
}

#[tokio::test]
async fn a_silent_client_of_a_host_that_is_not_granted_is_refused() {
    let Some(scene) = scene() else { return };
    let mut client = scene.connect("a.test", 22).await;
    assert_eq!(rest(&mut client).await, b"");
    assert_eq!(scene.outcome("a.test", 22), "Refused(\"No grant.\")");
}

#[tokio::test]
async fn a_greeting_without_an_end_is_given_up_and_held_in_bounded_memory() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let endless = [b"GET /".to_vec(), vec![b'x'; 1 << 20]].concat();
    assert_refused(&scene, &server, (80, &endless, "too long")).await;
}

#[tokio::test]
async fn no_first_bytes_stop_the_supervisor() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let whole = greeting(b"a.test");
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 0x55;
        broken.truncate(at + 20);
        let mut client = scene.connect("a.test", 443).await;
        let _ = client.write_all(&broken).await;
        client.shutdown().await.unwrap();
        rest(&mut client).await;
    }
    assert_passes(&scene, &server, (443, &whole)).await;
}
