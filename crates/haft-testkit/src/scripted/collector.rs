//! A collector of spans: a real HTTP server on loopback that reads OTLP and keeps it.
//!
//! It runs on its own thread and stops when it is dropped.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::scripted_model::http::{BufferedConnection, ParsedHttpRequest};

/// What a collector does with a request.
#[derive(Clone, Debug)]
pub enum Answers {
    /// It takes the spans.
    Taken,
    /// It answers with this status.
    Status(u16),
    /// It redirects the client to this address.
    SentTo(String),
    /// It reads the request and says nothing.
    Never,
}

/// A collector.
pub struct Collector {
    address: SocketAddr,
    came: Arc<Mutex<Vec<CollectorRequest>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An HTTP request that the collector received.
#[derive(Clone, Debug)]
pub struct CollectorRequest {
    /// The path.
    pub path: String,
    /// The headers, with small letters.
    pub headers: Vec<(String, String)>,
    /// The bytes.
    pub body: Vec<u8>,
}

/// A span as it came.
#[derive(Clone, Debug)]
pub struct CollectedSpan {
    /// Its name.
    pub name: String,
    /// Which trace it belongs to.
    pub trace: Vec<u8>,
    /// What names it in its trace.
    pub id: Vec<u8>,
    /// The span above; empty for the uppermost.
    pub parent: Vec<u8>,
    /// On which side of which call it is.
    pub kind: SpanKind,
    /// What it says.
    pub attributes: BTreeMap<String, Value>,
    /// What the sender says of itself.
    pub resource: BTreeMap<String, Value>,
    /// Whether something went wrong.
    pub is_error: bool,
    /// What is said of that.
    pub message: String,
    /// From when to when, in nanoseconds since 1970.
    pub times: (u64, u64),
}

impl Collector {
    /// Starts a collector on a free port of loopback.
    #[expect(clippy::disallowed_types, reason = "a server on loopback for tests; nothing is reached by it")]
    pub fn start(answers: Answers) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        listener.set_nonblocking(true).expect("a socket can be set so");
        let address = listener.local_addr().expect("it listens");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be had");
        let came = Arc::<Mutex<Vec<CollectorRequest>>>::default();
        let (stop, stopped) = oneshot::channel();
        let kept = came.clone();
        let work = move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
                let listening = async {
                    loop {
                        let Ok((stream, _)) = listener.accept().await else { continue };
                        tokio::spawn(serve(BufferedConnection::new(stream), answers.clone(), kept.clone()));
                    }
                };
                tokio::select! {
                    () = listening => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("collector".into()).spawn(work).expect("a thread can be had");
        Self { address, came, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns its address, as `OTEL_EXPORTER_OTLP_ENDPOINT` takes it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<CollectorRequest> {
        self.lock().clone()
    }

    /// Returns all spans so far, in the order of their beginning. Panics at what is no OTLP.
    pub fn spans(&self) -> Vec<CollectedSpan> {
        let mut spans: Vec<CollectedSpan> = self.lock().iter().flat_map(CollectorRequest::spans).collect();
        spans.sort_by_key(|span| span.times.0);
        spans
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CollectorRequest>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // It may have ended by itself, which is what was wanted.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn serve(mut connection: BufferedConnection, answers: Answers, came: Arc<Mutex<Vec<CollectorRequest>>>) {
    while let Ok(Some(request)) = connection.request().await {
        let ParsedHttpRequest { path, headers, body, .. } = request;
        came.lock().unwrap_or_else(PoisonError::into_inner).push(CollectorRequest { path, headers, body });
        let answered = match &answers {
            Answers::Taken => connection.answer(200, &[("content-type", "application/x-protobuf")], b"").await,
            Answers::Status(status) => connection.answer(*status, &[], b"no").await,
            Answers::SentTo(url) => connection.answer(307, &[("location", url)], b"").await,
            Answers::Never => {
                connection.gone().await;
                return;
            }
        };
        if answered.is_err() {
            return;
        }
    }
}

impl CollectorRequest {
    /// Returns whether these bytes are anywhere in the body.
    pub fn contains(&self, text: &str) -> bool {
        self.body.windows(text.len()).any(|window| window == text.as_bytes())
    }

    fn spans(&self) -> Vec<CollectedSpan> {
        let sent = ExportTraceServiceRequest::decode(self.body.as_slice()).expect("the body is OTLP");
        let mut spans = Vec::new();
        for resource in sent.resource_spans {
            let own = attributes(resource.resource.unwrap_or_default().attributes);
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                spans.push(CollectedSpan::of(span, own.clone()));
            }
        }
        spans
    }
}

impl CollectedSpan {
    fn of(span: Span, resource: BTreeMap<String, Value>) -> Self {
        let status = span.status.clone().unwrap_or_default();
        Self {
            kind: span.kind(),
            name: span.name,
            trace: span.trace_id,
            id: span.span_id,
            parent: span.parent_span_id,
            attributes: attributes(span.attributes),
            resource,
            is_error: status.code() == StatusCode::Error,
            message: status.message,
            times: (span.start_time_unix_nano, span.end_time_unix_nano),
        }
    }
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, Value> {
    pairs.into_iter().map(|pair| (pair.key, value(pair.value))).collect()
}

fn value(value_sent: Option<AnyValue>) -> Value {
    match value_sent.and_then(|any| any.value) {
        Some(any_value::Value::StringValue(text)) => text.into(),
        Some(any_value::Value::BoolValue(truth)) => truth.into(),
        Some(any_value::Value::IntValue(number)) => number.into(),
        Some(any_value::Value::DoubleValue(number)) => number.into(),
        Some(any_value::Value::ArrayValue(list)) => {
            list.values.into_iter().map(|item| value(Some(item))).collect::<Vec<_>>().into()
        }
        Some(other) => json!(format!("{other:?}")),
        None => Value::Null,
    }
}
