//! Listens, reads requests, and sends the answers of the script.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use haft_model::wire::Wire;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use super::answer::{self, AnswerEnding, Pace, ScriptedAnswer};
use super::asked::{Conversation, ReplyRequest};
use super::http::{BufferedConnection, ParsedHttpRequest};
use super::state::ScriptState;
use super::tongue::tongue;

/// The state that the server shares with the code that started it.
pub(super) struct SharedScriptState {
    state: Mutex<ScriptState>,
    /// How many requests have come.
    pub count: watch::Sender<usize>,
    /// How many events of held replies may go. Closed when all may.
    pub released: Semaphore,
    began: Instant,
}

impl SharedScriptState {
    pub fn new(state: ScriptState) -> Self {
        let (count, released) = (watch::Sender::new(0), Semaphore::new(0));
        Self { state: Mutex::new(state), count, released, began: Instant::now() }
    }

    pub fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves everyone who connects, until it is dropped.
#[expect(clippy::disallowed_types, reason = "a server on loopback for tests; nothing is reached by it")]
pub(super) async fn listen(listener: std::net::TcpListener, shared: Arc<SharedScriptState>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block, and this is a runtime");
    loop {
        // A client that could not be accepted is gone or will connect again.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shared = shared.clone();
        tokio::spawn(async move {
            let mut connection = BufferedConnection::new(stream);
            if let Err(error) = converse(&mut connection, &shared).await
                && error.kind() == io::ErrorKind::InvalidData
            {
                // The client may be gone and not read this.
                let _ = connection.answer(400, &[("connection", "close")], error.to_string().as_bytes()).await;
            }
        });
    }
}

async fn converse(connection: &mut BufferedConnection, shared: &SharedScriptState) -> io::Result<()> {
    while let Some(request) = connection.request().await? {
        let is_last = request.is_last;
        let (answer, number) = decide(shared, request);
        let ending = write(connection, shared, answer).await;
        if let Some(number) = number {
            shared.state().answered(number);
        }
        match ending? {
            AnswerEnding::Whole if !is_last => {}
            AnswerEnding::Whole | AnswerEnding::Cut => return Ok(()),
            AnswerEnding::Hang => {
                connection.gone().await;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Says what is answered, and the number of the request where it asks for a reply.
fn decide(shared: &SharedScriptState, request: ParsedHttpRequest) -> (ScriptedAnswer, Option<usize>) {
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    let query = request.path.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default();
    if let (Some(wire), "POST") = (wire_of(&path), request.method.as_str()) {
        let (asked, read) = read(wire, request);
        let mut state = shared.state();
        let answer = state.answer(asked, read);
        let count = state.asked.len();
        drop(state);
        shared.count.send_replace(count);
        return (answer, Some(count - 1));
    }
    let answer = match (request.method.as_str(), path.as_str()) {
        ("GET", "/script/requests") => ScriptedAnswer::json(200, &requests(shared)),
        ("GET", "/script/verdict") => ScriptedAnswer::json(200, &verdict(&shared.state())),
        ("POST", "/script/release") => release(shared, &query),
        ("GET", path) if path.ends_with("/models") => answer::models(),
        ("GET", path) => ScriptedAnswer::json(404, &json!({"error": {"message": format!("nothing is at {path}")}})),
        (method, path) => {
            let why = format!("{method} {path} is not a request for a reply in any of the four forms");
            shared.state().misfits.push(why.clone());
            ScriptedAnswer::json(404, &json!({"error": {"message": why}}))
        }
    };
    (answer, None)
}

fn wire_of(path: &str) -> Option<Wire> {
    match path {
        path if path.ends_with("/messages") => Some(Wire::Anthropic),
        path if path.ends_with("/chat/completions") => Some(Wire::Chat),
        path if path.ends_with("/responses") => Some(Wire::Responses),
        path if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") => Some(Wire::Gemini),
        _ => None,
    }
}

fn read(wire: Wire, request: ParsedHttpRequest) -> (ReplyRequest, Result<(), String>) {
    let ParsedHttpRequest { method, path, headers, body, is_last: _ } = request;
    let text = String::from_utf8_lossy(&body).into_owned();
    let parsed = serde_json::from_str::<Value>(&text).map_err(|error| format!("the body is not JSON: {error}"));
    let (body, parsed) = match parsed {
        Ok(body) => (body, Ok(())),
        Err(why) => (Value::Null, Err(why)),
    };
    let read = parsed.and_then(|()| tongue(wire).read(&body));
    let (conversation, read) = match read {
        Ok(conversation) => (conversation, Ok(())),
        Err(why) => (Conversation::default(), Err(why)),
    };
    let at = Instant::now();
    (ReplyRequest { wire, method, path, headers, text, body, conversation, at, answered_at: None }, read)
}

async fn write(
    connection: &mut BufferedConnection,
    shared: &SharedScriptState,
    answer: ScriptedAnswer,
) -> io::Result<AnswerEnding> {
    match answer {
        ScriptedAnswer::Nothing(ending) => Ok(ending),
        ScriptedAnswer::Whole { status, headers, body } => {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            connection.answer(status, &headers, &body).await?;
            Ok(AnswerEnding::Whole)
        }
        ScriptedAnswer::Stream { chunks, ending, pace } => {
            connection.begin(&[("content-type", "text/event-stream"), ("cache-control", "no-cache")]).await?;
            for chunk in chunks {
                if wait(connection, shared, pace).await == Client::Gone {
                    return Ok(AnswerEnding::Cut);
                }
                connection.chunk(&chunk).await?;
            }
            if ending == AnswerEnding::Whole {
                connection.end().await?;
            }
            Ok(ending)
        }
    }
}

#[derive(PartialEq, Eq)]
enum Client {
    There,
    Gone,
}

/// Waits until one more event may come, or the client has gone.
async fn wait(connection: &mut BufferedConnection, shared: &SharedScriptState, pace: Pace) -> Client {
    match pace {
        Pace::AtOnce => Client::There,
        Pace::Slow(pause) => match tokio::time::timeout(pause, connection.gone()).await {
            Ok(()) => Client::Gone,
            Err(_) => Client::There,
        },
        Pace::Held => tokio::select! {
            permit = shared.released.acquire() => {
                // It is closed when everything is released.
                if let Ok(permit) = permit {
                    permit.forget();
                }
                Client::There
            }
            () = connection.gone() => Client::Gone,
        },
    }
}

fn release(shared: &SharedScriptState, query: &str) -> ScriptedAnswer {
    match query.strip_prefix("events=").unwrap_or("1") {
        "all" => shared.released.close(),
        count => match count.parse::<u16>() {
            Ok(count) => shared.released.add_permits(usize::from(count)),
            Err(_) => {
                let what = "events: say a number up to 65535, or all";
                return ScriptedAnswer::json(400, &json!({"error": {"message": what}}));
            }
        },
    }
    ScriptedAnswer::json(200, &json!({"released": true}))
}

/// Says whether everything went as the script says.
fn verdict(state: &ScriptState) -> Value {
    let left = state.turns_left();
    json!({"ok": left == 0 && state.misfits.is_empty(), "turns_left": left, "misfits": state.misfits})
}

fn requests(shared: &SharedScriptState) -> Value {
    let since = |at: Instant| u64::try_from(at.duration_since(shared.began).as_micros()).unwrap_or(u64::MAX);
    let state = shared.state();
    let requests = state.asked.iter().map(|asked| {
        let headers: serde_json::Map<String, Value> =
            asked.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "wire": asked.wire.name(),
            "method": asked.method,
            "path": asked.path,
            "headers": headers,
            "body": asked.body,
            "bytes": asked.text.len(),
            "came_us": since(asked.at),
            "answered_us": asked.answered_at.map(since),
        })
    });
    requests.collect()
}
