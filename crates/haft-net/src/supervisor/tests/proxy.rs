//! Tests the supervisor as a proxy on the loopback: the same decisions and records, for clients of HTTP and SOCKS 5.

use std::net::Ipv4Addr;
use std::sync::Arc;

use base64::Engine;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::scene::{ALLOW, ALLOW_PRIVATE, LoopbackDial, LoopbackServer, ScriptedJudge, exchange, rest, within};
use crate::supervisor::protocols::client_hello::tests::{hello, server_name};
use crate::supervisor::{ConnectionOutcome, Decision, Flow, ProxyAddress, Speaks, Supervisor};

struct ProxyScene {
    supervisor: Supervisor,
    address: ProxyAddress,
    judge: Arc<ScriptedJudge>,
    dialler: Arc<LoopbackDial>,
}

impl ProxyScene {
    async fn new() -> Self {
        let (judge, dialler) = (Arc::new(ScriptedJudge::default()), Arc::new(LoopbackDial::default()));
        let (supervisor, address) = Supervisor::as_proxy(judge.clone(), dialler.clone()).await.unwrap();
        Self { supervisor, address, judge, dialler }
    }

    fn host(&self, name: &str, server: &LoopbackServer, decision: Decision) {
        self.dialler.place(name, &[self.dialler.address_for(server.address)]);
        self.judge.script(name, decision);
    }

    async fn client(&self) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.address.port)).await.unwrap()
    }

    fn key(&self) -> String {
        let ProxyAddress { user, key, .. } = &self.address;
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{key}"));
        format!("Proxy-Authorization: Basic {basic}\r\n")
    }

    /// Asks for a tunnel; returns it, or what was answered instead.
    async fn tunnel(&self, place: &str) -> Result<TcpStream, String> {
        let mut client = self.client().await;
        client.write_all(format!("CONNECT {place} HTTP/1.1\r\n{}\r\n", self.key()).as_bytes()).await.unwrap();
        let mut answer = vec![0; b"HTTP/1.1 200 Connection established\r\n\r\n".len()];
        within(client.read_exact(&mut answer)).await.unwrap();
        if answer.starts_with(b"HTTP/1.1 200") {
            return Ok(client);
        }
        answer.extend(rest(&mut client).await);
        Err(String::from_utf8(answer).unwrap())
    }

    /// Asks over SOCKS 5, with a name; returns the tunnel, or the code of the answer.
    async fn socks(&self, key: &str, host: &str, port: u16) -> Result<TcpStream, u8> {
        let mut client = self.client().await;
        let user = self.address.user.as_bytes();
        let told = [&[5, 2, 0, 2, 1, user.len() as u8], user, &[key.len() as u8], key.as_bytes()].concat();
        client.write_all(&told).await.unwrap();
        let mut answer = [0; 4];
        within(client.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer[..3], [5, 2, 1]);
        if answer[3] != 0 {
            return Err(answer[3]);
        }
        let asked = [&[5, 1, 0, 3, host.len() as u8], host.as_bytes(), &port.to_be_bytes()].concat();
        client.write_all(&asked).await.unwrap();
        let mut answer = [0; 10];
        within(client.read_exact(&mut answer)).await.unwrap();
        if answer[1] == 0 { Ok(client) } else { Err(answer[1]) }
    }

    fn flow(&self, host: &str, port: u16) -> Flow {
        self.supervisor.traffic().flows.remove(&(host.to_owned(), port)).expect("it was noted")
    }
}

/// Sends bytes and expects them back.
async fn echoes(mut client: TcpStream, bytes: &[u8]) {
    client.write_all(bytes).await.unwrap();
    let mut answer = vec![0; bytes.len()];
    within(client.read_exact(&mut answer)).await.unwrap();
    assert_eq!(answer, bytes);
}

#[tokio::test]
async fn a_tunnel_leads_to_the_host_that_was_decided_about_and_its_bytes_are_counted() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    scene.host("a.test", &server, ALLOW);
    let greeting = hello(&[server_name(b"a.test")]);
    echoes(scene.tunnel("a.test:443").await.unwrap(), &greeting).await;
    let key = scene.address.key.clone();
    echoes(scene.socks(&key, "A.test", 443).await.unwrap(), &greeting).await;
    let flow = scene.flow("a.test", 443);
    let bytes = 2 * greeting.len() as u64;
    assert_eq!(
        (flow.connections, flow.bytes_out, flow.bytes_in, flow.outcome),
        (2, bytes, bytes, ConnectionOutcome::Reached)
    );
    let asked = scene.judge.asked();
    assert!(
        asked.iter().all(|wanted| (wanted.host.as_str(), wanted.port, wanted.speaks) == ("a.test", 443, Speaks::Tls))
    );
}

#[tokio::test]
async fn a_request_is_forwarded_without_the_key_and_for_its_host_alone() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    scene.host("a.test", &server, ALLOW);
    let mut client = scene.client().await;
    let request = format!("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n{}Accept: */*\r\n\r\n", scene.key());
    client.write_all(request.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let echoed = String::from_utf8(rest(&mut client).await).unwrap();
    assert_eq!(echoed, "GET /x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    assert_eq!(scene.judge.asked()[0].speaks, Speaks::Http);
}

#[tokio::test]
async fn who_does_not_know_the_key_gets_nowhere() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    scene.host("a.test", &server, ALLOW);
    for request in ["CONNECT a.test:443 HTTP/1.1\r\n\r\n", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"] {
        let answer = exchange(&mut scene.client().await, request.as_bytes()).await;
        assert!(answer.starts_with(b"HTTP/1.1 407 "), "{}", answer.escape_ascii());
    }
    assert_eq!(scene.socks("wrong", "a.test", 443).await.err(), Some(1));
    // No key at all.
    assert_eq!(exchange(&mut scene.client().await, &[5, 1, 0]).await, [5, 0xff]);
    assert_eq!((server.accepted(), scene.judge.asked().len()), (0, 0));
}

#[tokio::test]
async fn what_is_no_host_of_the_world_is_refused_with_its_reason() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    scene.host("denied.test", &server, ALLOW);
    scene.judge.deny("denied.test");
    for (place, why) in [
        ("denied.test:443", "A rule denies this host."),
        ("127.0.0.1:443", "this address is not granted"),
        ("[::ffff:127.0.0.1]:443", "this address is not granted"),
        ("localhost:443", "does not reach servers on this machine"),
        ("x.localhost:443", "does not reach servers on this machine"),
        ("2130706433:443", "This is not a valid host name."),
        ("a..b:443", "This is not a valid host name."),
    ] {
        let answer = scene.tunnel(place).await.expect_err("it is refused");
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains(why), "{place}: {answer}");
    }
    let key = scene.address.key.clone();
    assert_eq!(scene.socks(&key, "localhost", 80).await.err(), Some(2));
    assert_eq!((server.accepted(), scene.judge.asked().len()), (0, 0));
    assert!(scene.supervisor.traffic().refused_names.contains_key("denied.test"));
}

#[tokio::test]
async fn first_bytes_for_another_host_never_leave_a_tunnel() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    scene.host("a.test", &server, ALLOW);
    scene.host("other.test", &server, ALLOW);
    for bytes in [hello(&[server_name(b"other.test")]), b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n".to_vec()] {
        exchange(&mut scene.tunnel("a.test:443").await.unwrap(), &bytes).await;
        assert!(matches!(scene.flow("a.test", 443).outcome, ConnectionOutcome::Refused(_)));
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_name_of_the_users_own_network_needs_the_users_own_settings() {
    let (scene, server) = (ProxyScene::new().await, LoopbackServer::echo().await);
    let private = scene.dialler.lead("10.1.2.3", server.address);
    for (name, decision) in [("inner.test", ALLOW), ("own.test", ALLOW_PRIVATE)] {
        scene.dialler.place(name, &[private]);
        scene.judge.script(name, decision);
    }
    let request = |name: &str| format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n");
    let refused = exchange(&mut scene.tunnel("inner.test:80").await.unwrap(), request("inner.test").as_bytes()).await;
    assert!(refused.starts_with(b"HTTP/1.1 403 "), "{}", refused.escape_ascii());
    echoes(scene.tunnel("own.test:80").await.unwrap(), request("own.test").as_bytes()).await;
}
