//! Tests both ends of a connection.

use std::os::fd::AsFd;

use super::*;

#[tokio::test]
async fn a_large_message_arrives_whole_with_its_descriptors_and_the_end_is_told() {
    let (one, other) = pair().unwrap();
    let (sender, _kept) = ExecConnection::within(one).unwrap().split();
    let (_sender, mut receiver) = ExecConnection::within(other).unwrap().split();
    let line: String = "é\0\n\"x".repeat(300_000);
    let request = CommandRequest { line, environment: vec![(vec![0xff], vec![0, 1])], ..CommandRequest::default() };
    let sent = FromClient::Run(VERSION, Box::new(request));
    let (file, another) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let descriptors = [file.as_fd(), another.as_fd()];

    let (told, received) = tokio::join!(sender.send(&sent, &descriptors), receiver.next::<FromClient>());

    told.unwrap();
    assert_eq!(received.unwrap(), Some(sent));
    assert!(receiver.descriptor().is_some() && receiver.descriptor().is_some() && receiver.descriptor().is_none());
    drop((sender, _kept));
    assert_eq!(receiver.next::<FromClient>().await.unwrap(), None);
}
