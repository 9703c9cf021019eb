//! Parses a line into a message, or into the error for its sender.
//!
//! For a bad message the parser of the protocol's crate says only that it is not a message. haft reads the envelope first:
//! the answer then has the id of the request and names the mistake. One bad message never affects another.

use rmcp::ErrorData;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode,
    PaginatedRequestParams, Request, RequestId, RequestParamsMeta,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::value_count;

/// Longest id, in bytes.
const LONGEST_ID: usize = 1_000;
/// Most characters of an error that are sent back.
const LONGEST_REASON: usize = 300;

/// The methods whose parameters the protocol fixes. What does not fit them is a bad request and not an unknown one.
const METHODS: [&str; 16] = [
    "completion/complete",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/list",
    "initialize",
];

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request.
    Request(RequestId, Box<ClientRequest>),
    /// The client does not want the answer of this request any more.
    Cancelled(RequestId, ClientNotification),
    /// Something that needs no answer.
    Notification(ClientNotification),
    /// The answer to a question of ours.
    Answer(RequestId, Box<ClientJsonRpcMessage>),
    /// A message that needs no reaction.
    Nothing,
    /// No message; who sent it gets this error, with the id where there is one.
    Wrong(Option<RequestId>, ErrorData),
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Incoming {
    // A byte order mark is what some programs begin their output with.
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else {
        return Incoming::Wrong(None, ErrorData::parse_error("the message is not UTF-8", None));
    };
    match text.trim_start().as_bytes().first() {
        Some(b'[') => return wrong(None, "haft does not accept a list of messages; send one message per line"),
        Some(b'{') => {}
        _ => return Incoming::Wrong(None, ErrorData::parse_error("the line is not a JSON object", None)),
    }
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return wrong(None, &format!("the message cannot be read: {error}")),
        Err(error) => {
            let reason = shortened(&format!("the line is not JSON: {error}"));
            return Incoming::Wrong(None, ErrorData::parse_error(reason, None));
        }
    };
    understand(text, &envelope)
}

/// A message as far as it must be understood to be answered.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Tells null from a field that is not there.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

fn understand(text: &str, envelope: &Envelope<'_>) -> Incoming {
    let id = match envelope.id.map(|id| read_id(id.get())) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(reason)) => return wrong(None, reason),
    };
    if envelope.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
        return wrong(id, "\"jsonrpc\" is not \"2.0\"");
    }
    if value_count::is_too_heavy(text.as_bytes()) {
        return match (envelope.method, id) {
            (None, Some(id)) => unreadable(id),
            (_, id) => wrong(id, "the message has more than 1,000,000 values and was skipped"),
        };
    }
    let is_answer = envelope.result.is_some() || envelope.error.is_some();
    match (envelope.method, id) {
        (Some(_), id) if is_answer => wrong(id, "a message with \"method\" has no \"result\" and no \"error\""),
        (Some(method), id) => match (serde_json::from_str::<String>(method.get()), id) {
            (Ok(method), Some(id)) => request(text, (id, &method), envelope.params),
            (Ok(method), None) => notification(text, &method),
            (Err(_), id) => wrong(id, "\"method\" is not a string"),
        },
        (None, Some(id)) if is_answer => answer(text, id),
        // An error without an id tells that something of ours was not understood; there is nothing to say to that.
        (None, None) if is_answer => Incoming::Nothing,
        (None, id) => wrong(id, "the message has no \"method\""),
    }
}

fn read_id(id: &str) -> Result<RequestId, &'static str> {
    if id.len() > LONGEST_ID {
        return Err("\"id\" is longer than 1,000 bytes");
    }
    // A number with a fraction that is zero would be read as well, and answered as another text than was sent.
    match id.starts_with('"') || id.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        true => serde_json::from_str(id).map_err(|_| "\"id\" is a number that is too large"),
        false => Err("\"id\" is neither a string nor a whole number"),
    }
}

fn request(text: &str, (id, method): (RequestId, &str), params: Option<&RawValue>) -> Incoming {
    let params = params.map_or("{}", RawValue::get);
    let read = match method {
        "tools/call" => typed(params, ClientRequest::CallToolRequest),
        "resources/read" => typed(params, ClientRequest::ReadResourceRequest),
        "initialize" => typed(params, ClientRequest::InitializeRequest),
        // Their parser takes parameters that do not fit for none at all.
        list if list.ends_with("/list") && !is_page(params) => Err("\"cursor\" is not a string".to_owned()),
        _ => match serde_json::from_str(text) {
            Ok(ClientJsonRpcMessage::Request(message)) => Ok(message.request),
            Ok(_) => Err("it is not a request".to_owned()),
            Err(error) => Err(error.to_string()),
        },
    };
    match read {
        Ok(ClientRequest::CustomRequest(_)) if METHODS.contains(&method) => bad_params(id, method, "they do not fit"),
        Ok(request) => Incoming::Request(id, Box::new(request)),
        Err(reason) => bad_params(id, method, &reason),
    }
}

fn is_page(params: &str) -> bool {
    params == "null" || serde_json::from_str::<PaginatedRequestParams>(params).is_ok()
}

/// Reads parameters; what they say of the request itself goes where the protocol's crate looks for it.
fn typed<M: Default, P: DeserializeOwned + RequestParamsMeta>(
    params: &str,
    request: fn(Request<M, P>) -> ClientRequest,
) -> Result<ClientRequest, String> {
    // A list of the right length would be read as the fields in their order.
    if !params.starts_with('{') {
        return Err("they are not an object".to_owned());
    }
    let mut params: P = serde_json::from_str(params).map_err(|error| error.to_string())?;
    let meta = params.meta_mut().take();
    let mut read = Request::new(params);
    if let Some(meta) = meta {
        read.extensions.insert(meta);
    }
    Ok(request(read))
}

fn notification(text: &str, method: &str) -> Incoming {
    match method {
        "notifications/cancelled" | "notifications/initialized" => {}
        // haft ignores all others, so a flood of them costs nothing.
        _ => return Incoming::Nothing,
    }
    let Ok(ClientJsonRpcMessage::Notification(message)) = serde_json::from_str(text) else { return Incoming::Nothing };
    match message.notification {
        ClientNotification::CancelledNotification(cancelled) => match &cancelled.params {
            CancelledNotificationParam { request_id: Some(id), .. } => {
                Incoming::Cancelled(id.clone(), ClientNotification::CancelledNotification(cancelled))
            }
            _ => Incoming::Nothing,
        },
        ClientNotification::InitializedNotification(initialized) => {
            Incoming::Notification(ClientNotification::InitializedNotification(initialized))
        }
        _ => Incoming::Nothing,
    }
}

/// Reads an answer. An unreadable answer becomes an error, so its receiver does not wait for ever.
fn answer(text: &str, id: RequestId) -> Incoming {
    match serde_json::from_str(text) {
        Ok(message @ (ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_))) => {
            Incoming::Answer(id, Box::new(message))
        }
        _ => unreadable(id),
    }
}

fn unreadable(id: RequestId) -> Incoming {
    let error = ErrorData::invalid_request("the answer cannot be read", None);
    Incoming::Answer(id.clone(), Box::new(ClientJsonRpcMessage::error(error, Some(id))))
}

fn bad_params(id: RequestId, method: &str, reason: &str) -> Incoming {
    let reason = shortened(&format!("the parameters of {method} cannot be used: {reason}"));
    Incoming::Wrong(Some(id), ErrorData::new(ErrorCode::INVALID_PARAMS, reason, None))
}

fn wrong(id: Option<RequestId>, reason: &str) -> Incoming {
    Incoming::Wrong(id, ErrorData::invalid_request(shortened(reason), None))
}

/// What a parser says may quote what was sent, which may be anything and of any length.
fn shortened(reason: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    reason.chars().take(LONGEST_REASON).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Option<String>, i32) {
        match read(line.as_bytes()) {
            Incoming::Wrong(id, error) => (id.map(|id| id.to_string()), error.code.0),
            other => panic!("{line} was taken for {other:?}"),
        }
    }

    #[test]
    fn what_is_no_message_is_answered_with_the_id_where_there_is_one() {
        let one = || Some("1".to_owned());
        for (line, expected) in [
            ("{", (None, -32700)),
            ("hello", (None, -32700)),
            ("17", (None, -32700)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", (None, -32700)),
            ("[]", (None, -32600)),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", (None, -32600)),
            ("{}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", (one(), -32600)),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", (one(), -32600)),
            ("{\"id\":1,\"method\":\"ping\"}", (one(), -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", (None, -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", (one(), -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}", (one(), -32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", (one(), -32602)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[\"a\"]}", (one(), -32602)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}", (one(), -32602)),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":[]}}",
                (one(), -32602),
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}", (one(), -32602)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":7}}", (one(), -32602)),
        ] {
            assert_eq!(code(line), expected, "{line}");
        }
        assert_eq!(read(b"\xff\xfe").error_code(), Some(-32700));
    }

    impl Incoming {
        fn error_code(&self) -> Option<i32> {
            match self {
                Incoming::Wrong(_, error) => Some(error.code.0),
                _ => None,
            }
        }
    }

    #[test]
    fn a_request_of_too_many_values_is_answered_and_an_answer_of_them_ends_the_question() {
        let values = "0,".repeat(crate::transport::value_count::MOST_VALUES);
        let request = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[{values}0]}}");
        assert_eq!(code(&request), (Some("1".to_owned()), -32600));
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":[{values}0]}}");
        let Incoming::Answer(_, message) = read(answer.as_bytes()) else { panic!("it is an answer") };
        assert!(matches!(*message, ClientJsonRpcMessage::Error(_)));
    }

    #[test]
    fn requests_are_read_with_what_they_say_of_themselves() {
        let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":\
                    {\"name\":\"t\",\"arguments\":{\"x\":1},\"_meta\":{\"progressToken\":5}}}\r";
        let Incoming::Request(id, request) = read(line.as_bytes()) else { panic!("it is a request") };
        let ClientRequest::CallToolRequest(call) = *request else { panic!("it is a call") };
        assert_eq!((id.to_string().as_str(), &*call.params.name), ("a", "t"));
        let meta = call.extensions.get::<rmcp::model::RequestMetaObject>().expect("it is there");
        assert!(meta.get_progress_token().is_some());
    }

    #[test]
    fn what_nobody_waits_for_is_nothing() {
        for line in [
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":[]}}",
            "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"}}",
        ] {
            assert!(matches!(read(line.as_bytes()), Incoming::Nothing), "{line}");
        }
        let unknown = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\",\"params\":7}";
        assert!(matches!(read(unknown.as_bytes()), Incoming::Request(..) | Incoming::Wrong(..)));
    }

    #[test]
    fn an_answer_that_cannot_be_read_still_ends_the_question() {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":7}";
        let Incoming::Answer(id, message) = read(line.as_bytes()) else { panic!("it is an answer") };
        assert_eq!(id, RequestId::Number(3));
        assert!(matches!(*message, ClientJsonRpcMessage::Error(_)));
    }
}
