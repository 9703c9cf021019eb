//! Calls the checked tool, each time in a new session, and keeps all answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::description::manual::Example;
use haft_contract::outcome::output::Content;
use haft_contract::outcome::result::{Status, ToolResult};
use serde_json::Value;

use super::{Check, ConformanceSubject, Finding};
use crate::arguments::minimal_example;
use crate::asking::approval::{Nobody, YesToOrdinary};
use crate::state::session::{ResultCaching, Session};

/// Most characters of arguments that are shown.
const LONGEST_SHOWN: usize = 80;
/// How long a call may take at least, before it is taken for one that never ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Calls the tool that is checked, and keeps each call with its result.
pub(super) struct ConformanceBench<'a> {
    pub(super) subject: ConformanceSubject<'a>,
    answered: Mutex<Vec<Arc<ConformanceCall>>>,
}

/// A call that a conformance check made, and its result.
pub(super) struct ConformanceCall {
    pub(super) arguments: Value,
    pub(super) result: ToolResult,
}

/// A call that works.
pub(super) struct Good {
    pub(super) arguments: Value,
    pub(super) result: ToolResult,
    /// How long it takes.
    pub(super) took: Duration,
    /// Whether a second call had the same answer; nothing where there was no second one.
    pub(super) is_steady: Option<bool>,
}

impl<'a> ConformanceBench<'a> {
    pub(super) fn new(subject: ConformanceSubject<'a>) -> Self {
        Self { subject, answered: Mutex::default() }
    }

    /// Runs the examples; returns the finding and a call that works, or why there is none.
    pub(super) async fn examples(&self) -> (Finding, Result<Good, String>) {
        let examples = self.subject.examples;
        let mut works = None;
        let mut problems = Vec::new();
        for example in examples {
            let result = self.call(&example.arguments).await;
            problems.extend(broken(example, &result));
            if result.status == Status::Ok && works.is_none() {
                works = Some((example.arguments.clone(), result));
            }
        }
        let finding = match (problems.into_iter().next(), examples.len()) {
            (Some((what, fix)), _) => Finding::failed(Check::Examples, what, fix),
            (None, 0) => Finding::skipped(Check::Examples, "the tool has none")
                .with_fix("write examples: [{arguments: {…}, contains: \"…\"}], which models read too"),
            (None, 1) => Finding::passed(Check::Examples, "the example works"),
            (None, many) => Finding::passed(Check::Examples, format!("all {many} examples work")),
        };
        let good = match works {
            Some(works) => Ok(works),
            None if examples.is_empty() => self.made_up().await,
            None => Err("no example works".to_owned()),
        };
        (
            finding,
            match good {
                Ok((arguments, result)) => Ok(self.steady(arguments, result).await),
                Err(why) => Err(why),
            },
        )
    }

    /// Makes a call from the schema, for a tool that has no example.
    async fn made_up(&self) -> Result<(Value, ToolResult), String> {
        if let Some(host) = self.subject.connects {
            return Err(format!("the tool has no example, and it connects to {host}"));
        }
        let arguments = minimal_example(&self.schema());
        let result = self.call(&arguments).await;
        match &result.error {
            None => Ok((arguments, result)),
            Some(error) => Err(format!(
                "the tool has no example, and the call {} does not work: {}",
                shown(&arguments),
                error.what
            )),
        }
    }

    /// Calls once more: whether the answer is the same, and how long it takes when everything is there already.
    async fn steady(&self, arguments: Value, result: ToolResult) -> Good {
        if self.subject.connects.is_some() {
            return Good { arguments, took: result.took, result, is_steady: None };
        }
        let again = self.call(&arguments).await;
        let (is_steady, took) = (Some(is_same(&again, &result)), again.took.min(result.took));
        Good { arguments, result, took, is_steady }
    }

    /// Returns the schema of the arguments as a model sees it.
    pub(super) fn schema(&self) -> Value {
        let entry = self.subject.runtime.catalog().find(self.subject.tool);
        entry.map(|entry| (*entry.shown().input_schema).clone()).unwrap_or_default()
    }

    /// Calls the tool, however long it takes within its own limit.
    pub(super) async fn call(&self, arguments: &Value) -> ToolResult {
        let (session, call) = (self.session(), self.prepared(self.subject.tool, arguments));
        let result = self.subject.runtime.call(&session, call).await;
        self.note(arguments, &result);
        result
    }

    /// Calls the tool and stops it when it takes far longer than a call that works.
    pub(super) async fn call_within(&self, arguments: &Value, good: &Good) -> ToolResult {
        let (session, call) = (self.session(), self.prepared(self.subject.tool, arguments));
        let calling = self.subject.runtime.call(&session, call);
        tokio::pin!(calling);
        let patience = PATIENCE.max(good.took * 5);
        let result = match tokio::time::timeout(patience, &mut calling).await {
            Ok(result) => result,
            Err(_elapsed) => {
                session.stop_turn();
                calling.await
            }
        };
        self.note(arguments, &result);
        result
    }

    /// Makes these calls together, as one message of a model.
    pub(super) async fn call_at_once<'v>(&self, all: impl Iterator<Item = &'v Value>) -> Vec<ToolResult> {
        let all: Vec<&Value> = all.collect();
        let calls = all.iter().map(|arguments| self.prepared(self.subject.tool, arguments)).collect();
        let session = self.session();
        let results = self.subject.runtime.call_all(&session, calls).await;
        all.iter().zip(&results).for_each(|(arguments, result)| self.note(arguments, result));
        results
    }

    /// Makes a call of the tool, or of the hurried one.
    pub(super) fn prepared(&self, tool: &str, arguments: &Value) -> ToolCall {
        ToolCall::new(tool, RawArguments::from(arguments.clone())).by(CallOrigin::Script)
    }

    /// Opens a session that knows of no other call.
    pub(super) fn session(&self) -> Session {
        let approver =
            YesToOrdinary::or_ask(Nobody::there("the check does not try a call that needs more than an ordinary yes"));
        let session = self.subject.runtime.session("check", approver).with_keeping(ResultCaching::Off);
        session.set_mode(self.subject.mode);
        session
    }

    /// Keeps an answer for those who look back.
    pub(super) fn note(&self, arguments: &Value, result: &ToolResult) {
        let answered = ConformanceCall { arguments: arguments.clone(), result: result.clone() };
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(answered));
    }

    /// Returns everything that was answered so far.
    pub(super) fn answered(&self) -> Vec<Arc<ConformanceCall>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn broken(example: &Example, result: &ToolResult) -> Option<(String, String)> {
    let arguments = shown(&example.arguments);
    match (&result.error, &example.contains) {
        (Some(error), _) => Some((format!("the example {arguments} fails: {}", error.what), error.next.to_string())),
        (None, Some(text)) if !result.text().contains(text.as_str()) => {
            Some((format!("the result of the example {arguments} does not contain {text:?}"), MEND.to_owned()))
        }
        (None, _) => None,
    }
}

const MEND: &str = "fix the tool or the example";

/// Returns whether two calls were answered alike.
pub(super) fn is_same(one: &ToolResult, other: &ToolResult) -> bool {
    one.status == other.status && answer(one) == answer(other)
}

impl Good {
    /// Returns whether the same call was answered as well later on.
    pub(super) fn is_repeated_by(&self, later: &ToolResult) -> bool {
        match self.is_steady {
            Some(true) => is_same(later, &self.result),
            Some(false) | None => later.status == Status::Ok,
        }
    }
}

/// Returns what the tool itself answered: its value, or its text without what haft says behind it.
pub(super) fn answer(result: &ToolResult) -> Value {
    match (&result.data, &result.error) {
        (Some(data), _) => data.clone(),
        (None, Some(error)) => Value::from(error.what.as_str()),
        (None, None) => Value::from(result.content.first().and_then(Content::text).unwrap_or_default()),
    }
}

/// Returns arguments as they are shown.
pub(super) fn shown(arguments: &Value) -> String {
    let text = arguments.to_string();
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text,
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
    }
}
