//! Answers HTTP/1.1 requests of other programs, with limits on connections, heads, bodies and times.
//!
//! A handler sees the head first and can refuse it. Only then does the listener read the whole body, at most
//! [`HttpListener::LARGEST_BODY`] bytes.
//!
//! Not here: who may ask what (the handler), TLS (a proxy in front).

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Incoming};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Most connections at the same time; further ones wait until they are accepted.
const MOST_CONNECTIONS: usize = 256;
/// Largest head of a request.
const LARGEST_HEAD: usize = 64 * 1024;
/// How long a client has for the head of a request.
const PATIENCE_FOR_HEAD: Duration = Duration::from_secs(15);
/// How long a client has for the body of a request.
const PATIENCE_FOR_BODY: Duration = Duration::from_secs(60);
/// How long to wait when the system has no more files for connections.
const PAUSE: Duration = Duration::from_millis(50);
/// How long connections have to send their last words.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Answers requests.
pub trait RequestHandler: Send + Sync + 'static {
    /// The body of an answer.
    type Body: Body<Data: Send, Error: std::error::Error + Send + Sync> + Send + 'static;

    /// Refuses a request by its head, before its body is read.
    ///
    /// # Errors
    ///
    /// Returns the answer to a request that is refused.
    fn admit(&self, head: &Parts) -> Result<(), Response<Self::Body>>;

    /// Answers a request whose body could not be read.
    fn unreadable(&self, why: Unreadable) -> Response<Self::Body>;

    /// Answers a request.
    fn answer(&self, request: Request<Bytes>) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is larger than [`HttpListener::LARGEST_BODY`].
    TooLarge,
    /// It did not come in time.
    TooSlow,
    /// The connection broke, or the framing is wrong.
    Broken,
}

/// A port on which requests come in.
pub struct HttpListener {
    listener: TcpListener,
}

impl HttpListener {
    /// The largest body of a request, in bytes.
    pub const LARGEST_BODY: usize = 4 * 1024 * 1024;

    /// Opens a port.
    ///
    /// # Errors
    ///
    /// Fails when the address is in use, or is none of this machine.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await? })
    }

    /// Returns the address with the port that was opened.
    ///
    /// # Errors
    ///
    /// Fails when the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until `ended` is done.
    pub async fn serve<H: RequestHandler>(self, handler: Arc<H>, ended: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        tokio::pin!(ended);
        loop {
            let accepted = async {
                // Closed never happens: nothing closes it.
                let place = places.clone().acquire_owned().await;
                (place, self.listener.accept().await)
            };
            tokio::select! {
                biased;
                () = &mut ended => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                (place, accepted) = accepted => match accepted {
                    Ok((stream, _)) => {
                        let handler = handler.clone();
                        connections.spawn(async move {
                            let _place = place;
                            converse(stream, handler).await;
                        });
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
            }
        }
        let last = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WORDS, last).await;
        connections.abort_all();
    }
}

/// Answers the requests of one connection.
async fn converse<H: RequestHandler>(stream: TcpStream, handler: Arc<H>) {
    // An event is a small packet that someone waits for.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move { Ok::<_, Infallible>(answer(&*handler, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE_FOR_HEAD).max_buf_size(LARGEST_HEAD);
    // A broken connection is the client's affair: it has no one to tell.
    let _ = server.serve_connection(TokioIo::new(stream), answer).await;
}

async fn answer<H: RequestHandler>(handler: &H, request: Request<Incoming>) -> Response<H::Body> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = handler.admit(&head) {
        return refusal;
    }
    match tokio::time::timeout(PATIENCE_FOR_BODY, read(body)).await {
        Ok(Ok(body)) => handler.answer(Request::from_parts(head, body)).await,
        Ok(Err(why)) => handler.unreadable(why),
        Err(_) => handler.unreadable(Unreadable::TooSlow),
    }
}

async fn read(mut body: Incoming) -> Result<Bytes, Unreadable> {
    let limit = HttpListener::LARGEST_BODY;
    if body.size_hint().lower() > limit as u64 {
        return Err(Unreadable::TooLarge);
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|_| Unreadable::Broken)?;
        let Some(piece) = frame.data_ref() else { continue };
        if whole.len() + piece.len() > limit {
            return Err(Unreadable::TooLarge);
        }
        whole.extend_from_slice(piece);
    }
    Ok(whole.freeze())
}
