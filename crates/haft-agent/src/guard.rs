//! Notices when a model goes in circles, and reports it with growing weight.
//!
//! A call goes in circles when the model repeats it, it ends in the same way, and nothing changed in between: the same
//! test after an edit is progress, the same failing edit is not. First the result says so. Then the model gets the
//! earlier result instead of another run. In the end haft asks the overseer whether the model may continue. Results
//! already contain what the session's memory says about earlier failures, so this module does not repeat it.
//!
//! It forgets a call whose result was dropped to make room: the model may make it again as if it were new.
//!
//! It only reads what was done: the doors say whether something changed, not the form of the call.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Did, ToolResult};
use haft_model::conversation::ModelToolCall;
use serde_json::Value;

use crate::overseer::Circle;
use crate::work::each_time::without_what_differs_each_time;

/// The same call with the same result is mentioned from this time on.
const HINT_AT: u32 = 2;
/// From this time on it is not run; the earlier result is the answer.
const EARLIER_AT: u32 = 4;
/// When it is made so often, it is enough.
const ENOUGH_AT: u32 = 6;
/// Most calls that are remembered; beyond that everything is forgotten, which only costs hints.
const MOST_CALLS: usize = 1_000;
/// Longest part of an earlier result that is told again, in bytes.
const LONGEST_EXCERPT: usize = 2_000;

/// Remembers what the calls since the last prompt came to.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    /// How many calls have brought a change that was not there before.
    changes: u64,
    calls: HashMap<u64, CallObservation>,
    /// The call that was made last.
    last: Option<u64>,
    circle: Option<Circle>,
}

/// Records the outcome of a call, and how often it was the same.
#[derive(Debug)]
struct CallObservation {
    call: String,
    outcome: u64,
    /// How often it came to that, with nothing changed in between.
    times: u32,
    /// The changes there had been when it ended.
    changes: u64,
    /// Whether it was refused because the model has the result already.
    is_redundant: bool,
    excerpt: String,
}

impl Guard {
    /// Returns the answer to a call that shall not be run again, because it would come to the same.
    pub(crate) fn earlier(&mut self, call: &ModelToolCall) -> Option<String> {
        let key = key(call);
        self.last = Some(key);
        let seen = self.calls.get_mut(&key)?;
        if seen.changes != self.changes || seen.times + 1 < EARLIER_AT {
            return None;
        }
        seen.times += 1;
        if seen.times >= ENOUGH_AT {
            self.circle = Some(Circle { tool: call.name.clone(), times: seen.times });
        }
        Some(format!(
            "Not run: exactly this call had the same result {} times, and nothing else changed in between. Its last result \
             (call {}) was:\n{}\nNext: do something else, or tell the user what is missing. To wait for something, wait \
             inside one command.",
            EARLIER_AT - 1,
            seen.call,
            seen.excerpt
        ))
    }

    /// Notes what a call came to; returns what the model should know about that.
    pub(crate) fn note(&mut self, call: &ModelToolCall, result: &ToolResult) -> Option<String> {
        let kind = result.error.as_ref().map(|error| error.kind);
        if kind == Some(ErrorKind::Cancelled) {
            return None;
        }
        if self.calls.len() >= MOST_CALLS {
            self.calls.clear();
        }
        let (key, outcome) = (key(call), outcome(result));
        let earlier = self.calls.get(&key).filter(|seen| seen.outcome == outcome);
        let times = match earlier {
            Some(seen) if seen.changes == self.changes => seen.times + 1,
            // The same again after a change by another call is how work goes.
            Some(_) => 1,
            None => {
                self.changes += u64::from(result.did != Did::Nothing);
                1
            }
        };
        let seen = CallObservation {
            call: call.id.clone(),
            outcome,
            times,
            changes: self.changes,
            is_redundant: kind == Some(ErrorKind::Redundant),
            excerpt: excerpt(result),
        };
        self.calls.insert(key, seen);
        let is_said_by_memory = kind.is_some_and(|kind| !kind.is_refusal());
        (times >= HINT_AT && !is_said_by_memory).then(|| {
            format!(
                "Exactly this call has now had the same result {times} times, and nothing else changed in between. Do \
                 something else, or tell the user what is missing."
            )
        })
    }

    /// Forgets calls whose results were dropped from the conversation: a model that makes them again does not go in
    /// circles, it has no other way to see them. The call that was made last stays known: who makes it once more has
    /// asked for nothing else in between.
    pub(crate) fn forget(&mut self, dropped: &[String]) {
        if !dropped.is_empty() {
            // What is redundant depends on earlier results, of whichever call.
            let is_seen = |seen: &CallObservation| !seen.is_redundant && !dropped.contains(&seen.call);
            self.calls.retain(|key, seen| self.last == Some(*key) || is_seen(seen));
        }
    }

    /// Takes the call that was made often enough.
    pub(crate) fn take_circle(&mut self) -> Option<Circle> {
        self.circle.take()
    }
}

fn key(call: &ModelToolCall) -> u64 {
    let arguments = match serde_json::from_str(&call.arguments) {
        Ok(value) => sorted(value).to_string(),
        Err(_) => call.arguments.clone(),
    };
    hash((&call.name, arguments))
}

/// The order of keys does not make another call.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.into_iter().map(|(key, field)| (key, sorted(field))).collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.into_iter().collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// How a call ended, without what differs each time: notes about earlier calls, how long something took.
fn outcome(result: &ToolResult) -> u64 {
    match &result.error {
        Some(error) => hash((error.kind, result.exit_code)),
        None => {
            let text = result.text_before_notes();
            let images: Vec<_> = result.images().map(|image| &image.bytes).collect();
            hash((result.exit_code, images, text.lines().map(without_what_differs_each_time).collect::<Vec<_>>()))
        }
    }
}

fn excerpt(result: &ToolResult) -> String {
    let text = result.text();
    match text.char_indices().take_while(|(at, _)| *at < LONGEST_EXCERPT).last() {
        Some((at, c)) if at + c.len_utf8() < text.len() => format!("{} […]", &text[..at]),
        _ => text,
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_make_another_call() {
        let call = |arguments: &str| ModelToolCall {
            id: "1".into(),
            name: "t".into(),
            arguments: arguments.into(),
            is_cut: false,
        };
        assert_eq!(key(&call(r#"{"a":[{"c":1,"d":2}],"b":2}"#)), key(&call(r#"{"b":2, "a":[{"d":2,"c":1}]}"#)));
        assert_ne!(key(&call(r#"{"a":1}"#)), key(&call(r#"{"a":2}"#)));
        assert_ne!(key(&call("{\"a\":")), key(&call("{\"a\": ")));
    }
}
