//! Tests what programs learn when they look up names.

use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::scene::{question, read_answer, scene, within};

const NO_ERROR: u8 = 0;
const NO_SUCH_NAME: u8 = 3;
const REFUSED: u8 = 5;

#[tokio::test]
async fn a_name_has_one_address_of_the_block_however_it_is_written() {
    let Some(scene) = scene() else { return };
    let (code, first) = scene.look_up("api.example.com", 1).await;
    let first = first.unwrap();
    assert_eq!((code, first.octets()[..2].to_vec()), (NO_ERROR, vec![198, 18]));
    for spelling in ["API.example.COM", "api.example.com."] {
        assert_eq!(scene.look_up(spelling, 1).await, (NO_ERROR, Some(first)), "{spelling}");
    }
    // The last one has a Cyrillic letter and looks the same when it is shown.
    for other in ["example.com", "api.example.co", "api2.example.com", "xn--pi-7kc.example.com"] {
        let (code, address) = scene.look_up(other, 1).await;
        assert!(code == NO_ERROR && address.is_some_and(|address| address != first), "{other}");
    }
    assert!(scene.supervisor.traffic().is_empty());
}

#[tokio::test]
async fn only_addresses_of_version_4_are_given_out() {
    let Some(scene) = scene() else { return };
    for (kind, code) in [(28, NO_ERROR), (64, NO_ERROR), (65, NO_ERROR), (12, NO_SUCH_NAME)] {
        assert_eq!(scene.look_up("a.test", kind).await, (code, None), "{kind}");
    }
    assert!(scene.supervisor.traffic().is_empty());
    for kind in [2, 5, 6, 10, 15, 16, 33, 35, 43, 46, 48, 52, 99, 252, 255, 256, 65280] {
        assert_eq!(scene.look_up("data.tunnel.test", kind).await, (REFUSED, None), "{kind}");
    }
    let refused = &scene.supervisor.traffic().refused_names["data.tunnel.test"];
    assert_eq!(refused.times, 17, "{refused:?}");
    assert!(scene.dialler.looked_up.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_denied_name_does_not_exist_and_is_reported() {
    let Some(scene) = scene() else { return };
    scene.judge.deny("evil.test");
    for (name, kind) in [("evil.test", 1), ("EVIL.test.", 1), ("evil.test", 28), ("evil.test", 65)] {
        assert_eq!(scene.look_up(name, kind).await, (NO_SUCH_NAME, None), "{name} {kind}");
    }
    let refused = &scene.supervisor.traffic().refused_names["evil.test"];
    assert_eq!((refused.times, refused.why.as_str()), (4, "A rule denies this host."));
}

#[tokio::test]
async fn localhost_is_the_namespace_itself() {
    let Some(scene) = scene() else { return };
    for name in ["localhost", "LOCALHOST.", "app.localhost"] {
        assert_eq!(scene.look_up(name, 1).await, (NO_ERROR, Some(Ipv4Addr::LOCALHOST)), "{name}");
        assert_eq!(scene.look_up(name, 28).await, (NO_ERROR, None), "{name}");
    }
}

#[tokio::test]
async fn a_name_that_no_host_can_have_does_not_exist_and_is_reported() {
    let Some(scene) = scene() else { return };
    let table: [(&[&[u8]], &str); 5] = [
        (&[b"a\0b", b"test"], "a\\x00b.test"),
        (&[b"a.b", b"test"], "a.b.test"),
        (&[b"a\n", b"test"], "a\\n.test"),
        (&["b\u{fc}cher".as_bytes(), b"test"], "b\\xc3\\xbccher.test"),
        (&[b"169", b"254", b"169", b"254"], "169.254.169.254"),
    ];
    for (labels, reported) in table {
        assert_eq!(scene.ask(&question(labels.iter().copied(), 1)).await, (NO_SUCH_NAME, None), "{reported}");
        assert!(scene.supervisor.traffic().refused_names.contains_key(reported), "{reported}");
    }
}

#[tokio::test]
async fn names_are_looked_up_over_tcp_too_and_several_over_one_connection() {
    let Some(scene) = scene() else { return };
    let (_, by_udp) = scene.look_up("b.test", 1).await;
    let mut client = scene.connect_to("127.0.0.1:53".parse().unwrap()).await.unwrap();
    for (name, found) in [("b.test", by_udp), ("localhost", Some(Ipv4Addr::LOCALHOST))] {
        let question = question(name.split('.').map(str::as_bytes), 1);
        let length = u16::try_from(question.len()).unwrap().to_be_bytes();
        for part in [&length[..1], &length[1..], &question[..5], &question[5..]] {
            client.write_all(part).await.unwrap();
        }
        let mut answer = vec![0; usize::from(within(client.read_u16()).await.unwrap())];
        within(client.read_exact(&mut answer)).await.unwrap();
        assert_eq!(read_answer(&question, &answer), (NO_ERROR, found));
    }
}

#[tokio::test]
async fn garbage_does_not_keep_the_resolver_from_answering() {
    let Some(scene) = scene() else { return };
    let socket = std::net::UdpSocket::from(scene.one(super::namespace::NamespaceRequest::Datagrams));
    for length in 0..200 {
        let garbage: Vec<u8> = (0..length).map(|at: usize| u8::try_from(at * 37 % 251).unwrap()).collect();
        let _ = socket.send_to(&garbage, "127.0.0.1:53");
    }
    let mut client = scene.connect_to("127.0.0.1:53".parse().unwrap()).await.unwrap();
    client.write_all(&[0xff; 64]).await.unwrap();
    assert!(scene.look_up("a.test", 1).await.1.is_some());
}
