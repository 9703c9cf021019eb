//! Decides from the head of a request whether to accept it, before reading the body.
//!
//! A page in the user's browser can send requests to this machine, under any name that leads here. So haft compares the name
//! of the server (`Host`) and the origin of the page (`Origin`) exactly with its own. It refuses a request without `Host`.
//! A page cannot know the token. With the right token a request may use another server name, for example through a shared
//! proxy. haft still refuses pages of other servers.

use std::net::SocketAddr;

use http::StatusCode;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts as Head;

/// Shortest token, in bytes.
const SHORTEST_TOKEN: usize = 16;

/// A secret that clients must send. Only its hash is kept; two hashes are compared in constant time.
pub struct Token {
    hash: blake3::Hash,
}

impl Token {
    /// Reads a token.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.len() < SHORTEST_TOKEN {
            return Err(format!("the secret is shorter than {SHORTEST_TOKEN} characters. Next: set a longer one"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let words = "the secret has characters other than visible ASCII. Next: set one of letters and digits";
            return Err(words.to_owned());
        }
        Ok(Self { hash: blake3::hash(text.as_bytes()) })
    }

    fn is(&self, sent: &[u8]) -> bool {
        blake3::hash(sent) == self.hash
    }
}

/// Decides who may ask.
pub struct Gate {
    /// The names of the server, each with its port.
    names: Vec<String>,
    token: Option<Token>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateRefusal {
    NoToken,
    ForeignHost,
    ForeignOrigin,
}

impl GateRefusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            GateRefusal::NoToken => StatusCode::UNAUTHORIZED,
            GateRefusal::ForeignHost | GateRefusal::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            GateRefusal::NoToken => "this server needs its token: send \"Authorization: Bearer TOKEN\"",
            GateRefusal::ForeignHost => "the Host header is not the address of this server",
            GateRefusal::ForeignOrigin => "the request comes from a page of another server (Origin header)",
        }
    }
}

impl Gate {
    /// Makes the gate of a server at this address.
    ///
    /// # Errors
    ///
    /// Refuses to serve other machines without a token.
    pub fn new(address: SocketAddr, token: Option<Token>) -> Result<Self, String> {
        if !address.ip().is_loopback() && token.is_none() {
            return Err(format!(
                "{address} can be reached from other machines, and any program that reaches it can use the tools. Next: set the \
                 variable HAFT_MCP_TOKEN to a secret that clients send, or use 127.0.0.1"
            ));
        }
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() {
            names.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
        }
        if port == 80 {
            let bare: Vec<String> =
                names.iter().filter_map(|name| name.strip_suffix(":80").map(str::to_owned)).collect();
            names.extend(bare);
        }
        Ok(Self { names, token })
    }

    /// Lets a request in, or says why not.
    pub(crate) fn admit(&self, head: &Head) -> Result<(), GateRefusal> {
        let host = one_of(head, HOST).map(str::to_ascii_lowercase);
        let has_token = match &self.token {
            Some(token) => {
                let sent = one_of(head, AUTHORIZATION).and_then(bearer).ok_or(GateRefusal::NoToken)?;
                if !token.is(sent.as_bytes()) {
                    return Err(GateRefusal::NoToken);
                }
                true
            }
            None => false,
        };
        let host = host.filter(|host| has_token || self.names.contains(host)).ok_or(GateRefusal::ForeignHost)?;
        if !head.headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = one_of(head, ORIGIN).ok_or(GateRefusal::ForeignOrigin)?;
        let is_own = |scheme: &str| {
            let of = origin.strip_prefix(scheme).map(str::to_ascii_lowercase);
            of.is_some_and(|of| self.names.contains(&of) || (has_token && of == host))
        };
        // Only a proxy has a certificate, and behind one there is a token.
        if is_own("http://") || (has_token && is_own("https://")) { Ok(()) } else { Err(GateRefusal::ForeignOrigin) }
    }
}

/// Returns a header that is there exactly once.
fn one_of(head: &Head, name: http::HeaderName) -> Option<&str> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "correct-horse-battery";

    fn gate(address: &str, token: Option<&str>) -> Gate {
        let token = token.map(|token| Token::new(token).expect("it is long"));
        Gate::new(address.parse().expect("an address"), token).expect("it may be served")
    }

    fn asked(gate: &Gate, headers: &[(&str, &str)]) -> Result<(), GateRefusal> {
        let mut request = http::Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        gate.admit(&request.body(()).expect("a request").into_parts().0)
    }

    #[test]
    fn a_server_of_this_machine_is_called_by_its_own_names_and_port_only() {
        let gate = gate("127.0.0.1:4000", None);
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000", "[::1]:4000"] {
            assert_eq!(asked(&gate, &[("host", host)]), Ok(()), "{host}");
        }
        for host in
            ["", "localhost", "localhost:4001", "evil.example:4000", "localhost:4000.evil.example", "127.0.0.2:4000"]
        {
            assert_eq!(asked(&gate, &[("host", host)]), Err(GateRefusal::ForeignHost), "{host}");
        }
        assert_eq!(asked(&gate, &[]), Err(GateRefusal::ForeignHost));
        let twice = [("host", "localhost:4000"), ("host", "localhost:4000")];
        assert_eq!(asked(&gate, &twice), Err(GateRefusal::ForeignHost));
    }

    #[test]
    fn a_page_of_another_server_is_refused_and_one_of_this_server_is_not() {
        let gate = gate("127.0.0.1:4000", None);
        let from = |origin: &str| asked(&gate, &[("host", "localhost:4000"), ("origin", origin)]);
        assert_eq!(from("http://localhost:4000"), Ok(()));
        assert_eq!(from("http://127.0.0.1:4000"), Ok(()));
        for origin in
            ["null", "", "https://localhost:4000", "http://localhost", "http://evil.example", "http://localhost:4000/"]
        {
            assert_eq!(from(origin), Err(GateRefusal::ForeignOrigin), "{origin}");
        }
    }

    #[test]
    fn a_token_is_needed_for_other_machines_and_lets_a_proxy_have_another_name() {
        assert!(Gate::new("0.0.0.0:4000".parse().expect("an address"), None).is_err());
        assert!(Gate::new("192.168.1.2:4000".parse().expect("an address"), None).is_err());
        assert!(Token::new("short").is_err() && Token::new("with spaces in the middle").is_err());
        let gate = gate("0.0.0.0:4000", Some(TOKEN));
        let right = format!("Bearer {TOKEN}");
        let asks = |token: &str, origin: Option<&str>| {
            let mut headers = vec![("host", "tools.example"), ("authorization", token)];
            headers.extend(origin.map(|origin| ("origin", origin)));
            asked(&gate, &headers)
        };
        assert_eq!(asks(&right, None), Ok(()));
        assert_eq!(asks(&right, Some("https://tools.example")), Ok(()));
        assert_eq!(asks(&right, Some("https://evil.example")), Err(GateRefusal::ForeignOrigin));
        assert_eq!(asked(&gate, &[("authorization", &right)]), Err(GateRefusal::ForeignHost));
        for wrong in ["Bearer", "Bearer ", "Bearer wrong", TOKEN, &format!("Basic {TOKEN}"), &format!("{right}x")] {
            assert_eq!(asks(wrong, None), Err(GateRefusal::NoToken), "{wrong}");
        }
        assert_eq!(asked(&gate, &[("host", "tools.example")]), Err(GateRefusal::NoToken));
    }
}
