//! Checks that a tool answers unexpected values that fit its schema, or refuses them in words.

use haft_contract::outcome::error::Next;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Status, ToolResult};
use serde_json::{Map, Value, json};

use super::bench::{ConformanceBench, Good, shown};
use super::wrong_arguments::with;
use super::{Check, Finding};
use crate::arguments::Checker;

const CHECK: Check = Check::OddValues;
/// Most arguments of a tool that are tried.
const MOST_PROPERTIES: usize = 8;
/// How long a long text is, in characters.
const LONG: usize = 1024 * 1024;
/// How deep deep values are.
const DEEP: usize = 60;

/// Sends odd values; returns the finding, and what a call that works was answered right after one that failed.
pub(super) async fn check(bench: &ConformanceBench<'_>, good: &Good) -> (Finding, Option<ToolResult>) {
    let schema = bench.schema();
    let Ok(checker) = Checker::new(&schema) else {
        return (Finding::skipped(CHECK, "haft cannot use its schema"), None);
    };
    let right = good.arguments.as_object().cloned().unwrap_or_default();
    let odd: Vec<Value> = odd(&schema, &right).into_iter().filter(|value| checker.accepts(value)).collect();
    let mut after_failure = None;
    for arguments in &odd {
        let result = bench.call_within(arguments, good).await;
        if let Some((why, fix)) = not_answered(&result) {
            return (Finding::failed(CHECK, format!("{} {why}", shown(arguments)), fix), after_failure);
        }
        if result.status == Status::Failed && result.stopped_at == Some("execute") && after_failure.is_none() {
            after_failure = Some(bench.call_within(&good.arguments, good).await);
        }
    }
    let finding = match odd.len() {
        0 => Finding::skipped(CHECK, "its schema allows no odd values"),
        many => Finding::passed(CHECK, format!("the tool handled {many} calls, or refused them with a message")),
    };
    (finding, after_failure)
}

/// Says why a result is no answer.
fn not_answered(result: &ToolResult) -> Option<(String, &'static str)> {
    let error = result.error.as_ref()?;
    match error.kind {
        ErrorKind::TimedOut | ErrorKind::Cancelled => {
            let why = format!("does not end within {:.0} s", result.took.as_secs_f64());
            Some((why, "let the tool end by itself, or refuse such a value"))
        }
        _ => {
            let is_defect = error.about.is_defect || error.kind == ErrorKind::Bug;
            let gives_up = error.kind == ErrorKind::Failed && matches!(error.next, Next::DoNotRetry(_));
            (is_defect || gives_up).then(|| {
                (
                    format!("breaks it: {}", error.what),
                    "refuse such a value with a message: raise ValueError(\"…\"), or print {\"error\": \"…\"}",
                )
            })
        }
    }
}

/// Makes calls with odd values, one in each.
fn odd(schema: &Value, right: &Map<String, Value>) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let least: Map<String, Value> = right
        .iter()
        .filter(|(name, _)| required.iter().any(|one| one == *name))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let mut calls = Vec::new();
    if least != *right {
        calls.push(Value::Object(least));
    }
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties.take(MOST_PROPERTIES) {
        calls.extend(values_for(property).into_iter().map(|value| with(right, name, value)));
    }
    calls
}

fn values_for(property: &Value) -> Vec<Value> {
    let kinds: Vec<&str> = match property.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut values = Vec::new();
    for kind in kinds {
        match kind {
            "string" => values.extend([
                json!(""),
                json!("\u{10ffff}𝄞 👩‍👩‍👧 e\u{301} \u{202e}"),
                json!("a\0b"),
                json!("\"'`$(x);\\\n\r\t-- %s {0}"),
                json!("x".repeat(LONG)),
            ]),
            "integer" => values.extend([json!(0), json!(-1), json!(i64::MAX), json!(i64::MIN)]),
            "number" => values.extend([json!(0), json!(-1.5), json!(1e308), json!(5e-324)]),
            "array" => {
                let item = property.get("items").and_then(|items| values_for(items).into_iter().next());
                let item = item.unwrap_or_else(|| deep(DEEP));
                values.extend([json!([]), Value::Array(vec![item; 1_000])]);
            }
            "object" => values.extend([json!({}), deep(DEEP)]),
            _ => {}
        }
    }
    values
}

/// Returns an object that holds an object, and so on.
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}
