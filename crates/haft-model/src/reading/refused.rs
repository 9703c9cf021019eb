//! Explains an error of a provider, and what to do about it.
//!
//! Providers agree at most on the status. Their words have a handful of forms, and only the words say whether a
//! conversation is too long. haft uses this for answers with a status other than 200 and for errors inside a stream.
//!
//! Not here: hiding the key in the words and shortening them (`client/again.rs`), in that order: a shortened key would
//! not be found.

use serde_json::value::RawValue;

use super::raw_json::{Object, list, text};
use crate::provider::{ModelError, ModelErrorKind};

/// What providers say when a conversation is longer than the model takes, in small letters.
const TOO_LONG: [&str; 11] = [
    "context_length_exceeded",
    "maximum context length",
    "context length exceeded",
    "exceed_context_size",
    "exceed context limit",
    "exceeds the available context size",
    "exceeds the maximum number of tokens",
    "prompt is too long",
    "too large for model with",
    "input is too long",
    "reduce the length of the messages",
];

/// What they say when a key is not accepted although the status is another, in small letters.
const NOT_ADMITTED: [&str; 4] = ["api_key_invalid", "invalid_api_key", "api key not valid", "permission_denied"];

/// What they say when no credit is left, in small letters, whatever the status.
const NO_CREDIT: [&str; 6] = [
    "insufficient_quota",
    "insufficient balance",
    "insufficient credits",
    "billing_error",
    "billing_hard_limit_reached",
    "credit balance is too low",
];

/// Returns what an answer with this status and body means.
pub(crate) fn refused(status: u16, body: &str) -> ModelError {
    let words = words(body);
    let kind = kind(status, &body.to_lowercase());
    let what = match words.is_empty() {
        true => format!("The provider answered with status {status} and without a message."),
        false => format!("The provider answered with status {status}: {words}"),
    };
    ModelError { kind, what, next: next(kind, status).to_owned() }
}

/// Returns what an error inside a stream means.
pub(crate) fn broke_off(error: &RawValue) -> ModelError {
    let code = Object::read(error.get()).and_then(|error| {
        let code = error.number("code").or_else(|| error.number("status"));
        // Some write the number as a text.
        code.or_else(|| error.text("code")?.parse().ok())
    });
    let status = code.and_then(|code| u16::try_from(code).ok()).filter(|status| (400..600).contains(status));
    let lower = error.get().to_lowercase();
    let kind = match status {
        Some(status) => kind(status, &lower),
        None => kind_of_words(&lower),
    };
    let what = format!("The provider ended the reply early: {}", words(error.get()));
    ModelError { kind, what, next: next(kind, status.unwrap_or(500)).to_owned() }
}

/// Returns the error for something of a stream that cannot be read.
pub(crate) fn unreadable(data: &str) -> ModelError {
    let what = format!("The provider sent something that is not an event of this wire format: {}", data.trim());
    ModelError {
        kind: ModelErrorKind::Broken,
        what,
        next: "try again; if the error persists, check that the wire format fits the address".to_owned(),
    }
}

fn kind(status: u16, lower: &str) -> ModelErrorKind {
    if says(lower, &NOT_ADMITTED) && (400..404).contains(&status) {
        return ModelErrorKind::NotAdmitted;
    }
    match status {
        402 => ModelErrorKind::NoCredit,
        400..=499 if says(lower, &NO_CREDIT) => ModelErrorKind::NoCredit,
        400 | 413 | 422 if says(lower, &TOO_LONG) => ModelErrorKind::TooLong,
        // Groq: the model wrote a call that the provider could not read; another try may be better.
        400 if lower.contains("tool_use_failed") => ModelErrorKind::Broken,
        401 | 403 => ModelErrorKind::NotAdmitted,
        429 | 529 => ModelErrorKind::Limited,
        413 => ModelErrorKind::TooLong,
        408 | 504 => ModelErrorKind::TimedOut,
        400..=499 => ModelErrorKind::BadRequest,
        _ => kind_of_words(lower),
    }
}

fn kind_of_words(lower: &str) -> ModelErrorKind {
    if says(lower, &TOO_LONG) {
        ModelErrorKind::TooLong
    } else if says(lower, &NO_CREDIT) {
        ModelErrorKind::NoCredit
    } else if lower.contains("rate_limit") || lower.contains("resource_exhausted") {
        ModelErrorKind::Limited
    } else {
        ModelErrorKind::Broken
    }
}

fn says(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| lower.contains(word))
}

fn next(kind: ModelErrorKind, status: u16) -> &'static str {
    match kind {
        ModelErrorKind::NotAdmitted => "check the key of this provider and its permissions",
        ModelErrorKind::NoCredit => "add credit at the provider, or use another model",
        ModelErrorKind::Limited => "wait a while, or use another model",
        ModelErrorKind::TooLong => "shorten the conversation, or use a model that accepts more",
        ModelErrorKind::BadRequest if status == 404 => "check the name of the model and the address",
        ModelErrorKind::BadRequest => "check the name of the model, the address and the wire format",
        ModelErrorKind::TimedOut | ModelErrorKind::Broken => "try again later, or use another model",
        ModelErrorKind::Unreachable | ModelErrorKind::Stopped => "try again",
    }
}

/// Returns the sentence in a body, whatever form it has.
fn words(body: &str) -> String {
    let found = Object::read(body).and_then(|object| words_of(&object)).or_else(|| words_of_list(body));
    let spoken = found.or_else(|| serde_json::from_str(body).ok()).unwrap_or_else(|| body.trim().to_owned());
    if spoken.trim_start().starts_with('<') {
        return "a page of HTML instead of an answer".to_owned();
    }
    spoken.trim().to_owned()
}

fn words_of(object: &Object) -> Option<String> {
    // OpenAI and most; Ollama and a few with a text; Mistral and vLLM without the wrapping; FastAPI.
    let inner = object.object("error").and_then(|error| words_of(&error));
    inner
        .or_else(|| object.text("error"))
        .or_else(|| with_reason(object, object.text("message")?))
        .or_else(|| object.object("message").and_then(|message| words_of(&message)))
        .or_else(|| object.raw("detail").and_then(|detail| text(detail).or_else(|| Some(detail.get().to_owned()))))
}

/// Adds what OpenRouter passes on of the provider behind it: its own words say only that there is one.
fn with_reason(object: &Object, message: String) -> Option<String> {
    let raw = object.object("metadata").and_then(|metadata| metadata.text("raw"));
    Some(raw.map_or_else(|| message.clone(), |raw| format!("{message}: {raw}")))
}

fn words_of_list(body: &str) -> Option<String> {
    let first = list(body)?.into_iter().next()?;
    Object::read(first.get()).and_then(|object| words_of(&object))
}

#[cfg(test)]
mod tests {
    use ModelErrorKind::*;

    use super::*;

    const CASES: [(u16, &str, ModelErrorKind, &str); 17] = [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            NotAdmitted,
            "Incorrect API key provided",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            TooLong,
            "maximum context length",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
            NoCredit,
            "current quota",
        ),
        (402, r#"{"error":{"message":"Insufficient Balance"}}"#, NoCredit, "Insufficient Balance"),
        (402, "", NoCredit, "without a message"),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            NoCredit,
            "credit balance is too low",
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached for requests","code":"rate_limit_exceeded"}}"#,
            Limited,
            "Rate limit",
        ),
        (404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, BadRequest, "try pulling it first"),
        (
            400,
            r#"{"object":"error","message":"Tool call id was x but must be a-z","type":"invalid_request_error"}"#,
            BadRequest,
            "Tool call id",
        ),
        (
            422,
            r#"{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}"#,
            BadRequest,
            "extra fields",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
            NotAdmitted,
            "valid API key",
        ),
        (
            400,
            r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function=x>"}}"#,
            Broken,
            "Failed to call",
        ),
        (502, "<html><body>Bad Gateway</body></html>", Broken, "a page of HTML"),
        (
            429,
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down","provider_name":"X"}}}"#,
            Limited,
            "Provider returned error: slow down",
        ),
        (503, "", Broken, "without a message"),
        (504, "upstream timed out", TimedOut, "upstream timed out"),
        (413, "Payload Too Large", TooLong, "Payload Too Large"),
    ];

    #[test]
    fn what_a_provider_answers_has_a_kind_and_its_words() {
        for (status, body, kind, words) in CASES {
            let error = refused(status, body);
            assert_eq!(error.kind, kind, "{status} {body}");
            assert!(error.what.contains(words), "{status} {body}: {}", error.what);
            assert!(!error.next.is_empty());
        }
    }

    #[test]
    fn no_credit_is_the_same_in_an_answer_and_in_a_stream() {
        for words in NO_CREDIT {
            let error = format!(r#"{{"message":"{}","code":"x"}}"#, words.to_uppercase());
            let in_stream = broke_off(&RawValue::from_string(error.clone()).expect("it is JSON"));
            for error in [refused(400, &error), refused(403, &error), refused(429, &error), in_stream] {
                assert_eq!(
                    (error.kind, error.next.as_str()),
                    (NoCredit, "add credit at the provider, or use another model")
                );
            }
        }
    }
}
