//! A server on the loopback with the documents that cases name.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// How many bytes of the document are no text.
pub(crate) const BINARY: usize = 300;

/// The server; it ends with the test.
pub(crate) struct Server {
    port: u16,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let port = listener.local_addr().expect("it is bound").port();
        std::thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(answer));
        Self { port }
    }

    /// Returns the whole address of a path, and of what is whole already.
    pub(crate) fn address_of(&self, url: &str) -> String {
        if url.starts_with('/') { format!("http://127.0.0.1:{}{url}", self.port) } else { url.to_owned() }
    }
}

fn answer(mut stream: TcpStream) {
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length @ 1..) => request.extend_from_slice(&piece[..length]),
            _ => return,
        }
    }
    let (kind, body) = match String::from_utf8_lossy(&request).split(' ').nth(1) {
        Some("/bin") => ("application/octet-stream", (0..BINARY).map(|byte| (byte * 7 % 256) as u8).collect()),
        _ => ("application/json", b"{\"a\": [1, 2]}".to_vec()),
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    // A client that has gone needs no answer.
    let _gone = stream.write_all(&[head.as_bytes(), b"connection: close\r\n\r\n", &body].concat());
}
