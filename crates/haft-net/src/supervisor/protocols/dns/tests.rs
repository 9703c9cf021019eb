use proptest::prelude::*;

use super::*;

/// Writes a question as a resolver library does.
fn message(labels: &[&[u8]], kind: u16) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(*label);
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    message
}

fn asked(message: &[u8]) -> Option<DnsQuestion> {
    let mut seen = None;
    answer(message, |question| {
        seen = Some(question.clone());
        DnsAnswer::Empty
    });
    seen
}

#[test]
fn an_address_is_answered_with_the_question_as_it_was_sent() {
    let message = message(&[b"Api", b"EXAMPLE", b"com"], 1);
    let reply = answer(&message, |question| {
        assert_eq!(question.name.as_deref(), Some("api.example.com"));
        assert_eq!(question.kind, RecordKind::A);
        DnsAnswer::Address(Ipv4Addr::new(198, 18, 0, 7))
    });
    let mut expected = vec![0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
    expected.extend(&message[HEADER..]);
    expected.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 7]);
    assert_eq!(reply, Some(expected));
}

#[test]
fn what_follows_a_question_is_not_repeated() {
    let plain = message(&[b"a", b"test"], 1);
    let mut extended = plain.clone();
    // EDNS: one additional record, as glibc sends it with `options edns0`.
    extended[11] = 1;
    extended.extend([0, 0, 41, 4, 0xb0, 0, 0, 0, 0, 0, 0]);
    let decide = |_: &DnsQuestion| DnsAnswer::Address(Ipv4Addr::new(198, 18, 0, 1));
    assert_eq!(answer(&extended, decide), answer(&plain, decide));
}

#[test]
fn each_answer_has_its_code_and_no_records() {
    let message = message(&[b"a", b"test"], 28);
    let table = [(DnsAnswer::Empty, 0), (DnsAnswer::Failed, 2), (DnsAnswer::NoSuchName, 3), (DnsAnswer::Refused, 5)];
    for (decided, code) in table {
        let reply = answer(&message, |_| decided).unwrap();
        assert_eq!((reply[3] & 0xf, reply[7], reply.len()), (code, 0, message.len()), "{decided:?}");
    }
}

#[test]
fn record_kinds_are_told_apart_by_number_and_class() {
    let table = [
        (1, RecordKind::A),
        (28, RecordKind::Aaaa),
        (64, RecordKind::Service),
        (65, RecordKind::Service),
        (12, RecordKind::Pointer),
        (16, RecordKind::Other(16)),
        (255, RecordKind::Other(255)),
    ];
    for (number, kind) in table {
        assert_eq!(asked(&message(&[b"a"], number)).unwrap().kind, kind);
    }
    let mut chaos = message(&[b"version", b"bind"], 1);
    *chaos.last_mut().unwrap() = 3;
    assert_eq!(asked(&chaos).unwrap().kind, RecordKind::Other(1));
}

#[test]
fn a_name_that_no_host_can_have_is_read_and_is_no_name() {
    let table: [&[&[u8]]; 6] = [
        &[],
        &[b"a\0b", b"test"],
        &[b"a.b", b"test"],
        &[b"b\xc3\xbccher", b"test"],
        &[b"a b"],
        &[b"1", b"1", b"1", b"1"],
    ];
    for labels in table {
        let question = asked(&message(labels, 1)).unwrap();
        assert_eq!(question.name, None, "{question:?}");
        assert!(question.sent.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{question:?}");
    }
}

#[test]
fn a_message_that_is_no_question_gets_no_answer_or_its_fault() {
    let good = message(&[b"a", b"test"], 1);
    let code = |bytes: &[u8]| answer(bytes, |_| panic!("it is no question")).map(|reply| reply[3] & 0xf);
    let with = |at: usize, byte: u8| {
        let mut changed = good.clone();
        changed[at] = byte;
        changed
    };
    assert_eq!(code(&good[..11]), None);
    assert_eq!(code(&with(2, 0x81)), None, "an answer");
    assert_eq!(code(&with(2, 0x28)), Some(4), "an update");
    assert_eq!(code(&with(5, 0)), Some(1), "no question");
    assert_eq!(code(&with(5, 2)), Some(1), "two questions");
    assert_eq!(code(&with(12, 0xc0)), Some(1), "a pointer");
    assert_eq!(code(&good[..good.len() - 1]), Some(1), "cut");
    let label = vec![b'a'; 63];
    assert_eq!(code(&message(&[&label, &label, &label, &label], 1)), Some(1), "a name that is too long");
}

proptest! {
    #[test]
    fn no_message_makes_it_panic_or_answer_more_than_was_asked(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Some(reply) = answer(&bytes, |_| DnsAnswer::Address(Ipv4Addr::LOCALHOST)) {
            prop_assert!(reply.len() <= bytes.len() + 16 && reply[2] & 0x80 != 0 && reply[..2] == bytes[..2]);
        }
    }

    #[test]
    fn no_change_of_a_question_makes_it_panic(at in 0_usize..40, byte in any::<u8>(), cut in 0_usize..60) {
        let mut bytes = message(&[b"api", b"example", b"com"], 1);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(cut);
        answer(&bytes, |_| DnsAnswer::NoSuchName);
    }

    #[test]
    fn a_name_that_is_accepted_is_one(labels in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..64), 1..4)) {
        let labels: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
        if let Some(name) = asked(&message(&labels, 1)).and_then(|question| question.name) {
            prop_assert_eq!(host_name(name.as_bytes()), Some(name.clone()));
            prop_assert_eq!(name.split('.').count(), labels.len());
        }
    }
}
