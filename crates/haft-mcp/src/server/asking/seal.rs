//! Signs the state that a client carries between a question and its answer. It is short-lived and valid for one call, once.
//!
//! A client may send back anything. haft accepts only a state that has a signature with haft's key, belongs to exactly this
//! call, is recent, and was not used here before. It refuses all others or asks again. Servers behind a balancer share the
//! key, because another server may receive the answer. Each server accepts a state at most once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_runtime::asking::approval::{ApprovalRequest, Questionnaire};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long an answer may take.
const GOOD_FOR: Duration = Duration::from_secs(600);
/// Most answered questions that are remembered.
const MOST_ANSWERED: usize = 4_096;
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

/// Closes and opens the states of a call.
pub(super) struct Seal {
    states: StateSeal,
    /// The questions that were answered lately, the oldest first.
    answered: Mutex<VecDeque<(Instant, String)>>,
}

/// Signs texts that a client carries, and checks those that it sends back.
pub(crate) struct StateSeal {
    codec: RequestStateCodec,
}

#[derive(Serialize, Deserialize)]
struct SealedQuestion {
    question: String,
    plan: Digest,
}

impl Default for StateSeal {
    /// Makes a key of its own, which no other process has.
    fn default() -> Self {
        // Each has 74 random bits.
        let random: Vec<u8> = (0..8).flat_map(|_| uuid::Uuid::now_v7().into_bytes()).collect();
        Self { codec: RequestStateCodec::new_unchecked(blake3::hash(&random).as_bytes().to_vec()) }
    }
}

impl StateSeal {
    /// Makes the key that all servers with this secret have.
    pub(crate) fn of_secret(secret: &str) -> Self {
        let key = blake3::derive_key("haft 2026 state of a question to a client", secret.as_bytes());
        Self { codec: RequestStateCodec::new_unchecked(key.to_vec()) }
    }

    /// Signs a text; it opens only for the same thing.
    pub(crate) fn close_for(&self, text: &str, thing: &str) -> String {
        let options = SealOptions::new().associated_data(thing.as_bytes()).ttl(GOOD_FOR);
        // A text: there is nothing that could fail.
        self.codec.seal_json_with(&text, &options).unwrap_or_default()
    }

    /// Returns the text of a state.
    ///
    /// # Errors
    ///
    /// Refuses a state that is not ours, too old, or for something else.
    pub(crate) fn open_for(&self, state: &str, thing: &str) -> Result<String, ErrorData> {
        if state.len() > LONGEST {
            return Err(not_ours());
        }
        self.codec.open_json_with(state, thing.as_bytes()).map_err(|_| not_ours())
    }
}

fn not_ours() -> ErrorData {
    let words = "requestState is not from this server, or not for this call; send the call without it";
    ErrorData::invalid_params(words, None)
}

impl Default for Seal {
    fn default() -> Self {
        Self::with(StateSeal::default())
    }
}

impl Seal {
    /// Uses this key.
    pub(super) fn with(states: StateSeal) -> Self {
        Self { states, answered: Mutex::default() }
    }

    /// Closes what a person is shown about a call.
    pub(super) fn close(&self, plan: &Digest, call: &Digest) -> String {
        let state = SealedQuestion { question: uuid::Uuid::now_v7().simple().to_string(), plan: plan.clone() };
        let options = SealOptions::new().associated_data(call.0.as_bytes()).ttl(GOOD_FOR);
        // Two texts: there is nothing that could fail.
        self.states.codec.seal_json_with(&state, &options).unwrap_or_default()
    }

    /// Opens it again, once; nothing when it is too old, or was opened before.
    pub(super) fn open(&self, state: &str, call: &Digest) -> Result<Option<Digest>, ErrorData> {
        if state.len() > LONGEST {
            return Err(not_ours());
        }
        let state: SealedQuestion = match self.states.codec.open_json_with(state, call.0.as_bytes()) {
            Ok(state) => state,
            Err(RequestStateError::Expired) => return Ok(None),
            Err(_) => return Err(not_ours()),
        };
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        while answered.front().is_some_and(|(at, _)| at.elapsed() > GOOD_FOR) {
            answered.pop_front();
        }
        // With no room to remember it, it could be opened twice; then the person is asked again.
        let is_new = answered.len() < MOST_ANSWERED && answered.iter().all(|(_, question)| *question != state.question);
        if !is_new {
            return Ok(None);
        }
        answered.push_back((Instant::now(), state.question));
        Ok(Some(state.plan))
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

    #[test]
    fn servers_with_the_same_secret_open_the_states_of_each_other_and_others_do_not() {
        let seal = |secret: &str| Seal::with(StateSeal::of_secret(secret));
        let (plan, call) = (Digest("plan".to_owned()), call(json!({})));
        let state = seal("one secret").close(&plan, &call);
        assert_eq!(seal("one secret").open(&state, &call).ok().flatten(), Some(plan));
        assert!(seal("another secret").open(&state, &call).is_err());
    }
}
