//! Parses a request to an HTTP proxy: for a tunnel, or for an answer that the proxy fetches.
//!
//! A forwarded request gets the form that servers expect, without the key of the proxy. It asks the server to close the
//! connection, because the next request of the client may be for another host.

use std::fmt::Write;

use super::proxy::ProxyMethod;

/// Most headers of a request.
const MOST_HEADERS: usize = 128;
/// Headers that are for the proxy, or for the connection to it. haft writes its own `Host`.
const NOT_PASSED_ON: [&str; 8] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "upgrade",
];

/// A request to an HTTP proxy, with the host that it names.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::supervisor) struct HttpProxyRequest {
    pub(in crate::supervisor) host: String,
    pub(in crate::supervisor) port: u16,
    /// The first bytes that the host gets.
    pub(in crate::supervisor) first_bytes: Vec<u8>,
    pub(in crate::supervisor) way: ProxyMethod,
}

/// Why the proxy does not forward a request.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum NotForwarded {
    /// More bytes are needed.
    Incomplete,
    /// The request is malformed, for this reason.
    Malformed(&'static str),
    /// Its sender does not know the key.
    Unknown,
}

/// Reads a request of a client that knows these credentials.
pub(in crate::supervisor) fn read(bytes: &[u8], credentials: &str) -> Result<HttpProxyRequest, NotForwarded> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Err(NotForwarded::Incomplete),
        Err(_) => return Err(NotForwarded::Malformed("The request is malformed.")),
    };
    if !knows(&request, credentials) {
        return Err(NotForwarded::Unknown);
    }
    let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    let rest = &bytes[length..];
    if method == "CONNECT" {
        let (host, port) = authority(target, None).ok_or(NotForwarded::Malformed("CONNECT names no host and port."))?;
        return Ok(HttpProxyRequest { host, port, first_bytes: rest.to_vec(), way: ProxyMethod::Connect });
    }
    let whole = "This is a proxy: the request must name its host with http://, or ask for a tunnel (CONNECT).";
    let (place, path) = place(target).ok_or(NotForwarded::Malformed(whole))?;
    let (host, port) = authority(place, Some(80)).ok_or(NotForwarded::Malformed(whole))?;
    let version = request.version.unwrap_or(1);
    let mut head = format!("{method} {path} HTTP/1.{version}\r\nHost: {place}\r\n").into_bytes();
    let named_by_connection: Vec<String> = request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("connection"))
        .flat_map(|header| {
            String::from_utf8_lossy(header.value)
                .to_ascii_lowercase()
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    for header in request.headers.iter() {
        let name = header.name.to_ascii_lowercase();
        if !NOT_PASSED_ON.contains(&name.as_str()) && !named_by_connection.contains(&name) {
            head.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
        }
    }
    head.extend(b"Connection: close\r\n\r\n");
    head.extend(rest);
    Ok(HttpProxyRequest { host, port, first_bytes: head, way: ProxyMethod::Forward })
}

fn knows(request: &httparse::Request<'_, '_>, credentials: &str) -> bool {
    request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("proxy-authorization")).any(|header| {
        let mut words = header.value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let scheme = words.next().unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"basic") && words.next() == Some(credentials.as_bytes())
    })
}

/// Splits an absolute URL into its host with port, and its path with query.
fn place(target: &str) -> Option<(&str, String)> {
    let (scheme, rest) = target.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    // The part before an @ is a user name and a password.
    let place = place.rsplit('@').next().unwrap_or_default();
    let mut whole = String::new();
    if !path.starts_with('/') {
        whole.push('/');
    }
    write!(whole, "{}", path.split('#').next().unwrap_or_default()).ok()?;
    (scheme.eq_ignore_ascii_case("http") && !place.is_empty()).then_some((place, whole))
}

/// Reads a host with its port.
fn authority(text: &str, usual: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port = match port {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
        Some(_) => return None,
        None => usual?,
    };
    (!host.is_empty() && port != 0).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "Proxy-Authorization: Basic a2V5\r\n";

    fn told(request: &str) -> String {
        match read(request.replace('\n', "\r\n").replace("KEY\r\n", KEY).as_bytes(), "a2V5") {
            Ok(HttpProxyRequest { host, port, first_bytes, way }) => {
                format!("{way:?} {host} {port} {}", String::from_utf8(first_bytes).unwrap().replace("\r\n", "|"))
            }
            Err(why) => format!("{why:?}"),
        }
    }

    #[test]
    fn requests_are_read_as_proxies_read_them() {
        let table = [
            ("CONNECT a.test:443 HTTP/1.1\nKEY\n\nhello", "Connect a.test 443 hello"),
            ("CONNECT [::1]:443 HTTP/1.1\nKEY\n\n", "Connect [::1] 443 "),
            (
                "GET http://a.test/x?y HTTP/1.1\nKEY\nHost: other.test\nAccept: */*\nConnection: keep-alive, X-Hop\nX-Hop: 1\n\n",
                "Forward a.test 80 GET /x?y HTTP/1.1|Host: a.test|Accept: */*|Connection: close||",
            ),
            (
                "POST http://user:pass@a.test:8080?q#f HTTP/1.0\nKEY\nContent-Length: 2\n\nhi",
                "Forward a.test 8080 POST /?q HTTP/1.0|Host: a.test:8080|Content-Length: 2|Connection: close||hi",
            ),
            ("GET http://a.test/ HTTP/1.1\n", "Incomplete"),
            ("GET http://a.test/ HTTP/1.1\n\n", "Unknown"),
            ("CONNECT a.test:443 HTTP/1.1\nProxy-Authorization: Basic b3RoZXI=\n\n", "Unknown"),
        ];
        for (request, expected) in table {
            let request = request.replace("KEY\n", "Proxy-Authorization: basic  a2V5\n");
            assert_eq!(told(&request), expected, "{request}");
        }
    }

    #[test]
    fn what_names_no_host_leads_nowhere() {
        let targets = [
            "/",
            "*",
            "https://a.test/",
            "ftp://a.test/",
            "http://",
            "http:///x",
            "http://a.test:x/",
            "http://:80/",
            "http://a.test:0/",
        ];
        for target in targets {
            let request = format!("GET {target} HTTP/1.1\n{}\n", KEY.replace("\r\n", "\n"));
            assert!(told(&request).starts_with("Malformed"), "{request}: {}", told(&request));
        }
        for target in ["a.test", "a.test:", "a.test:99999", ":443", "[::1]"] {
            let request = format!("CONNECT {target} HTTP/1.1\n{}\n", KEY.replace("\r\n", "\n"));
            assert!(told(&request).starts_with("Malformed"), "{request}: {}", told(&request));
        }
    }
}
