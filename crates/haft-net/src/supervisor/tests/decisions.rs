//! Tests who is asked, what a held connection does, and which addresses the supervisor dials.

use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::namespace::NamespaceRequest;
use super::scene::{ALLOW, ALLOW_PRIVATE, LoopbackServer, SupervisorScene, exchange, rest, scene, until, within};
use crate::supervisor::{ConnectionOutcome, Decision};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

/// Sends the request to a.test and returns the status of the answer, or what an echo sends back.
async fn request(scene: &SupervisorScene) -> String {
    let mut client = scene.connect("a.test", 80).await;
    client.write_all(REQUEST).await.unwrap();
    client.shutdown().await.unwrap();
    let answer = rest(&mut client).await;
    String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned()
}

#[tokio::test]
async fn connections_to_an_undecided_host_wait_for_one_answer() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let answer = scene.judge.hold("a.test");
    let mut clients = Vec::new();
    for _ in 0..5 {
        let mut client = scene.connect("a.test", 80).await;
        client.write_all(REQUEST).await.unwrap();
        clients.push(client);
    }
    until(|| scene.flow("a.test", 80).connections == 5).await;
    assert_eq!((scene.flow("a.test", 80).outcome, server.accepted()), (ConnectionOutcome::Waiting, 0));
    answer.send_replace(Some(ALLOW));
    for client in &mut clients {
        within(client.read_exact(&mut [0; 10])).await.unwrap();
    }
    assert_eq!((scene.judge.asked().len(), server.accepted()), (1, 5));
}

/// A client of a.test gives up, then a person allows the connection once: the judge would ask again.
async fn allow_after_giving_up(scene: &SupervisorScene) {
    let answer = scene.judge.hold("a.test");
    let mut client = scene.connect("a.test", 80).await;
    client.write_all(REQUEST).await.unwrap();
    until(|| scene.judge.asked().len() == 1).await;
    // These are not read before the decision; the end is noticed behind them.
    client.write_all(&[b'x'; 20_000]).await.unwrap();
    drop(client);
    until(|| scene.flow("a.test", 80).gave_up == 1).await;
    assert_eq!(scene.flow("a.test", 80).outcome, ConnectionOutcome::GaveUp);
    answer.send_replace(Some(ALLOW));
    // Only the script has a receiver: the question has ended.
    until(|| answer.receiver_count() == 1).await;
    scene.judge.script("a.test", Decision::Refuse { why: "Asked again.".into() });
}

#[tokio::test]
async fn an_answer_that_comes_after_the_client_gave_up_applies_to_the_retry() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    allow_after_giving_up(&scene).await;
    let first = request(&scene).await;
    assert_eq!((first.as_str(), request(&scene).await.as_str()), ("GET / HTTP/1", "HTTP/1.1 403"));
    assert_eq!((scene.judge.asked().len(), server.accepted(), server.received().len()), (2, 1, REQUEST.len()));
}

#[tokio::test]
async fn an_answer_that_no_connection_has_used_is_forgotten_when_its_host_is_revoked() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    allow_after_giving_up(&scene).await;
    scene.supervisor.revoke("a.test");
    assert_eq!((request(&scene).await.as_str(), server.accepted()), ("HTTP/1.1 403", 0));
}

#[tokio::test]
async fn a_client_that_ended_its_direction_waits_for_a_moment() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let answer = scene.judge.hold("a.test");
    let (answered, ()) = tokio::join!(request(&scene), async {
        until(|| scene.judge.asked().len() == 1).await;
        // Some milliseconds pass.
        for _ in 0..50 {
            scene.look_up("b.test", 1).await;
        }
        answer.send_replace(Some(ALLOW));
    });
    assert_eq!(answered, "GET / HTTP/1");
}

#[tokio::test]
async fn a_client_that_ended_its_direction_is_served_when_the_decision_is_quick() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    assert_eq!(request(&scene).await, "GET / HTTP/1");
}

#[tokio::test]
async fn each_connection_is_decided_about_by_itself() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    request(&scene).await;
    scene.judge.script("a.test", Decision::Refuse { why: "Changed.".into() });
    assert_eq!(request(&scene).await, "HTTP/1.1 403");
    assert_eq!(scene.judge.asked().len(), 2);
}

#[tokio::test]
async fn a_revoked_host_loses_its_open_connections_and_no_other_does() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    let mut clients = Vec::new();
    for host in ["a.test", "b.test"] {
        scene.host(host, &server, ALLOW);
        let mut client = scene.connect(host, 80).await;
        client.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
        within(client.read_exact(&mut [0; 30])).await.unwrap();
        clients.push(client);
    }
    let question = scene.judge.hold("c.test");
    let mut waiting = scene.connect("c.test", 80).await;
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: c.test\r\n\r\n").await.unwrap();
    until(|| scene.judge.asked().len() == 3).await;

    scene.supervisor.revoke("a.test");
    scene.supervisor.revoke("c.test");
    assert!(within(clients[0].read_exact(&mut [0; 100])).await.is_err());
    assert!(within(waiting.read_exact(&mut [0; 100])).await.is_err());
    assert!(scene.outcome("a.test", 80).contains("revoked") && scene.outcome("c.test", 80).contains("revoked"));
    clients[1].write_all(b"more").await.unwrap();
    within(clients[1].read_exact(&mut [0; 4])).await.unwrap();
    drop(question);
}

#[tokio::test]
async fn the_end_of_the_supervisor_ends_its_connections() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let mut open = scene.connect("a.test", 80).await;
    open.write_all(REQUEST).await.unwrap();
    within(open.read_exact(&mut [0; 30])).await.unwrap();
    let question = scene.judge.hold("b.test");
    let mut waiting = scene.connect("b.test", 80).await;
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: b.test\r\n\r\n").await.unwrap();
    until(|| scene.judge.asked().len() == 2).await;
    let SupervisorScene { namespace, supervisor, .. } = scene;

    drop(supervisor);
    rest(&mut open).await;
    rest(&mut waiting).await;
    // Only the script has a receiver.
    until(|| question.receiver_count() == 1).await;
    let socket = namespace.sockets(NamespaceRequest::Clients(1)).pop().unwrap();
    let answer = super::scene::connect(socket, "198.18.0.1:80".parse().unwrap()).await;
    assert_eq!(answer.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionRefused));
}

#[tokio::test]
async fn a_connection_to_an_address_without_a_name_is_closed_and_reported() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    scene.connect("a.test", 80).await;
    let table =
        [("198.18.0.2", "No name was looked up"), ("198.19.7.7", "No name"), ("127.0.0.1", "listens on this port")];
    for (address, why) in table {
        // It may be closed before the client has learnt that it is open.
        if let Ok(mut client) = scene.connect_to(format!("{address}:80").parse().unwrap()).await {
            assert_eq!(exchange(&mut client, REQUEST).await, b"");
        }
        assert!(scene.outcome(address, 80).contains(why), "{}", scene.outcome(address, 80));
    }
    let outside = scene.connect_to("1.1.1.1:80".parse().unwrap()).await;
    assert_eq!(outside.err().map(|error| error.kind()), Some(std::io::ErrorKind::NetworkUnreachable));
    assert_eq!((scene.judge.asked().len(), server.accepted()), (0, 0));
}

#[tokio::test]
async fn there_is_no_way_out_by_datagrams() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let address = scene.look_up("a.test", 1).await.1.unwrap();
    let socket = std::net::UdpSocket::from(scene.one(NamespaceRequest::Datagrams));
    // Resolvers that a program knows itself, QUIC to a name, and the metadata of a provider.
    for outside in ["8.8.8.8:53", "1.1.1.1:443", "169.254.169.254:80", "10.0.0.1:53"] {
        let error = socket.send_to(b"data", outside).err().map(|error| error.kind());
        assert_eq!(error, Some(std::io::ErrorKind::NetworkUnreachable), "{outside}");
    }
    let socket = tokio::net::UdpSocket::from_std(socket).unwrap();
    socket.connect((address, 443)).await.unwrap();
    socket.send(b"initial packet").await.unwrap();
    let answer = within(socket.recv(&mut [0; 10])).await;
    assert_eq!(answer.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionRefused));
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn an_address_that_was_granted_can_be_reached_without_a_name() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.namespace.sockets(NamespaceRequest::AddressLocal);
    scene.dialler.lead("10.1.2.3", server.address);
    let request = b"GET / HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n";
    let address = "10.1.2.3:80".parse().unwrap();
    drop(scene.connect_to(address).await);
    until(|| scene.outcome("10.1.2.3", 80).contains("not granted")).await;

    scene.judge.grant("10.1.2.3");
    scene.judge.script("10.1.2.3", ALLOW);
    let mut client = scene.connect_to(address).await.unwrap();
    client.write_all(request).await.unwrap();
    within(client.read_exact(&mut [0; 10])).await.unwrap();
    assert!(scene.dialler.looked_up.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_into_the_own_network_is_refused_unless_it_may_be_there() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    let private = scene.dialler.lead("10.7.7.7", server.address);
    scene.dialler.place("a.test", &[private]);
    scene.judge.script("a.test", ALLOW);
    assert_eq!(request(&scene).await, "HTTP/1.1 403");
    assert!(scene.outcome("a.test", 80).contains("leads to 10.7.7.7"));
    assert!(scene.dialler.dialled.lock().unwrap().is_empty());

    scene.judge.script("a.test", ALLOW_PRIVATE);
    assert_eq!(request(&scene).await, "GET / HTTP/1");
    scene.judge.script("a.test", ALLOW);
    scene.judge.grant("10.7.7.7");
    assert_eq!(request(&scene).await, "GET / HTTP/1");
}

#[tokio::test]
async fn exactly_the_addresses_that_were_checked_are_dialled() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    let public = scene.dialler.address_for(server.address);
    let [metadata, private] = ["169.254.169.254", "192.168.0.1"].map(|text| text.parse::<IpAddr>().unwrap());
    // Public while a person was asked, private at the second look-up.
    scene.dialler.place("a.test", &[private, public, metadata]);
    scene.dialler.place("a.test", &[private]);
    scene.dialler.place("a.test", &[metadata]);
    scene.judge.script("a.test", ALLOW);
    let dialled = || scene.dialler.dialled.lock().unwrap().iter().map(|address| address.ip()).collect::<Vec<_>>();
    assert_eq!((request(&scene).await.as_str(), dialled()), ("GET / HTTP/1", vec![public]));
    assert_eq!((request(&scene).await.as_str(), dialled()), ("HTTP/1.1 403", vec![public]));
    scene.judge.script("a.test", ALLOW_PRIVATE);
    assert_eq!((request(&scene).await.as_str(), dialled()), ("HTTP/1.1 403", vec![public]));
    assert_eq!(scene.dialler.looked_up.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn when_an_address_does_not_answer_the_next_one_is_dialled() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    let dead = "93.184.217.1".parse().unwrap();
    let closed = scene.dialler.address_for("127.0.0.1:1".parse().unwrap());
    let good = scene.dialler.address_for(server.address);
    scene.dialler.place("a.test", &[dead, closed, good]);
    scene.judge.script("a.test", ALLOW);
    assert_eq!(request(&scene).await, "GET / HTTP/1");
    assert_eq!(scene.dialler.dialled.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_host_that_is_not_reached_is_told_with_the_reason() {
    let Some(scene) = scene() else { return };
    scene.judge.script("a.test", ALLOW);
    let outcome = || scene.outcome("a.test", 80);
    assert_eq!(request(&scene).await, "HTTP/1.1 502");
    assert!(outcome().contains("there is no host of this name"), "{}", outcome());
    scene.dialler.place("a.test", &["93.184.217.1".parse().unwrap()]);
    request(&scene).await;
    assert!(outcome().contains("cannot be reached"), "{}", outcome());
    scene.dialler.place("a.test", &[scene.dialler.address_for("127.0.0.1:1".parse().unwrap())]);
    request(&scene).await;
    request(&scene).await;
    assert!(outcome().contains("refused the connection"), "{}", outcome());
    *scene.dialler.is_down.lock().unwrap() = true;
    request(&scene).await;
    assert!(outcome().starts_with("Failed") && outcome().contains("cannot be looked up"), "{}", outcome());
}

#[tokio::test]
async fn a_port_that_was_granted_later_is_accepted_then() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let address = scene.look_up("a.test", 1).await.1.unwrap();
    let refused = scene.connect_to((address, 8443).into()).await;
    assert_eq!(refused.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionRefused));
    let wrong = scene.supervisor.listen(8444, scene.one(NamespaceRequest::Listener(8443)));
    assert!(wrong.is_err() && !scene.supervisor.listens_on(8444));
    scene.supervisor.listen(8443, scene.one(NamespaceRequest::Listener(8443))).unwrap();
    assert!(scene.supervisor.listens_on(8443));
    let mut client = scene.connect("a.test", 8443).await;
    client.write_all(REQUEST).await.unwrap();
    within(client.read_exact(&mut [0; 10])).await.unwrap();
    assert_eq!(scene.flow("a.test", 8443).outcome, ConnectionOutcome::Reached);
}
