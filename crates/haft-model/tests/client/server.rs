//! A server on loopback that answers each request with the next of the answers it was given.
//!
//! It knows nothing of models: an answer is bytes and how they end.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// As it should: the line can be used again.
    Well,
    /// The line is closed.
    Closed,
    /// Nothing more comes, and the line stays.
    Never,
}

/// What a request is answered with.
#[derive(Clone, Debug)]
pub struct Answered {
    bytes: Vec<u8>,
    ends: Ends,
}

impl Answered {
    /// Answers with a stream of events.
    pub fn stream(body: impl AsRef<[u8]>) -> Answered {
        Answered::with("200 OK", &[("content-type", "text/event-stream")], body)
    }

    /// Answers with a status, headers and a body.
    pub fn with(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answered {
        let body = body.as_ref();
        let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Answered { bytes: [head.as_bytes(), b"\r\n", body].concat(), ends: Ends::Well }
    }

    /// Answers with a stream that is one piece longer than what comes of it.
    pub fn cut(body: impl AsRef<[u8]>, ends: Ends) -> Answered {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len() + 1);
        Answered { bytes: [head.as_bytes(), body].concat(), ends }
    }

    /// Answers with these bytes and nothing around them.
    pub fn bytes(bytes: impl AsRef<[u8]>, ends: Ends) -> Answered {
        Answered { bytes: bytes.as_ref().to_vec(), ends }
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method, path and version.
    pub first_line: String,
    /// Headers with small names.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: String,
    /// On which line it came, counted from 0.
    pub line: usize,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a request is JSON")
    }

    /// Returns the elements of a list in the body, as they were sent.
    pub fn list(&self, name: &str) -> Vec<Box<RawValue>> {
        let body: HashMap<String, Box<RawValue>> = serde_json::from_str(&self.body).expect("a request is JSON");
        serde_json::from_str(body[name].get()).expect("it is a list")
    }
}

#[derive(Default)]
struct Shared {
    answers: Mutex<VecDeque<Answered>>,
    asked: Mutex<Vec<Asked>>,
}

/// The server.
pub struct Server {
    pub base_url: String,
    shared: Arc<Shared>,
    running: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Begins to listen. When the answers run out the last one is given again.
    pub async fn start(answers: impl IntoIterator<Item = Answered>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has ports");
        let base_url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let shared = Arc::new(Shared { answers: Mutex::new(answers.into_iter().collect()), ..Shared::default() });
        let for_lines = Arc::clone(&shared);
        let running = tokio::spawn(async move {
            for line in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                tokio::spawn(serve(stream, line, Arc::clone(&for_lines)));
            }
        });
        Server { base_url, shared, running }
    }

    /// Returns the requests that came.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("nobody panics with it").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn serve(mut stream: TcpStream, line: usize, shared: Arc<Shared>) {
    let mut read = Vec::new();
    while let Some(asked) = request(&mut stream, &mut read, line).await {
        shared.asked.lock().expect("nobody panics with it").push(asked);
        let answer = {
            let mut answers = shared.answers.lock().expect("nobody panics with it");
            if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }
        };
        let Some(Answered { bytes, ends }) = answer else { return };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
        match ends {
            Ends::Well => {}
            Ends::Closed => return,
            // Until the other side has enough of it.
            Ends::Never => while stream.read(&mut [0; 64]).await.is_ok_and(|count| count > 0) {},
        }
    }
}

async fn request(stream: &mut TcpStream, read: &mut Vec<u8>, line: usize) -> Option<Asked> {
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end]).into_owned();
            let mut lines = head.split("\r\n");
            let first_line = lines.next().unwrap_or_default().to_owned();
            let headers: Vec<(String, String)> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
            if read.len() >= end + 4 + length {
                let body = String::from_utf8_lossy(&read[end + 4..end + 4 + length]).into_owned();
                read.drain(..end + 4 + length);
                return Some(Asked { first_line, headers, body, line });
            }
        }
        // A client that begins with a greeting of TLS is answered like any other.
        if read.first() == Some(&0x16) {
            read.clear();
            return Some(Asked { first_line: "TLS".to_owned(), headers: Vec::new(), body: String::new(), line });
        }
        match stream.read(&mut buffer).await {
            Ok(count) if count > 0 => read.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}
