//! The part of HTTP/1.1 that clients of models need, written by hand, because a library would not break the rules.
//!
//! An answer must be able to end in the middle of a chunk, in the headers or before them, and a server library prevents
//! exactly that.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MOST_HEAD_BYTES: usize = 64 * 1024;
const MOST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// An HTTP request that a client sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedHttpRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the client wants nothing more on this connection.
    pub is_last: bool,
}

/// A client's connection, with the bytes that the client sent ahead.
#[expect(clippy::disallowed_types, reason = "a server on loopback for tests; nothing is reached by it")]
pub(crate) struct BufferedConnection {
    stream: tokio::net::TcpStream,
    ahead: Vec<u8>,
}

impl ParsedHttpRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl BufferedConnection {
    #[expect(clippy::disallowed_types, reason = "a server on loopback for tests; nothing is reached by it")]
    pub fn new(stream: tokio::net::TcpStream) -> Self {
        // A piece of a reply must not wait for the next one. Where this cannot be had, it is only slower.
        let _ = stream.set_nodelay(true);
        Self { stream, ahead: Vec::new() }
    }

    /// Reads the next request; nothing when the client has gone.
    pub async fn request(&mut self) -> io::Result<Option<ParsedHttpRequest>> {
        let head_end = loop {
            if let Some(at) = find(&self.ahead, b"\r\n\r\n") {
                break at;
            }
            if self.ahead.len() > MOST_HEAD_BYTES {
                return Err(malformed("the head of the request is longer than 64 KiB"));
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head: Vec<u8> = self.ahead.drain(..head_end + 4).collect();
        let mut request = parse_head(&String::from_utf8_lossy(&head))?;
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let is_chunked = request.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
        request.body = match request.header("content-length").map(str::parse::<usize>) {
            _ if is_chunked => self.chunks().await?,
            Some(Ok(length)) => self.exactly(length).await?,
            Some(Err(_)) => return Err(malformed("the content-length is not a number")),
            None => Vec::new(),
        };
        Ok(Some(request))
    }

    /// Writes an answer that is whole.
    pub async fn answer(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) -> io::Result<()> {
        let head = head(status, headers, &format!("content-length: {}", body.len()));
        self.write(&[head.as_bytes(), body].concat()).await
    }

    /// Begins an answer that comes in chunks.
    pub async fn begin(&mut self, headers: &[(&str, &str)]) -> io::Result<()> {
        self.write(head(200, headers, "transfer-encoding: chunked").as_bytes()).await
    }

    /// Writes one chunk.
    pub async fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.write(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()).await
    }

    /// Ends an answer that came in chunks.
    pub async fn end(&mut self) -> io::Result<()> {
        self.write(b"0\r\n\r\n").await
    }

    /// Waits until the client has gone.
    pub async fn gone(&mut self) {
        while let Ok(true) = self.more().await {
            self.ahead.clear();
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Reads what is there. Returns whether the client is still there.
    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.ahead).await? > 0)
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > MOST_BODY_BYTES {
            return Err(malformed("the body is longer than 64 MiB"));
        }
        while self.ahead.len() < length {
            if !self.more().await? {
                return Err(malformed("the body is shorter than its content-length"));
            }
        }
        Ok(self.ahead.drain(..length).collect())
    }

    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| malformed("the size of a chunk is not a number"))?;
            if size == 0 {
                // What may follow are headers about the body, up to an empty line.
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            if body.len().saturating_add(size) > MOST_BODY_BYTES {
                return Err(malformed("the body is longer than 64 MiB"));
            }
            body.extend(self.exactly(size).await?);
            self.line().await?;
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(at) = find(&self.ahead, b"\r\n") {
                let line: Vec<u8> = self.ahead.drain(..at + 2).collect();
                return Ok(String::from_utf8_lossy(&line[..at]).into_owned());
            }
            if self.ahead.len() > MOST_HEAD_BYTES || !self.more().await? {
                return Err(malformed("a chunk of the body is broken off"));
            }
        }
    }
}

fn parse_head(head: &str) -> io::Result<ParsedHttpRequest> {
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, path, version @ ("HTTP/1.1" | "HTTP/1.0")] = first[..] else {
        return Err(malformed("the first line is not HTTP/1.1"));
    };
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned())).collect();
    let mut request =
        ParsedHttpRequest { method: method.into(), path: path.into(), headers, ..ParsedHttpRequest::default() };
    let wants_end = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    request.is_last = wants_end || version == "HTTP/1.0";
    Ok(request)
}

fn head(status: u16, headers: &[(&str, &str)], length: &str) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    };
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} {reason}\r\n{lines}{length}\r\n\r\n")
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
