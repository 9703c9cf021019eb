//! Normalizes host names before the supervisor compares them: lower case, punycode, without the final dot.

/// Most characters of a name.
const LONGEST_NAME: usize = 253;
/// Most characters between two dots.
const LONGEST_LABEL: usize = 63;

/// Returns a host name in the form in which names are compared; nothing for bytes that are no host name.
///
/// A name with a control character, a NUL, a blank or a byte beyond ASCII is none: programs send other alphabets as
/// punycode. A name that ends in a number is none either: programs read it as an address, each in its own way.
pub(super) fn host_name(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    let is_name =
        bytes.len() <= LONGEST_NAME && labels(bytes).all(is_label) && !labels(bytes).last().is_some_and(is_number);
    is_name.then(|| as_compared(bytes))
}

/// Returns what a client calls its host, in small letters and without the final dot, so that it can be compared with a
/// host name. It need not be one.
pub(super) fn as_compared(sent: &[u8]) -> String {
    let sent = sent.strip_suffix(b".").unwrap_or(sent);
    // A replaced byte is no part of any host name, so the result differs from all of them.
    String::from_utf8_lossy(sent).to_ascii_lowercase()
}

/// Returns whether a name means the machine itself: for a command, its own network namespace.
pub(super) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

fn labels(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'.')
}

fn is_label(label: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=LONGEST_LABEL).contains(&label.len()) && label.iter().all(is_letter)
}

fn is_number(label: &[u8]) -> bool {
    match label {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_small_letters_and_without_the_final_dot() {
        let table = [
            ("example.com", "example.com"),
            ("EXAMPLE.Com.", "example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("_service.host-1.example", "_service.host-1.example"),
            ("r3---sn-a.example", "r3---sn-a.example"),
            ("registry", "registry"),
        ];
        for (sent, name) in table {
            assert_eq!(host_name(sent.as_bytes()).as_deref(), Some(name), "{sent}");
        }
    }

    #[test]
    fn what_no_host_can_be_called_is_no_name() {
        let long_label = format!("{}.example", "a".repeat(64));
        let long_name = format!("{}example", "abcdefg.".repeat(31));
        let table: [&[u8]; 18] = [
            b"",
            b".",
            b"a..b",
            b".a",
            b"a..",
            b"a b",
            b"a\0.example",
            b"a\n",
            b"a\x7f",
            "bücher.example".as_bytes(),
            b"\xff.example",
            b"*.example",
            b"user@host",
            b"host:443",
            b"1.1.1.1",
            b"0x7f.0x1",
            b"2130706433",
            b"[::1]",
        ];
        for bytes in table.into_iter().chain([long_label.as_bytes(), long_name.as_bytes()]) {
            assert_eq!(host_name(bytes), None, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn the_longest_name_is_one() {
        let longest = format!("{}abcde", "abcdefg.".repeat(31));
        assert_eq!((longest.len(), host_name(longest.as_bytes())), (253, Some(longest)));
    }
}
