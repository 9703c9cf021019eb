use proptest::prelude::*;

use super::*;

/// Writes the first message of a client with these extensions, in one record.
pub(in crate::supervisor) fn hello(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    records(&handshake(extensions), LONGEST)
}

/// The content of an extension with one name.
pub(in crate::supervisor) fn server_name(name: &[u8]) -> (u16, Vec<u8>) {
    (SERVER_NAME, block(2, &[&[HOST_NAME][..], &block(2, name)].concat()))
}

fn handshake(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let extensions: Vec<u8> =
        extensions.iter().flat_map(|(kind, content)| [&kind.to_be_bytes()[..], &block(2, content)].concat()).collect();
    let body =
        [&[3, 3][..], &[7; 32], &block(1, &[9; 32]), &block(2, &[0x13, 1]), &block(1, &[0]), &block(2, &extensions)];
    [&[CLIENT_HELLO][..], &block(3, &body.concat())].concat()
}

fn records(message: &[u8], length: usize) -> Vec<u8> {
    message.chunks(length).flat_map(|part| [&[HANDSHAKE_RECORD, 3, 1][..], &block(2, part)].concat()).collect()
}

fn block(width: usize, content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len()).unwrap().to_be_bytes()[4 - width..], content].concat()
}

fn host(name: &str) -> ClientHello {
    ClientHello::Host(name.to_owned())
}

/// Extensions that other clients send: versions, groups, and an encrypted second message.
fn others() -> Vec<(u16, Vec<u8>)> {
    vec![(43, vec![2, 3, 4]), (10, vec![0; 40]), (0xfe0d, vec![5; 300])]
}

#[test]
fn the_name_is_found_among_other_extensions() {
    let extensions = [others(), vec![server_name(b"Api.EXAMPLE.com")], others()].concat();
    assert_eq!(read(&hello(&extensions)), host("api.example.com"));
}

#[test]
fn the_name_is_found_however_the_message_is_spread_over_records() {
    let message = handshake(&[others(), vec![server_name(b"api.example.com")]].concat());
    for length in [1, 2, 3, 4, 5, 7, 100, 1000] {
        assert_eq!(read(&records(&message, length)), host("api.example.com"), "{length}");
    }
}

#[test]
fn every_beginning_needs_more_and_what_follows_does_not_matter() {
    let mut bytes = records(&handshake(&[others(), vec![server_name(b"a.test")]].concat()), 50);
    for length in 0..bytes.len() {
        assert_eq!(read(&bytes[..length]), ClientHello::Incomplete, "{length}");
    }
    bytes.extend([20, 3, 3, 0, 1, 1]);
    assert_eq!(read(&bytes), host("a.test"));
}

#[test]
fn a_message_without_a_name_is_nameless_also_with_an_encrypted_one() {
    assert_eq!(read(&hello(&[])), ClientHello::Nameless);
    assert_eq!(read(&hello(&others())), ClientHello::Nameless);
}

#[test]
fn where_two_servers_could_read_two_names_there_is_none() {
    let two_names = [&[HOST_NAME][..], &block(2, b"a.test"), &[HOST_NAME], &block(2, b"b.test")].concat();
    let mut longer = server_name(b"a.test");
    longer.1.push(0);
    let table: [Vec<(u16, Vec<u8>)>; 6] = [
        vec![server_name(b"a.test"), server_name(b"b.test")],
        vec![(SERVER_NAME, block(2, &two_names))],
        vec![longer],
        vec![(SERVER_NAME, Vec::new())],
        vec![server_name(b"")],
        vec![(SERVER_NAME, block(2, &[&[1][..], &block(2, b"a.test")].concat()))],
    ];
    for extensions in table {
        assert_eq!(read(&hello(&extensions)), ClientHello::Malformed, "{extensions:?}");
    }
}

#[test]
fn a_name_with_a_nul_stays_one_that_no_host_has() {
    assert_eq!(read(&hello(&[server_name(b"a.test\0.evil.test")])), host("a.test\0.evil.test"));
}

#[test]
fn other_protocols_and_other_messages_are_known_by_their_first_bytes() {
    let server_hello = records(&[2, 0, 0, 1, 0], 10);
    let table: [&[u8]; 9] = [
        b"GET /",
        b"\x16\x02",
        b"\x80\x2e\x01",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"SSH-2.0-x",
        b"\x15\x03\x01\0\x02\x02\x28",
        &server_hello,
        b"\x16\x03\x01\0\0",
        b"\x16\x03\x01\xff\xff",
    ];
    for bytes in table {
        assert_eq!(read(bytes), ClientHello::Malformed, "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_message_that_is_too_long_is_refused_before_it_is_there() {
    assert_eq!(read(&[HANDSHAKE_RECORD, 3, 1, 0x40, 0, CLIENT_HELLO, 0, 0x40, 1]), ClientHello::Malformed);
    let large = vec![(21, vec![0; 15 * 1024]), server_name(b"a.test")];
    assert_eq!(read(&hello(&large)), host("a.test"));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), is_record in any::<bool>()) {
        if is_record && bytes.len() > 6 {
            bytes[..3].copy_from_slice(&[HANDSHAKE_RECORD, 3, 1]);
            bytes[5] = CLIENT_HELLO;
        }
        read(&bytes);
    }

    #[test]
    fn no_change_of_a_byte_and_no_cut_makes_it_panic(at in 0_usize..600, byte in any::<u8>(), cut in 0_usize..600, record in 1_usize..200) {
        let mut bytes = records(&handshake(&[others(), vec![server_name(b"api.example.com")]].concat()), record);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(cut.max(1));
        read(&bytes);
    }

    #[test]
    fn any_name_is_read_as_it_was_written(name in "[a-z0-9.-]{1,200}[a-z]", length in 1_usize..600) {
        let message = handshake(&[server_name(name.as_bytes())]);
        prop_assert_eq!(read(&records(&message, length)), ClientHello::Host(name));
    }
}
