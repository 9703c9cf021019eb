//! Listens on a local port for the browser's answer after a login.
//!
//! It takes one answer, at one path, under its own name only: other pages and programs that reach the port get nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use haft_net::{Address, HttpListener, RequestHandler, Unreadable};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, REFERRER_POLICY};
use http::request::Parts as Head;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use tokio::sync::oneshot;

/// Where the browser comes back.
const PATH: &str = "/callback";
/// What the browser shows then.
const SEEN: &str = "haft has the answer. You can close this page and go back to the terminal.\n";

/// The names and values that the browser brings back.
pub(super) type CallbackParameters = Vec<(String, String)>;

/// A port that waits for the browser.
pub(super) struct Callback {
    listener: HttpListener,
    /// The address to which the browser comes back.
    pub(super) redirect: String,
    place: String,
}

struct Taker {
    place: String,
    /// What tells the answer to this login from any other.
    state: String,
    returned: Mutex<Option<oneshot::Sender<CallbackParameters>>>,
}

impl Callback {
    /// Opens the port; 0 takes a free one.
    pub(super) async fn open(port: u16) -> Result<Self, String> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let opened = HttpListener::bind(address).await;
        let listener = opened.map_err(|error| format!("the port {port} of this machine cannot be opened: {error}"))?;
        let place = listener.address().map_err(|error| error.to_string())?.to_string();
        Ok(Self { redirect: format!("http://{place}{PATH}"), listener, place })
    }

    /// Waits until the browser comes back from the login of this state.
    pub(super) async fn returned(self, state: &str) -> Result<CallbackParameters, String> {
        let (sender, returned) = oneshot::channel();
        let taker = Taker { place: self.place, state: state.to_owned(), returned: Mutex::new(Some(sender)) };
        let (end, ended) = oneshot::channel::<()>();
        let ended = async {
            // Dropped when this is given up.
            let _ = ended.await;
        };
        let serving = self.listener.serve(Arc::new(taker), ended);
        let mut serving = std::pin::pin!(serving);
        let mut returned = std::pin::pin!(returned);
        let answer = tokio::select! {
            answer = &mut returned => answer,
            _ = &mut serving => return Err("the port of this machine was closed".to_owned()),
        };
        // The browser gets its page first.
        drop(end);
        serving.await;
        answer.map_err(|_| "the port of this machine was closed".to_owned())
    }
}

impl RequestHandler for Taker {
    type Body = Full<Bytes>;

    fn admit(&self, head: &Head) -> Result<(), Response<Full<Bytes>>> {
        let mut hosts = head.headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let is_own = host == Some(self.place.as_str()) && hosts.next().is_none();
        let is_asked = head.method == Method::GET && head.uri.path() == PATH;
        match (is_own, is_asked) {
            (true, true) => Ok(()),
            (false, _) => Err(page(StatusCode::FORBIDDEN, "This is not the name of this server.\n")),
            (true, false) => Err(page(StatusCode::NOT_FOUND, "There is nothing here.\n")),
        }
    }

    fn unreadable(&self, _why: Unreadable) -> Response<Full<Bytes>> {
        page(StatusCode::BAD_REQUEST, "The request cannot be read.\n")
    }

    async fn answer(&self, request: Request<Bytes>) -> Response<Full<Bytes>> {
        let query = request.uri().query().unwrap_or_default();
        let pairs = Address::parse(&format!("http://{}{PATH}?{query}", self.place)).map(|address| address.query());
        let is_answer =
            |pairs: &CallbackParameters| pairs.iter().any(|(name, value)| name == "state" && *value == self.state);
        let Some(pairs) = pairs.ok().filter(is_answer) else {
            return page(StatusCode::BAD_REQUEST, "There is no answer of a login here.\n");
        };
        let taken = self.returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        match taken {
            Some(sender) => {
                let _ = sender.send(pairs);
                page(StatusCode::OK, SEEN)
            }
            None => page(StatusCode::CONFLICT, "haft has an answer already.\n"),
        }
    }
}

fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut page = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *page.status_mut() = status;
    let headers = page.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    // The address has the code in it.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    page
}
