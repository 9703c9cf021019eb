//! Reads the name of the host from the first request of an HTTP/1 client.
//!
//! The reader is strict: it wants exactly one `Host`, and the same host in a target that has one. It reads only the first
//! request of a connection. The supervisor passes later requests on unread; like requests inside TLS, they reach the
//! server that it dialled by the granted name.

use crate::supervisor::host_name::as_compared;

/// Most headers of a request.
const MOST_HEADERS: usize = 128;
/// Most letters of a method.
const LONGEST_METHOD: usize = 32;

/// What the first bytes of an HTTP client say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum RequestHead {
    /// More bytes are needed.
    Incomplete,
    /// It wants this host.
    Host(String),
    /// It is HTTP, and does not say in one way which host it wants; the reason.
    Unclear(&'static str),
    /// It is not HTTP/1.
    NotHttp,
}

/// Reads the first bytes of a client.
pub(in crate::supervisor) fn read(bytes: &[u8]) -> RequestHead {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return if may_become_http(bytes) { RequestHead::Incomplete } else { RequestHead::NotHttp };
    };
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    if line == b"PRI * HTTP/2.0" {
        return RequestHead::Unclear("it speaks HTTP/2 without TLS");
    }
    let is_http = line.ends_with(b" HTTP/1.1") || line.ends_with(b" HTTP/1.0");
    if !is_http || !may_become_http(line) {
        return RequestHead::NotHttp;
    }
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => host(&request),
        Ok(httparse::Status::Partial) => RequestHead::Incomplete,
        Err(_) => RequestHead::Unclear("its HTTP request is malformed"),
    }
}

/// Returns whether these bytes, which have no end of line, can be the beginning of a request.
fn may_become_http(line: &[u8]) -> bool {
    let is_of_method = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'-';
    let method = line.iter().take_while(|byte| is_of_method(byte)).count();
    let rest = &line[method..];
    let is_begun = method <= LONGEST_METHOD && (rest.is_empty() || (method > 0 && rest[0] == b' '));
    is_begun && rest.iter().all(|byte| !byte.is_ascii_control() || *byte == b'\r')
}

fn host(request: &httparse::Request<'_, '_>) -> RequestHead {
    let mut named = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    let (Some(header), None) = (named.next(), named.next()) else {
        return RequestHead::Unclear("its HTTP request does not have exactly one Host");
    };
    let Some(host) = without_port(header.value) else {
        return RequestHead::Unclear("the Host of its HTTP request is malformed");
    };
    match request.path.unwrap_or_default() {
        _ if request.method == Some("CONNECT") => RequestHead::Unclear("it wants a tunnel (CONNECT)"),
        target if target.starts_with('/') || target == "*" => RequestHead::Host(host),
        target if host_of(target).is_some_and(|other| other == host) => RequestHead::Host(host),
        _ => RequestHead::Unclear("its HTTP request names two hosts"),
    }
}

/// Returns the host of a target that is a whole address.
fn host_of(target: &str) -> Option<String> {
    let (scheme, rest) = target.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    without_port(authority.as_bytes()).filter(|_| scheme.eq_ignore_ascii_case("http"))
}

fn without_port(value: &[u8]) -> Option<String> {
    let value = value.trim_ascii();
    let (host, port) = match value.iter().position(|byte| *byte == b':') {
        Some(colon) => (&value[..colon], &value[colon + 1..]),
        None => (value, &b""[..]),
    };
    (!host.is_empty() && port.iter().all(u8::is_ascii_digit)).then(|| as_compared(host))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(name: &str) -> RequestHead {
        RequestHead::Host(name.to_owned())
    }

    #[test]
    fn the_host_is_read_without_its_port() {
        let table = [
            "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET / HTTP/1.1\r\nAccept: */*\r\nhOST:A.TEST.:8080\r\n\r\nbody",
            "PROPFIND /x HTTP/1.0\nHost: a.test:\n\n",
            "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET http://a.test:80/x HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "M-SEARCH / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        ];
        for request in table {
            assert_eq!(read(request.as_bytes()), host("a.test"), "{request}");
        }
    }

    #[test]
    fn a_request_that_two_servers_could_read_in_two_ways_names_no_host() {
        let table = [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.test\r\nhost: a.test\r\n\r\n",
            "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET b.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET //b.test@ HTTP/1.1\r\nHost: a.test:80:81\r\n\r\n",
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.test\r\n b.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost:\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ];
        for request in table {
            let read = read(request.as_bytes());
            assert!(matches!(read, RequestHead::Unclear(_)), "{request} {read:?}");
        }
    }

    #[test]
    fn a_host_that_is_written_oddly_is_none_that_exists() {
        let table = ["user@a.test", "a.test b.test", "a.test,b.test", "a.test/x", "bücher.test"];
        for name in table {
            let request = format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n");
            let read = read(request.as_bytes());
            assert!(
                !matches!(&read, RequestHead::Host(host) if crate::supervisor::host_name::host_name(host.as_bytes()).is_some()),
                "{name} {read:?}"
            );
        }
    }

    #[test]
    fn every_beginning_of_a_request_needs_more() {
        let request = b"GET /a/path HTTP/1.1\r\nAccept: */*\r\nHost: a.test\r\n\r\n";
        for length in 0..request.len() {
            assert_eq!(read(&request[..length]), RequestHead::Incomplete, "{length}");
        }
    }

    #[test]
    fn other_protocols_are_known_as_soon_as_they_differ() {
        let table: [&[u8]; 12] = [
            b"SSH-2.0-OpenSSH_9.2\r\n",
            b"EHLO me.test\r\n",
            b"NICK me\r\n",
            b"*1\r\n$4\r\nPING\r\n",
            b"get key",
            b"GET /\r\n",
            b"GET / HTTP/3.0\r\n",
            b"\x16\x03",
            b"\0\0\0\x08\x04\xd2\x16\x2f",
            b"GET\t/",
            b"<stream:stream",
            b" GET",
        ];
        for bytes in table {
            assert_eq!(read(bytes), RequestHead::NotHttp, "{}", bytes.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), is_request in any::<bool>()) {
            let bytes = if is_request { [&b"GET / HTTP/1.1\r\n"[..], &bytes].concat() } else { bytes };
            read(&bytes);
        }

        #[test]
        fn no_change_of_a_request_names_a_host_that_is_not_in_it(at in 0_usize..80, byte in any::<u8>()) {
            let mut bytes = b"GET http://a.test/x HTTP/1.1\r\nAccept: text/html\r\nHost: a.test\r\n\r\n".to_vec();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            if let RequestHead::Host(host) = read(&bytes) {
                let sent = String::from_utf8_lossy(&bytes).to_lowercase();
                prop_assert!(sent.contains(&format!("host: {host}")) || sent.contains(&host), "{}", host);
            }
        }
    }
}
