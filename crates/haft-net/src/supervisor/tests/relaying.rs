//! Tests how the supervisor relays the bytes of an allowed connection: order, ends, pressure, numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::namespace::NamespaceRequest;
use super::scene::{ALLOW, ALLOW_RAW, LoopbackServer, SupervisorScene, connect, rest, scene, until, within};
use crate::require::Need;
use crate::supervisor::ConnectionOutcome;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
const MANY: usize = 1000;

/// A host a.test on a port of its own, where this is done with each connection.
async fn host_that<F>(scene: &SupervisorScene, serve: impl Fn(TcpStream) -> F + Send + 'static)
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    scene.dialler.place("a.test", &[scene.dialler.address_for(listener.local_addr().unwrap())]);
    scene.judge.script("a.test", ALLOW_RAW);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client));
        }
    });
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_bytes_arrive_in_order_and_are_counted() {
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let before = scene.supervisor.traffic();
    let sent = [REQUEST, &pattern(5_000_000)].concat();
    let (mut from, mut to) = scene.connect("a.test", 80).await.into_split();
    let bytes = sent.clone();
    let writing = tokio::spawn(async move {
        to.write_all(&bytes).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut received = Vec::new();
    within(from.read_to_end(&mut received)).await.unwrap();
    writing.await.unwrap();
    assert!(received == sent);
    until(|| scene.flow("a.test", 80).bytes_in == sent.len() as u64).await;
    let flow = scene.supervisor.traffic().since(&before).flows[&("a.test".to_owned(), 80)].clone();
    assert_eq!((flow.connections, flow.bytes_out, flow.gave_up), (1, sent.len() as u64, 0));
    assert!(flow.first >= before.taken && flow.last >= flow.first && flow.outcome == ConnectionOutcome::Reached);
}

#[tokio::test]
async fn a_host_that_ends_its_direction_still_receives() {
    let Some(scene) = scene() else { return };
    let received = Arc::new(AtomicU64::new(0));
    let count = received.clone();
    host_that(&scene, move |mut client| {
        let count = count.clone();
        async move {
            client.write_all(b"bye").await?;
            client.shutdown().await?;
            let mut kept = Vec::new();
            client.read_to_end(&mut kept).await?;
            count.store(kept.len() as u64, Ordering::SeqCst);
            Ok(())
        }
    })
    .await;
    let mut client = scene.connect("a.test", 80).await;
    client.write_all(REQUEST).await.unwrap();
    assert_eq!(rest(&mut client).await, b"bye");
    client.write_all(&pattern(100_000)).await.unwrap();
    client.shutdown().await.unwrap();
    until(|| received.load(Ordering::SeqCst) == 100_000 + REQUEST.len() as u64).await;
}

#[tokio::test]
async fn a_host_that_breaks_off_is_seen_by_the_client() {
    let Some(scene) = scene() else { return };
    host_that(&scene, |client| async move { client.set_zero_linger() }).await;
    let mut client = scene.connect("a.test", 80).await;
    client.write_all(REQUEST).await.unwrap();
    let broken = within(client.read(&mut [0; 10])).await;
    assert_eq!(broken.err().map(|error| error.kind()), Some(std::io::ErrorKind::ConnectionReset));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_cannot_send_more_than_a_slow_client_takes() {
    const ALL: usize = 256 << 20;
    let Some(scene) = scene() else { return };
    let sent = Arc::new(AtomicU64::new(0));
    let count = sent.clone();
    host_that(&scene, move |mut client| {
        let count = count.clone();
        async move {
            client.read_exact(&mut [0; REQUEST.len()]).await?;
            let part = pattern(1 << 16);
            for _ in 0..ALL / part.len() {
                client.write_all(&part).await?;
                count.fetch_add(part.len() as u64, Ordering::SeqCst);
            }
            client.shutdown().await
        }
    })
    .await;
    let mut client = scene.connect("a.test", 80).await;
    client.write_all(REQUEST).await.unwrap();
    // Whatever the kernel holds for both connections is much less than all.
    until(|| scene.flow("a.test", 80).bytes_in > 100_000).await;
    for _ in 0..100_000 {
        tokio::task::yield_now().await;
    }
    let stalled = sent.load(Ordering::SeqCst);
    assert!(stalled < (ALL / 2) as u64, "{stalled}");
    let mut received = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = within(client.read(&mut buffer)).await.unwrap();
        if length == 0 {
            break;
        }
        received += length;
    }
    assert_eq!(received, ALL);
}

/// Four descriptors for each connection: of the client, of the supervisor two, of the server.
#[track_caller]
fn room_for_many() -> bool {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    Need::Full.met(limit.maximum.is_none_or(|most| most > 4 * MANY as u64 + 1000))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_wait_for_one_answer_and_then_all_work_together() {
    if !room_for_many() {
        return;
    }
    let Some(scene) = scene() else { return };
    let server = LoopbackServer::echo().await;
    scene.host("a.test", &server, ALLOW);
    let answer = scene.judge.hold("a.test");
    let address = (scene.look_up("a.test", 1).await.1.unwrap(), 80).into();
    let mut clients = Vec::new();
    while clients.len() < MANY {
        for socket in scene.namespace.sockets(NamespaceRequest::Clients(200)) {
            let mut client = within(connect(socket, address)).await.unwrap();
            client.write_all(REQUEST).await.unwrap();
            clients.push(client);
        }
    }
    until(|| scene.flow("a.test", 80).connections == MANY as u64).await;
    assert_eq!((scene.judge.asked().len(), server.accepted()), (1, 0));

    answer.send_replace(Some(ALLOW));
    let mut exchanges = JoinSet::new();
    for mut client in clients {
        exchanges.spawn(async move {
            client.write_all(&pattern(5000)).await.unwrap();
            let mut received = vec![0; REQUEST.len() + 5000];
            client.read_exact(&mut received).await.unwrap();
            // The connection stays open until all have been served.
            (client, received)
        });
    }
    let expected = [REQUEST, &pattern(5000)].concat();
    let served = within(exchanges.join_all()).await;
    assert!(served.len() == MANY && served.iter().all(|(_, received)| *received == expected));
    assert_eq!(server.accepted(), MANY);
    until(|| scene.flow("a.test", 80).bytes_out == (MANY * expected.len()) as u64).await;
}
