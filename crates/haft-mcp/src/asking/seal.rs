//! The state that a client carries between a question and its answer: signed, short-lived, good for one call once.
//!
//! A client may send back anything. What opens was closed here, for exactly this call, not long ago, and was not opened
//! before; everything else is refused or asked again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use haft_runtime::approval::{ApprovalRequest, Questionnaire};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long an answer may take.
const GOOD_FOR: Duration = Duration::from_secs(600);
/// Most questions without an answer.
const MOST_OPEN: usize = 256;
/// Longest state that is looked at.
const LONGEST: usize = 4_096;

/// Stands for a call or a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest(String);

impl Digest {
    /// Stands for a tool and its arguments, whatever the order of their keys.
    pub(super) fn of_call(request: &CallToolRequestParams) -> Self {
        let mut hasher = blake3::Hasher::new();
        text(&mut hasher, &request.name);
        for (name, value) in sorted(request.arguments.as_ref()) {
            text(&mut hasher, name);
            canonical(&mut hasher, value);
        }
        Self(hasher.finalize().to_hex().to_string())
    }

    /// Stands for everything that a person is shown.
    pub(super) fn of_plan(request: &ApprovalRequest) -> Self {
        let ApprovalRequest { call: _, tool, title, arguments, effects, besides, command, preview, ruling, .. } =
            request;
        let mut hasher = blake3::Hasher::new();
        // These are plain values, so equal text means equal values, as long as this program runs.
        let shown = format!("{tool:?} {title:?} {effects:?} {besides:?} {command:?} {preview:?} {ruling:?}");
        text(&mut hasher, &shown);
        canonical(&mut hasher, arguments);
        for offer in &request.offers {
            text(&mut hasher, &format!("{:?}", offer.scope));
        }
        Self(hasher.finalize().to_hex().to_string())
    }

    /// Stands for questions of a model.
    pub(super) fn of_questions(questionnaire: &Questionnaire) -> Self {
        let mut hasher = blake3::Hasher::new();
        text(&mut hasher, &format!("questions {:?}", questionnaire.questions));
        Self(hasher.finalize().to_hex().to_string())
    }
}

/// Closes and opens states.
pub(super) struct Seal {
    codec: RequestStateCodec,
    /// The questions without an answer, the oldest first.
    open: Mutex<VecDeque<String>>,
}

#[derive(Serialize, Deserialize)]
struct State {
    question: String,
    plan: Digest,
}

impl Default for Seal {
    fn default() -> Self {
        // Each has 74 random bits; the key is of this process and nobody else's.
        let random: Vec<u8> = (0..8).flat_map(|_| uuid::Uuid::now_v7().into_bytes()).collect();
        let key = blake3::hash(&random).as_bytes().to_vec();
        Self { codec: RequestStateCodec::new_unchecked(key), open: Mutex::default() }
    }
}

impl Seal {
    /// Closes what a person is shown about a call.
    pub(super) fn close(&self, plan: &Digest, call: &Digest) -> String {
        let question = uuid::Uuid::now_v7().simple().to_string();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back(question.clone());
        if open.len() > MOST_OPEN {
            open.pop_front();
        }
        let state = State { question, plan: plan.clone() };
        let options = SealOptions::new().associated_data(call.0.as_bytes()).ttl(GOOD_FOR);
        // Two texts: there is nothing that could fail.
        self.codec.seal_json_with(&state, &options).unwrap_or_default()
    }

    /// Opens it again, once; nothing when it is too old, or was opened before.
    pub(super) fn open(&self, state: &str, call: &Digest) -> Result<Option<Digest>, ErrorData> {
        let refused = || {
            let words = "requestState is not from this server, or not for this call; send the call without it";
            ErrorData::invalid_params(words, None)
        };
        if state.len() > LONGEST {
            return Err(refused());
        }
        let state: State = match self.codec.open_json_with(state, call.0.as_bytes()) {
            Ok(state) => state,
            Err(RequestStateError::Expired) => return Ok(None),
            Err(_) => return Err(refused()),
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let place = open.iter().position(|question| *question == state.question);
        Ok(place.and_then(|place| open.remove(place)).map(|_| state.plan))
    }
}

fn sorted(fields: Option<&serde_json::Map<String, Value>>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.into_iter().flatten().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    fields
}

/// Hashes a text so that its end is part of it.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// Hashes a value so that the order of an object's keys does not matter.
fn canonical(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(fields) => {
            text(hasher, &format!("object {}", fields.len()));
            for (name, value) in sorted(Some(fields)) {
                text(hasher, name);
                canonical(hasher, value);
            }
        }
        Value::Array(items) => {
            text(hasher, &format!("list {}", items.len()));
            items.iter().for_each(|item| canonical(hasher, item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text(hasher, &value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(arguments: Value) -> Digest {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Digest::of_call(&CallToolRequestParams::new("t").with_arguments(arguments))
    }

    #[test]
    fn a_state_opens_once_and_only_for_its_own_call() {
        let (seal, plan) = (Seal::default(), Digest("plan".to_owned()));
        let one = call(json!({ "a": 1, "b": { "c": 2, "d": 3 } }));
        let state = seal.close(&plan, &one);
        assert!(seal.open(&state, &call(json!({ "a": 2 }))).is_err());
        assert!(seal.open(&format!("{state}x"), &one).is_err());
        assert!(seal.open("", &one).is_err());
        assert!(seal.open(&"x".repeat(1_000_000), &one).is_err());
        assert!(Seal::default().open(&state, &one).is_err());
        let same = call(json!({ "b": { "d": 3, "c": 2 }, "a": 1 }));
        assert_eq!(seal.open(&state, &same).ok().flatten(), Some(plan));
        assert_eq!(seal.open(&state, &same).ok().flatten(), None);
    }
}
