//! Finds out from the first bytes of a connection which host it means.

use super::client_hello::{self, ClientHello};
use super::request_head::{self, RequestHead};

/// Most first bytes that are kept. A connection that waits for an answer holds no more than these.
pub(in crate::supervisor) const MOST_FIRST_BYTES: usize = 32 * 1024;

/// What the first bytes say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum Opening {
    /// More bytes are needed.
    Incomplete,
    /// TLS for this host.
    Tls(String),
    /// TLS that does not say for which host.
    NamelessTls,
    /// HTTP/1 for this host.
    Http(String),
    /// Anything that does not say which host it means, and why that is so.
    Other(&'static str),
}

/// Reads the first bytes.
pub(in crate::supervisor) fn read(bytes: &[u8]) -> Opening {
    let opening = match client_hello::read(bytes) {
        ClientHello::Incomplete => Opening::Incomplete,
        ClientHello::Host(host) => Opening::Tls(host),
        ClientHello::Nameless => Opening::NamelessTls,
        ClientHello::Malformed => match request_head::read(bytes) {
            RequestHead::Incomplete => Opening::Incomplete,
            RequestHead::Host(host) => Opening::Http(host),
            RequestHead::Unclear(why) => Opening::Other(why),
            RequestHead::NotHttp => Opening::Other("it speaks neither TLS nor HTTP/1"),
        },
    };
    match opening {
        Opening::Incomplete if bytes.len() >= MOST_FIRST_BYTES => Opening::Other("its first message is too long"),
        opening => opening,
    }
}

#[cfg(test)]
mod tests {
    use super::super::client_hello::tests::{hello, server_name};
    use super::*;

    #[test]
    fn protocols_are_told_apart() {
        let table: [(&[u8], Opening); 6] = [
            (b"", Opening::Incomplete),
            (b"G", Opening::Incomplete),
            (&hello(&[server_name(b"a.test")]), Opening::Tls("a.test".into())),
            (&hello(&[]), Opening::NamelessTls),
            (b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", Opening::Http("a.test".into())),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Opening::Other("it speaks HTTP/2 without TLS")),
        ];
        for (bytes, opening) in table {
            assert_eq!(read(bytes), opening, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn an_opening_that_never_ends_is_given_up() {
        let endless = [b"GET /".to_vec(), vec![b'a'; MOST_FIRST_BYTES]].concat();
        assert_eq!(read(&endless[..1000]), Opening::Incomplete);
        assert_eq!(read(&endless), Opening::Other("its first message is too long"));
    }
}
